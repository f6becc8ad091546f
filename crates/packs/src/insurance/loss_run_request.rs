//! A loss-run request's record: what one insurer is asked for within one deal.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::kinds::{ENTITY, LOSS_RUN_REQUEST};
use super::policies::Policy;
use crate::args::{fields, text, texts};
use crate::{company, coverage};

/// The policies of one insurer.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Asked {
    pub(super) insurer: String,
    pub(super) naic: Option<String>,
    pub(super) numbers: Vec<String>,
    pub(super) lines: Vec<String>,
    pub(super) documents: Vec<u32>,
}

impl Asked {
    /// What tells this insurer from others in a key: its code, else its name as it is compared.
    fn identity(&self) -> String {
        match &self.naic {
            Some(code) => format!("naic:{code}"),
            None => format!("name:{}", company::normal_name(&self.insurer).chars().take(150).collect::<String>()),
        }
    }

    fn is(&self, insurer: &str, naic: Option<&str>) -> bool {
        let codes = self.naic.as_deref().zip(naic);
        match codes {
            Some((has, said)) => has == said,
            None => company::normal_name(&self.insurer) == company::normal_name(insurer),
        }
    }
}

/// Groups policies by their insurer, in order of appearance. `named` are insurers that a person has supplied, by
/// policy number. The second list holds the numbers of policies whose insurer nobody knows.
pub(super) fn by_insurer(policies: &[Policy], named: &Map<String, Value>) -> (Vec<Asked>, Vec<String>) {
    let mut groups: Vec<Asked> = Vec::new();
    let mut unknown = Vec::new();
    for policy in policies {
        let Some(insurer) = policy.insurer.clone().or_else(|| text(named, &policy.number)) else {
            unknown.push(policy.number.clone());
            continue;
        };
        let naic = policy.naic.as_deref();
        let at = groups.iter().position(|group| group.is(&insurer, naic)).unwrap_or_else(|| {
            groups.push(Asked { insurer: insurer.clone(), ..Asked::default() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.naic = group.naic.take().or_else(|| policy.naic.clone());
        coverage::add(&mut group.numbers, [policy.number.clone()]);
        coverage::add(&mut group.lines, policy.lines.iter().cloned());
        for n in &policy.documents {
            if !group.documents.contains(n) {
                group.documents.push(*n);
            }
        }
    }
    (groups, unknown)
}

/// The requests of a deal, oldest first.
pub(super) async fn of_deal(context: &ToolContext, deal: RecordId) -> Result<Vec<Record>, ToolFailure> {
    let records = context.records()?;
    Ok(records.records_by_lookup(context.scope, LOSS_RUN_REQUEST, "deal", &deal.to_string()).await?)
}

/// Whether the request is to this insurer.
pub(super) fn is_to(request: &Record, asked: &Asked) -> bool {
    let insurer = text(&request.props, "insurer").unwrap_or_default();
    asked.is(&insurer, text(&request.props, "naic").as_deref())
}

/// Whether it can still be added to.
pub(super) fn is_draft(request: &Record) -> bool {
    text(&request.props, "status").as_deref() == Some("draft")
}

/// Whether an answer to it is still to come.
pub(super) fn is_open(request: &Record) -> bool {
    matches!(text(&request.props, "status").as_deref(), Some("draft" | "requested"))
}

/// Whether it asks about all of these policies already.
pub(super) fn covers(request: &Record, asked: &Asked) -> bool {
    let known: Vec<String> =
        texts(&request.props, "policy_numbers").iter().map(|n| company::policy_number(n)).collect();
    asked.numbers.iter().all(|number| known.contains(&company::policy_number(number)))
}

/// The key of the `n`th request, from 1, to this insurer within a deal.
pub(super) fn key(deal: RecordId, asked: &Asked, n: usize) -> String {
    let plain = format!("deal:{deal}:{}", asked.identity());
    if n == 1 { plain } else { format!("{plain}:{n}") }
}

/// The props of a new request.
pub(super) fn props(
    context: &ToolContext,
    deal: &Record,
    asked: &Asked,
    insurer_entity: Option<&Record>,
) -> Map<String, Value> {
    fields([
        ("deal_id", json!(deal.id)),
        ("entity_id", json!(deal.props.get("entity_id"))),
        ("insurer", json!(asked.insurer)),
        ("naic", json!(asked.naic)),
        ("insurer_entity_id", json!(insurer_entity.map(|record| record.id))),
        ("status", json!("draft")),
        ("policy_numbers", json!(asked.numbers)),
        ("lines", json!(asked.lines)),
        ("source_documents", Value::Array(sources(context, asked))),
    ])
}

/// What a draft should hold: its own policies, lines and documents, and ours.
pub(super) fn over(context: &ToolContext, draft: &Record, asked: &Asked) -> Map<String, Value> {
    let mut numbers = texts(&draft.props, "policy_numbers");
    for number in &asked.numbers {
        if !numbers.iter().any(|known| company::policy_number(known) == company::policy_number(number)) {
            numbers.push(number.clone());
        }
    }
    let mut lines = texts(&draft.props, "lines");
    coverage::add(&mut lines, asked.lines.iter().cloned());
    let mut documents = draft.props.get("source_documents").and_then(Value::as_array).cloned().unwrap_or_default();
    for source in sources(context, asked) {
        if !documents.contains(&source) {
            documents.push(source);
        }
    }
    let mut wanted = fields([
        ("policy_numbers", json!(numbers)),
        ("lines", json!(lines)),
        ("source_documents", Value::Array(documents)),
    ]);
    if text(&draft.props, "naic").is_none() {
        wanted.insert("naic".to_owned(), json!(asked.naic));
    }
    wanted
}

/// Under what a request can be found.
pub(super) fn lookups(deal: RecordId, asked: &Asked) -> Vec<Lookup> {
    vec![Lookup::shared("deal", deal.to_string()), Lookup::shared("insurer", asked.identity())]
}

/// The insurer's own record, when there is exactly one that is surely meant.
pub(super) async fn insurer_entity(context: &ToolContext, asked: &Asked) -> Result<Option<Record>, ToolFailure> {
    let records = context.records()?;
    if let Some(code) = &asked.naic {
        let found = records.records_by_lookup(context.scope, ENTITY, "NAIC", code).await?;
        if let [one] = found.as_slice() {
            return Ok(Some(one.clone()));
        }
    }
    let name = company::normal_name(&asked.insurer);
    let mut found = records.records_by_lookup(context.scope, ENTITY, "name", &name).await?;
    found.retain(|record| text(&record.props, "entity_type").as_deref() == Some("insurance_carrier"));
    Ok(if found.len() == 1 { found.pop() } else { None })
}

fn sources(context: &ToolContext, asked: &Asked) -> Vec<Value> {
    asked.documents.iter().map(|n| json!({"task": context.task, "n": n})).collect()
}
