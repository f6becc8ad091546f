//! What leaves the house after a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use kybern_core::id::{OutboxId, TenantId};
use kybern_core::job::JobStatus;
use kybern_core::mail::SendFault;
use kybern_core::outbox::{MAX_MAIL_FILES, NewOutbox, OutboxChannel, OutboxMessage, OutboxStatus};
use kybern_core::ports::{BlobStore as _, Clock as _, HttpFailure, HttpRequest};
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::ToolOutcome;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::Fault;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::live::{Live, object};
use crate::outside::{Wire, Wired, header, pause};
use crate::world::{World, step};

fn mail() -> Value {
    json!([step("tell", "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"}))])
}

/// The only message, once it is what it stays.
async fn settled(live: &Live<'_>) -> kybern_core::outbox::OutboxMessage {
    live.find(async || {
        let message = live.outbox().await.pop()?;
        let open = matches!(message.status, OutboxStatus::Pending | OutboxStatus::Sending);
        (!open).then_some(message)
    })
    .await
}

#[test]
fn mail_is_sent_once_kept_without_a_server_and_uncertain_when_nobody_knows() {
    let unknown = SendFault::Unknown { message: "the line broke".to_owned() };
    let not_yet = SendFault::NotSent { message: "busy".to_owned(), retryable: true };
    let never = SendFault::NotSent { message: "no such box".to_owned(), retryable: false };
    for (fault, has_mail, status, sent) in [
        (None, true, OutboxStatus::Sent, 1),
        (None, false, OutboxStatus::Kept, 0),
        (Some(unknown), true, OutboxStatus::Uncertain, 1),
        (Some(not_yet), true, OutboxStatus::Sent, 1),
        (Some(never), true, OutboxStatus::Failed, 0),
    ] {
        let mut world = World::new();
        world.has_mail = has_mail;
        if let Some(fault) = fault {
            world.mail.fail_next(fault);
        }
        world.run(async |live| {
            live.run(mail(), json!({})).await;
            let message = settled(&live).await;
            assert_eq!((message.status, live.world.mail.sent().len()), (status, sent));
        });
    }
}

/// A tool that sends a mail with the files of its arguments.
fn with_files() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new("t.mail", EffectClass::Local, |context, args| {
        let message = NewOutbox {
            id: OutboxId::from_uuid(context.ids.next()),
            channel: OutboxChannel::Email,
            target: "a@example.com".to_owned(),
            key: context.key.clone(),
            body: json!({"subject": "s", "body": "b", "attachments": args["files"]}),
        };
        Ok(ToolOutcome { outbox: vec![message], ..ToolOutcome::new(object(json!({})), "queued") })
    }))
}

#[test]
fn a_mail_that_was_kept_or_given_up_is_sent_again_by_hand_and_its_ends_are_audited() {
    let mut world = World::new();
    world.has_mail = false;
    let id = world.run(async |live| {
        live.run(mail(), json!({})).await;
        let id = settled(&live).await.message.id;
        // As often as somebody asks, also while nothing has changed.
        for _ in 0..2 {
            let again = live.engine.outbox().retry(&live.world.actor, id, false).await.unwrap();
            assert_eq!(again.status, OutboxStatus::Pending);
            assert_eq!(settled(&live).await.status, OutboxStatus::Kept);
        }
        id
    });
    world.has_mail = true;
    world.mail.fail_next(SendFault::Unknown { message: "the line broke".to_owned() });
    world.run(async |live| {
        live.engine.outbox().retry(&live.world.actor, id, false).await.unwrap();
        assert_eq!(settled(&live).await.status, OutboxStatus::Uncertain);
        let refused = live.engine.outbox().retry(&live.world.actor, id, false).await.unwrap_err();
        assert!(refused.to_string().contains("may have arrived"), "{refused}");
        live.engine.outbox().retry(&live.world.actor, id, true).await.unwrap();
        assert_eq!(settled(&live).await.status, OutboxStatus::Sent);
        let refused = live.engine.outbox().retry(&live.world.actor, id, true).await.unwrap_err();
        assert!(refused.to_string().contains("has arrived"), "{refused}");
        let acts: Vec<String> = live.acts().await.into_iter().map(|act| act.action).collect();
        let of = |action: &str| acts.iter().filter(|act| *act == action).count();
        assert_eq!((of("outbox.retry"), of("outbox.uncertain"), of("outbox.sent")), (4, 1, 1), "{acts:?}");
    });
}

