//! The tasks that this process holds under a lease right now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::id::TaskId;
use kybern_core::task::Lease;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How others reach a run.
#[derive(Clone, Debug)]
pub struct ActiveRun {
    pub lease: Lease,
    /// Tells it that something changed: a signal, a wish to cancel or pause.
    pub changed: Arc<Notify>,
    /// Tells it that its lease is somebody else's, or must be given up: stop at once and write nothing.
    pub lost: CancellationToken,
    /// Tells it that this is because the process stops: it may still say what it has begun.
    pub abandoned: CancellationToken,
}

impl ActiveRun {
    /// One that nobody can reach yet.
    #[must_use]
    pub fn new(lease: Lease) -> Self {
        Self { lease, changed: Arc::default(), lost: CancellationToken::new(), abandoned: CancellationToken::new() }
    }
}

#[derive(Default)]
pub struct ActiveRuns {
    runs: Mutex<HashMap<TaskId, ActiveRun>>,
}

impl ActiveRuns {
    pub fn enter(&self, run: &ActiveRun) {
        self.lock().insert(run.lease.task(), run.clone());
    }

    /// Leaves. Another run of the same task is left alone.
    pub fn leave(&self, run: &ActiveRun) {
        let mut runs = self.lock();
        let task = run.lease.task();
        if runs.get(&task).is_some_and(|known| Arc::ptr_eq(&known.changed, &run.changed)) {
            runs.remove(&task);
        }
    }

    /// Forgets whoever holds a task under that lease.
    pub fn forget(&self, lease: &Lease) {
        let mut runs = self.lock();
        if runs.get(&lease.task()).is_some_and(|run| run.lease.epoch() == lease.epoch()) {
            runs.remove(&lease.task());
        }
    }

    /// Tells a run that something changed. Nothing happens when this process does not hold the task.
    pub fn poke(&self, task: TaskId) {
        if let Some(run) = self.lock().get(&task) {
            run.changed.notify_one();
        }
    }

    /// Every lease that is held.
    #[must_use]
    pub fn leases(&self) -> Vec<Lease> {
        self.lock().values().map(|run| run.lease.clone()).collect()
    }

    /// Every task that is held.
    #[must_use]
    pub fn tasks(&self) -> Vec<Uuid> {
        self.lock().keys().map(|task| task.as_uuid()).collect()
    }

    /// How many tasks are held.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Tells a run that its lease is lost.
    pub fn lose(&self, lease: &Lease) {
        if let Some(run) = self.lock().get(&lease.task()).filter(|run| run.lease.epoch() == lease.epoch()) {
            run.lost.cancel();
        }
    }

    /// Tells every run to stop at once; what they were doing is resumed by the next holder.
    pub fn abandon_all(&self) {
        for run in self.lock().values() {
            run.abandoned.cancel();
            run.lost.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TaskId, ActiveRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
