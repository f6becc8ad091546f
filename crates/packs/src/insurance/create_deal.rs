//! `insurance.create_deal`: one open deal for each company and pipeline, and a record of each policy.

use kybern_core::id::RecordId;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::deal::{self, OpenDeal};
use super::kinds::{DEAL, PIPELINES};
use super::policies::{self, Policy};
use super::policy::{self, PolicyWrite};
use crate::args::{add, fields, text, text_or_state, texts};
use crate::{change, coverage};

/// The tool.
#[must_use]
pub fn create_deal() -> StatelessTool {
    let nullable = json!({"type": ["string", "null"], "maxLength": 300});
    let mut list = policies::json_schema();
    list["type"] = json!(["array", "null"]);
    let schema = json!({
        "type": "object",
        "properties": {
            "entity_id": nullable,
            "entity_name": nullable,
            "pipeline_type": {"enum": PIPELINES},
            "coverage_types": {"type": ["array", "null"], "items": {"type": "string"}},
            "effective_date": {"type": ["string", "null"], "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            "policies": list
        },
        "required": ["pipeline_type"],
        "additionalProperties": false
    });
    let description = "Creates the deal of a company in a pipeline, or adds to the open one, and records its \
                       policies.";
    let spec = ToolSpec {
        needs: ToolNeeds { task: true, records: true, ..ToolNeeds::default() },
        ..ToolSpec::local("insurance.create_deal", description, schema)
            .shown(&["deal", "pipeline", "policies"], json!({"pipeline_type": PIPELINES[0]}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let pipeline = text(&args, "pipeline_type").unwrap_or_else(|| PIPELINES[0].to_owned());
    let entity = deal::entity(context, &args).await?;
    let policies = policies::given(&args, &context.state);
    let wanted = DealFacts::of(context, &args, &entity, &policies);
    let mut outcome = ToolOutcome::default();
    let (deal_id, is_new, updated) = match deal::open_deal(context, entity.id, &pipeline).await? {
        OpenDeal::Absent(key) => {
            let lookups = vec![Lookup::shared("entity", entity.id.to_string())];
            let change = change::create(context, DEAL, &key, wanted.props(context, &pipeline), lookups);
            let id = change.link.record_id;
            outcome.records.push(change);
            (id, true, false)
        }
        OpenDeal::Found(record) => {
            let changed = change::difference(&record, wanted.over(&record));
            (record.id, false, change::settle(&mut outcome, &record, changed, Vec::new()))
        }
    };
    let kept = keep_policies(context, entity.id, &policies, &mut outcome).await?;
    outcome.summary = format!(
        "{} the deal; {} policies new, {} updated",
        if is_new {
            "created"
        } else if updated {
            "updated"
        } else {
            "found"
        },
        kept.created,
        kept.updated
    );
    outcome.data = fields([
        ("deal_id", json!(deal_id)),
        ("deal_is_new", json!(is_new)),
        ("deal_was_updated", json!(updated)),
        ("pipeline_type", json!(pipeline)),
        ("coverage_types", json!(wanted.coverage_types)),
        ("policy_ids", json!(kept.ids)),
        ("policies_created", json!(kept.created)),
        ("policies_updated", json!(kept.updated)),
    ]);
    Ok(outcome)
}

/// What the deal should say.
struct DealFacts {
    entity: RecordId,
    entity_name: Option<String>,
    coverage_types: Vec<String>,
    effective_date: Option<String>,
}

impl DealFacts {
    fn of(context: &ToolContext, args: &Map<String, Value>, entity: &Record, policies: &[Policy]) -> Self {
        let mut coverage_types = Vec::new();
        let named = texts(args, "coverage_types");
        let named = if named.is_empty() { texts(&context.state, "coverage_types") } else { named };
        add(&mut coverage_types, named.iter().flat_map(|line| coverage::lines_of(line)));
        add(&mut coverage_types, policies.iter().flat_map(|policy| policy.lines.iter().cloned()));
        // What is renewed begins when the first of the old policies ends.
        let first_end = policies.iter().filter_map(|policy| policy.expiration.clone()).min();
        Self {
            entity: entity.id,
            entity_name: text(&entity.props, "name").or_else(|| text_or_state(args, &context.state, &["entity_name"])),
            coverage_types,
            effective_date: text(args, "effective_date").or(first_end),
        }
    }

    fn props(&self, context: &ToolContext, pipeline: &str) -> Map<String, Value> {
        fields([
            ("entity_id", json!(self.entity)),
            ("entity_name", json!(self.entity_name)),
            ("pipeline_type", json!(pipeline)),
            ("stage", json!("new")),
            ("coverage_types", json!(self.coverage_types)),
            ("effective_date", json!(self.effective_date)),
            ("source_task", json!(context.task)),
            ("assigned_agent", Value::Null),
        ])
    }

    /// What an open deal should say: its own coverage and ours, and what it lacks.
    fn over(&self, deal: &Record) -> Map<String, Value> {
        let mut coverage_types = texts(&deal.props, "coverage_types");
        add(&mut coverage_types, self.coverage_types.iter().cloned());
        let mut wanted = fields([("coverage_types", json!(coverage_types))]);
        for (name, value) in [("entity_name", &self.entity_name), ("effective_date", &self.effective_date)] {
            if text(&deal.props, name).is_none() {
                wanted.insert(name.to_owned(), json!(value));
            }
        }
        wanted
    }
}

/// What became of the policies.
#[derive(Default)]
struct KeptPolicies {
    ids: Vec<RecordId>,
    created: usize,
    updated: usize,
}

async fn keep_policies(
    context: &ToolContext,
    entity: RecordId,
    policies: &[Policy],
    outcome: &mut ToolOutcome,
) -> Result<KeptPolicies, ToolFailure> {
    let mut kept = KeptPolicies::default();
    for policy in policies {
        let (id, became) = policy::keep(context, entity, policy, outcome).await?;
        kept.ids.push(id);
        kept.created += usize::from(became == PolicyWrite::Created);
        kept.updated += usize::from(became == PolicyWrite::Updated);
    }
    Ok(kept)
}

#[cfg(test)]
mod tests;
