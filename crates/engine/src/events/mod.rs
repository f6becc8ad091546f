//! Progress: whoever wants to know how a task goes follows its journal.

mod live;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::id::TaskId;
use tokio::sync::{Notify, oneshot};

pub use live::{LiveReplies, LiveReply, WrittenPieces};

/// Who is waiting for news of which task. Only tasks that somebody waits for are kept. It only says that there is
/// something to see; what it is everybody reads for themselves, with their own rights.
pub struct TaskWatchers<V> {
    waiting: Arc<WaitTable<V>>,
}

/// By task how many wait, and for what.
type WaitCounts<V> = HashMap<TaskId, (usize, Arc<TaskInterest<V>>)>;
type WaitTable<V> = Mutex<WaitCounts<V>>;

/// Those who are told once how a task came to rest.
type Submitters<V> = Vec<oneshot::Sender<V>>;

/// That somebody waits for a task.
struct TaskInterest<V> {
    /// Something was journaled, or is wanted of the task.
    news: Notify,
    /// How often there was news, so that nobody misses what came while they did not wait.
    told: AtomicU64,
    /// The task rests, or something is wanted of it: all that those are told who wait for its end.
    rests: Notify,
    /// Those who submitted the task and wait for it get to know how it stood when it first came to rest.
    submitters: Mutex<Submitters<V>>,
}

impl<V> Default for TaskWatchers<V> {
    fn default() -> Self {
        Self { waiting: Arc::default() }
    }
}

impl<V> Default for TaskInterest<V> {
    fn default() -> Self {
        Self { news: Notify::new(), told: AtomicU64::new(0), rests: Notify::new(), submitters: Mutex::default() }
    }
}

impl<V: Clone> TaskWatchers<V> {
    /// Registers interest. Look at the task after this and before waiting, so that nothing is missed.
    pub fn watch(&self, task: TaskId) -> TaskWatch<V> {
        let mut waiting = self.lock();
        let (count, interest) = waiting.entry(task).or_default();
        *count += 1;
        TaskWatch { waiting: Arc::clone(&self.waiting), task, interest: Arc::clone(interest) }
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
    pub fn tell_rest(&self, task: TaskId, view: impl FnOnce() -> V) {
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

    fn lock(&self) -> MutexGuard<'_, WaitCounts<V>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> TaskInterest<V> {
    fn has_news(&self) {
        self.told.fetch_add(1, Ordering::Release);
        self.news.notify_waiters();
    }

    fn submitters(&self) -> MutexGuard<'_, Submitters<V>> {
        self.submitters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_submitters(&self) -> Submitters<V> {
        std::mem::take(&mut *self.submitters())
    }
}

/// Interest in one task.
pub struct TaskWatch<V> {
    waiting: Arc<WaitTable<V>>,
    task: TaskId,
    interest: Arc<TaskInterest<V>>,
}

impl<V> TaskWatch<V> {
    /// How often there was news since somebody first watched the task. It changes before [`TaskWatch::next`] is told.
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
    pub(crate) fn first_rest(&self) -> oneshot::Receiver<V> {
        let (submitter, view) = oneshot::channel();
        self.interest.submitters().push(submitter);
        view
    }
}

impl<V> Drop for TaskWatch<V> {
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
