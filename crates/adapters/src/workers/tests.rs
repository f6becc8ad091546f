use std::sync::mpsc;

use kybern_core::actor::{Actor, Principal, Role};
use kybern_core::id::RequestId;
use kybern_core::task::Channel;
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::{SeededIds, SimClock};
use serde_json::Value;

use super::*;

/// A call of that tenant.
fn context(tenant: u128) -> ToolContext {
    let (tenant, request) =
        (TenantId::from_uuid(uuid::Uuid::from_u128(tenant)), RequestId::from_uuid(uuid::Uuid::nil()));
    let actor = Actor::authenticated(tenant, Principal::Executor, vec![Role::Operator], vec![], request);
    ToolContext {
        scope: actor.scope(),
        tenant_name: "Example".into(),
        user: None,
        task: None,
        step: None,
        lease: None,
        channel: Channel::Api,
        input: "".into(),
        payload: Arc::new(Value::Null),
        state: Arc::default(),
        trace_id: "0".repeat(32).into(),
        key: "key".to_owned(),
        attempt: 1,
        may_have_happened: false,
        now: Timestamp::default(),
        timeout: Millis::from_secs(60),
        ids: Arc::new(SeededIds::new(1, Arc::new(SimClock::at(Timestamp::default())))),
        http: None,
        documents: None,
        extractor: None,
        records: None,
        users: None,
        secrets: None,
        models: None,
    }
}

/// Work that ends when it is told to, or when nobody waits for it, and says how.
fn held(
    name: &'static str,
    told: mpsc::Receiver<()>,
) -> impl FnOnce(&Stop) -> Result<&'static str, ToolFailure> + Send {
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

#[tokio::test]
async fn a_panic_is_the_fault_of_one_call() {
    let workers = Workers::with(1, 1, TIME_LIMIT);
    let outcome: Result<(), _> = workers.run(&context(1), |_| panic!("a library gave up")).await;
    assert_eq!(outcome.unwrap_err().code, ErrorCode::Internal);
    assert_eq!(workers.run(&context(1), |_| Ok(7)).await.unwrap(), 7);
}

#[tokio::test]
async fn work_that_overruns_is_told_to_stop_and_holds_its_slot_until_it_has() {
    let workers = Workers::with(1, 1, Duration::from_millis(20));
    let (_never, told) = mpsc::channel();
    let failure = workers.run(&context(1), held("long", told)).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (ErrorCode::Timeout, false));
    until_busy(&workers, 0).await;
}

#[tokio::test]
async fn work_that_nobody_waits_for_stops() {
    let workers = Workers::with(1, 1, TIME_LIMIT);
    let (_never, told) = mpsc::channel();
    let context = context(1);
    let mut call = Box::pin(workers.run(&context, held("left", told)));
    assert!(futures::poll!(&mut call).is_pending());
    assert_eq!(busy(&workers), 1);
    drop(call);
    until_busy(&workers, 0).await;
}

#[tokio::test]
async fn no_tenant_has_all_slots_and_the_one_with_the_fewest_comes_first() {
    let workers = Workers::with(3, 2, TIME_LIMIT);
    let (one, other) = (context(1), context(2));
    let (ends, mut calls): (Vec<_>, Vec<_>) = (0..4)
        .map(|_| {
            let (end, told) = mpsc::channel();
            (end, Box::pin(workers.run(&one, held("one", told))))
        })
        .unzip();
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    assert_eq!(busy(&workers), 2, "two of three slots, though four want one");
    assert_eq!(workers.run(&other, |_| Ok("other")).await.unwrap(), "other");
    // A third tenant takes the last slot. When one is free again, two calls of the first have waited longer.
    let (_end, told) = mpsc::channel();
    let third = context(3);
    let mut last = Box::pin(workers.run(&third, held("third", told)));
    let (_end, told) = mpsc::channel();
    let mut next = Box::pin(workers.run(&other, held("other", told)));
    assert!(futures::poll!(&mut last).is_pending() && futures::poll!(&mut next).is_pending());
    ends[0].send(()).unwrap();
    assert_eq!(calls.remove(0).await.unwrap(), "one");
    let busy_of = |tenant: &ToolContext| workers.shared.queue().busy_of(tenant.tenant());
    assert_eq!((busy_of(&one), busy_of(&other), busy_of(&third)), (1, 1, 1), "it had none");
}

#[tokio::test]
async fn too_many_waiting_calls_of_one_tenant_are_refused_and_no_other_s() {
    let workers = Workers::with(2, 1, TIME_LIMIT);
    let one = context(1);
    let never: Vec<_> = (0..=MAX_WAITING).map(|_| mpsc::channel()).collect();
    let (_ends, told): (Vec<_>, Vec<_>) = never.into_iter().unzip();
    let mut calls: Vec<_> = told.into_iter().map(|told| Box::pin(workers.run(&one, held("one", told)))).collect();
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    let refused = workers.run(&one, |_| Ok(())).await.unwrap_err();
    assert_eq!((refused.code, refused.retryable), (ErrorCode::RateLimited, true));
    assert!(workers.run(&context(2), |_| Ok(())).await.is_ok());
    // Who left makes room.
    calls.pop();
    let mut again = Box::pin(workers.run(&one, |_| Ok(())));
    assert!(futures::poll!(&mut again).is_pending());
}
