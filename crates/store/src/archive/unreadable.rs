//! Rows that this program cannot read, looked for in every table that keeps JSON.

use kybern_core::actor::Role;
use kybern_core::agent::AgentDraft;
use kybern_core::audit::AuditEvent;
use kybern_core::id::UserId;
use kybern_core::lesson::{LessonSource, Teaching};
use kybern_core::plan::FrozenPlan;
use kybern_core::policy::ToolPolicy;
use kybern_core::ports::UnreadableRow;
use kybern_core::preference::Preferences;
use kybern_core::secret::HostRule;
use kybern_core::task::{JournalRow, RenderedArgs, Signal, StepError, Wait};
use kybern_core::tool::ToolSetting;
use kybern_core::tool::own::OwnDefinition;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::dump::{line, tenants};
use super::tables::{ColumnKind, Table, every_table};
use crate::db::scope_of_row;
use crate::db::{Row, RowVisibility, Tx, json};
use crate::error::Result;
use crate::memories::MemorySource;

/// Whether a text is what its column keeps.
type Reads = fn(&str) -> Result<(), String>;

/// Every column that keeps JSON.
const COLUMNS: &[(&str, &str, Reads)] = &[
    ("app_user", "roles", is::<Vec<Role>>),
    ("api_key", "roles", is::<Vec<Role>>),
    ("api_key", "scopes", is::<Vec<String>>),
    ("outbound_webhook", "events", is::<Vec<String>>),
    ("user_permission", "policy", is::<ToolPolicy>),
    ("user_preference", "body", is::<Preferences>),
    ("tool_setting", "body", is::<ToolSetting>),
    ("model_policy", "providers", is::<Vec<String>>),
    ("secret", "hosts", is::<Vec<HostRule>>),
    ("prompt", "authors", is::<Vec<UserId>>),
    ("memory", "provenance", is::<MemorySource>),
    ("attempt", "rendered", is::<RenderedArgs>),
    ("artifact_link", "metadata", is::<Map<String, Value>>),
    ("task", "payload", is::<Value>),
    ("task", "waits", is::<Vec<Wait>>),
    ("task", "result", is::<Value>),
    ("task", "error", is::<StepError>),
    ("step_row", "body", is::<JournalRow>),
    ("signal", "body", is::<Signal>),
    ("frozen_plan", "body", is_plan),
    ("approval", "input", is::<Value>),
    ("job", "payload", is::<Value>),
    ("outbox", "body", is::<Value>),
    ("record", "props", is::<Map<String, Value>>),
    ("plan", "body", is::<Value>),
    ("agent", "body", is::<AgentDraft>),
    ("message", "body", is::<Value>),
    ("audit_event", "body", is::<AuditEvent>),
    ("lesson", "body", is::<Teaching>),
    ("lesson", "source", is::<LessonSource>),
    ("own_tool", "definition", is::<OwnDefinition>),
    ("record_version", "changed", is::<Map<String, Value>>),
];

fn is<T: DeserializeOwned + Send>(text: &str) -> Result<(), String> {
    json::read::<T>(text).map(drop).map_err(|error| error.to_string())
}

fn is_plan(text: &str) -> Result<(), String> {
    FrozenPlan::thaw(text).map(drop)
}

/// The first `most` of each table: many of one kind hide none of another.
pub(crate) async fn find(tx: &mut Tx, most: usize) -> Result<Vec<UnreadableRow>> {
    let tenants = if tx.is_postgres() { tenants(tx).await? } else { Vec::new() };
    let mut found = Vec::new();
    for table in &every_table(tx).await? {
        let columns: Vec<ColumnPlace> = COLUMNS.iter().filter_map(|column| place_of(table, column)).collect();
        if columns.is_empty() {
            continue;
        }
        let most = found.len().saturating_add(most);
        let mut look = |row: Row| {
            let cells = line(table, row)?;
            found.extend(columns.iter().filter_map(|column| fault(table, &cells, *column)).take(1));
            found.truncate(most);
            Ok(())
        };
        if tx.is_postgres() {
            for tenant in &tenants {
                tx.enter(RowVisibility::Tenant(scope_of_row(*tenant))).await?;
                tx.each_row(&table.select(true), &[tenant.as_uuid().into()], &mut look).await?;
            }
        } else {
            tx.each_row(&table.select(false), &[], &mut look).await?;
        }
    }
    Ok(found)
}

