//! The pieces of a reply while it is being written. They are in memory only, for whoever reads along; once the reply is
//! journaled, the journal has them too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kybern_core::id::TaskId;
use tokio::sync::Notify;

/// What of a task's present reply is there.
#[derive(Default)]
pub struct LiveReply {
    written: Mutex<WrittenPieces>,
    /// More is there, or it has begun anew.
    pub news: Notify,
}

/// The pieces so far.
#[derive(Clone, Debug, Default)]
pub struct WrittenPieces {
    /// The last row of the journal when the model was asked.
    pub behind: i64,
    pub pieces: Vec<Arc<str>>,
}

impl LiveReply {
    /// A reply begins.
    pub fn begin(&self, behind: i64) {
        *self.lock() = WrittenPieces { behind, pieces: Vec::new() };
    }

    /// The next piece.
    pub fn add(&self, piece: &str) {
        self.lock().pieces.push(piece.into());
        self.news.notify_waiters();
    }

    /// The pieces from the `from`th on, of the reply that was asked for behind that row.
    #[must_use]
    pub fn since(&self, behind: i64, from: usize) -> Vec<Arc<str>> {
        let written = self.lock();
        if written.behind != behind {
            return Vec::new();
        }
        written.pieces.get(from..).map(<[Arc<str>]>::to_vec).unwrap_or_default()
    }

    /// Everything so far.
    #[must_use]
    pub fn written(&self) -> WrittenPieces {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, WrittenPieces> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The replies that somebody writes or reads now.
#[derive(Default)]
pub struct LiveReplies {
    by_task: Mutex<HashMap<TaskId, Weak<LiveReply>>>,
}

impl LiveReplies {
    /// How many replies somebody holds.
    pub(crate) fn count(&self) -> usize {
        let by_task = self.by_task.lock().unwrap_or_else(PoisonError::into_inner);
        by_task.values().filter(|live| live.strong_count() > 0).count()
    }

    /// The reply of a task. All who hold it share it.
    pub fn of(&self, task: TaskId) -> Arc<LiveReply> {
        let mut by_task = self.by_task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = by_task.get(&task).and_then(Weak::upgrade) {
            return live;
        }
        // Whoever comes clears away those that nobody holds any more; so there are never more than twice as many.
        if by_task.len() >= 64 && by_task.len().is_power_of_two() {
            by_task.retain(|_, live| live.strong_count() > 0);
        }
        let live = Arc::new(LiveReply::default());
        by_task.insert(task, Arc::downgrade(&live));
        live
    }
}