#[test]
fn files_go_along_with_a_mail_and_without_one_of_them_it_is_not_sent() {
    World::with([with_files()]).run(async |live| {
        let bytes = Bytes::from_static(b"signed");
        let hash = live.world.store.put_blob(live.world.scope(), bytes.clone()).await.unwrap();
        let file = |hash: &str| json!({"filename": "a.pdf", "contentType": "application/pdf", "size": 6, "hash": hash});
        let mail = |files: Value| json!([step("tell", "t.mail", json!({"files": files}))]);
        live.run(mail(json!([file(&hash)])), json!({})).await;
        assert_eq!(settled(&live).await.status, OutboxStatus::Sent);
        let sent = live.world.mail.sent();
        assert_eq!((sent[0].files[0].filename.as_str(), &sent[0].files[0].bytes), ("a.pdf", &bytes));
        let many = vec![file(&hash); MAX_MAIL_FILES + 1];
        for (files, why) in [
            (json!([file(&hash), file(&"0".repeat(64))]), "is not kept any more"),
            (json!(many), "a mail takes at most"),
            (json!([{"filename": "a.pdf"}]), "cannot be read"),
        ] {
            live.run(mail(files), json!({})).await;
            let failed = live
                .find(async || {
                    let all = live.outbox().await;
                    all.into_iter().find(|one| one.error.as_deref().is_some_and(|error| error.contains(why)))
                })
                .await;
            assert_eq!(failed.status, OutboxStatus::Failed, "{why}");
        }
        assert_eq!(live.world.mail.sent().len(), 1);
    });
}

#[test]
fn a_failed_step_sends_nothing() {
    World::new().run(async |live| {
        let steps = json!([step("tell", "core.notify", json!({"to": "not an address", "subject": "s", "body": "b"}))]);
        live.run(steps, json!({})).await;
        assert!(live.outbox().await.is_empty());
    });
}

#[test]
fn a_webhook_is_signed_and_sent_again_with_its_key_until_it_arrives() {
    let wire = Wire::new(|_, n| match n {
        1 => Wired::Fail(HttpFailure::NoAnswer("reset".to_owned())),
        2 => Wired::Answer(500, json!({})),
        _ => Wired::Answer(200, json!({})),
    });
    World::new().on(wire).run(async |live| {
        let args = json!({"to": "https://hook.test/x", "subject": "s", "body": "b", "channel": "webhook"});
        live.run(json!([step("tell", "core.notify", args)]), json!({})).await;
        assert_eq!(settled(&live).await.status, OutboxStatus::Sent);
        assert_eq!(live.world.wire.keys().into_values().collect::<Vec<_>>(), [3]);
        let signed = |request| header(request, "webhook-signature").is_some_and(|it| it.starts_with("v1,"));
        assert!(live.world.wire.requests().iter().all(signed));
        assert!(live.acts().await.iter().any(|act| act.action == "outbox.sent"), "a webhook is an act as a mail is");
    });
}

/// So many webhooks to a receiver.
fn webhooks(to: &str, count: usize) -> Value {
    let one = |n: usize| {
        let args = json!({"to": to, "subject": "s", "body": "b", "channel": "webhook"});
        step(&format!("tell{n}"), "core.notify", args)
    };
    (0..count).map(one).collect()
}

