//! Rows that this program cannot read, looked for in every table that keeps JSON.

use kybern_core::agent::AgentDraft;
use kybern_core::audit::AuditEvent;
use kybern_core::lesson::{LessonSource, Teaching};
use kybern_core::plan::FrozenPlan;
use kybern_core::ports::UnreadableRow;
use kybern_core::task::{JournalRow, Signal, StepError, Wait};
use kybern_core::tool::own::OwnDefinition;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::dump::{line, tenants};
use super::tables::{Kind, Table, every_table};
use crate::db::scope_of_row;
use crate::db::{Access, Row, Tx, json};
use crate::error::Result;

/// Whether a text is what its column keeps.
type Reads = fn(&str) -> Result<(), String>;

/// Every column that keeps JSON whose loss somebody would notice.
const COLUMNS: &[(&str, &str, Reads)] = &[
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
        let columns: Vec<Place> = COLUMNS.iter().filter_map(|column| place_of(table, column)).collect();
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
                tx.enter(Access::Tenant(scope_of_row(*tenant))).await?;
                tx.each_row(&table.select(true), &[tenant.as_uuid().into()], &mut look).await?;
            }
        } else {
            tx.each_row(&table.select(false), &[], &mut look).await?;
        }
    }
    Ok(found)
}

/// A column of [`COLUMNS`] in a table: where it stands, and what it is.
type Place = (usize, &'static (&'static str, &'static str, Reads));

fn place_of(table: &Table, known: &'static (&'static str, &'static str, Reads)) -> Option<Place> {
    let (of, column, _) = known;
    let place = table.columns.iter().position(|(name, _)| name == column)?;
    (table.name == *of).then_some((place, known))
}

fn fault(table: &Table, cells: &[Value], (place, (name, column, reads)): Place) -> Option<UnreadableRow> {
    let problem = reads(cells.get(place)?.as_str()?).err()?;
    Some(UnreadableRow { table: name, id: id_of(table, cells), problem: format!("{column}: {problem}") })
}

/// What names a row: its ids but the tenant's, and its number among its like.
fn id_of(table: &Table, cells: &[Value]) -> String {
    let named = table.columns.iter().zip(cells).filter_map(|((name, kind), cell)| match (kind, name.as_str()) {
        (Kind::U, "id" | "task_id") | (Kind::T, "hash") => cell.as_str().map(str::to_owned),
        (Kind::I, "seq" | "number") => Some(cell.to_string()),
        _ => None,
    });
    // The own id comes first, wherever it stands; whose it is says less.
    let parts: Vec<String> = named.take(2).collect();
    parts.join(" ")
}
