//! The worker: claims tasks that are due, runs them, and keeps their leases alive.

use std::sync::Arc;

use kybern_core::approval::ApprovalStatus;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::ports::Heartbeat;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{Claimed, Commit, Effect, Lease, StepError, Task, TaskChange, TaskEnding, TaskStatus};
use kybern_core::time::{Millis, Timestamp};
use tracing::Instrument as _;

use crate::executor::active::ActiveRun;
use crate::executor::load::LoadedTask;
use crate::executor::patience::{Failure as _, until_available};
use crate::executor::run::TaskRun;
use crate::executor::{Kernel, RunStop};
use crate::slots::Slot;

/// By how much a clock is set back before it matters: what waits for less is not looked for.
const MIN_CLOCK_SETBACK: Millis = Millis::from_secs(1);
/// How long a worker rests after the store failed.
const REST: Millis = Millis(500);

/// Works on tasks: claims what is due, runs it, and keeps its leases.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) kernel: Arc<Kernel>,
}

impl Worker {
    pub(crate) async fn claim_loop(self) {
        let kernel = Arc::clone(&self.kernel);
        let stopping = kernel.stopping.clone();
        while !stopping.is_cancelled() {
            let Some(mut vacant) = kernel.slots.vacant().await else { return };
            if stopping.is_cancelled() {
                return;
            }
            let now = kernel.clock.now();
            let offer = WorkerCapacity { running: kernel.active.tasks(), ..vacant.offer() };
            match kernel.store.claim_due(&kernel.worker, &offer, kernel.settings.lease, now).await {
                Ok(claimed) if claimed.is_empty() => {
                    drop(vacant);
                    kernel.claims.end();
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = kernel.wake_ups.wait(kernel.settings.poll) => {}
                        () = kernel.slots.freed() => {}
                    }
                }
                Ok(claimed) => {
                    kernel.claims.end();
                    for task in claimed {
                        let slot = vacant.give(task.task.tenant);
                        self.run_claimed(Box::new(task), None, slot);
                    }
                }
                Err(error) => {
                    drop(vacant);
                    kernel.claims.begin(&error, kernel.clock.now());
                    tracing::error!(%error, "cannot claim tasks");
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = kernel.wake_ups.wait(REST) => {}
                    }
                }
            }
        }
    }

    /// Runs a claimed task in the background, holding a slot.
    pub(crate) fn run_claimed(&self, claimed: Box<Claimed>, has_documents: Option<bool>, slot: Option<Slot>) {
        let active = ActiveRun::new(claimed.lease.clone());
        self.kernel.active.enter(&active);
        // Boxed, because what is spawned is moved several times before it runs.
        let run = Box::pin(self.clone().in_its_span((claimed, active), has_documents));
        self.kernel.spawn(async move {
            run.await;
            drop(slot);
        });
    }

    fn in_its_span(
        self,
        (claimed, active): (Box<Claimed>, ActiveRun),
        has_documents: Option<bool>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (task, trace) = (claimed.lease.task(), claimed.task.trace_id.clone());
        let tenant = claimed.lease.scope().tenant();
        let span = tracing::info_span!("task.run", task.id = %task, tenant.id = %tenant, trace.id = %trace);
        self.run_to_rest((claimed, active), has_documents).instrument(span)
    }

    async fn run_to_rest(self, (claimed, active): (Box<Claimed>, ActiveRun), has_documents: Option<bool>) {
        let lease = claimed.lease.clone();
        let (id, tenant) = (lease.task(), lease.scope().tenant());
        let left = RunGuard { worker: self.clone(), active: active.clone() };
        let found = ClaimedFacts::of(&claimed.task);
        let lost = active.lost.clone();
        let known = Box::pin(until_available(|| LoadedTask::read(&self.kernel, &claimed, has_documents)));
        let outcome = match lost.run_until_cancelled(known).await {
            Some(Ok(known)) => Box::pin(TaskRun::new(&self.kernel, active, *claimed, known).drive()).await,
            Some(Err(error)) => {
                self.give_up_unreadable(&lease, &found, &error).await;
                Err(RunStop::Store(error))
            }
            None => Err(RunStop::Fenced),
        };
        drop(left);
        match outcome {
            Ok(()) => {}
            // A stop gives back what it cut short, and whoever takes the task up next resumes it.
            Err(RunStop::Fenced) if self.kernel.stopping.is_cancelled() => {
                tracing::info!(task.id = %id, tenant.id = %tenant, "cut short by the stop, to be resumed");
            }
            Err(RunStop::Fenced) => tracing::warn!(task.id = %id, tenant.id = %tenant, "lease lost, work discarded"),
            Err(RunStop::Store(error)) => {
                tracing::error!(task.id = %id, tenant.id = %tenant, %error, "run stopped, it goes on when its lease expires");
            }
        }
    }

    /// A task whose row, plan or journal this program cannot read is not tried for ever: after as many recoveries as
    /// any other it fails, and its journal stays for a program that can read it. If its cancellation
    /// was requested, it is cancelled at once.
    async fn give_up_unreadable(&self, lease: &Lease, found: &ClaimedFacts, error: &Error) {
        let ClaimedFacts { recoveries, status, cancel } = *found;
        if error.is_unavailable() || !(cancel || recoveries > self.kernel.settings.max_recoveries) {
            return;
        }
        let message = format!("given up while it was {status}, it cannot be loaded: {error}");
        let error = StepError { code: ErrorCode::Internal, message, retryable: false };
        let ending = TaskEnding {
            status: if cancel { TaskStatus::Cancelled } else { TaskStatus::Failed },
            result: serde_json::json!({"partial": true}),
            error: (!cancel).then_some(error),
            current_step: None,
        };
        let change = TaskChange::End(Box::new(ending));
        let at = self.kernel.time.now();
        let mut effects = vec![Effect::Close { wait_seq: None, status: ApprovalStatus::Withdrawn }];
        // A conversation goes on: who says the next thing in it does not wait for this turn.
        let task = self.kernel.store.task(lease.scope(), lease.task()).await;
        effects.extend(task.ok().flatten().and_then(|task| self.kernel.kinds.effect_of_lost_end(&task, at)));
        let commit = Commit { change, effects, at, ..Commit::default() };
        if let Err(refused) = self.kernel.store.commit(lease, commit.into()).await {
            tracing::error!(task.id = %lease.task(), %refused, "an unreadable task could not be given up");
        }
    }

    pub(crate) async fn heartbeat_loop(self) {
        let kernel = Arc::clone(&self.kernel);
        let mut rest = kernel.settings.heartbeat;
        let mut latest = kernel.clock.now();
        loop {
            latest = self.look_at_the_clock(latest).await;
            let beat = tokio::time::timeout(rest.as_duration(), kernel.stopping.cancelled()).await;
            let leases = kernel.active.leases();
            // While the engine stops, leases are kept until the last run has given its own back.
            if beat.is_ok() && leases.is_empty() {
                return;
            }
            // Leases that could not be prolonged are prolonged as soon as the store can.
            let is_held = leases.is_empty() || self.beat(&leases).await;
            rest = if is_held { kernel.settings.heartbeat } else { REST.min(kernel.settings.heartbeat) };
            if beat.is_ok() {
                let _ = tokio::time::timeout(REST.as_duration(), std::future::pending::<()>()).await;
            }
        }
    }

    /// If the clock was set back, sets due times back too. Answers the latest time seen.
    async fn look_at_the_clock(&self, latest: Timestamp) -> Timestamp {
        let (kernel, now) = (&self.kernel, self.kernel.clock.now());
        if now.plus(MIN_CLOCK_SETBACK) > latest {
            return now;
        }
        // What was queued since the clock was looked at last was due by then.
        let from = latest.plus(kernel.settings.heartbeat);
        let changed = async {
            Ok::<_, Error>(kernel.store.set_back(from, now).await? + kernel.store.set_jobs_back(from, now).await?)
        };
        match changed.await {
            Ok(changed) => {
                tracing::warn!(by = %latest.since(now), changed, "the clock was set back, what was due before is due");
                now
            }
            Err(error) => {
                tracing::error!(%error, "the clock was set back, and due times could not be adjusted");
                latest
            }
        }
    }

    /// Prolongs leases; answers whether the store has done it.
    async fn beat(&self, leases: &[Lease]) -> bool {
        let kernel = &self.kernel;
        match kernel.store.heartbeat(leases, kernel.settings.lease, kernel.clock.now()).await {
            Ok(answers) => {
                for (lease, answer) in leases.iter().zip(answers) {
                    match answer {
                        Heartbeat::Lost => kernel.active.lose(lease),
                        Heartbeat::Held(committed) if committed.cancel_requested || committed.paused => {
                            kernel.active.poke(lease.task());
                        }
                        Heartbeat::Held(committed) if committed.signals > 0 => kernel.active.poke(lease.task()),
                        Heartbeat::Held(_) => {}
                    }
                }
                true
            }
            Err(error) => {
                tracing::error!(%error, "heartbeat failed, leases may expire");
                false
            }
        }
    }
}

/// How a task was found that may turn out not to be readable.
struct ClaimedFacts {
    recoveries: u32,
    status: TaskStatus,
    cancel: bool,
}

impl ClaimedFacts {
    fn of(task: &Task) -> Self {
        Self { recoveries: task.recoveries, status: task.status, cancel: task.cancel_requested }
    }
}

/// Lets go of a run however it ends, a panic included: a lease that nobody lets go would be renewed for ever.
struct RunGuard {
    worker: Worker,
    active: ActiveRun,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.worker.kernel.active.leave(&self.active);
        self.worker.kernel.watchers.tell(self.active.lease.task());
    }
}
