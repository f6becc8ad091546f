//! Jobs: background work on the same kind of lease, with retry, dead letter and dedupe.
//!
//! A job ends done, or dead after its last try. Before it is put to rest as dead it is wound up: what it was to carry
//! out gets its own honest end, so that nothing is left on its way for ever. A job whose last try came to no end, since
//! its worker died, is claimed once more to be wound up, and again until that has succeeded.

mod outbox;
mod receiver;
mod sign;
mod wind_up;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kybern_core::job::{ClaimedJob, JobEnd};
use kybern_core::plan::RetryPolicy;
use kybern_core::policy::redact;
use kybern_core::ports::WakeUps;
use kybern_core::slots::WorkerCapacity;
use kybern_core::time::{Millis, Timestamp};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::executor::Kernel;
use crate::executor::patience::until_available;
use crate::slots::Slots;
use crate::trouble::Trouble;
pub(crate) use outbox::OutboxSender;
pub(crate) use receiver::{Receiver, Receivers};

/// How long one try may take: longer than a sender of mail may take to say what became of a message, so that a mail
/// that surely was not sent is never taken for one that may have been.
const TIMEOUT: Millis = Millis(300_000);
const _: () = assert!(TIMEOUT.0 > kybern_core::mail::MAX_SEND.0);
/// What is said of a job whose last try came to no end.
const CUT_OFF: &str = "the last try was cut off: its worker died, or could not reach the database";

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
    /// It waits until then, and this counts as no try.
    pub(crate) put_off: Option<Timestamp>,
    /// Whether it only waits for others: nothing has failed.
    pub(crate) only_waits: bool,
}

impl JobFailure {
    pub(crate) fn permanent(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: false, put_off: None, only_waits: false }
    }

    pub(crate) fn transient(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: true, put_off: None, only_waits: false }
    }

    /// It has to wait for others; that is no try.
    pub(crate) fn put_off(message: impl Into<String>, until: Timestamp) -> Self {
        Self { message: message.into(), retryable: true, put_off: Some(until), only_waits: true }
    }
}

/// Where the words of an ended try are kept, people read them.
fn kept(words: String) -> String {
    redact::redacted(words)
}

impl From<kybern_core::error::Error> for JobFailure {
    fn from(error: kybern_core::error::Error) -> Self {
        Self::transient(error.to_string())
    }
}

/// What a job's handler needs, as it was committed.
pub(crate) fn read<T: DeserializeOwned>(job: &ClaimedJob) -> Result<T, JobFailure> {
    let read = serde_json::from_value(job.payload.clone());
    read.map_err(|error| JobFailure::permanent(format!("the job cannot be read: {error}")))
}

/// Carries out the jobs of one kind.
#[async_trait]
pub(crate) trait JobHandler: Send + Sync {
    /// Carries one out. It may be called again for the same job.
    async fn run(&self, job: &ClaimedJob) -> Result<(), JobFailure>;

    /// Ends what a job that is given up has not carried out, and says why; `true` when it had been carried out all the
    /// same. Done again after a crash, it goes on where it was.
    async fn wind_up(&self, _job: &ClaimedJob, _reason: &str) -> Result<bool, JobFailure> {
        Ok(false)
    }
}

/// Who carries out which kind of job.
pub(crate) type JobHandlers = BTreeMap<&'static str, Arc<dyn JobHandler>>;

type RunningJobs = Arc<Mutex<BTreeSet<Uuid>>>;

/// That a job runs in this process, until this goes.
struct RunningJob {
    jobs: RunningJobs,
    job: Uuid,
}

impl RunningJob {
    fn enter(jobs: &RunningJobs, job: Uuid) -> Self {
        jobs.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
        Self { jobs: Arc::clone(jobs), job }
    }

    fn all(jobs: &RunningJobs) -> Vec<Uuid> {
        jobs.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.job);
    }
}

/// Works on jobs: claims what is due, hands it to its handler, and says how it ended.
#[derive(Clone)]
pub(crate) struct JobWorker {
    pub(crate) kernel: Arc<Kernel>,
    /// Hints that a job is due.
    pub(crate) wake_ups: Arc<dyn WakeUps>,
    pub(crate) slots: Arc<Slots>,
    /// What claims of jobs fail at.
    pub(crate) claims: Arc<Trouble>,
}

