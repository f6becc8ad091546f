//! Whose a conversation is: what other users see of it, how far a narrow key goes in it, and the same request twice.

use serde_json::{Value, json};

use super::World;
use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// A key of a user, with these roles; the user has all of `users`.
async fn key_of(client: &Client, user: &Value, roles: &[&str]) -> Client {
    let made = client.post("/api/keys", &json!({"name": "k", "userId": user["id"], "roles": roles})).await;
    client.with_key(&text(&made["key"]))
}

async fn user(client: &Client, name: &str, roles: &[&str]) -> Value {
    client.post("/api/users", &json!({"name": name, "email": format!("{name}@example.com"), "roles": roles})).await
}

async fn said(client: &Client, agent: &str) -> Value {
    let chat = text(&client.post("/api/chats", &json!({"agent": agent})).await["id"]);
    let words = json!({"content": "Take order-7 in."});
    client.post(&format!("/api/chats/{chat}/messages"), &words).await
}

async fn conversations_are_their_users(site: Site) {
    let world = World::start();
    let site = world.site(site);
    let server = site.start();
    let admin = server.client();
    let tools = ["core.http_request", "core.notify", "core.put_record"];
    admin.post("/api/agents", &json!({"name": "clerk", "systemPrompt": "Take orders in.", "tools": tools})).await;
    let (one, other) = (user(&admin, "one", &["admin"]).await, user(&admin, "other", &["operator"]).await);
    let (wide, narrow) = (key_of(&admin, &one, &[]).await, key_of(&admin, &one, &["operator"]).await);
    let stranger = key_of(&admin, &other, &[]).await;

    // What a user may do by hand with a narrow key is all that their agent may do with it.
    let turn = said(&narrow, "clerk").await;
    let status = |turn: &Value| turn["toolCalls"][0]["status"].clone();
    assert_eq!(status(&turn), "denied", "{turn}");
    let turn = said(&wide, "clerk").await;
    assert_eq!(status(&turn), "success", "{turn}");

    // Its task is no way around the chat.
    let task = format!("/api/tasks/{}", text(&turn["taskId"]));
    for path in ["", "/log", "/events", "/artifacts", "/attachments", "/attachments/1"] {
        let (status, answer) = stranger.send(&Ask::get(&format!("{task}{path}"))).await;
        assert_eq!((status.as_u16(), &answer["error"]["code"]), (404, &json!("NOT_FOUND")), "{path}");
    }
    for act in ["cancel", "pause", "fork", "replay", "retry"] {
        let (status, _) = stranger.send(&Ask::json(&format!("{task}/{act}"), &json!({}))).await;
        assert_eq!(status.as_u16(), 404, "{act}");
    }
    assert!(stranger.list("/api/tasks").await.is_empty());
    assert_eq!(narrow.list("/api/tasks").await.len(), 2, "both are this user's");
    assert_eq!(admin.list("/api/tasks").await.len(), 2);
    assert_eq!(wide.get(&task).await["status"], "completed");

    // Behind OpenAI's API a request that is sent again is the turn that there is.
    let asked = world.seen().questions;
    let body = json!({"model": "agent:clerk", "messages": [{"role": "user", "content": "Take order-8 in."}]});
    let ask = Ask::json("/v1/chat/completions", &body).header("idempotency-key", "order-8");
    let (first, again) = (admin.ok(&ask).await, admin.ok(&ask).await);
    assert_eq!(first["choices"], again["choices"]);
    assert_eq!(world.seen().questions, asked + super::QUESTIONS, "nothing is done twice");
    let (status, _) = admin
        .send(&Ask {
            body: json!({"model": "agent:clerk", "messages": [{"role": "user", "content": "No."}]}).to_string().into(),
            ..ask
        })
        .await;
    assert_eq!(status.as_u16(), 409);
}

#[tokio::test]
async fn conversations_are_their_users_on_sqlite() {
    conversations_are_their_users(Site::sqlite()).await;
}

#[tokio::test]
async fn conversations_are_their_users_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    conversations_are_their_users(site).await;
}
