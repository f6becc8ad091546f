//! Rows that wait for company: what was decided without waiting for anything is committed together.
//!
//! A step that touches nothing outside and ends at once (a value that is set, a condition, a container that opens)
//! could be done again after a crash with nobody the wiser. So its row need not be on the disk before the next such
//! step begins. It is on the disk, in its order and under the same fence, before the run waits for anything but a model,
//! makes a call that somebody outside could see, writes anything else, or tells anybody. A call that nobody outside sees
//! and that ends at once may be made before, and a model may be asked before what tells a reader nothing is written.
//!
//! A reply of a model waits for no longer than it takes to do what it asks for of this kind, and to end its turn or to
//! write its next question: it is written together with the reservation for that, which on SQLite is one commit, and
//! nobody is asked before both are on the disk. Whatever else came from outside, or cost anything, does not wait at all.

use kybern_core::money::Usage;
use kybern_core::task::{JournalEntry, JournalRow, TaskChange};

use super::drive::{Flow, RunStop};
use super::load::load_journal;
use super::run::TaskRun;
use super::step::Draft;
use super::walk::Walk;
use crate::size;

/// Bytes of data that wait at most: one large row is no company.
const MAX_HELD: usize = 128 * 1024;

/// Rows that the walk has taken in and the store has not.
#[derive(Clone, Debug, Default)]
pub(super) struct UnwrittenRows {
    rows: Vec<JournalRow>,
    size: usize,
    /// What was used for them.
    usage: Usage,
}

impl UnwrittenRows {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether whoever reads along would miss something.
    pub(super) fn tells(&self) -> bool {
        self.rows.iter().any(tells)
    }

    /// Whether they have to be on the disk before anybody outside is asked: a model was paid for them, or whoever reads
    /// along is to see them.
    pub(super) fn is_owed(&self) -> bool {
        !self.usage.is_zero() || self.tells()
    }

    /// How many rows at the end tell a reader nothing.
    pub(super) fn untold(&self) -> usize {
        self.rows.iter().rev().take_while(|row| !tells(row)).count()
    }

    /// Everything, followed by these, and what all of it has used.
    pub(super) fn take_with(&mut self, rows: Vec<JournalRow>, usage: Usage) -> (Vec<JournalRow>, Usage) {
        if self.is_empty() {
            return (rows, usage);
        }
        let Self { rows: mut all, usage: before, .. } = std::mem::take(self);
        all.extend(rows);
        (all, before.plus(usage))
    }
}

impl TaskRun {
    /// Keeps rows for the next commit; gives them back when that would be too many, or too large.
    pub(super) fn hold(&mut self, rows: Vec<JournalRow>, usage: Usage) -> Result<(), Vec<JournalRow>> {
        let size = self.held.size + rows.iter().map(size_of).sum::<usize>();
        let most = self.kernel.settings.steps_per_commit as usize;
        if self.held.rows.len() + rows.len() >= most || size > MAX_HELD {
            return Err(rows);
        }
        self.held.rows.extend(rows);
        self.held.size = size;
        self.held.usage = self.held.usage.plus(usage);
        Ok(())
    }

    /// Commits what is held.
    pub(super) async fn write_held(&mut self) -> Result<Flow, RunStop> {
        if self.held.is_empty() {
            return Ok(Flow::Continue);
        }
        Ok(self.commit(Vec::new(), Draft::default(), TaskChange::Keep).await?)
    }
}

impl TaskRun {
    /// Walks once more over what is written, and over what was held back before a commit that was refused. What runs
    /// beside that goes on.
    ///
    /// # Errors
    /// When the store fails, or the journal cannot be read by this program.
    pub(super) async fn walk_again(&mut self, held: UnwrittenRows) -> Result<(), RunStop> {
        let (plan, lease) = (self.walk.plan().cloned(), self.lease.clone());
        let walked = self.ask(|kernel| {
            let (mut walk, lease) = (Walk::new(plan.clone()), lease.clone());
            async move {
                load_journal(&kernel, &lease, &mut walk).await?;
                Ok(walk)
            }
        });
        let mut walk = walked.await?;
        held.rows.iter().for_each(|row| walk.apply(row));
        self.earlier.attempts.iter().for_each(|attempt| walk.take_up(attempt));
        walk.keep_marks(&self.walk);
        (self.walk, self.held) = (walk, held);
        Ok(())
    }
}

/// Whether readers of a turn may be told anything by a row ([`kybern_core::chat::events_of`]): not that a step was opened
/// or will be tried again. An answer tells when it is a retry, but no answer is ever held, and what cannot be read was
/// written long ago.
fn tells(row: &JournalRow) -> bool {
    match row.entry {
        JournalEntry::Opened(_)
        | JournalEntry::Retrying { .. }
        | JournalEntry::Answered { .. }
        | JournalEntry::Unreadable { .. } => false,
        JournalEntry::Finished(_)
        | JournalEntry::Waiting(_)
        | JournalEntry::Recovered { .. }
        | JournalEntry::Ended { .. } => true,
    }
}

/// About how many bytes of data a row carries.
fn size_of(row: &JournalRow) -> usize {
    match &row.entry {
        JournalEntry::Finished(outcome) => {
            let said = outcome.reply.iter().flat_map(|reply| &reply.parts).map(size::of_part).sum::<u64>();
            size::of_value(&outcome.data).saturating_add(usize::try_from(said).unwrap_or(usize::MAX))
        }
        other => serde_json::to_vec(other).map_or(0, |json| json.len()),
    }
}
