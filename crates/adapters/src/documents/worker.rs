//! Where documents are read: a thread of its own with a deep stack, a time limit, and panics caught.
//!
//! The libraries below recurse, panic and loop on hostile input. None of that may reach the server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kybern_core::document::{DocumentFault, FaultKind};
use tokio::sync::{Semaphore, oneshot};

use crate::workers::{Stop, StopOnDrop};

/// How long one document may take.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Stack of a worker; it is only reserved, not used up.
const STACK_BYTES: usize = 64 * 1024 * 1024;
/// Workers that overran their time and did not end yet. At this number nothing new is started.
const MAX_OVERRUN: usize = 8;

/// The slots in which documents are read.
#[derive(Debug)]
pub(super) struct Workers {
    slots: Semaphore,
    running: Arc<AtomicUsize>,
    most: usize,
    limit: Duration,
}

impl Workers {
    /// One slot for each core.
    pub(super) fn new() -> Self {
        Self::with_limit(TIME_LIMIT)
    }

    fn with_limit(limit: Duration) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { slots: Semaphore::new(cores), running: Arc::default(), most: cores + MAX_OVERRUN, limit }
    }

    /// Runs `work` on a thread of its own.
    ///
    /// # Errors
    /// What `work` answers; `Broken` when it panicked; `TooLarge` when it took too long; `Busy` when no more can be begun.
    ///
    /// # Cancel safety
    /// When the future is dropped the work is told to stop and its result is forgotten.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, DocumentFault>
    where
        T: Send + 'static,
        F: FnOnce(&Stop) -> Result<T, DocumentFault> + Send + 'static,
    {
        let _slot = self.slots.acquire().await.map_err(|_| busy())?;
        if self.running.load(Ordering::Relaxed) >= self.most {
            return Err(busy());
        }
        let stop = Stop::default();
        let _stop_on_drop = StopOnDrop(stop.clone());
        let (answer, waiting) = oneshot::channel();
        let running = Arc::clone(&self.running);
        running.fetch_add(1, Ordering::Relaxed);
        let started = std::thread::Builder::new().name("kybern-document".to_owned()).stack_size(STACK_BYTES).spawn({
            let running = Arc::clone(&running);
            move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&stop)));
                running.fetch_sub(1, Ordering::Relaxed);
                drop(answer.send(outcome.unwrap_or_else(|_| Err(broken()))));
            }
        });
        if started.is_err() {
            running.fetch_sub(1, Ordering::Relaxed);
            return Err(busy());
        }
        match tokio::time::timeout(self.limit, waiting).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(broken()),
            Err(_) => {
                let seconds = self.limit.as_secs();
                Err(DocumentFault::new(FaultKind::TooLarge, format!("reading it took longer than {seconds} seconds")))
            }
        }
    }
}

fn broken() -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, "it is damaged in a way that stopped the reader")
}

fn busy() -> DocumentFault {
    DocumentFault::new(FaultKind::Busy, "too many documents that cannot be read in time are waiting")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_broken_document() {
        let outcome: Result<(), _> = Workers::new().run(|_| panic!("a library gave up")).await;
        assert_eq!(outcome.unwrap_err().kind, FaultKind::Broken);
    }

    #[tokio::test]
    async fn too_much_work_is_no_fault_of_the_document() {
        let workers = Workers::new();
        workers.running.store(workers.most, Ordering::Relaxed);
        let fault = workers.run(|_| Ok(())).await.unwrap_err();
        assert!(fault.kind == FaultKind::Busy && fault.kind.is_transient());
        workers.running.store(0, Ordering::Relaxed);
        assert_eq!(workers.run(|_| Ok(7)).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn work_that_overruns_is_given_up_and_told() {
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let outcome: Result<(), _> = Workers::with_limit(Duration::from_millis(20))
            .run(move |stop| {
                while !stop.is_set() {
                    std::thread::yield_now();
                }
                told.send(()).unwrap();
                Ok(())
            })
            .await;
        assert_eq!(outcome.unwrap_err().kind, FaultKind::TooLarge);
        assert_eq!(heard.recv().await, Some(()));
    }
}
