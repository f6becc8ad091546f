//! Where local tools compute, and documents and mail are read: on a few threads of their own, never on those that answer
//! requests. The libraries below recurse, panic and loop on hostile input; none of that may reach the server.
//!
//! A thread cannot be killed, so whoever computes looks at its [`StopFlag`] in every loop that a caller's input can make
//! long. A slot is held until the work has really ended, so there are never more threads than slots, and no tenant has
//! all of them.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kybern_core::document::{DocumentFault, FaultKind};
use kybern_core::error::ErrorCode;
use kybern_core::id::TenantId;
use kybern_core::mail::MailFault;
use kybern_core::tool::ToolFailure;
use tokio::sync::oneshot;

/// The fewest slots: the operating system shares the cores among more threads than there are cores.
const MIN_SLOTS: usize = 4;
/// Calls of one tenant that wait for a slot. More are refused.
const MAX_WAITING: usize = 64;
/// How long a call waits for a slot.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Why work has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WorkerFault {
    /// There was no slot for it: it was never begun.
    Busy,
    /// It took longer than this, or nobody waits for it any more.
    TooLong(Duration),
    Panicked,
}

impl From<WorkerFault> for ToolFailure {
    fn from(fault: WorkerFault) -> Self {
        match fault {
            WorkerFault::Busy => {
                let message = "too many calls of this organisation compute already: call again when some have ended";
                Self::transient(message).code(ErrorCode::RateLimited)
            }
            // Not tried again: it would take as long once more.
            WorkerFault::TooLong(limit) => {
                let seconds = limit.as_secs_f64();
                let message =
                    format!("the call computed for more than {seconds} s and was stopped: give it less to work on");
                Self::permanent(message).code(ErrorCode::Timeout)
            }
            WorkerFault::Panicked => {
                let message = "the tool failed on these arguments, a fault of the server";
                Self::permanent(message).code(ErrorCode::Internal)
            }
        }
    }
}

impl From<WorkerFault> for DocumentFault {
    fn from(fault: WorkerFault) -> Self {
        match fault {
            WorkerFault::Busy => {
                Self::new(FaultKind::Busy, "too many documents of this organisation are being read already")
            }
            WorkerFault::TooLong(limit) => {
                let seconds = limit.as_secs_f64();
                Self::new(FaultKind::TooLarge, format!("reading it took longer than {seconds} seconds"))
            }
            WorkerFault::Panicked => Self::new(FaultKind::Broken, "it is damaged in a way that stopped the reader"),
        }
    }
}

impl From<WorkerFault> for MailFault {
    fn from(fault: WorkerFault) -> Self {
        match fault {
            WorkerFault::Busy => Self::Busy("too much mail of this organisation is being read already".to_owned()),
            WorkerFault::TooLong(limit) => {
                Self::TooLarge(format!("taking it apart took longer than {} seconds", limit.as_secs_f64()))
            }
            WorkerFault::Panicked => Self::Broken("its structure is damaged".to_owned()),
        }
    }
}

/// Says that nobody waits for the result any more. Long loops look at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Whether to give up.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// A mark that is set.
    #[cfg(test)]
    pub(crate) fn set() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Ends the work when nobody waits for it.
    ///
    /// # Errors
    /// When to give up.
    pub(crate) fn check(&self) -> Result<(), WorkerFault> {
        // Nobody reads what is said to one that nobody waits for.
        if self.is_set() { Err(WorkerFault::TooLong(Duration::ZERO)) } else { Ok(()) }
    }
}

/// Sets the mark when the waiting future ends, whichever way it ends.
struct StopOnDrop(StopFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// The slots in which work is done. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    shared: Arc<WorkerPool>,
}

#[derive(Debug)]
struct WorkerPool {
    slots: usize,
    /// The most slots that one tenant has.
    share: usize,
    stack_bytes: usize,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    busy: BTreeMap<TenantId, usize>,
    waiting: VecDeque<(TenantId, oneshot::Sender<Slot>)>,
}

impl WorkerPool {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self, queue: &Queue, tenant: TenantId) -> bool {
        queue.busy.values().sum::<usize>() < self.slots && queue.busy_of(tenant) < self.share
    }

    /// The next call that may begin: of the tenant with the fewest slots, the one that has waited longest.
    fn next(&self, queue: &mut Queue) -> Option<(TenantId, oneshot::Sender<Slot>)> {
        let may_begin = |(tenant, _): &&(TenantId, oneshot::Sender<Slot>)| self.has_room(queue, *tenant);
        let fewest = queue.waiting.iter().filter(may_begin).map(|(tenant, _)| queue.busy_of(*tenant)).min()?;
        let first = queue
            .waiting
            .iter()
            .position(|(tenant, _)| queue.busy_of(*tenant) == fewest && self.has_room(queue, *tenant))?;
        queue.waiting.remove(first)
    }
}

