//! Leases: who holds one, who lost it, and what a fence keeps out.

use kybern_core::id::JobId;
use kybern_core::job::NewJob;
use kybern_core::ports::Heartbeat;
use kybern_core::record::Expect;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{Commit, Effect, NewTask, TaskStatus, WorkerId};
use kybern_core::time::Millis;
use serde_json::json;

use super::fixture::{HOUR, LONG, SHORT, end, is_fenced, release};
use super::{Harness, World};

pub async fn stale_epoch_is_refused(h: Harness) {
    let (w, home) = World::new(h).await;
    let stale = w.leased_as(&home, w.new_task(), "asleep", SHORT).await.lease;
    let fresh = w.taken_over(stale.task(), "second").await.lease;
    let before = w.task(&home, stale.task()).await;

    let put = w.put("test.thing", "a", json!({"n": 1}), Expect::Any);
    let commit =
        Commit { rows: vec![w.row(1)], audit: vec![w.event("x.y")], ..w.effects(vec![Effect::Put(Box::new(put))]) };
    assert!(is_fenced(&w.store().commit(&stale, commit.into()).await));
    assert!(is_fenced(&w.store().begin_attempt(&stale, &w.attempt()).await));
    assert!(is_fenced(&w.store().commit(&stale, w.changes(end(TaskStatus::Failed)).into()).await));

    assert_eq!(w.task(&home, stale.task()).await, before);
    assert!(w.store().journal(home.scope, stale.task(), 0, 10).await.unwrap().is_empty());
    assert!(w.store().attempts(home.scope, stale.task()).await.unwrap().is_empty());
    assert_eq!(w.store().record(home.scope, "test.thing", "a").await.unwrap(), None);
    w.commit(&fresh, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
}

pub async fn an_expired_lease_that_nobody_took_still_commits(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased_as(&home, w.new_task(), "slow", Millis(1)).await.lease;
    w.harness.clock.advance(LONG);
    w.commit(&lease, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
    w.end(&lease, TaskStatus::Completed).await;
    assert_eq!(w.task(&home, lease.task()).await.status, TaskStatus::Completed);
}

pub async fn a_lease_given_back_is_gone(h: Harness) {
    let (w, home) = World::new(h).await;
    let released = w.leased(&home, "w").await;
    w.release(&released, TaskStatus::Executing, None, vec![]).await;
    let ended = w.leased(&home, "w").await;
    w.end(&ended, TaskStatus::Completed).await;
    for lease in [released, ended] {
        assert!(is_fenced(&w.store().commit(&lease, Commit { rows: vec![w.row(1)], ..w.blank() }.into()).await));
        let beat = w.store().heartbeat(std::slice::from_ref(&lease), LONG, w.now()).await.unwrap();
        assert_eq!(beat, [Heartbeat::Lost]);
        assert!(w.store().journal(home.scope, lease.task(), 0, 10).await.unwrap().is_empty());
    }
}

pub async fn an_expired_lease_counts_as_a_recovery(h: Harness) {
    let (w, home) = World::new(h).await;
    let stale = w.leased_as(&home, w.new_task(), "dead", SHORT).await.lease;
    let claimed = w.taken_over(stale.task(), "second").await;
    assert_eq!(claimed.recovered_from, Some(WorkerId::new("dead")));
    assert_eq!((claimed.task.recoveries, claimed.lease.epoch()), (1, 2));
}

pub async fn a_task_given_back_is_no_recovery(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    w.release(&lease, TaskStatus::Executing, Some(w.now()), vec![]).await;
    let claimed = w.claim_only("second", lease.task()).await;
    assert_eq!((claimed.recovered_from, claimed.task.recoveries), (None, 0));
}

pub async fn a_lease_given_back_by_a_stop_is_due_at_once_and_no_recovery(h: Harness) {
    let (w, home) = World::new(h).await;
    let (stopped, other) = (w.leased(&home, "stops").await, w.leased(&home, "goes on").await);
    let gone = w.leased(&home, "stops").await;
    w.end(&gone, TaskStatus::Completed).await;
    w.store().give_back(&[stopped.clone(), gone.clone()], w.now()).await.unwrap();
    assert!(is_fenced(&w.store().commit(&stopped, w.blank().into()).await), "it writes no more");
    let again = std::sync::Arc::new(Commit { rows: vec![w.row(1)], ..w.changes(end(TaskStatus::Failed)) });
    assert!(is_fenced(&w.store().commit_again(&stopped, again).await), "nor is it told that it has");
    let claimed = w.claim_only("next", stopped.task()).await;
    assert_eq!((claimed.recovered_from, claimed.task.recoveries, claimed.lease.epoch()), (None, 0, 2));
    assert_eq!(w.task(&home, gone.task()).await.status, TaskStatus::Completed);
    w.commit(&other, w.blank()).await;
}

pub async fn what_runs_is_not_taken_although_its_lease_is_over(h: Harness) {
    let (w, home) = World::new(h).await;
    let running = w.leased_as(&home, w.new_task(), "sleepy", SHORT).await.lease;
    let orphan = w.leased_as(&home, w.new_task(), "sleepy", SHORT).await.lease;
    let offer = WorkerCapacity { running: vec![w.id(), running.task().as_uuid()], ..WorkerCapacity::of(10) };
    let look = async || {
        let found = w.store().claim_due(&WorkerId::new("sleepy"), &offer, LONG, w.now()).await.unwrap();
        let found: Vec<_> = found.iter().map(|claimed| claimed.task.id).collect();
        assert!(!found.contains(&running.task()));
        found.contains(&orphan.task()).then_some(())
    };
    w.harness.after(Millis(SHORT.0 + 1), look).await;
    // It goes on and prolongs its lease, which is over and untaken.
    let beats = w.store().heartbeat(std::slice::from_ref(&running), LONG, w.now()).await.unwrap();
    assert!(matches!(beats[..], [Heartbeat::Held(_)]));
    w.end(&running, TaskStatus::Completed).await;
}

pub async fn heartbeat_tells_held_and_lost(h: Harness) {
    let (w, home) = World::new(h).await;
    let stale = w.leased_as(&home, w.new_task(), "asleep", SHORT).await.lease;
    let fresh = w.taken_over(stale.task(), "second").await.lease;
    let held = w.leased(&home, "w").await;
    let leases = [held.clone(), stale, fresh];
    let beats = w.store().heartbeat(&leases, LONG, w.now()).await.unwrap();
    assert!(matches!(beats[..], [Heartbeat::Held(_), Heartbeat::Lost, Heartbeat::Held(_)]), "in order: {beats:?}");
    w.end(&held, TaskStatus::Completed).await;
    assert_eq!(w.store().heartbeat(&[held], LONG, w.now()).await.unwrap(), [Heartbeat::Lost]);
    assert!(w.store().heartbeat(&[], LONG, w.now()).await.unwrap().is_empty());
}

pub async fn a_heartbeat_prolongs_the_lease(h: Harness) {
    let (w, home) = World::new(h).await;
    let prolonged = w.leased_as(&home, w.new_task(), "w", SHORT).await.lease;
    let control = w.leased_as(&home, w.new_task(), "w", SHORT).await.lease;
    let beats = w.store().heartbeat(std::slice::from_ref(&prolonged), LONG, w.now()).await.unwrap();
    assert!(matches!(beats[..], [Heartbeat::Held(_)]));
    // When the other lease has expired, this one would have too.
    let look = async || {
        let found: Vec<_> = w.due().await;
        assert!(!found.contains(&prolonged.task()));
        found.contains(&control.task()).then_some(())
    };
    w.harness.after(Millis(SHORT.0 + 1), look).await;
}

pub async fn heartbeat_and_commit_tell_of_cancel_pause_and_signals(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let told = w.commit(&lease, w.blank()).await;
    assert_eq!((told.signals, told.cancel_requested, told.paused), (0, false, false));

    w.store().set_paused(home.scope, lease.task(), true, w.now(), w.event("task.pause")).await.unwrap();
    assert!(w.commit(&lease, w.blank()).await.paused);
    w.store().request_cancel(home.scope, lease.task(), w.now(), w.event("task.cancel")).await.unwrap();
    let told = w.commit(&lease, Commit { rows: vec![w.row(1)], ..w.blank() }).await;
    assert_eq!((told.cancel_requested, told.paused), (true, false), "who wants it cancelled does not want it paused");
    let beats = w.store().heartbeat(&[lease], LONG, w.now()).await.unwrap();
    assert_eq!(beats, [Heartbeat::Held(told)]);
}

/// Only where one process owns the store: elsewhere other workers may be alive.
pub async fn take_over_makes_leased_claimable(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "before the restart").await;
    let asleep = w.leased(&home, "before the restart").await;
    w.release(&asleep, TaskStatus::NeedsReview, None, vec![]).await;
    let taken = w.store().take_over(w.now()).await.unwrap();
    if w.harness.db_clock {
        assert_eq!((taken, w.due().await.len()), (0, 0), "other workers may hold leases");
        return;
    }
    assert_eq!(taken, 1);
    let claimed = w.claim_only("after the restart", lease.task()).await;
    assert_eq!(claimed.recovered_from, Some(WorkerId::new("before the restart")));
    assert!(is_fenced(&w.store().commit(&lease, w.blank().into()).await));
}

/// A process whose clock is ahead, or was until somebody set it right, writes rows of the future. They are due all the
/// same: at once where the database keeps the time, else when the next process starts.
pub async fn what_a_clock_ahead_has_queued_is_due(h: Harness) {
    let (w, home) = World::new(h).await;
    let ahead = w.now().plus(HOUR);
    let queued = w.queued(&home, NewTask { at: ahead, ..w.new_task() }).await.id;
    let job = NewJob { due_at: ahead, ..w.job() };
    assert!(w.store().enqueue(home.scope, &job, ahead).await.unwrap());
    let later = NewJob { due_at: w.now().plus(HOUR), ..w.job() };
    assert!(w.store().enqueue(home.scope, &later, w.now()).await.unwrap());
    let taken = w.store().take_over(w.now()).await.unwrap() + w.store().take_over_jobs(w.now()).await.unwrap();
    assert_eq!(taken, if w.harness.db_clock { 0 } else { 2 });
    w.claim_only("w", queued).await;
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    let ids: Vec<JobId> = jobs.into_iter().map(|job| job.id).collect();
    assert_eq!(ids, [job.id], "what is to be done in an hour waits");
}

/// A process whose clock is a day ahead gives a task back for a moment: where the database keeps the time, it is due
/// after that moment and not after a day. Elsewhere the clock that was ahead is the only one there is.
pub async fn what_a_clock_ahead_lets_wait_waits_no_longer(h: Harness) {
    let (w, home) = World::new(h).await;
    let early = w.now();
    let ahead = early.plus(Millis(24 * HOUR.0));
    let (short, long) = (w.leased(&home, "w").await, w.leased(&home, "w").await);
    for (lease, due) in [(&short, ahead.plus(SHORT)), (&long, ahead.plus(HOUR))] {
        let change = release(TaskStatus::Executing, Some(due), vec![]);
        w.commit(lease, Commit { change, at: ahead, ..w.blank() }).await;
    }
    if !w.harness.db_clock {
        assert_eq!(w.due().await, []);
        w.harness.clock.set(ahead);
    }
    let look = async || w.due().await.pop();
    let found = w.harness.after(Millis(SHORT.0 + 1), look).await;
    assert_eq!((found, w.due().await), (short.task(), vec![]), "what waits for an hour waits");
}

/// And nobody who sets the clock of a process changes that.
pub async fn a_store_with_a_clock_tells_the_time(h: Harness) {
    let (w, _home) = World::new(h).await;
    let before = w.store().time().await.unwrap();
    assert_eq!(before.is_some(), w.harness.db_clock);
    w.harness.clock.set(w.now().plus(HOUR));
    let after = w.store().time().await.unwrap();
    assert!(after.zip(before).is_none_or(|(after, before)| after >= before && after < before.plus(HOUR)));
}

pub async fn what_was_due_before_the_clock_was_set_back_is_due(h: Harness) {
    let (w, home) = World::new(h).await;
    if w.harness.db_clock {
        // The database's clock says what is due, and its process does nothing here.
        assert_eq!(w.store().set_back(w.now().plus(HOUR), w.now()).await.unwrap(), 0);
        assert_eq!(w.store().set_jobs_back(w.now().plus(HOUR), w.now()).await.unwrap(), 0);
        return;
    }
    let early = w.now();
    let late = early.plus(HOUR);
    w.harness.clock.set(late);
    let job = |due_at| NewJob { due_at, ..w.job() };
    let (due, later) = (job(late), job(late.plus(HOUR)));
    for job in [&due, &later] {
        assert!(w.store().enqueue(home.scope, job, late).await.unwrap());
    }
    let queued = w.queued(&home, w.new_task()).await.id;
    let leased = w.leased(&home, "w").await;
    w.harness.clock.set(early);
    assert_eq!(w.due().await, []);
    assert_eq!(w.store().set_back(late, early).await.unwrap(), 2);
    assert_eq!(w.store().set_jobs_back(late, early).await.unwrap(), 2);
    w.claim_only("w", queued).await;
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    assert_eq!(jobs.into_iter().map(|job| job.id).collect::<Vec<_>>(), [due.id]);
    // The lease is as long as it was.
    w.harness.clock.set(early.plus(LONG).minus(Millis(1)));
    assert_eq!(w.due().await, []);
    w.harness.clock.set(early.plus(LONG));
    assert!(w.due().await.contains(&leased.task()));
    assert_eq!(w.store().set_back(late, late.minus(Millis(1))).await.unwrap(), 0, "nothing else was due");
    // What waits, waits for as long as it would have.
    let due_at = async |at| {
        w.harness.clock.set(at);
        let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, at).await.unwrap();
        jobs.into_iter().any(|job| job.id == later.id)
    };
    assert!(!due_at(early.plus(HOUR).minus(Millis(1))).await && due_at(early.plus(HOUR)).await);
}
