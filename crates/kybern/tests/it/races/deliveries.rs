//! One message, delivered many times at once by every channel.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Crew;
use crate::server::client::{Ask, text};

const DELIVERIES: usize = 40;

#[tokio::test]
async fn a_message_that_comes_often_at_once_is_one_task_on_sqlite() {
    a_message_that_comes_often_at_once_is_one_task(Crew::sqlite()).await;
}

#[tokio::test]
async fn a_message_that_comes_often_at_once_is_one_task_on_postgres() {
    let Some(crew) = Crew::postgres() else { return };
    a_message_that_comes_often_at_once_is_one_task(crew).await;
}

/// The same message on each channel.
fn messages() -> Vec<(&'static str, Ask)> {
    let mail = "From: Office <office@drycreek.example>\r\nTo: intake@agency.example\r\nSubject: Hello\r\n\
                Date: Mon, 12 Jan 2026 08:04:00 -0600\r\nMessage-ID: <race@drycreek.example>\r\n\r\nHello\r\n";
    let sms = "From=%2B12545550187&To=%2B15125550100&Body=Hello&MessageSid=SM417";
    let webhook = json!({"event": "lead.created", "company": "Pinewood Freight"});
    vec![
        ("email", Ask::post("/api/inbound/email", "message/rfc822", mail)),
        ("sms", Ask::post("/api/inbound/sms", "application/x-www-form-urlencoded", sms)),
        ("webhook", Ask::json("/api/inbound/webhook/forms", &webhook).header("x-delivery-id", "d-417")),
    ]
}

async fn a_message_that_comes_often_at_once_is_one_task(crew: Crew) {
    let client = crew.client(0);
    let mut tasks = BTreeSet::new();
    for (channel, message) in messages() {
        let answers = crew.at_once((0..DELIVERIES).map(|_| message.clone())).await;
        assert!(answers.iter().all(|(status, _)| *status == 202), "{channel}: {answers:?}");
        let first: Vec<&Value> =
            answers.iter().map(|(_, said)| said).filter(|said| said["duplicate"] == false).collect();
        assert_eq!(first.len(), 1, "{channel}: {answers:?}");
        assert!(answers.iter().all(|(_, said)| said["taskId"] == first[0]["taskId"]), "{channel}: {answers:?}");
        tasks.insert(text(&first[0]["taskId"]));
    }
    assert_eq!((tasks.len(), client.list("/api/tasks").await.len()), (3, 3));
    // The same ids of another source, and of another tenant, are other messages.
    let (_, webhook) = messages().pop().unwrap();
    let elsewhere = Ask { path: "/api/inbound/webhook/other".to_owned(), ..webhook };
    assert_eq!(client.ok(&elsewhere).await["duplicate"], false);
    let stranger = crew.stranger("Strangers").await;
    for (channel, message) in messages() {
        let said = stranger.ok(&message).await;
        assert!(said["duplicate"] == false && !tasks.contains(&text(&said["taskId"])), "{channel}: {said}");
    }
    assert_eq!((client.list("/api/tasks").await.len(), stranger.list("/api/tasks").await.len()), (4, 3));
}
