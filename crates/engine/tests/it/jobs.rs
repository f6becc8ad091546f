//! Jobs whose worker dies, hangs, or loses its lease.

use std::collections::BTreeMap;

use futures::executor::block_on;
use kybern_core::audit::AuditHead;
use kybern_core::error::ErrorCode;
use kybern_core::job::{ClaimedJob, JobEnd, JobStatus};
use kybern_core::mail::SendFault;
use kybern_core::outbox::{OutboxMessage, OutboxStatus};
use kybern_core::ports::{Clock as _, HttpFailure, JobStore as _, OutboxStore as _};
use kybern_core::retention::RetentionKind;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{TaskStatus, WorkerId};
use kybern_core::time::Millis;
use kybern_engine::audit::AuditExport;
use kybern_engine::retention::Retention;
use kybern_testkit::Fault;
use serde_json::{Value, json};

use crate::live::Live;
use crate::outside::{Wire, Wired};
use crate::world::{World, plan, step};

const HOUR: Millis = Millis(3_600_000);

fn mail() -> Value {
    json!([step("tell", "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"}))])
}

fn webhook() -> Value {
    let args = json!({"to": "https://hook.test/x", "subject": "s", "body": "b", "channel": "webhook"});
    json!([step("tell", "core.notify", args)])
}

fn dispatch() -> Value {
    json!([{"id": "out", "kind": "workflow", "workflow": "flow"}])
}

/// A world whose tests look less often, since much time passes.
fn patient() -> World {
    let mut world = World::new();
    world.tick = Millis(200);
    world
}

fn mute() -> Wire {
    Wire::new(|_, _| Wired::Hang)
}

fn shut() -> Wire {
    Wire::new(|_, _| Wired::Fail(HttpFailure::Connect("refused".to_owned())))
}

/// Waits until the only message has that status.
async fn shows(live: &Live<'_>, status: OutboxStatus) -> OutboxMessage {
    live.find(async || live.outbox().await.pop().filter(|message| message.status == status)).await
}

/// Claims the only job as a worker that dies each time, until it has no try left.
fn spend(world: &World) -> ClaimedJob {
    loop {
        world.clock.stop(world.clock.now().plus(HOUR));
        let mortal = WorkerId::new("mortal");
        let offer = WorkerCapacity::of(10);
        let claim = world.store.claim_jobs(&mortal, &offer, Millis(1), world.clock.now());
        let job = block_on(world.look(claim)).unwrap().pop().unwrap();
        if job.attempt == job.max_attempts {
            world.clock.stop(world.clock.now().plus(HOUR));
            return job;
        }
    }
}

/// A way to leave a message behind, and what must become of it.
struct Case {
    name: &'static str,
    make: fn() -> World,
    steps: Value,
    left: OutboxStatus,
    end: OutboxStatus,
}

fn cases() -> Vec<Case> {
    let slow = || {
        let world = World::new();
        world.mail.take(HOUR);
        world
    };
    let busy = || {
        let world = World::new();
        world.mail.fail_next(SendFault::NotSent { message: "busy".to_owned(), retryable: true });
        world
    };
    let case = |name, make, steps, left, end| Case { name, make, steps, left, end };
    let (pending, sending) = (OutboxStatus::Pending, OutboxStatus::Sending);
    vec![
        case("mail, perhaps handed over", slow, mail(), sending, OutboxStatus::Uncertain),
        case("mail, surely not sent", busy, mail(), pending, OutboxStatus::Failed),
        case("a webhook", || World::new().on(mute()), webhook(), sending, OutboxStatus::Failed),
        case("a dispatch, perhaps begun", || World::new().on(mute()), dispatch(), sending, OutboxStatus::Uncertain),
        case("a dispatch, surely not begun", || World::new().on(shut()), dispatch(), pending, OutboxStatus::Failed),
    ]
}

/// A world in which every try of the case's job has ended with the death of its worker.
fn left_behind(case: &Case) -> World {
    let world = (case.make)();
    world.run(async |live| {
        live.begin(plan(case.steps.clone()), json!({})).await;
        shows(&live, case.left).await;
    });
    spend(&world);
    // Whatever kept it from its end is over: only the tries are spent.
    world.mail.take(Millis(0));
    world
}