/// A column of [`COLUMNS`] in a table: where it stands, and what it is.
type ColumnPlace = (usize, &'static (&'static str, &'static str, Reads));

fn place_of(table: &Table, known: &'static (&'static str, &'static str, Reads)) -> Option<ColumnPlace> {
    let (of, column, _) = known;
    let place = table.columns.iter().position(|(name, _)| name == column)?;
    (table.name == *of).then_some((place, known))
}

fn fault(table: &Table, cells: &[Value], (place, (name, column, reads)): ColumnPlace) -> Option<UnreadableRow> {
    let problem = reads(cells.get(place)?.as_str()?).err()?;
    Some(UnreadableRow { table: name, id: id_of(table, cells), problem: format!("{column}: {problem}") })
}

/// What names a row: its ids but the tenant's, and its number among its like; of what a tenant or a user has one of,
/// whose it is and of what.
fn id_of(table: &Table, cells: &[Value]) -> String {
    let named = table.columns.iter().zip(cells).filter_map(|((name, kind), cell)| match (kind, name.as_str()) {
        (ColumnKind::U, "id" | "task_id") | (ColumnKind::T, "hash") => cell.as_str().map(str::to_owned),
        (ColumnKind::I, "seq" | "number") => Some(cell.to_string()),
        _ => None,
    });
    // The own id comes first, wherever it stands; whose it is says less.
    let parts: Vec<String> = named.take(2).collect();
    if !parts.is_empty() {
        return parts.join(" ");
    }
    let whose = table.columns.iter().zip(cells).filter_map(|((name, kind), cell)| match (kind, name.as_str()) {
        (ColumnKind::U, "tenant_id" | "user_id") | (ColumnKind::T, "tool" | "name") => cell.as_str(),
        _ => None,
    });
    whose.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use kybern_testkit::{SimClock, TestKeys};

    use super::*;
    use crate::{SqliteOptions, SqliteStore};

    /// The columns of text that keep no JSON: names, words, hashes, base64, what is sealed, and texts of people.
    const PLAIN: &[(&str, &[&str])] = &[
        ("account", &["payer"]),
        ("agent", &["key"]),
        ("api_key", &["name", "prefix", "key_hash"]),
        ("app_user", &["name", "email", "timezone"]),
        ("approval", &["step_id", "kind", "tool", "reason", "input_hash", "status", "decided_by", "note"]),
        ("artifact_link", &["kind", "key", "role", "step_id", "tool_key"]),
        ("attachment", &["filename", "content_type", "hash", "source"]),
        ("attempt", &["step_id", "tool", "effect", "args_hash", "tool_hash"]),
        ("audit_event", &["prev_hash", "hash"]),
        ("audit_head", &["hash", "removed_hash"]),
        ("budget", &["subject", "period"]),
        ("chat", &["agent", "title"]),
        ("delegation", &["workflow_id", "step_id", "workflow"]),
        ("frozen_plan", &["hash"]),
        ("idempotency", &["principal", "route", "key", "body_hash", "body"]),
        ("job", &["kind", "dedupe_key", "status", "last_error", "lease_owner"]),
        ("knowledge", &["title", "filename", "content_type", "hash", "status", "error", "model"]),
        ("knowledge_piece", &["text", "vector_model", "vector"]),
        ("lesson", &["kind", "fingerprint", "status", "decided_by"]),
        ("memory", &["subject_type", "content", "category", "trust", "status", "vector_model", "vector"]),
        ("message", &["role", "content"]),
        ("outbound_webhook", &["url"]),
        ("outbox", &["channel", "target", "key", "status", "error"]),
        ("own_tool", &["tool_key", "status", "note"]),
        ("plan", &["key"]),
        ("prompt", &["agent", "text", "status", "note"]),
        ("rate_hit", &["key"]),
        ("rate_key", &["key"]),
        ("record", &["kind", "key"]),
        ("record_lookup", &["kind", "name", "value"]),
        ("record_version", &["step_id", "reason"]),
        ("reservation", &["owner", "kind", "name", "provider"]),
        ("secret", &["name", "description", "sealed", "created_by"]),
        ("signal", &["kind", "dedupe_key", "body_hash"]),
        ("step_row", &["kind", "status", "step_id", "tool_key"]),
        (
            "task",
            &[
                "channel",
                "source",
                "dedupe_key",
                "body_hash",
                "status",
                "input",
                "created_by",
                "intent",
                "plan_key",
                "plan_hash",
                "trace_id",
                "parent_step",
                "current_step",
                "workflow_id",
                "lease_owner",
                "kind",
            ],
        ),
        ("task_hold", &["reason", "held_by"]),
        ("tenant", &["name", "slug"]),
        ("tenant_key", &["wrapped"]),
        ("tool_setting", &["tool"]),
        ("usage_day", &["kind", "name", "provider", "user_id"]),
        ("usage_row", &["step_id", "tool_key"]),
    ];

    #[tokio::test]
    async fn no_column_that_keeps_json_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kybern.db");
        let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
        let store = SqliteStore::open(&file, SqliteOptions::default(), keys, clock).await.unwrap();
        let tables = store.read_all((), |tx, ()| Box::pin(every_table(tx))).await.unwrap();
        let texts: BTreeSet<(&str, &str)> = tables
            .iter()
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
            .filter(|(_, (_, kind))| *kind == ColumnKind::T)
            .map(|(table, (column, _))| (table.name.as_str(), column.as_str()))
            .collect();
        let json = COLUMNS.iter().map(|(table, column, _)| (*table, *column));
        let plain = PLAIN.iter().flat_map(|(table, columns)| columns.iter().map(|column| (*table, *column)));
        let known: BTreeSet<(&str, &str)> = json.chain(plain).collect();
        let unknown: Vec<_> = texts.difference(&known).collect();
        assert!(
            unknown.is_empty(),
            "say in COLUMNS how these are read, or in PLAIN that they are no JSON: {unknown:?}"
        );
        let gone: Vec<_> = known.difference(&texts).collect();
        assert!(gone.is_empty(), "the schema has none of these: {gone:?}");
    }
}
