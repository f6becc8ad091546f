//! The end of the demonstration: what was read where, what was created, what waits and why, and the proofs.

use std::collections::BTreeMap;

use kybern_core::actor::Actor;
use kybern_core::record::ArtifactRole;
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::Engine;
use serde_json::Value;

use super::FinishedMessage;
use crate::output::{Cell, Paint, Table, count, kybern_here, read_table};

/// A report.
pub(super) struct Report {
    pub(super) text: String,
    /// Whether every message came to its rest and every proof held.
    pub(super) sound: bool,
}

pub(super) async fn make(
    engine: &Engine,
    actor: &Actor,
    done: &[FinishedMessage],
    took: Millis,
    paint: Paint,
) -> anyhow::Result<Report> {
    let created = created(engine, actor, done).await?;
    let kinds = kinds(engine, actor).await?;
    let waits = waits(done);
    let proofs = proofs(engine, actor, done, took).await?;
    let sections = [
        format!("{}\n{}", paint.bold("Read from documents and mail, with page and words"), read(done, paint)),
        format!("{}\n{}", paint.bold("Created"), created.render(paint)),
        format!("{}\n{}", paint.bold("Records now"), kinds.render(paint)),
        format!("{}\n{}", paint.bold("Waits for a person"), waits.render(paint)),
        proofs.text,
        String::new(),
    ];
    Ok(Report { text: sections.join("\n\n"), sound: proofs.sound })
}

/// How the messages ended, in numbers, and whether every one came to its rest and every proof held.
pub(super) async fn proofs(
    engine: &Engine,
    actor: &Actor,
    done: &[FinishedMessage],
    took: Millis,
) -> anyhow::Result<Report> {
    let fresh = || done.iter().filter(|done| !done.received.duplicate);
    let of = |status: TaskStatus| fresh().filter(|done| done.task.status == status).count();
    let (completed, waiting) = (of(TaskStatus::Completed), of(TaskStatus::NeedsReview));
    let mut replayed = 0;
    for done in fresh().filter(|done| done.task.status == TaskStatus::Completed) {
        replayed += usize::from(engine.tasks().replay(actor, done.task.id).await?.matches);
    }
    let audit = engine.audit().verify(actor.scope()).await?;
    let sound = completed + waiting == fresh().count() && replayed == completed && audit.valid;
    let text = format!(
        "{} messages in {}: {completed} done, {waiting} wait for a person, {}.\n{}\n{}",
        done.len(),
        crate::output::span(took.0),
        count(done.len() - fresh().count(), "duplicate"),
        format_args!("{replayed} of {completed} finished tasks replayed from their journal to the same result."),
        format_args!(
            "audit chain: {} events, {}.",
            audit.length,
            if audit.valid { "unbroken" } else { "BROKEN, as audit verify says in a demo with --keep" }
        ),
    );
    Ok(Report { text, sound })
}

/// The most values of one document that are shown: of the first message all of a usual paper, then only the first ones.
const READ_FIRST: usize = 100;
const READ_FIELDS: usize = 5;

/// Where the values of each document stood of which something was made.
fn read(done: &[FinishedMessage], paint: Paint) -> String {
    let finished = done.iter().filter(|done| done.task.status == TaskStatus::Completed && !done.received.duplicate);
    let of_message = |(n, done): (usize, &FinishedMessage)| {
        let extractions = done.task.state.get("extractions").and_then(Value::as_array)?;
        let (table, more) = read_table(extractions, if n == 0 { READ_FIRST } else { READ_FIELDS });
        let hint =
            format!("\n… and {more} more: `{} demo --keep`, then task show, as it says at its end", kybern_here());
        let rest = if more == 0 { String::new() } else { paint.dim(&hint) };
        (!table.is_empty()).then(|| format!("{}\n{}{rest}", paint.dim(done.sample.name), table.render(paint)))
    };
    finished.enumerate().filter_map(of_message).collect::<Vec<_>>().join("\n\n")
}

/// What each finished message made.
async fn created(engine: &Engine, actor: &Actor, done: &[FinishedMessage]) -> anyhow::Result<Table> {
    let mut table = Table::new(&["MESSAGE", "COMPANY", "CREATED", "UPDATED"]);
    for done in done.iter().filter(|done| done.task.status == TaskStatus::Completed && !done.received.duplicate) {
        let links = engine.tasks().artifacts(actor, done.task.id).await?;
        let by_role = |role: ArtifactRole| {
            let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
            for link in links.iter().filter(|stored| stored.link.role == role) {
                *kinds.entry(link.link.kind.rsplit('.').next().unwrap_or_default()).or_default() += 1;
            }
            let texts = kinds.into_iter().map(|(kind, n)| format!("{n} {}", kind.replace('_', " ")));
            texts.collect::<Vec<_>>().join(", ")
        };
        let company = done.task.state.get("entity_name").and_then(Value::as_str).unwrap_or_default();
        table.row([
            Cell::from(done.sample.name),
            Cell::from(company),
            Cell::from(by_role(ArtifactRole::Created)),
            Cell::from(by_role(ArtifactRole::Updated)),
        ]);
    }
    Ok(table)
}

async fn kinds(engine: &Engine, actor: &Actor) -> anyhow::Result<Table> {
    let mut table = Table::new(&["KIND", "RECORDS"]);
    for (kind, n) in engine.records().kinds(actor.scope()).await? {
        table.row([Cell::from(kind), Cell::from(n.to_string())]);
    }
    Ok(table)
}

/// What waits, and why.
pub(super) fn waits(done: &[FinishedMessage]) -> Table {
    let mut table = Table::new(&["MESSAGE", "ABOUT", "WHY"]);
    for done in done.iter().filter(|done| !done.received.duplicate) {
        for wait in &done.task.waits {
            table.row([Cell::from(done.sample.name), Cell::from(wait.kind.as_str()), Cell::from(wait.reason.as_str())]);
        }
    }
    table
}
