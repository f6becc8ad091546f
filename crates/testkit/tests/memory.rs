//! What the stores of the test kit offer beside the ports: faults, and hints.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::id::TenantId;
use kybern_core::ports::{AuditStore, WakeUps as _};
use kybern_core::time::Millis;
use kybern_testkit::{Fault, FaultPoint, FaultyStore, MemStore, SimClock, actors};
use serde_json::json;

fn faulty(hook: impl Fn(FaultPoint) -> Fault + Send + Sync + 'static) -> FaultyStore<MemStore> {
    let clock = Arc::new(SimClock::new());
    FaultyStore::new(Arc::new(MemStore::simple(clock.clone())), clock, hook)
}

fn store(fault: Fault) -> FaultyStore<MemStore> {
    // Only the first call of the store is at fault.
    faulty(move |point| if point.n == 1 { fault } else { Fault::None })
}

async fn append(store: &dyn AuditStore) -> Result<(), ErrorCode> {
    let event = AuditEvent::by_executor("test.done", "test:1", json!({}));
    let scope = actors::scope(TenantId::DEFAULT);
    store.append_audit(scope, SimClock::START, event).await.map_err(|error| error.code())
}

async fn length(store: &dyn AuditStore) -> usize {
    store.audit_events(actors::scope(TenantId::DEFAULT), 0, 10).await.unwrap().len()
}

#[tokio::test]
async fn a_fault_strikes_before_or_after_the_call_took_effect() {
    let cases = [
        (Fault::None, Some(Ok(())), 1),
        (Fault::Yield, Some(Ok(())), 1),
        (Fault::Unavailable, Some(Err(ErrorCode::Unavailable)), 0),
        (Fault::AnswerLost, Some(Err(ErrorCode::Unavailable)), 1),
        (Fault::CrashBefore, None, 0),
        (Fault::CrashAfter, None, 1),
    ];
    for (fault, answer, stored) in cases {
        let store = store(fault);
        let given = tokio::select! {
            biased;
            given = append(&store) => Some(given),
            // The runtime is idle, and still no answer: the caller is dead.
            () = idle() => None,
        };
        assert_eq!((given, length(&store).await), (answer, stored), "{fault:?}");
    }
}

async fn idle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_hook_sees_every_call_by_name_and_number() {
    let last = Arc::new(AtomicU64::new(0));
    let seen = last.clone();
    let store = faulty(move |point| {
        assert_eq!(point.call, "append_audit");
        seen.store(point.n, Ordering::SeqCst);
        Fault::None
    });
    for _ in 0..3 {
        append(&store).await.unwrap();
    }
    assert_eq!((last.load(Ordering::SeqCst), store.calls()), (3, 3));
}

#[tokio::test]
async fn a_wait_for_a_hint_ends_with_one_or_with_its_time() {
    let store = MemStore::simple(Arc::new(SimClock::new()));
    store.wait(Millis(1)).await;
    let (_, appended) = tokio::join!(store.wait(Millis(60_000)), append(&store));
    appended.unwrap();
}
