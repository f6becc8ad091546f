//! What others want of a task, as far as its holder has been told.

use kybern_core::task::{Committed, Task};

/// Signals that were left, a wish to cancel, a pause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingSignals {
    /// How many signals have been left.
    signals: i64,
    /// How many the row counted when none of them was there; 0 as long as none is missing.
    missing: i64,
    /// Whether it is to be cancelled.
    pub(crate) cancel: bool,
    /// Whether it is to rest.
    pub(crate) paused: bool,
}

impl PendingSignals {
    /// What a task's row says.
    pub(crate) const fn of(task: &Task) -> Self {
        Self { signals: task.signals, missing: 0, cancel: task.cancel_requested, paused: task.paused_at.is_some() }
    }

    /// Notes what a commit has told.
    pub(crate) fn note(&mut self, told: Committed) {
        self.signals = self.signals.max(told.signals);
        self.cancel |= told.cancel_requested;
        self.paused = told.paused;
    }

    /// Notes that a signal of that number is there.
    pub(crate) fn note_signal(&mut self, number: i64) {
        self.signals = self.signals.max(number);
    }

    /// The row counts more than there are: what can be read is believed, and the row is told so, or looking for them would
    /// never end.
    pub(crate) const fn note_missing(&mut self, seen: i64) {
        self.missing = self.signals;
        self.signals = seen;
    }

    /// Whether signals have been left behind the last one that was seen.
    pub(crate) const fn has_news(&self, seen: i64) -> bool {
        self.signals > seen
    }

    /// Up to which number the row need not be looked at any more.
    pub(crate) fn seen(&self, seen: i64) -> i64 {
        seen.max(self.missing)
    }
}
