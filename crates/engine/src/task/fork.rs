//! Forks: the same plan and input, with what had been done before a step taken over.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::plan::{FrozenPlan, StepId};
use kybern_core::task::{
    Channel, JournalEntry, JournalRow, NewAttachment, NewKind, NewTask, Signal, SignalKind, Task, TaskKind,
};

use super::Tasks;
use super::submit::rights_of;
use crate::command::id_for;
use crate::executor::StandingWalk;
use crate::task::repeats::{Repeat, confirmed};

/// What a fork is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fork {
    /// The first step that is done anew; from the beginning when it is `None`.
    pub from_step: Option<String>,
    /// The steps whose outside writes may be made again.
    pub confirm: Vec<String>,
}

impl From<Option<String>> for Fork {
    fn from(from_step: Option<String>) -> Self {
        Self { from_step, confirm: Vec::new() }
    }
}

/// A task that is forked: its plan, its journal, and what of that a fork takes over.
struct ForkOrigin {
    task: Task,
    plan: Option<Arc<FrozenPlan>>,
    rows: Vec<JournalRow>,
    kept: Vec<JournalRow>,
}

impl Tasks {
    /// The outside writes of a task that a fork from that step makes again.
    ///
    /// # Errors
    /// The same as of [`Tasks::fork`], but for what is not confirmed.
    pub async fn repeats_of_fork(&self, actor: &Actor, id: TaskId, from: Option<&str>) -> Result<Vec<Repeat>> {
        let _turn = self.services.reading.turn(actor.tenant()).await;
        let ForkOrigin { rows, kept, .. } = self.origin(actor, id, from).await?;
        self.repeats(actor.scope(), id, &rows, &kept).await
    }

