//! Tells workers that something may be due.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use kybern_core::ports::WakeUps;
use kybern_core::time::Millis;
use tokio::sync::Notify;

/// Everybody in this process who waits for hints.
#[derive(Default)]
pub(crate) struct WakeListeners {
    listeners: Mutex<Vec<Weak<Notify>>>,
}

impl WakeListeners {
    /// Tells every listener. One that is not waiting right now finds the hint at its next wait.
    pub(crate) fn fire(&self) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener.notify_one());
    }

    /// A new listener.
    pub(crate) fn listen(&self) -> Listener {
        let notify = Arc::new(Notify::new());
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&notify));
        Listener { notify }
    }
}

/// One who waits for hints. Each worker takes its own, so that none takes another's hint.
pub(crate) struct Listener {
    notify: Arc<Notify>,
}

#[async_trait]
impl WakeUps for Listener {
    async fn wait(&self, at_most: Millis) {
        // Whether it was a hint or the time that ended the wait makes no difference: both mean "look".
        drop(tokio::time::timeout(at_most.as_duration(), self.notify.notified()).await);
    }
}