impl JobWorker {
    pub(crate) async fn claim_loop(self, handlers: JobHandlers) {
        let handlers = Arc::new(handlers);
        let kernel = Arc::clone(&self.kernel);
        let stopping = kernel.stopping.clone();
        let running = Arc::new(Mutex::new(BTreeSet::new()));
        while !stopping.is_cancelled() {
            let Some(mut vacant) = self.slots.vacant().await else { return };
            if stopping.is_cancelled() {
                return;
            }
            let offer = WorkerCapacity { running: RunningJob::all(&running), ..vacant.offer() };
            let now = kernel.clock.now();
            match kernel.store.claim_jobs(&kernel.worker, &offer, kernel.settings.lease, now).await {
                Ok(jobs) if !jobs.is_empty() => {
                    self.claims.end();
                    for job in jobs {
                        let (worker, slot) = (self.clone(), vacant.give(job.scope().tenant()));
                        let handler = handlers.get(job.kind.as_str()).cloned();
                        let mine = RunningJob::enter(&running, job.id.as_uuid());
                        let work = async move {
                            worker.run_job(job, handler.as_deref()).await;
                            drop((mine, slot));
                        };
                        kernel.spawn(work);
                    }
                }
                claimed => {
                    drop(vacant);
                    match claimed {
                        Ok(_none) => self.claims.end(),
                        Err(error) => {
                            self.claims.begin(&error, kernel.clock.now());
                            tracing::error!(%error, "cannot claim jobs");
                        }
                    }
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = self.wake_ups.wait(kernel.settings.poll) => {}
                        () = self.slots.freed() => {}
                    }
                }
            }
        }
    }

    /// Tries a job and says how that ended. When its lease is lost the work is dropped where it stands, as by a crash:
    /// somebody else goes on with it.
    async fn run_job(&self, job: ClaimedJob, handler: Option<&dyn JobHandler>) {
        let end = tokio::select! {
            biased;
            end = self.try_job(&job, handler) => end,
            () = self.lease_lost(&job) => None,
        };
        let Some(end) = end else {
            tracing::warn!(job.id = %job.id, job.kind = %job.kind, "job lease lost, work discarded");
            return;
        };
        // What the try came to is written as soon as the store is available; the fence says whose job it is by then.
        let mut asked = 0;
        let finished = until_available(|| {
            asked += 1;
            self.kernel.store.finish_job(&job, end.clone(), self.kernel.clock.now())
        });
        match finished.await {
            Ok(true) => {}
            // An earlier try of the write may have ended it.
            Ok(false) if asked > 1 => {}
            Ok(false) => tracing::warn!(job.id = %job.id, "job lease lost, work discarded"),
            Err(error) => tracing::error!(job.id = %job.id, %error, "cannot finish job, its lease will expire"),
        }
    }

    /// How the try ended; `None` when the lease was lost before the job could be wound up.
    async fn try_job(&self, job: &ClaimedJob, handler: Option<&dyn JobHandler>) -> Option<JobEnd> {
        if let Some(problem) = &job.unreadable {
            let error = kept(format!("the job cannot be read: {problem}"));
            tracing::error!(job.id = %job.id, job.kind = %job.kind, %error, "job is dead");
            return Some(JobEnd::Dead { error });
        }
        let result = if job.attempt > job.max_attempts {
            Err(JobFailure::permanent(CUT_OFF))
        } else {
            let handled = tokio::time::timeout(TIMEOUT.as_duration(), handle(handler, job)).await;
            handled.unwrap_or_else(|_elapsed| Err(JobFailure::transient(format!("took longer than {TIMEOUT}"))))
        };
        let (failure, tries) = match result {
            Ok(()) => return Some(JobEnd::Done),
            Err(JobFailure { message, put_off: Some(due_at), only_waits, .. }) => {
                let error = kept(message);
                if !only_waits {
                    failed(job, &error);
                }
                return Some(JobEnd::PutOff { error, due_at });
            }
            Err(failure) if failure.retryable && job.attempt < job.max_attempts => (failure, job.attempt),
            Err(failure) => {
                // What somebody else is about to send is not ours to give up.
                if !self.renew(job).await {
                    return None;
                }
                let wound_up = match handler {
                    Some(handler) => handler.wind_up(job, &failure.message).await,
                    // Nobody knows what such a job was to do.
                    None => Ok(false),
                };
                match wound_up {
                    Ok(true) => return Some(JobEnd::Done),
                    Ok(false) => {
                        let error = kept(failure.message);
                        tracing::error!(job.id = %job.id, job.kind = %job.kind, %error, "job is dead");
                        return Some(JobEnd::Dead { error });
                    }
                    // Winding up has no last try, and pauses of its own.
                    Err(fault) => (fault, 1 + job.attempt.saturating_sub(job.max_attempts)),
                }
            }
        };
        let due_at = self.kernel.clock.now().plus(BACKOFF.delay(tries, self.kernel.random.unit()));
        let error = kept(failure.message);
        failed(job, &error);
        Some(JobEnd::Retry { error, due_at })
    }

    /// Gives signs of life, and ends when the lease is somebody else's.
    async fn lease_lost(&self, job: &ClaimedJob) {
        let beat = self.kernel.settings.heartbeat.as_duration();
        loop {
            // Running out of time is the beat.
            if tokio::time::timeout(beat, std::future::pending::<()>()).await.is_err() && !self.renew(job).await {
                return;
            }
        }
    }

    /// Whether the lease is held still. A store that does not answer is no proof that it is lost.
    async fn renew(&self, job: &ClaimedJob) -> bool {
        let kernel = &self.kernel;
        let renewed = kernel.store.renew_job(job, kernel.settings.lease, kernel.clock.now()).await;
        renewed.unwrap_or_else(|error| {
            tracing::error!(job.id = %job.id, %error, "job heartbeat failed, its lease may expire");
            true
        })
    }
}

fn failed(job: &ClaimedJob, error: &str) {
    tracing::warn!(job.id = %job.id, job.kind = %job.kind, attempt = job.attempt, %error, "job failed, it is tried again");
}

async fn handle(handler: Option<&dyn JobHandler>, job: &ClaimedJob) -> Result<(), JobFailure> {
    match handler {
        Some(handler) => handler.run(job).await,
        None => Err(JobFailure::permanent(format!("no handler for jobs of kind {:?}", job.kind))),
    }
}
