//! Which known insurer is meant where a name is written as the tenant has learned that it may be.
//!
//! A lesson is about words, and words are the same for another insurer: once that one is known by them, or where the code
//! that was read is not the meant one's, the lesson is not used, and the policy is asked about as it is written.

use kybern_core::lesson::Teaching;
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

use super::super::kinds::ENTITY;
use super::super::loss_run_request::{self as request, Asked};
use super::super::near::code_of;
use super::super::policies::Policy;
use crate::args::text;
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
            && may_mean(context, written, policy.naic.as_deref(), &insurer).await?
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
        if !taught.contains(&lesson) && may_mean(context, &written, policy.naic.as_deref(), &insurer).await? {
            taught.push(lesson);
        }
    }
    Ok(taught)
}

async fn known(context: &ToolContext, name: &str) -> Result<Option<Record>, ToolFailure> {
    request::insurer_entity(context, &Asked { insurer: name.to_owned(), ..Asked::default() }).await
}

/// Whether a name, with the code that was read beside it, may mean that insurer: neither is another insurer's.
async fn may_mean(
    context: &ToolContext,
    written: &str,
    naic: Option<&str>,
    insurer: &Record,
) -> Result<bool, ToolFailure> {
    let records = context.records()?;
    let mut others = records.records_by_lookup(context.scope, ENTITY, "name", &company::normal_name(written)).await?;
    others.retain(|record| text(&record.props, "entity_type").as_deref() == Some("insurance_carrier"));
    if let Some(said) = naic {
        if code_of(insurer).is_some_and(|has| has != said) {
            return Ok(false);
        }
        others.extend(records.records_by_lookup(context.scope, ENTITY, "NAIC", said).await?);
    }
    Ok(others.iter().all(|other| other.id == insurer.id))
}
