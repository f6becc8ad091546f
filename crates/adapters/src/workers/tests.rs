use std::sync::mpsc;
use std::task::Poll;

use uuid::Uuid;

use super::*;

const LIMIT: Duration = Duration::from_secs(10);
const STACK: usize = 1024 * 1024;

fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

/// Work that ends when it is told to, or when nobody waits for it, and says how.
fn held(
    name: &'static str,
    told: mpsc::Receiver<()>,
) -> impl FnOnce(&StopFlag) -> Result<&'static str, WorkerFault> + Send {
    move |stop| {
        while told.try_recv().is_err() {
            stop.check()?;
            std::thread::yield_now();
        }
        Ok(name)
    }
}

fn busy(workers: &Workers) -> usize {
    workers.shared.queue().busy.values().sum()
}

/// Waits until that many slots are taken.
async fn until_busy(workers: &Workers, slots: usize) {
    while busy(workers) != slots {
        tokio::task::yield_now().await;
    }
}

/// The result of a call, without rest: a paused clock goes on when the runtime rests, though a thread computes.
async fn without_rest<F: Future + Unpin>(mut call: F) -> F::Output {
    loop {
        if let Poll::Ready(result) = futures::poll!(&mut call) {
            return result;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_panic_is_the_fault_of_one_call() {
    let workers = Workers::with(1, 1, STACK);
    let outcome: Result<(), _> = workers.run(tenant(1), LIMIT, |_| panic!("a library gave up")).await;
    assert_eq!(outcome, Err(WorkerFault::Panicked));
    assert_eq!(workers.run(tenant(1), LIMIT, |_| 7).await, Ok(7));
}

#[tokio::test]
async fn work_that_overruns_is_told_to_stop_and_holds_its_slot_until_it_has() {
    let workers = Workers::with(1, 1, STACK);
    let (_never, told) = mpsc::channel();
    let limit = Duration::from_millis(20);
    assert_eq!(workers.run(tenant(1), limit, held("long", told)).await, Err(WorkerFault::TooLong(limit)));
    until_busy(&workers, 0).await;
}

#[tokio::test]
async fn work_that_nobody_waits_for_stops() {
    let workers = Workers::with(1, 1, STACK);
    let (_never, told) = mpsc::channel();
    let mut call = Box::pin(workers.run(tenant(1), LIMIT, held("left", told)));
    assert!(futures::poll!(&mut call).is_pending());
    assert_eq!(busy(&workers), 1);
    drop(call);
    until_busy(&workers, 0).await;
}

#[tokio::test]
async fn no_tenant_has_all_slots_and_the_one_with_the_fewest_comes_first() {
    let workers = Workers::with(3, 2, STACK);
    let (one, other) = (tenant(1), tenant(2));
    let (ends, mut calls): (Vec<_>, Vec<_>) = (0..4)
        .map(|_| {
            let (end, told) = mpsc::channel();
            (end, Box::pin(workers.run(one, LIMIT, held("one", told))))
        })
        .unzip();
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    assert_eq!(busy(&workers), 2, "two of three slots, though four want one");
    assert_eq!(workers.run(other, LIMIT, |_| "other").await, Ok("other"));
    // A third tenant takes the last slot. When one is free again, two calls of the first have waited longer.
    let (_end, told) = mpsc::channel();
    let third = tenant(3);
    let mut last = Box::pin(workers.run(third, LIMIT, held("third", told)));
    let (_end, told) = mpsc::channel();
    let mut next = Box::pin(workers.run(other, LIMIT, held("other", told)));
    assert!(futures::poll!(&mut last).is_pending() && futures::poll!(&mut next).is_pending());
    ends[0].send(()).unwrap();
    assert_eq!(calls.remove(0).await.unwrap(), Ok("one"));
    let busy_of = |tenant: TenantId| workers.shared.queue().busy_of(tenant);
    assert_eq!((busy_of(one), busy_of(other), busy_of(third)), (1, 1, 1), "it had none");
}

#[tokio::test]
async fn too_many_waiting_calls_of_one_tenant_are_refused_and_no_other_s() {
    let workers = Workers::with(2, 1, STACK);
    let one = tenant(1);
    let never: Vec<_> = (0..=MAX_WAITING).map(|_| mpsc::channel()).collect();
    let (_ends, told): (Vec<_>, Vec<_>) = never.into_iter().unzip();
    let mut calls: Vec<_> = told.into_iter().map(|told| Box::pin(workers.run(one, LIMIT, held("one", told)))).collect();
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    assert_eq!(workers.run(one, LIMIT, |_| ()).await, Err(WorkerFault::Busy));
    let failure = ToolFailure::from(WorkerFault::Busy);
    assert_eq!((failure.code, failure.retryable), (ErrorCode::RateLimited, true));
    assert!(DocumentFault::from(WorkerFault::Busy).kind.is_transient());
    assert_eq!(workers.run(tenant(2), LIMIT, |_| 7).await, Ok(7));
    // Who left makes room.
    calls.pop();
    let mut again = Box::pin(workers.run(one, LIMIT, |_| ()));
    assert!(futures::poll!(&mut again).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_uses_none_of_its_time_and_is_not_said_to_have_computed() {
    let workers = Workers::with(1, 1, STACK);
    let (end, told) = mpsc::channel();
    let mut first = Box::pin(workers.run(tenant(1), MAX_WAIT * 10, held("first", told)));
    assert!(futures::poll!(&mut first).is_pending());
    assert_eq!(workers.run(tenant(2), LIMIT, |_| ()).await, Err(WorkerFault::Busy), "its wait has a limit of its own");
    let mut next = Box::pin(workers.run(tenant(2), LIMIT, |_| 7));
    assert!(futures::poll!(&mut next).is_pending());
    tokio::time::advance(LIMIT * 2).await;
    end.send(()).unwrap();
    assert_eq!(without_rest(first).await.unwrap(), Ok("first"));
    assert_eq!(without_rest(next).await, Ok(7));
}