#[test]
fn a_receiver_that_does_not_answer_is_left_alone_and_its_messages_wait_without_a_try() {
    let up = Arc::new(AtomicBool::new(false));
    let answers = up.clone();
    let wire = Wire::new(move |_, _| match answers.load(Ordering::SeqCst) {
        true => Wired::Answer(200, json!({})),
        false => Wired::Fail(HttpFailure::NoAnswer("timed out".to_owned())),
    });
    let narrow = |settings: &mut kybern_engine::Settings| settings.job_slots = 2;
    World::new().on(wire).set(narrow).run(async |live| {
        live.run(webhooks("https://dead.test/x", 20), json!({})).await;
        let began = live.now();
        let shown = "receiver https://dead.test is not answering: circuit breaker open, next try in 30 s";
        let waiting = async || {
            let told = |error: &Option<String>| error.as_deref().is_some_and(|error| error.starts_with(shown));
            let count = live.outbox().await.iter().filter(|message| told(&message.error)).count();
            (count > 10).then_some(())
        };
        live.find(waiting).await;
        let tries = live.world.wire.requests().len();
        assert!((5..=8).contains(&tries), "{tries}");
        let tried_again = async || (live.world.wire.requests().len() > tries).then_some(());
        live.find(tried_again).await;
        assert!(live.now().since(began) >= Millis(29_000));
        up.store(true, Ordering::SeqCst);
        let open = |message: &OutboxMessage| matches!(message.status, OutboxStatus::Pending | OutboxStatus::Sending);
        live.find(async || (!live.outbox().await.iter().any(open)).then_some(())).await;
        let messages = live.outbox().await;
        assert!(messages.iter().all(|message| message.status == OutboxStatus::Sent && message.error.is_none()));
        assert!(live.now().since(began) < Millis(180_000));
        let given_up: usize = live.world.mem().jobs().iter().filter(|job| job.attempts > 4).count();
        assert_eq!(given_up, 0, "whoever waited has used no try");
    });
}

#[test]
fn a_message_to_a_receiver_that_never_comes_back_fails_in_the_end() {
    let wire = Wire::new(|_, _| Wired::Fail(HttpFailure::Connect("refused".to_owned())));
    let mut world = World::new().on(wire).set(|settings| settings.poll = Millis(60_000));
    world.tick = Millis(60_000);
    world.run(async |live| {
        live.run(webhooks("https://dead.test/x", 12), json!({})).await;
        let open = |message: &OutboxMessage| matches!(message.status, OutboxStatus::Pending | OutboxStatus::Sending);
        live.find(async || (!live.outbox().await.iter().any(open)).then_some(())).await;
        assert!(live.outbox().await.iter().all(|message| message.status == OutboxStatus::Failed));
    });
}

#[test]
fn a_message_that_is_sent_once_more_has_all_its_time_again() {
    let up = Arc::new(AtomicBool::new(false));
    let answers = up.clone();
    let wire = Wire::new(move |_, _| match answers.load(Ordering::SeqCst) {
        true => Wired::Answer(200, json!({})),
        false => Wired::Fail(HttpFailure::Connect("refused".to_owned())),
    });
    let says = |message: &OutboxMessage, what: &str| message.error.as_deref().is_some_and(|it| it.contains(what));
    let world = World::new().on(wire);
    world.run(async |live| {
        live.run(webhooks("https://dead.test/x", 20), json!({})).await;
        let left_alone = async || {
            let all = live.outbox().await;
            (all.iter().filter(|message| says(message, "circuit breaker open")).count() > 10).then_some(())
        };
        live.find(left_alone).await;
    });
    world.clock.stop(world.clock.now().plus(Millis(80 * 60 * 60 * 1000)));
    world.run(async |live| {
        let given_up = async || {
            let all = live.outbox().await;
            all.iter().find(|message| says(message, "given up after")).map(|message| message.message.id)
        };
        let id = live.find(given_up).await;
        live.engine.outbox().retry(&live.world.actor, id, false).await.unwrap();
        let again = live.now();
        let this = async || live.outbox().await.into_iter().find(|message| message.message.id == id).unwrap();
        live.find(async || (live.now().since(again) > Millis(10_000)).then_some(())).await;
        assert_eq!(this().await.status, OutboxStatus::Pending, "{:?}", this().await.error);
        up.store(true, Ordering::SeqCst);
        live.find(async || (this().await.status == OutboxStatus::Sent).then_some(())).await;
    });
}

