//! Jobs: background work on the same kind of lease, with retry, dead letter and dedupe.

mod outbox;
mod sign;

use std::sync::Arc;

use kybern_core::job::{ClaimedJob, JobEnd};
use kybern_core::plan::RetryPolicy;
use kybern_core::time::Millis;

use crate::Engine;

/// How long a job's lease holds; no handler may take longer. A job whose process died goes on after it.
const LEASE: Millis = Millis(120_000);
/// How long one try may take: longer than a mail server may take to fail, so that a mail that surely was not sent is
/// never taken for one that may have been.
const TIMEOUT: Millis = Millis(110_000);

/// The pauses between the tries of a job.
const BACKOFF: RetryPolicy = RetryPolicy {
    max_attempts: 20,
    initial_delay_ms: Millis(1_000),
    max_delay_ms: Millis(15 * 60 * 1000),
    backoff_multiplier: 3.0,
};

/// How a handler's try failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobFailure {
    /// What went wrong.
    pub(crate) message: String,
    /// Whether another try may help.
    pub(crate) retryable: bool,
}

impl JobFailure {
    fn permanent(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: false }
    }

    fn transient(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: true }
    }
}

impl From<kybern_core::error::Error> for JobFailure {
    fn from(error: kybern_core::error::Error) -> Self {
        Self::transient(error.to_string())
    }
}

impl Engine {
    pub(crate) async fn job_loop(self) {
        let inner = Arc::clone(&self.inner);
        let slots = Arc::new(tokio::sync::Semaphore::new(inner.settings.job_slots.max(1)));
        let stopping = inner.stopping.clone();
        while !stopping.is_cancelled() {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
            let claimed = inner.store.claim_jobs(&inner.worker, 1, LEASE, inner.clock.now()).await;
            match claimed {
                Ok(jobs) if !jobs.is_empty() => {
                    let mut slot = Some(slot);
                    for job in jobs {
                        let (engine, slot) = (self.clone(), slot.take());
                        let work = async move {
                            engine.run_job(job).await;
                            drop(slot);
                        };
                        #[expect(clippy::disallowed_methods, reason = "tracked by the engine")]
                        tokio::spawn(inner.spawned.track_future(work));
                    }
                }
                claimed => {
                    drop(slot);
                    if let Err(error) = claimed {
                        tracing::error!(%error, "cannot claim jobs");
                    }
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = inner.job_wake_ups.wait(inner.settings.poll) => {}
                    }
                }
            }
        }
    }

    async fn run_job(&self, job: ClaimedJob) {
        let handled = tokio::time::timeout(TIMEOUT.as_duration(), self.handle(&job)).await;
        let result =
            handled.unwrap_or_else(|_elapsed| Err(JobFailure::transient(format!("took longer than {TIMEOUT}"))));
        let now = self.inner.clock.now();
        let end = match result {
            Ok(()) => JobEnd::Done,
            Err(failure) if failure.retryable && job.attempt < job.max_attempts => {
                let due_at = now.plus(BACKOFF.delay(job.attempt, self.inner.random.unit()));
                JobEnd::Retry { error: failure.message, due_at }
            }
            Err(failure) => {
                tracing::error!(job.id = %job.id, job.kind = %job.kind, error = %failure.message, "job is dead");
                JobEnd::Dead { error: failure.message }
            }
        };
        match self.inner.store.finish_job(&job, end, now).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!(job.id = %job.id, "job lease lost, work discarded"),
            Err(error) => tracing::error!(job.id = %job.id, %error, "cannot finish job, its lease will expire"),
        }
    }

    async fn handle(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        match job.kind.as_str() {
            "outbox.send" => self.send_outbox(job).await,
            other => Err(JobFailure::permanent(format!("no handler for jobs of kind {other:?}"))),
        }
    }
}
