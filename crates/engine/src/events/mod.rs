//! Progress: whoever wants to know how a task goes follows its journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::error::{Error, Result};
use kybern_core::event::{self, LogEntry};
use kybern_core::id::TaskId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use tokio::sync::Notify;

use crate::Engine;

/// How often the journal is looked at when the task is worked on by another process.
const POLL: Millis = Millis(500);
/// Rows that are read at once.
const PAGE: u32 = 200;

/// Who is waiting for news of which task. Only tasks that somebody waits for are kept.
#[derive(Default)]
pub struct Watchers {
    waiting: Mutex<HashMap<TaskId, Arc<Notify>>>,
}

impl Watchers {
    /// Registers interest. Look at the task after this and before waiting, so that nothing is missed.
    pub fn watch(&self, task: TaskId) -> Watch<'_> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let notify = Arc::clone(waiting.entry(task).or_default());
        Watch { watchers: self, task, notify }
    }

    /// Tells everybody who waits for this task.
    pub fn tell(&self, task: TaskId) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = waiting.get(&task) {
            notify.notify_waiters();
        }
    }
}

/// Interest in one task.
pub struct Watch<'a> {
    watchers: &'a Watchers,
    task: TaskId,
    notify: Arc<Notify>,
}

impl Watch<'_> {
    /// The next news. Register it (`enable`) before looking at the task.
    pub fn next(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut waiting = self.watchers.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // This watch and the map hold one each; somebody else who waits holds a third.
        if Arc::strong_count(&self.notify) <= 2 {
            waiting.remove(&self.task);
        }
    }
}

/// News of a task.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Log entries, in order.
    pub entries: Vec<LogEntry>,
    /// Whether the task has ended and everything was told.
    pub ended: bool,
}

impl Engine {
    /// Log entries after `after` (0 begins with the first; a negative number includes the creation), as soon as there
    /// are any, at most `at_most` later.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    ///
    /// # Cancel safety
    /// Dropping it loses nothing: ask again with the same `after`.
    pub async fn follow(&self, scope: TenantScope, id: TaskId, after: i64, at_most: Millis) -> Result<Followed> {
        let watch = self.inner.watchers.watch(id);
        let began = self.inner.clock.now();
        loop {
            let news = watch.next();
            tokio::pin!(news);
            news.as_mut().enable();
            let task = self.inner.store.task(scope, id).await?.ok_or_else(|| Error::not_found("task", id))?;
            let rows = self.inner.store.journal(scope, id, event::row_before(after).max(0), PAGE).await?;
            let mut entries: Vec<LogEntry> = Vec::new();
            if after < 0 {
                entries.push(event::created(&task));
            }
            entries.extend(rows.iter().flat_map(event::expand).filter(|entry| entry.seq > after));
            let full = rows.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            let ended = task.status.is_terminal() && !full;
            let waited = self.inner.clock.now().since(began);
            if !entries.is_empty() || ended || waited >= at_most {
                return Ok(Followed { entries, ended });
            }
            let left = Millis(at_most.0 - waited.0).min(POLL);
            // The time being up is the same as news: look again.
            let _ = tokio::time::timeout(left.as_duration(), news).await;
        }
    }
}