impl Queue {
    fn busy_of(&self, tenant: TenantId) -> usize {
        self.busy.get(&tenant).copied().unwrap_or(0)
    }
}

/// A place to compute. Whoever drops it lets the next one in.
#[derive(Debug)]
struct Slot {
    shared: Arc<WorkerPool>,
    tenant: TenantId,
}

impl Slot {
    fn take(shared: &Arc<WorkerPool>, queue: &mut Queue, tenant: TenantId) -> Self {
        *queue.busy.entry(tenant).or_default() += 1;
        Self { shared: Arc::clone(shared), tenant }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        if let Some(busy) = queue.busy.get_mut(&self.tenant) {
            *busy -= 1;
            if *busy == 0 {
                queue.busy.remove(&self.tenant);
            }
        }
        let Some((tenant, granted)) = self.shared.next(&mut queue) else { return };
        let slot = Self::take(&self.shared, &mut queue, tenant);
        drop(queue);
        // Whoever no longer waits drops it, and so lets in the next.
        drop(granted.send(slot));
    }
}

impl Workers {
    /// Twice as many slots as cores. The stack of a thread is only reserved, not used up.
    pub(crate) fn new(stack_bytes: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let slots = (2 * cores).max(MIN_SLOTS);
        Self::with(slots, slots - slots / 4, stack_bytes)
    }

    /// As many slots as cores, for work that keeps a core busy for seconds; one of them at least is never one tenant's,
    /// where there are several.
    pub(crate) fn one_a_core(stack_bytes: usize) -> Self {
        let slots = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self::with(slots, slots - 1, stack_bytes)
    }

    fn with(slots: usize, share: usize, stack_bytes: usize) -> Self {
        Self { shared: Arc::new(WorkerPool { slots, share, stack_bytes, queue: Mutex::default() }) }
    }

    /// Runs `work` for a tenant, on a thread of its own and for at most `limit` from when it begins.
    ///
    /// # Errors
    /// When it was not begun, took too long or panicked.
    ///
    /// # Cancel safety
    /// When the future is dropped the work is told to stop and its result is forgotten.
    pub(crate) async fn run<T, F>(&self, tenant: TenantId, limit: Duration, work: F) -> Result<T, WorkerFault>
    where
        T: Send + 'static,
        F: FnOnce(&StopFlag) -> T + Send + 'static,
    {
        let waiting = tokio::time::timeout(MAX_WAIT, self.slot(tenant));
        let slot = waiting.await.unwrap_or(Err(WorkerFault::Busy))?;
        let stop = StopFlag::default();
        let _stop_on_drop = StopOnDrop(stop.clone());
        let (answer, answered) = oneshot::channel();
        let thread = std::thread::Builder::new().name("kybern-worker".to_owned()).stack_size(self.shared.stack_bytes);
        let started = thread.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&stop)));
            drop(slot);
            drop(answer.send(result));
        });
        if started.is_err() {
            return Err(WorkerFault::Busy);
        }
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(_) => Err(WorkerFault::Panicked),
            Err(_) => Err(WorkerFault::TooLong(limit)),
        }
    }

    async fn slot(&self, tenant: TenantId) -> Result<Slot, WorkerFault> {
        let granted = {
            let mut queue = self.shared.queue();
            if self.shared.has_room(&queue, tenant) {
                return Ok(Slot::take(&self.shared, &mut queue, tenant));
            }
            queue.waiting.retain(|(_, granted)| !granted.is_closed());
            if queue.waiting.iter().filter(|(waits, _)| *waits == tenant).count() >= MAX_WAITING {
                return Err(WorkerFault::Busy);
            }
            let (grant, granted) = oneshot::channel();
            queue.waiting.push_back((tenant, grant));
            granted
        };
        granted.await.map_err(|_| WorkerFault::Busy)
    }
}

/// Computes where it is called, after the runtime has moved everything else on this thread to another one. For our own
/// linear work on large texts, which has no tenant at hand and needs no stopping.
pub(crate) fn beside_the_runtime<T>(bytes: usize, compute: impl FnOnce() -> T) -> T {
    /// Below this the move costs more than the work.
    const LARGE: usize = 32 * 1024;
    let moves = tokio::runtime::Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if bytes > LARGE && moves { tokio::task::block_in_place(compute) } else { compute() }
}

#[cfg(test)]
mod tests;