/// What must be true once the job has been wound up.
async fn wound_up(live: &Live<'_>, case: &Case, when: &str) {
    let end = || async {
        let open = |status| matches!(status, OutboxStatus::Pending | OutboxStatus::Sending);
        let message = live.outbox().await.pop().filter(|message| !open(message.status))?;
        let jobs = live.world.mem().jobs();
        (jobs[0].status != JobStatus::Pending).then_some((message, jobs))
    };
    let (message, jobs) = live.find(async || end().await).await;
    assert_eq!(message.status, case.end, "{}, {when}", case.name);
    let why = message.error.unwrap_or_default();
    assert!(why.starts_with("the last try was cut off"), "{}, {when}: {why}", case.name);
    assert_eq!((jobs.len(), jobs[0].status), (1, JobStatus::Dead), "{}, {when}", case.name);
    assert!(live.world.mail.sent().is_empty(), "{}, {when}", case.name);
    if case.name == "a dispatch, perhaps begun" {
        assert_eq!(live.task(message.task_id.unwrap()).await.status, TaskStatus::Delegated, "{when}");
    }
    if case.name == "a dispatch, surely not begun" {
        let task = live.end(message.task_id.unwrap()).await;
        let error = task.error.unwrap().message;
        assert_eq!(task.status, TaskStatus::Failed, "{when}");
        assert!(error.starts_with("the workflow could not be started: the last try was cut off"), "{when}: {error}");
    }
}

#[test]
fn a_job_whose_worker_died_in_its_last_try_ends_its_message_honestly() {
    for case in cases() {
        let world = left_behind(&case);
        let requests = world.wire.requests().len();
        world.run(async |live| wound_up(&live, &case, "in peace").await);
        assert_eq!(world.wire.requests().len(), requests, "{}: it is not tried again", case.name);
    }
}

#[test]
fn winding_up_survives_every_crash() {
    for case in cases() {
        let mut struck = 0;
        for n in 1..=20 {
            for how in [Fault::CrashBefore, Fault::CrashAfter, Fault::Unavailable, Fault::AnswerLost] {
                let world = left_behind(&case);
                let when = format!("call {n}, {how:?}");
                let story = async |live: Live<'_>| {
                    live.world.doom(n, how);
                    wound_up(&live, &case, &when).await;
                };
                if world.life(story).is_some() {
                    continue;
                }
                struck += 1;
                world.clock.stop(world.clock.now().plus(HOUR));
                world.run(async |live| wound_up(&live, &case, &when).await);
            }
        }
        assert!(struck > 8, "{}: the process died {struck} times only", case.name);
    }
}

#[test]
fn a_message_that_was_sent_in_the_last_try_leaves_no_dead_job() {
    let world = World::new();
    world.mail.take(HOUR);
    world.run(async |live| {
        live.begin(plan(mail()), json!({})).await;
        shows(&live, OutboxStatus::Sending).await;
    });
    spend(&world);
    let id = block_on(world.look(world.store.outbox(world.scope(), None, None, 1))).unwrap().items[0].message.id;
    let now = world.clock.now();
    let sent = world.store.move_outbox(world.scope(), id, (OutboxStatus::Sending, OutboxStatus::Sent), None, None, now);
    assert!(block_on(world.look(sent)).unwrap());
    world.run(async |live| {
        live.find(async || (live.world.mem().jobs()[0].status != JobStatus::Pending).then_some(())).await;
    });
    assert_eq!(world.mem().jobs()[0].status, JobStatus::Done);
}

/// Longer than the lease, and longer than a slow mail server may take to fail.
#[test]
fn a_slow_mail_that_was_surely_not_sent_is_sent_again() {
    let world = patient();
    world.mail.take(Millis(200_000));
    world.mail.fail_next(SendFault::NotSent { message: "no reply".to_owned(), retryable: true });
    world.run(async |live| {
        live.begin(plan(mail()), json!({})).await;
        shows(&live, OutboxStatus::Sending).await;
        let end = shows(&live, OutboxStatus::Sent).await;
        assert_eq!((end.attempts, live.world.mail.sent().len()), (2, 1));
        assert_eq!(live.world.mem().jobs()[0].attempts, 2, "nobody else took it meanwhile");
    });
}

#[test]
fn a_handler_that_hangs_in_its_last_try_leaves_nothing_on_its_way() {
    let world = patient();
    world.mail.take(HOUR);
    world.run(async |live| {
        live.begin(plan(mail()), json!({})).await;
        let message = shows(&live, OutboxStatus::Uncertain).await;
        assert!(live.now().since(message.created_at) < HOUR);
    });
    let world = patient().on(mute());
    world.run(async |live| {
        live.begin(plan(webhook()), json!({})).await;
        let message = shows(&live, OutboxStatus::Failed).await;
        assert!(message.error.unwrap().contains("took longer than"));
        live.find(async || (live.world.mem().jobs()[0].status == JobStatus::Dead).then_some(())).await;
    });
}

