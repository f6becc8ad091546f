//! Rows that wait for company: what was decided without waiting for anything is committed together.
//!
//! A step that touches nothing outside and ends at once (a value that is set, a condition, a container that opens)
//! could be done again after a crash with nobody the wiser. So its row need not be on the disk before the next such
//! step begins. It is on the disk, in its order and under the same fence, before the run waits for anything, calls
//! anything outside, writes anything else, or tells anybody.

use kybern_core::money::Usage;
use kybern_core::task::{JournalRow, TaskChange};

use super::drive::{Flow, Stop};
use super::run::Run;

/// Rows that the walk has taken in and the store has not, and what they used.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) rows: Vec<JournalRow>,
    pub(super) usage: Usage,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes everything, followed by these.
    pub(super) fn take_with(&mut self, rows: Vec<JournalRow>, usage: Usage) -> Self {
        if self.is_empty() {
            return Self { rows, usage };
        }
        let mut all = std::mem::take(self);
        all.rows.extend(rows);
        all.usage = all.usage.plus(usage);
        all
    }
}

impl Run {
    /// Whether so many rows more can wait for the next commit.
    pub(super) fn may_hold(&self, rows: usize) -> bool {
        self.held.rows.len() + rows < self.inner.settings.steps_per_commit as usize
    }

    /// Keeps rows for the next commit.
    pub(super) fn hold(&mut self, rows: Vec<JournalRow>, usage: Usage) {
        self.held = self.held.take_with(rows, usage);
        self.task.usage = self.task.usage.plus(usage);
    }

    /// Commits what is held.
    pub(super) async fn write_held(&mut self) -> Result<Flow, Stop> {
        if self.held.is_empty() {
            return Ok(Flow::Continue);
        }
        Ok(self.commit_with(Vec::new(), Vec::new(), TaskChange::Keep, Usage::default()).await?)
    }
}