    async fn origin(&self, actor: &Actor, id: TaskId, from: Option<&str>) -> Result<ForkOrigin> {
        let scope = actor.scope();
        let task = self.task_for(actor, id).await?.whole()?;
        if !task.status.is_terminal() {
            let message = format!("the task is {}, only one that has ended can be forked", task.status);
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        // An administrator sees it, and says nothing in it: the words would be one's, the rights another's.
        if task.channel == Channel::Chat && task.user.is_some() && task.user != actor.user() {
            let message = "only its user tries a turn of a conversation again";
            return Err(Error::new(ErrorCode::PermissionDenied, message));
        }
        let plan = self.kernel.plan_of(scope, &task).await?;
        let rows = self.whole_journal(scope, id).await?;
        let kept = match from {
            None => Vec::new(),
            Some(step) => before(&rows, step, plan.as_ref())
                .ok_or_else(|| Error::invalid("/fromStep", format!("the task has no step {step:?} in its journal")))?,
        };
        Ok(ForkOrigin { task, plan, rows, kept })
    }

    pub(super) async fn fork_of(&self, actor: &Actor, id: TaskId, asked: &Fork) -> Result<NewTask> {
        let (scope, kernel) = (actor.scope(), &self.kernel);
        let _turn = self.services.reading.turn(actor.tenant()).await;
        let ForkOrigin { task, plan, rows, kept } = self.origin(actor, id, asked.from_step.as_deref()).await?;
        confirmed(&self.repeats(scope, id, &rows, &kept).await?, &asked.confirm)?;
        let attachments = kernel.store.attachments(scope, id).await?;
        // Removed meanwhile, it would be forked without what has gone.
        if kernel.store.task(scope, id).await?.is_none() {
            return Err(Error::not_found("task", id));
        }
        Ok(NewTask {
            id: TaskId::from_uuid(id_for(self.kernel.ids.as_ref(), actor, "task")),
            // A stranger's words stay a stranger's.
            channel: task.channel,
            source: format!("fork/{id}"),
            dedupe_key: None,
            body_hash: None,
            input: task.input,
            payload: task.payload,
            created_by: actor.principal().label(),
            user: actor.user().or(task.user),
            // Who forks decides to do it again: with their own rights, whoever made the first one, as far as what came in
            // may be lent them.
            rights: rights_of(actor, task.channel),
            plan,
            // A plan that was found out is kept, and with it what it was found out for.
            intent: task.intent.zip(task.confidence),
            attachments: attachments
                .into_iter()
                .map(|a| NewAttachment {
                    filename: a.filename,
                    content_type: a.content_type,
                    size: a.size,
                    hash: a.hash,
                    source: a.source,
                })
                .collect(),
            max_steps: task.max_steps,
            confidence_threshold: task.confidence_threshold,
            budget: task.budget,
            trace_id: task.trace_id,
            parent: None,
            depth: 0,
            forked_from: Some((id, kept)),
            // A fork of a turn takes nothing out of a conversation and writes nothing into one.
            kind: if task.kind == TaskKind::Call { NewKind::Call } else { NewKind::Plan },
            at: kernel.time.now(),
        })
    }
}

/// The rows about what had ended, or had been opened, before the first row about `step`, renumbered; with what persons
/// had answered about it. What waited or was tried again is not taken over, only how it ended at last; nor is what a
/// retry would begin anew: no failure that stopped the task, because it would stop the new one as well, and nothing
/// that ran because of it.
fn before(rows: &[JournalRow], step: &str, plan: Option<&Arc<FrozenPlan>>) -> Option<Vec<JournalRow>> {
    let first = rows.iter().position(|row| is_about(row, step))?;
    let rows = rows.get(..first)?;
    let standing = StandingWalk::after(rows, plan);
    let opened: HashSet<&StepId> = rows
        .iter()
        .filter(|row| matches!(row.entry, JournalEntry::Opened(_)))
        .filter_map(|row| row.step.as_ref())
        .collect();
    let last_of: HashMap<&StepId, i64> = rows
        .iter()
        .filter(|row| matches!(row.entry, JournalEntry::Finished(_)))
        .filter_map(|row| row.step.as_ref().map(|step| (step, row.seq)))
        .collect();
    let is_last = |row: &JournalRow| row.step.as_ref().and_then(|step| last_of.get(step)) == Some(&row.seq);
    let is_end = |row: &JournalRow| is_last(row) && standing.is_end(row);
    let ended: HashSet<&StepId> = rows.iter().filter(|row| is_end(row)).filter_map(|row| row.step.as_ref()).collect();
    let has_ended =
        |row: &JournalRow| row.step.as_ref().is_some_and(|step| ended.contains(step)) && standing.counts(row);
    let mut kept: Vec<JournalRow> = Vec::new();
    let mut places: BTreeMap<i64, i64> = BTreeMap::new();
    for row in rows {
        let keep = match &row.entry {
            // An answer of a model for which the journal had no room may have its place in the new one.
            JournalEntry::Finished(outcome) => is_end(row) && !(is_answer(row) && outcome.error.is_some()),
            JournalEntry::Opened(_) => standing.counts(row),
            JournalEntry::Waiting(wait) => wait.kind.is_person() && has_ended(row),
            JournalEntry::Answered { signal, .. } => signal.kind() == SignalKind::Review && has_ended(row),
            JournalEntry::Retrying { .. }
            | JournalEntry::Recovered { .. }
            | JournalEntry::Ended { .. }
            | JournalEntry::Unreadable { .. } => false,
        };
        let seq = kept.last().map_or(0, |last| last.seq) + i64::from(keep);
        places.insert(row.seq, seq);
        if keep {
            kept.push(taken_over(row, seq, &places, &opened));
        }
    }
    Some(kept)
}

fn is_answer(row: &JournalRow) -> bool {
    row.step.as_ref().is_some_and(StepId::is_answer)
}

fn is_about(row: &JournalRow, step: &str) -> bool {
    row.step.as_ref().is_some_and(|id| id.as_str() == step)
}

/// A row in its new place. Whatever names a row by its number names it by its new one.
fn taken_over(row: &JournalRow, seq: i64, places: &BTreeMap<i64, i64>, opened: &HashSet<&StepId>) -> JournalRow {
    let mut row = JournalRow { seq, ..row.clone() };
    let place = |old: i64| places.range(..=old).next_back().map_or(0, |(_, new)| *new);
    match &mut row.entry {
        JournalEntry::Finished(outcome) => {
            let outcome = Arc::make_mut(outcome);
            outcome.saw = outcome.saw.map(place);
            // Arguments may name the old task, and cannot be made again from the new one.
            outcome.args_hash = None;
            outcome.taken_over = true;
            // The waits of clocks and children are not taken over.
            outcome.begun_earlier &= row.step.as_ref().is_some_and(|step| opened.contains(step));
        }
        JournalEntry::Waiting(wait) => wait.seq = seq,
        JournalEntry::Answered { number, signal } => {
            // The new task has been left no signal yet.
            *number = 0;
            if let Signal::Review { wait_seq, .. } = signal.as_mut() {
                *wait_seq = place(*wait_seq);
            }
        }
        JournalEntry::Opened(_)
        | JournalEntry::Retrying { .. }
        | JournalEntry::Recovered { .. }
        | JournalEntry::Ended { .. }
        | JournalEntry::Unreadable { .. } => {}
    }
    row
}
