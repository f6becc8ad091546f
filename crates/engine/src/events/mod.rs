//! Progress: whoever wants to know how a task goes follows its journal.

mod live;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::actor::Actor;
use kybern_core::chat::{EventId, Heard, TurnEvent, in_log, start_in_log};
use kybern_core::error::Result;
use kybern_core::event::{self, LogEntry};
use kybern_core::id::TaskId;
use kybern_core::time::Millis;
use tokio::sync::{Notify, oneshot};

pub use live::{Live, Lives, Written};

use crate::Engine;
use crate::task::TaskView;

/// How often the journal is looked at when another process may work on the task: seldomer the longer nothing happens.
/// What happens here is told at once.
const FIRST_POLL: Millis = Millis(500);
const LAST_POLL: Millis = Millis(4_000);
/// Rows that are read at once.
const PAGE: u32 = 200;

/// Who is waiting for news of which task. Only tasks that somebody waits for are kept. It only says that there is
/// something to see; what it is everybody reads for themselves, with their own rights.
#[derive(Default)]
pub struct Watchers {
    waiting: Arc<Waiting>,
}

type Waiting = Mutex<HashMap<TaskId, (usize, Arc<Interest>)>>;

/// That somebody waits for a task.
#[derive(Default)]
struct Interest {
    /// Something was journaled, or is wanted of the task.
    news: Notify,
    /// How often there was news, so that nobody misses what came while they did not wait.
    told: AtomicU64,
    /// The task rests, or something is wanted of it: all that those are told who wait for its end.
    rests: Notify,
    /// Those who submitted the task and wait for it get to know how it stood when it first came to rest.
    submitters: Mutex<Vec<oneshot::Sender<TaskView>>>,
}

impl Watchers {
    /// Registers interest. Look at the task after this and before waiting, so that nothing is missed.
    pub fn watch(&self, task: TaskId) -> Watch {
        let mut waiting = self.lock();
        let (count, interest) = waiting.entry(task).or_default();
        *count += 1;
        Watch { waiting: Arc::clone(&self.waiting), task, interest: Arc::clone(interest) }
    }

    /// Whether its submitter waits for the task, and has not been told yet.
    pub fn is_awaited(&self, task: TaskId) -> bool {
        self.lock().get(&task).is_some_and(|(_, interest)| !interest.submitters().is_empty())
    }

    /// Something was journaled, and the task goes on: tells those who follow its journal.
    pub fn tell_followers(&self, task: TaskId) {
        if let Some((_, interest)) = self.lock().get(&task) {
            interest.has_news();
        }
    }

    /// Something is wanted of the task, or a run has been let go: tells everybody who waits for it.
    pub fn tell(&self, task: TaskId) {
        if let Some((_, interest)) = self.lock().get(&task) {
            interest.has_news();
            interest.rests.notify_waiters();
        }
    }

    /// The task rests: tells everybody, and its submitter how it stands. `view` is made only when one waits.
    pub fn tell_rest(&self, task: TaskId, view: impl FnOnce() -> TaskView) {
        let mut submitters = self.lock().get(&task).map(|(_, interest)| interest.take_submitters()).unwrap_or_default();
        if let Some(last) = submitters.pop() {
            let view = view();
            // Whoever has stopped waiting misses nothing.
            submitters.into_iter().for_each(|submitter| drop(submitter.send(view.clone())));
            drop(last.send(view));
        }
        self.tell(task);
    }

    /// How many tasks somebody waits for.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, (usize, Arc<Interest>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interest {
    fn has_news(&self) {
        self.told.fetch_add(1, Ordering::Release);
        self.news.notify_waiters();
    }

    fn submitters(&self) -> MutexGuard<'_, Vec<oneshot::Sender<TaskView>>> {
        self.submitters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_submitters(&self) -> Vec<oneshot::Sender<TaskView>> {
        std::mem::take(&mut *self.submitters())
    }
}

/// Interest in one task.
pub struct Watch {
    waiting: Arc<Waiting>,
    task: TaskId,
    interest: Arc<Interest>,
}

impl Watch {
    /// How often there was news since somebody first watched the task. It changes before [`Watch::next`] is told.
    pub fn told(&self) -> u64 {
        self.interest.told.load(Ordering::Acquire)
    }

    /// The next news. Register it (`enable`) before looking at the task.
    pub fn next(&self) -> tokio::sync::futures::Notified<'_> {
        self.interest.news.notified()
    }

    /// The next rest, or wish. Register it (`enable`) before looking at the task.
    pub fn rest(&self) -> tokio::sync::futures::Notified<'_> {
        self.interest.rests.notified()
    }

    /// How the task stands when it first comes to rest in this process. For whoever is about to submit it: nobody else
    /// may see it without having read it.
    pub(crate) fn first_rest(&self) -> oneshot::Receiver<TaskView> {
        let (submitter, view) = oneshot::channel();
        self.interest.submitters().push(submitter);
        view
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((count, _)) = waiting.get_mut(&self.task) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self.task);
            }
        }
    }
}

/// News of a task.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Log entries, in order.
    pub entries: Vec<LogEntry>,
    /// What readers of a turn are told, with the places between those of the entries; nothing for other tasks.
    pub messages: Vec<(EventId, TurnEvent)>,
    /// Whether the task has ended and everything was told.
    pub ended: bool,
}

impl Engine {
    /// Log entries and, of a turn, messages after `after` (0 begins with the first; a negative number includes the
    /// creation), as soon as there are any, at most `at_most` later.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    ///
    /// # Cancel safety
    /// Dropping it loses nothing: ask again with the same `after`.
    pub async fn follow(&self, actor: &Actor, id: TaskId, after: EventId, at_most: Millis) -> Result<Followed> {
        let watch = self.inner.watchers.watch(id);
        let began = self.inner.clock.now();
        let mut poll = FIRST_POLL;
        loop {
            let news = watch.next();
            tokio::pin!(news);
            news.as_mut().enable();
            let task = self.task_for(actor, id).await?;
            let rows = self.inner.store.journal(actor.scope(), id, event::row_before(after.row).max(0), PAGE).await?;
            let mut entries: Vec<LogEntry> = Vec::new();
            if after.row < 0 {
                entries.push(event::created(&task));
            }
            let is_new = |place: EventId| place > after;
            entries.extend(rows.iter().flat_map(event::expand).filter(|entry| is_new(EventId::at(entry.seq))));
            let mut messages = Vec::new();
            if let Some(turn) = task.turn() {
                let heard = Heard { task: id, turn };
                messages.push(start_in_log(&heard));
                messages.extend(rows.iter().flat_map(|row| in_log(&heard, row)));
                messages.retain(|(place, _)| is_new(*place));
            }
            let full = rows.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            let ended = task.status.is_terminal() && !full;
            let waited = self.inner.clock.now().since(began);
            if !entries.is_empty() || !messages.is_empty() || ended || waited >= at_most {
                return Ok(Followed { entries, messages, ended });
            }
            let left = Millis(at_most.0 - waited.0).min(poll);
            // The time being up is the same as news: look again.
            if tokio::time::timeout(left.as_duration(), news).await.is_err() {
                poll = Millis(poll.0.saturating_mul(2)).min(LAST_POLL);
            }
        }
    }
}
