//! `core.put_record`: creates a record, or merges into it.

use kybern_core::id::RecordId;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Merge, PutRecord, merge};
use kybern_core::tool::outcome::RecordChange;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::text;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "kind": {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[a-z][a-z0-9_.-]*$"},
        "key": {"type": "string", "minLength": 1, "maxLength": 300},
        "props": {"type": "object"},
        "merge": {"type": "string", "enum": ["fill", "overwrite", "union"]}
    });
    let description = "Creates the record with that kind and key, or merges into it: fill what is empty, \
                       overwrite (the default), or union lists. Committed with the step.";
    let spec = ToolSpec {
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        ..ToolSpec::local("core.put_record", description, object(properties, ["kind", "key", "props"])).shown(
            &["record", "save", "store", "database"],
            json!({"kind": "note", "key": "n-1", "props": {"title": "Renewal of Acme"}, "merge": "fill"}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let (kind, key) = (text(&args, "kind")?.to_owned(), text(&args, "key")?.to_owned());
    let props = args.get("props").and_then(Value::as_object).cloned().unwrap_or_default();
    let how = match args.get("merge").and_then(Value::as_str) {
        Some("fill") => Merge::Fill,
        Some("union") => Merge::Union,
        Some(_) | None => Merge::Overwrite,
    };
    let found = context.records()?.record(context.scope, &kind, &key).await?;
    let (id, expect, version, changed, role) = match &found {
        None => {
            let id = RecordId::from_uuid(context.ids.next());
            (id, Expect::Absent, 1, props.keys().cloned().collect(), ArtifactRole::Created)
        }
        Some(record) => {
            let merged = merge(&record.props, &props, how);
            let grows = i64::from(merged.props != record.props);
            let role = if grows == 1 { ArtifactRole::Updated } else { ArtifactRole::Resolved };
            (record.id, Expect::Version(record.version), record.version + grows, merged.changed, role)
        }
    };
    let data =
        [("record_id", json!(id)), ("record_version", json!(version)), ("record_created", json!(found.is_none()))];
    let metadata = Map::from_iter([("changed".to_owned(), json!(changed))]);
    let mut outcome = ToolOutcome::new(data, format!("{role} a {kind} record"));
    outcome.records.push(RecordChange {
        put: PutRecord { id, kind: kind.clone(), key: key.clone(), props, merge: how, expect, lookups: Vec::new() },
        link: ArtifactLink { kind, record_id: id, key, role, metadata },
    });
    Ok(outcome)
}
