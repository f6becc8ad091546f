//! What leaves the house after a commit.

use kybern_core::mail::SendFault;
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::HttpFailure;
use serde_json::{Value, json};

use crate::live::Live;
use crate::outside::{Wire, Wired, header};
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
    });
}
