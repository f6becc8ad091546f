//! `core.get_record`: reads one record.

use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{ArtifactLink, ArtifactRole};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::text;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "kind": {"type": "string", "minLength": 1, "maxLength": 100},
        "key": {"type": "string", "minLength": 1, "maxLength": 300}
    });
    let description = "Reads a record by its kind and key: found, props, version.";
    // A record may hold what a document once said, so its props are not trusted as receivers or addresses.
    let spec = ToolSpec {
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        untrusted_output: true,
        ..ToolSpec::read("core.get_record", description, object(properties, ["kind", "key"]))
            .shown(&["record", "read", "database"], json!({"kind": "note", "key": "n-1"}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let (kind, key) = (text(&args, "kind")?, text(&args, "key")?);
    let record = context.records()?.record(context.scope, kind, key).await?;
    let data = [
        ("found", json!(record.is_some())),
        ("props", json!(record.as_ref().map(|record| &record.props))),
        ("version", json!(record.as_ref().map(|record| record.version))),
    ];
    let summary = if record.is_some() { "found" } else { "there is no such record" };
    let mut outcome = ToolOutcome::new(data, summary);
    if let Some(record) = record {
        outcome.links.push(ArtifactLink {
            kind: record.kind,
            record_id: record.id,
            key: record.key,
            role: ArtifactRole::Resolved,
            metadata: Map::new(),
        });
    }
    Ok(outcome)
}
