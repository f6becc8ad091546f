//! Which known insurer is meant where a name is written as the tenant has learned that it may be.
//!
//! A lesson is about words, and words are the same for another insurer: once that one is known by them, or where the code
//! that was read is not the meant one's, the lesson is not used, and the policy is asked about as it is written.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::lesson::Teaching;
use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::ports::{RecordStore, SpelledValue, SpellingRule, ToolContext};
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

use super::super::insurer_policies::InsurerPolicies;
use super::super::kinds::ENTITY;
use super::super::loss_run_request as request;
use super::super::policies::{NAIC, Policy};
use crate::args::{as_text, text};
use crate::company;

/// The field whose values may be written otherwise.
const SCHEMA: &str = "insurance";
const FIELD: &str = "policies/insurer";

/// Gives the policies about whose insurer no person has said anything the insurers that their names mean.
pub(super) async fn apply(
    context: &ToolContext,
    policies: &mut [Policy],
    named: &Map<String, Value>,
) -> Result<(), ToolFailure> {
    for policy in policies.iter_mut().filter(|policy| text(named, &policy.number).is_none()) {
        let Some(written) = &policy.insurer else { continue };
        let Some(meant) = context.lessons.meant_by(SCHEMA, FIELD, written) else { continue };
        if let Some(insurer) = known(context, meant).await?
            && may_mean(context.records()?, context.scope, (written, policy.naic.as_deref()), &insurer).await?
        {
            policy.insurer = text(&insurer.props, "name");
        }
    }
    Ok(())
}

/// What a person's answers teach: that a name which was read is another spelling of a known insurer's.
pub(super) async fn taught(
    context: &ToolContext,
    policies: &[Policy],
    named: &Map<String, Value>,
) -> Result<Vec<Teaching>, ToolFailure> {
    let mut taught = Vec::new();
    for policy in policies {
        let (Some(written), Some(meant)) = (policy.insurer.clone(), text(named, &policy.number)) else { continue };
        if company::normal_name(&written) == company::normal_name(&meant) {
            continue;
        }
        let Some(insurer) = known(context, &meant).await? else { continue };
        let Some(value) = text(&insurer.props, "name") else { continue };
        let (schema, field) = (SCHEMA.to_owned(), FIELD.to_owned());
        let lesson = Teaching::Spelling { schema, field, label: written.clone(), value };
        let read = (written.as_str(), policy.naic.as_deref());
        if !taught.contains(&lesson) && may_mean(context.records()?, context.scope, read, &insurer).await? {
            taught.push(lesson);
        }
    }
    Ok(taught)
}

/// When a lesson about an insurer's name counts, for whoever only wants to know what it would change.
#[derive(Debug)]
pub(in super::super) struct InsurerNames;

impl InsurerNames {
    /// Has it asked about the field that the lessons are about.
    pub(in super::super) fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.spelling(SCHEMA, FIELD, Arc::new(Self))
    }
}

#[async_trait]
impl SpellingRule for InsurerNames {
    async fn counts(
        &self,
        records: &dyn RecordStore,
        scope: TenantScope,
        SpelledValue { written, value, beside }: SpelledValue<'_>,
    ) -> kybern_core::error::Result<bool> {
        let meant = InsurerPolicies { insurer: value.to_owned(), ..InsurerPolicies::default() };
        let Some(insurer) = request::insurer_among(records, scope, &meant).await? else { return Ok(false) };
        let mut codes = beside.iter().filter(|(name, _)| NAIC.contains(name));
        let naic = codes.find_map(|(_, value)| as_text(value)).and_then(|code| company::naic(&code));
        may_mean(records, scope, (written, naic.as_deref()), &insurer).await
    }
}

async fn known(context: &ToolContext, name: &str) -> Result<Option<Record>, ToolFailure> {
    request::insurer_entity(context, &InsurerPolicies { insurer: name.to_owned(), ..InsurerPolicies::default() }).await
}

/// Whether a name, with the code that was read beside it, may mean that insurer: neither is another insurer's.
async fn may_mean(
    records: &dyn RecordStore,
    scope: TenantScope,
    (written, naic): (&str, Option<&str>),
    insurer: &Record,
) -> kybern_core::error::Result<bool> {
    let mut others = records.records_by_lookup(scope, ENTITY, "name", &company::normal_name(written)).await?;
    others.retain(|record| text(&record.props, "entity_type").as_deref() == Some("insurance_carrier"));
    if let Some(said) = naic {
        if company::recorded_number(insurer, "NAIC").is_some_and(|has| has != said) {
            return Ok(false);
        }
        others.extend(records.records_by_lookup(scope, ENTITY, "NAIC", said).await?);
    }
    Ok(others.iter().all(|other| other.id == insurer.id))
}