#[test]
fn a_handler_whose_lease_is_lost_is_dropped() {
    let wire = Wire::new(|_, n| if n == 1 { Wired::Hang } else { Wired::Answer(200, json!({})) });
    World::new().on(wire).set(|settings| settings.job_slots = 1).run(async |live| {
        live.begin(plan(webhook()), json!({})).await;
        shows(&live, OutboxStatus::Sending).await;
        let (store, began) = (&live.world.store, live.now());
        store.take_over_jobs(began).await.unwrap();
        let mut stolen = store.claim_jobs(&WorkerId::new("thief"), &WorkerCapacity::of(1), HOUR, began).await.unwrap();
        let retry = JobEnd::Retry { error: "stolen".to_owned(), due_at: began };
        assert!(store.finish_job(&stolen.remove(0), retry, began).await.unwrap());
        // The one slot is free only when the handler that hangs is gone.
        shows(&live, OutboxStatus::Sent).await;
        assert!(live.now().since(began) <= Millis(20_000), "{}", live.now().since(began));
        live.find(async || (live.world.mem().jobs()[0].status == JobStatus::Done).then_some(())).await;
    });
}

#[test]
fn what_is_over_is_removed_when_it_is_old() {
    const DAY: Millis = Millis(24 * 3_600_000);
    let keeps = |settings: &mut kybern_engine::Settings| {
        settings.retention =
            Retention { times: BTreeMap::from([(RetentionKind::Jobs, Millis(7 * DAY.0))]), ..Retention::default() };
    };
    let world = World::new().set(keeps);
    let looked = async |live: Live<'_>| {
        live.run(webhook(), json!({})).await;
        let jobs = || live.world.mem().jobs();
        live.find(async || jobs().iter().all(|job| job.status == JobStatus::Done).then_some(jobs().len())).await
    };
    assert_eq!(world.run(looked), 1);
    world.clock.stop(world.clock.now().plus(DAY));
    assert_eq!(world.run(looked), 2, "it is younger");
    world.clock.stop(world.clock.now().plus(Millis(6 * DAY.0 + 1000)));
    assert_eq!(world.run(looked), 2, "the first one is gone");
    let kept = block_on(world.look(world.store.outbox(world.scope(), None, None, 10))).unwrap().items.len();
    assert_eq!(kept, 3, "of messages nothing was said");
}

#[test]
fn a_tenants_own_time_counts_for_it() {
    const DAY: Millis = Millis(24 * 3_600_000);
    let jobs = |days: u64| BTreeMap::from([(RetentionKind::Jobs, Millis(days * DAY.0))]);
    for (own, all, left) in [(Some(30), Some(7), 2), (None, Some(7), 2), (Some(7), None, 1), (Some(7), Some(30), 1)] {
        let world = World::new().set(|settings| {
            settings.retention = Retention {
                times: all.map(jobs).unwrap_or_default(),
                tenants: BTreeMap::from([("home".to_owned(), own.map(jobs).unwrap_or_default())]),
                holds: Vec::new(),
            };
        });
        let looked = async |live: Live<'_>| {
            live.run(webhook(), json!({})).await;
            let jobs = || live.world.mem().jobs();
            live.find(async || jobs().iter().all(|job| job.status == JobStatus::Done).then_some(jobs().len())).await
        };
        assert_eq!(world.run(looked), 1);
        world.clock.stop(world.clock.now().plus(Millis(8 * DAY.0)));
        assert_eq!(world.run(looked), left, "{own:?} of its own, {all:?} for all");
    }
}