#[test]
fn a_receiver_that_hangs_delays_no_other_tenant() {
    let wire = Wire::new(|request, _| match request.url.contains("dead.test") {
        true => Wired::Hang,
        false => Wired::Answer(200, json!({})),
    });
    World::new().on(wire).set(|settings| settings.job_slots = 3).run(async |live| {
        live.run(webhooks("https://dead.test/x", 24), json!({})).await;
        live.find(async || (live.world.wire.requests().len() == 3).then_some(())).await;
        let other = TenantId::from_uuid(Uuid::from_u128(2));
        live.world.settle_tenant(other, "second");
        let actor = kybern_testkit::actors::admin(other);
        let plan = json!({"key": "test.tell", "steps": webhooks("https://good.test/x", 1)});
        live.engine.plans().put(&actor, &plan).await.unwrap();
        let request = SubmitRequest { plan_key: Some("test.tell".to_owned()), ..SubmitRequest::text("go") };
        live.engine.tasks().submit(&actor, request, None).await.unwrap();
        let good = |request: &HttpRequest| request.url.contains("good.test");
        live.find(async || live.world.wire.requests().iter().any(good).then_some(())).await;
        assert_eq!(live.world.wire.requests().len(), 4, "no slot was given back by the receiver that hangs");
    });
}

#[test]
fn a_mail_server_that_is_silent_is_left_alone() {
    let world = World::new().set(|settings| settings.job_slots = 1);
    for _ in 0..5 {
        world.mail.fail_next(SendFault::Unreachable { message: "no reply".to_owned() });
    }
    world.run(async |live| {
        let tell = |n: usize| {
            step(&format!("m{n}"), "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"}))
        };
        let answers = async || live.engine.health().figures().await.unwrap().receivers;
        assert!(answers().await.contains(&("mail".to_owned(), true)));
        live.run((0..8).map(tell).collect(), json!({})).await;
        let began = live.now();
        live.find(async || answers().await.contains(&("mail".to_owned(), false)).then_some(())).await;
        let all = async || live.outbox().await.iter().all(|message| message.status == OutboxStatus::Sent).then_some(());
        live.find(async || all().await).await;
        assert!(live.now().since(began) >= Millis(30_000), "nobody tried it while it was left alone");
        assert!(answers().await.contains(&("mail".to_owned(), true)));
        assert_eq!(live.world.mail.sent().len(), 8);
    });
}

#[test]
fn one_mail_outlasts_more_failures_than_it_has_tries() {
    let world = World::new();
    // Five tries of its own open the breaker; then a probe each half minute costs it none.
    for _ in 0..12 {
        world.mail.fail_next(SendFault::Unreachable { message: "no reply".to_owned() });
    }
    world.run(async |live| {
        live.run(
            json!([step("m", "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"}))]),
            json!({}),
        )
        .await;
        // Virtual time: the polling below would take long to come so far.
        let _ = tokio::time::timeout(Millis::from_secs(300).as_duration(), std::future::pending::<()>()).await;
        let sent = async || (live.outbox().await[0].status == OutboxStatus::Sent).then_some(());
        live.find(async || sent().await).await;
        assert_eq!(live.world.mail.sent().len(), 1);
    });
}

