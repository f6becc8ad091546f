//! A key is revoked by one process while it is used, also by another one that has looked it up.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::Crew;
use crate::server::Client;
use crate::server::client::{Ask, text};

const ROUNDS: usize = 3;

#[tokio::test]
async fn no_process_takes_a_key_whose_revocation_was_answered_on_sqlite() {
    no_process_takes_a_key_whose_revocation_was_answered(Crew::sqlite()).await;
}

#[tokio::test]
async fn no_process_takes_a_key_whose_revocation_was_answered_on_postgres() {
    let Some(crew) = Crew::postgres() else { return };
    no_process_takes_a_key_whose_revocation_was_answered(crew).await;
}

async fn status(client: &Client) -> u16 {
    client.send(&Ask::get("/api/tasks")).await.0.as_u16()
}

/// Uses a key until it is refused; how often it was taken.
async fn used_up(client: &Client, answered: &AtomicBool) -> usize {
    let mut taken = 0;
    loop {
        let late = answered.load(Ordering::SeqCst);
        match status(client).await {
            200 => assert!(!late, "the key was taken after its revocation had been answered"),
            refused => {
                assert_eq!(refused, 401);
                return taken;
            }
        }
        taken += 1;
    }
}

async fn no_process_takes_a_key_whose_revocation_was_answered(crew: Crew) {
    for round in 0..ROUNDS {
        let admin = crew.client(round);
        let made = admin.post("/api/keys", &json!({"name": format!("k{round}")})).await;
        let users: Vec<Client> = crew.clients.iter().map(|client| client.with_key(&text(&made["key"]))).collect();
        for user in &users {
            assert_eq!(status(user).await, 200, "each process has looked it up");
        }
        let answered = AtomicBool::new(false);
        let revoke = async {
            admin.ok(&Ask { method: Method::DELETE, ..Ask::get(&format!("/api/keys/{}", text(&made["id"]))) }).await;
            answered.store(true, Ordering::SeqCst);
        };
        let (taken, ()) = tokio::join!(join_all(users.iter().map(|user| used_up(user, &answered))), revoke);
        for user in &users {
            assert_eq!(status(user).await, 401, "round {round}, taken {taken:?} times before");
        }
        assert_eq!(status(admin).await, 200);
    }
}
