//! `core.recall_dossier`: puts what is known of an entity into the state, before something is decided about it.

use std::collections::BTreeMap;

use kybern_core::actor::Right;
use kybern_core::count::count;
use kybern_core::dossier::{Dossier, StateFact};
use kybern_core::json_schema::object;
use kybern_core::memory::Memory;
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{ArtifactLink, ArtifactRole};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::super::given::{maybe, refused};
use super::{entity, found_entity_schema};

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "entity_id": found_entity_schema(),
        "query": {
            "type": ["string", "null"], "maxLength": 500,
            "description": "What it is to be recalled for: insights that have to do with it come first.",
        },
    });
    let description = "Recalls the dossier of an entity: its record, what the records of each domain say about it \
                       (open business, what is waited for, with counts), insights, preferences and the last events. \
                       It stands in the state as dossier, for instance dossier.state.DOMAIN.FACT.count.";
    // Strangers wrote parts of the records and of what is remembered.
    let spec = ToolSpec {
        needs: ToolNeeds { memories: true, task: true, ..ToolNeeds::default() },
        category: ToolCategory::Memory,
        untrusted_output: true,
        right: Right::Read,
        ..ToolSpec::read("core.recall_dossier", description, object(properties, []))
    }
    .shown(&["recall", "memory", "entity", "history"], json!({"entity_id": "0198c1de-7c00-7000-8000-000000000001"}));
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let query = maybe(&args, "query").map(str::trim).filter(|query| !query.is_empty());
    let dossier = context.nouns.memories()?.dossier(entity(context, &args)?, query).await.map_err(refused)?;
    let remembered = dossier.insights.len() + dossier.preferences.len() + dossier.recent_events.len();
    let facts: usize = dossier.state.values().map(BTreeMap::len).sum();
    let summary = format!("recalled {} and {}", count(facts, "fact"), count(remembered, "memory"));
    let mut outcome = ToolOutcome::new([("dossier", shown(&dossier))], summary);
    let Dossier { entity, .. } = dossier;
    // A record that cannot be read cannot be linked either; the step says what is wrong with it.
    if entity.unreadable.is_none() {
        outcome.links.push(ArtifactLink {
            kind: entity.kind,
            record_id: entity.id,
            key: entity.key,
            role: ArtifactRole::Resolved,
            metadata: Map::new(),
        });
    }
    Ok(outcome)
}

/// The dossier by the names that steps use.
fn shown(dossier: &Dossier) -> Value {
    let record = &dossier.entity;
    let state: BTreeMap<&str, BTreeMap<&str, Value>> = dossier
        .state
        .iter()
        .map(|(domain, facts)| {
            (domain.as_str(), facts.iter().map(|(name, fact)| (name.as_str(), fact_of(fact))).collect())
        })
        .collect();
    let lines = |memories: &[Memory]| memories.iter().map(line).collect::<Vec<Value>>();
    json!({
        "entity": {
            "id": record.id, "kind": record.kind, "key": record.key, "version": record.version, "props": record.props,
            "unreadable": record.unreadable,
        },
        "as_of": dossier.as_of,
        "state": state,
        "insights": lines(&dossier.insights),
        "preferences": lines(&dossier.preferences),
        "recent_events": lines(&dossier.recent_events),
        "memories_left_out": dossier.memories_left_out,
        "memories_withheld": dossier.memories_withheld,
    })
}

fn fact_of(fact: &StateFact) -> Value {
    let items: Vec<Value> = fact
        .items
        .iter()
        .map(|item| json!({"kind": item.kind, "record_id": item.record_id, "says": item.says, "at": item.at, "task": item.task}))
        .collect();
    json!({"count": fact.count, "more": fact.more, "last_at": fact.last_at, "items": items})
}

fn line(memory: &Memory) -> Value {
    json!({
        "memory_id": memory.id,
        "says": memory.content,
        "category": memory.category,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "trust": memory.trust,
        "task": memory.provenance.task,
        "step": memory.provenance.step,
        "place": memory.provenance.place,
        "created_at": memory.created_at,
    })
}