#[test]
fn a_mail_stays_queued_when_the_process_ends_before_its_server_answers() {
    const HOUR: Millis = Millis(3_600_000);
    let world = World::new().set(|settings| settings.job_slots = 1);
    for _ in 0..5 {
        world.mail.fail_next(SendFault::Unreachable { message: "no reply".to_owned() });
    }
    world.run(async |live| {
        let tell = |n: usize| {
            step(&format!("m{n}"), "core.notify", json!({"to": "a@example.com", "subject": "s", "body": "b"}))
        };
        live.run((0..6).map(tell).collect(), json!({})).await;
        let is_open =
            |message: &OutboxMessage| message.error.as_deref().is_some_and(|error| error.contains("breaker open"));
        live.find(async || live.outbox().await.iter().any(is_open).then_some(())).await;
        live.world.mail.reached_after(HOUR);
        // Half a minute later one of them probes the server, and is on its way to it when the process ends.
        pause(Millis(60_000)).await;
        let messages = live.outbox().await;
        assert!(messages.iter().all(|message| message.status == OutboxStatus::Pending), "{messages:?}");
    });
    world.mail.reached_after(Millis(0));
    world.clock.stop(world.clock.now().plus(HOUR));
    world.run(async |live| {
        let sent =
            async || live.outbox().await.iter().all(|message| message.status == OutboxStatus::Sent).then_some(());
        live.find(async || sent().await).await;
        assert_eq!(live.world.mail.sent().len(), 6);
    });
}

#[test]
fn a_mail_whose_job_may_be_somebody_elses_is_not_handed_over() {
    let world = World::new();
    // Whoever was cut off while the server was made ready cannot say that the job is still theirs.
    world.ails(Some(("renew_job", Fault::Unavailable)));
    world.run(async |live| {
        live.run(mail(), json!({})).await;
        let message = settled(&live).await;
        assert_eq!((message.status, live.world.mail.sent().len()), (OutboxStatus::Uncertain, 0));
    });
}

#[test]
fn webhooks_put_off_during_silence_are_probed_one_at_a_time_and_leave_when_their_receiver_is_back() {
    let up = Arc::new(AtomicBool::new(false));
    let answers = up.clone();
    let wire = Wire::new(move |_, _| match answers.load(Ordering::SeqCst) {
        true => Wired::Answer(200, json!({})),
        false => Wired::Fail(HttpFailure::NoAnswer("timed out".to_owned())),
    });
    World::new().on(wire).run(async |live| {
        live.run(webhooks("https://dead.test/x", 4), json!({})).await;
        let tried = || live.world.wire.requests().len();
        let tries = || live.world.mem().jobs().iter().map(|job| job.attempts).sum::<u32>();
        live.find(async || (tried() == 5).then_some(())).await;
        // The breaker has opened: for 30 s nobody asks, then one message does.
        pause(Millis(25_000)).await;
        assert_eq!(tried(), 5, "it is left alone");
        let put_off = "receiver https://dead.test is not answering: circuit breaker open, next try in ";
        let told = |message: &OutboxMessage| message.error.as_deref().is_some_and(|error| error.starts_with(put_off));
        let messages = live.outbox().await;
        assert!(messages.iter().all(|message| message.status == OutboxStatus::Pending), "{messages:?}");
        assert!(messages.iter().any(told), "{messages:?}");
        let before = tries();
        pause(Millis(10_000)).await;
        assert_eq!((tried(), tries()), (6, before), "one message has tried it, and that was none of its tries");
        up.store(true, Ordering::SeqCst);
        pause(Millis(20_000)).await;
        assert_eq!(tried(), 6, "what is put off waits for the next probe");
        pause(Millis(20_000)).await;
        assert!(live.outbox().await.iter().all(|message| message.status == OutboxStatus::Sent));
        assert_eq!(tried(), 6 + 4, "each has left once");
    });
}

/// Counts the lines of the log about a job that failed.
#[derive(Clone, Default)]
struct FailedLines(Arc<AtomicUsize>);

impl tracing::Subscriber for FailedLines {
    fn enabled(&self, _metadata: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _span: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut says = false;
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            says |= field.name() == "message" && format!("{value:?}").starts_with("job failed");
        });
        self.0.fetch_add(usize::from(says), Ordering::SeqCst);
    }

    fn enter(&self, _span: &tracing::span::Id) {}

    fn exit(&self, _span: &tracing::span::Id) {}
}

