//! `insurance.create_loss_run_requests`: one request for each deal and insurer. A draft is added to; what has been
//! sent is left alone. An insurer that is not known, but nearly, is a question.

mod spelling;
mod whose;

use kybern_core::count::count;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) use self::spelling::InsurerNames;
use super::insurer_policies::{InsurerPolicies, by_insurer};
use super::letter::Letter;
use super::loss_run_request::{self as request, ByInsurer};
use super::policies::Policy;
use super::{authority, deal, kinds, policies};
use crate::args::{fields, text, texts};
use crate::change;

/// The state's name for insurers that a person has supplied, by policy number.
const NAMED: &str = "policy_insurers";

/// The tool.
#[must_use]
pub fn create_loss_run_requests() -> StatelessTool {
    let mut list = policies::json_schema();
    list["type"] = json!(["array", "null"]);
    let schema = json!({
        "type": "object",
        "properties": {"deal_id": {"type": ["string", "null"]}, "policies": list},
        "additionalProperties": false
    });
    let description = "Creates one loss-run request for each insurer of a deal's policies, or adds to its draft.";
    let spec = ToolSpec {
        needs: ToolNeeds { task: true, documents: true, records: true, lessons: true, ..ToolNeeds::default() },
        ..ToolSpec::local("insurance.create_loss_run_requests", description, schema)
            .shown(&["loss run", "insurer", "policies"], json!({}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let mut policies = policies::given(&args, &context.state);
    if policies.is_empty() {
        let remedy = "extract documents that describe policies first, or name them as `policies`";
        return Err(ToolFailure::permanent(format!("there are no policies to ask about; {remedy}")));
    }
    let named = context.state.get(NAMED).and_then(Value::as_object).cloned().unwrap_or_default();
    let lessons = spelling::taught(context, &policies, &named).await?;
    spelling::apply(context, &mut policies, &named).await?;
    let (mut groups, unknown) = by_insurer(&policies, &named);
    authority::add(context, &mut groups).await?;
    let deal = deal::deal(context, &args).await?;
    let requests = request::of_deal(context, deal.id).await?;
    let existing = ByInsurer::new(&requests);
    // Whom the deal has asked already, a person has let pass.
    let fresh: Vec<&InsurerPolicies> = groups.iter().filter(|asked| existing.to(asked).is_empty()).collect();
    let open = whose::open(context, &fresh, &unknown, &named).await?;
    if !open.is_empty() {
        return Ok(ToolOutcome::ask(whose::review(&open)));
    }
    let mut outcome = ToolOutcome::default();
    let (mut ids, mut created, mut updated) = (Vec::new(), 0_usize, 0_usize);
    for asked in &groups {
        let theirs = existing.to(asked);
        if let Some(draft) = theirs.iter().find(|record| request::is_draft(record)) {
            ids.push(draft.id);
            let insurer = request::insurer_entity(context, asked).await?;
            let mut wanted = request::over(context, draft, asked, insurer.as_ref());
            let insured = request::insured(context, &draft.props).await?.unwrap_or_default();
            let letter = Letter { sender: &context.tenant_name, insured: &insured, id: draft.id };
            letter.rewrite(&draft.props, &mut wanted);
            let over = draft.props.iter().chain(&wanted).map(|(name, value)| (name.clone(), value.clone()));
            let mut lookups = authority::lookups(&over.collect());
            let changed = change::difference(draft, wanted);
            lookups.extend(request::number_lookups(&texts(&changed, "policy_numbers")));
            updated += usize::from(change::settle(&mut outcome, draft, changed, lookups));
        } else if let Some(asked_before) = theirs.iter().find(|record| request::covers(record, asked)) {
            ids.push(asked_before.id);
            outcome.links.push(change::resolve(asked_before));
        } else {
            created += 1;
            ids.push(create(context, &deal, asked, theirs.len() + 1, &mut outcome).await?);
        }
    }
    outcome.lessons = lessons;
    outcome.summary =
        format!("{}: {} created, {updated} updated", count(groups.len(), "insurer"), count(created, "request"));
    outcome.data =
        fields([("request_ids", json!(ids)), ("created_count", json!(created)), ("updated_count", json!(updated))]);
    Ok(outcome)
}

/// Gives policies whose insurer was contested the one that a person has named.
pub(super) fn settle(context: &ToolContext, policies: &mut [Policy]) {
    let named = context.state.get(NAMED).and_then(Value::as_object);
    for policy in policies.iter_mut().filter(|policy| !policy.contested.is_empty()) {
        if let Some(insurer) = named.and_then(|named| text(named, &policy.number)) {
            (policy.insurer, policy.naic) = (Some(insurer), None);
            policy.contested.clear();
        }
    }
}

/// The question whose these policies are, as it would be asked before any deal is known; `None` when that is settled.
pub(super) async fn whose_they_are(context: &ToolContext, policies: &[Policy]) -> Result<Option<Review>, ToolFailure> {
    let named = context.state.get(NAMED).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut policies = policies.to_vec();
    spelling::apply(context, &mut policies, &named).await?;
    let (groups, unknown) = by_insurer(&policies, &named);
    let open = whose::open(context, &groups.iter().collect::<Vec<_>>(), &unknown, &named).await?;
    Ok((!open.is_empty()).then(|| whose::review(&open)))
}

async fn create(
    context: &ToolContext,
    deal: &kybern_core::record::Record,
    asked: &InsurerPolicies,
    n: usize,
    outcome: &mut ToolOutcome,
) -> Result<kybern_core::id::RecordId, ToolFailure> {
    let insurer = request::insurer_entity(context, asked).await?;
    let props = request::props(context, deal, asked, insurer.as_ref());
    let key = request::key(deal.id, asked, n);
    let lookups = [request::lookups(deal.id, asked), authority::lookups(&props)].concat();
    let insured = request::insured(context, &props).await?.unwrap_or_default();
    let mut change = change::create(context, kinds::LOSS_RUN_REQUEST, &key, props, lookups);
    let letter = Letter { sender: &context.tenant_name, insured: &insured, id: change.put.id };
    letter.write(&mut change.put.props);
    outcome.links.extend(insurer.as_ref().map(change::resolve));
    let id = change.link.record_id;
    outcome.records.push(change);
    Ok(id)
}

#[cfg(test)]
mod tests;