#[test]
fn an_admin_removes_what_is_old_and_nothing_that_is_on_hold() {
    const DAY: Millis = Millis(24 * 3_600_000);
    let tasks = |days: u64| (vec![RetentionKind::Tasks], Millis(days * DAY.0));
    let world = World::new();
    let noop = || json!([step("a", "core.noop", json!({}))]);
    let (old, kept) =
        world.run(async |live| (live.run(noop(), json!({})).await.id, live.run(noop(), json!({})).await.id));
    world.clock.stop(world.clock.now().plus(Millis(40 * DAY.0)));
    world.run(async |live| {
        let young = live.run(noop(), json!({})).await.id;
        let purge = async |(kinds, age): (Vec<RetentionKind>, Millis), dry_run| {
            live.engine.removal().purge(&live.world.actor, &kinds, age, dry_run).await
        };
        let held = live.engine.tasks().hold(&live.world.actor, kept, " a claim ").await.unwrap().hold.unwrap();
        assert_eq!((held.reason.as_str(), held.held_at), ("a claim", live.now()));
        let waited = live.engine.tasks().wait_for(&live.world.actor, kept, Millis(10)).await.unwrap();
        assert_eq!(waited.hold, Some(held), "whoever waits for it is told as well");
        assert_eq!(purge(tasks(30), true).await.unwrap(), [(RetentionKind::Tasks, 1)]);
        assert_eq!(live.task(old).await.id, old, "it was only counted");
        assert_eq!(purge(tasks(41), false).await.unwrap(), [(RetentionKind::Tasks, 0)]);
        assert_eq!(purge(tasks(30), false).await.unwrap(), [(RetentionKind::Tasks, 1)]);
        let look = live.engine.tasks().get(&live.world.actor, old).await;
        assert_eq!(look.unwrap_err().code(), ErrorCode::NotFound);
        for id in [kept, young] {
            live.proven(id).await;
        }
        for age in [6, 36_501] {
            assert_eq!(purge(tasks(age), false).await.unwrap_err().code(), ErrorCode::Validation);
        }
        live.engine.tasks().release(&live.world.actor, kept).await.unwrap();
        assert_eq!(purge(tasks(30), false).await.unwrap(), [(RetentionKind::Tasks, 1)]);
        let events = live.engine.audit().events(live.world.scope(), 0, 100).await.unwrap();
        let actions: Vec<&str> = events.iter().map(|event| event.event.action.as_str()).collect();
        assert!(
            ["task.hold", "task.release", "retention.ask", "retention.purge"].iter().all(|act| actions.contains(act))
        );
    });
}

#[test]
fn the_audit_is_removed_as_far_as_it_was_exported_and_is_whole_afterwards() {
    const DAY: Millis = Millis(24 * 3_600_000);
    let world = World::new();
    let noop = || json!([step("a", "core.noop", json!({}))]);
    let export = world.run(async |live| {
        live.run(noop(), json!({})).await;
        AuditExport { from: 1, head: live.engine.audit().head(live.world.scope()).await.unwrap() }
    });
    world.clock.stop(world.clock.now().plus(Millis(70 * DAY.0)));
    world.run(async |live| {
        let (scope, actor) = (live.world.scope(), &live.world.actor);
        let purge = async |export: &AuditExport, days: u64, dry_run| {
            live.engine.audit().purge(actor, export, Millis(days * DAY.0), dry_run).await
        };
        // What was not exported stays, however old it is.
        live.put(plan(noop())).await;
        let last = export.head.seq;
        let (whole, valid) = (last + 1, true);
        assert!(last >= 2, "{last}");
        assert_eq!(purge(&export, 71, false).await.unwrap(), 0, "nothing is that old");
        assert_eq!(purge(&export, 60, true).await.unwrap(), u64::try_from(last).unwrap());
        let before = live.engine.audit().verify(scope).await.unwrap();
        assert_eq!((before.length, before.removed_to, before.valid), (whole, 0, valid));
        // Neither is an export that begins later, nor a head that nobody signed, nor an age that is too young.
        let late = AuditExport { from: 2, ..export.clone() };
        assert_eq!(purge(&late, 60, false).await.unwrap_err().code(), ErrorCode::Conflict);
        let forged = AuditHead { seq: last - 1, ..export.head.clone() };
        let forged = AuditExport { from: 1, head: forged };
        assert_eq!(purge(&forged, 60, false).await.unwrap_err().code(), ErrorCode::Conflict);
        assert_eq!(purge(&export, 6, false).await.unwrap_err().code(), ErrorCode::Validation);

        assert_eq!(purge(&export, 60, false).await.unwrap(), u64::try_from(last).unwrap());
        let after = live.engine.audit().verify_against(scope, &export.head).await.unwrap();
        assert_eq!((after.length, after.removed_to, after.valid), (whole + 1, last, valid), "{after:?}");
        let left = live.engine.audit().events(scope, 0, 100).await.unwrap();
        assert_eq!(left.iter().map(|event| event.seq).collect::<Vec<_>>(), [whole, whole + 1]);
        let told = &left[1].event;
        assert_eq!(
            (told.action.as_str(), &told.detail["seq"], &told.detail["count"]),
            ("audit.purge", &json!(last), &json!(last))
        );
        assert_eq!(purge(&export, 60, false).await.unwrap(), 0, "it has gone");
    });
}