#[test]
fn every_try_that_fails_is_logged_also_one_that_finds_or_leaves_the_breaker_open() {
    let wire = Wire::new(move |_, _| Wired::Fail(HttpFailure::NoAnswer("timed out".to_owned())));
    let (lines, world) = (FailedLines::default(), World::new().on(wire));
    let story = async |live: Live<'_>| {
        live.run(webhooks("https://dead.test/x", 4), json!({})).await;
        // Five tries open the breaker, and two probes leave it open.
        live.find(async || (live.world.wire.requests().len() == 7).then_some(())).await;
        pause(Millis(5_000)).await;
        assert_eq!(live.world.wire.requests().len(), 7);
    };
    tracing::subscriber::with_default(lines.clone(), || world.run(story));
    assert_eq!(lines.0.load(Ordering::SeqCst), 7);
}

#[test]
fn a_webhook_outlasts_more_silence_than_it_has_tries() {
    let away = Arc::new(AtomicBool::new(true));
    let is_away = away.clone();
    let wire = Wire::new(move |_, _| match is_away.load(Ordering::SeqCst) {
        true => Wired::Fail(HttpFailure::Connect("no route".to_owned())),
        false => Wired::Answer(200, json!({})),
    });
    World::new().on(wire).run(async |live| {
        let events = vec!["task.completed".to_owned()];
        live.engine.identity().create_webhook(&live.world.actor, "https://hook.test/x", events).await.unwrap();
        live.run(json!([step("a", "core.noop", json!({}))]), json!({})).await;
        let _ = tokio::time::timeout(Millis::from_secs(300).as_duration(), std::future::pending::<()>()).await;
        assert!(live.world.wire.requests().len() > 8, "more than it has tries");
        assert_eq!(live.outbox().await[0].status, OutboxStatus::Pending);
        away.store(false, Ordering::SeqCst);
        let sent = async || (live.outbox().await[0].status == OutboxStatus::Sent).then_some(());
        live.find(async || sent().await).await;
    });
}

#[test]
fn what_is_queued_for_a_webhook_that_was_removed_ends_without_being_sent() {
    let up = Arc::new(AtomicBool::new(false));
    let answers = up.clone();
    let wire = Wire::new(move |_, _| match answers.load(Ordering::SeqCst) {
        true => Wired::Answer(200, json!({})),
        false => Wired::Answer(503, json!({})),
    });
    World::new().on(wire).run(async |live| {
        let actor = &live.world.actor;
        let subscribe = async |url: &str, events: &[&str]| {
            let events = events.iter().map(|event| (*event).to_owned()).collect();
            live.engine.identity().create_webhook(actor, url, events).await.unwrap().0.id
        };
        let gone = subscribe("https://gone.test/x", &[]).await;
        let narrower = subscribe("https://other.test/x", &[]).await;
        subscribe("https://other.test/x", &["task.failed"]).await;
        subscribe("https://stays.test/x", &["task.completed"]).await;
        live.run(json!([step("a", "core.noop", json!({}))]), json!({})).await;
        let tried = async || (live.world.wire.requests().len() >= 3).then_some(());
        live.find(tried).await;
        for webhook in [gone, narrower] {
            live.engine.identity().delete_webhook(actor, webhook).await.unwrap();
        }
        up.store(true, Ordering::SeqCst);
        let open = |message: &OutboxMessage| matches!(message.status, OutboxStatus::Pending | OutboxStatus::Sending);
        live.find(async || (!live.outbox().await.iter().any(open)).then_some(())).await;
        let words = "withdrawn: its webhook was removed; an earlier try may have arrived";
        for message in live.outbox().await {
            let stays = message.message.target.starts_with("https://stays");
            let end = if stays { (OutboxStatus::Sent, None) } else { (OutboxStatus::Failed, Some(words)) };
            assert_eq!((message.status, message.error.as_deref()), end, "{}", message.message.target);
        }
        live.find(async || live.world.mem().jobs().iter().all(|job| job.status == JobStatus::Done).then_some(())).await;
    });
}
