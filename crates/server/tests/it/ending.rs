//! What lasts ends with the key that asked for it, and wrong keys are braked.

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use kybern_core::time::Millis;
use kybern_server::Connections;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::Fixture;
use crate::harness::{App, Ask, FALLS_SILENT};

const PATIENCE: Duration = Duration::from_secs(20);

/// A new viewer's key: its id, the user's id, and the key.
async fn viewer(app: &App) -> (String, String, String) {
    let admin = &app.ours.admin;
    let user = json!({"name": "A Viewer", "email": "viewer-of-streams@example.com", "roles": ["viewer"]});
    let user = app.send(Ask::post("/api/users").key(admin).json(&user)).await.json();
    let user = user["id"].as_str().unwrap().to_owned();
    let key = app.send(Ask::post("/api/keys").key(admin).json(&json!({"name": "screen", "userId": user}))).await.json();
    (key["id"].as_str().unwrap().to_owned(), user, key["key"].as_str().unwrap().to_owned())
}

/// The rest of a stream, which has to end.
async fn to_its_end(response: axum::response::Response) -> String {
    let mut body = response.into_body().into_data_stream();
    let mut text = String::new();
    while let Some(chunk) = tokio::time::timeout(PATIENCE, body.next()).await.unwrap() {
        text.push_str(&String::from_utf8_lossy(&chunk.unwrap()));
    }
    text
}

fn says_why(text: &str) -> bool {
    let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
    last.starts_with("event: error\n") && last.contains("\"code\":\"UNAUTHENTICATED\"")
}

#[tokio::test]
async fn a_stream_ends_with_its_key() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let (id, _, key) = viewer(&app).await;
    let response = app.open(Ask::get(&format!("/api/tasks/{}/events", fixture.running)).key(&key)).await;
    assert_eq!(response.status(), 200);
    let revoked = app.send(Ask::new("DELETE", &format!("/api/keys/{id}")).key(&app.ours.admin)).await;
    assert!(revoked.status < 300, "{}", revoked.text());
    let text = to_its_end(response).await;
    assert!(says_why(&text) && !text.contains("event: done"), "{text}");
}

#[tokio::test]
async fn a_stream_ends_when_its_user_loses_a_right() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let (_, user, key) = viewer(&app).await;
    let roles = async |roles: &[&str]| {
        let ask = Ask::new("PUT", &format!("/api/users/{user}/permissions")).key(&app.ours.admin);
        let changed = app.send(ask.json(&json!({"roles": roles}))).await;
        assert!(changed.status < 300, "{}", changed.text());
    };
    roles(&["operator"]).await;
    let response = app.open(Ask::get(&format!("/api/tasks/{}/events", fixture.running)).key(&key)).await;
    assert_eq!(response.status(), 200);
    roles(&["viewer"]).await;
    let text = to_its_end(response).await;
    assert!(says_why(&text), "{text}");
}

#[tokio::test]
async fn a_long_wait_is_answered_when_its_key_ends() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let (id, _, key) = viewer(&app).await;
    let waiting = app.send(Ask::get(&format!("/api/tasks/{}?waitMs=60000", fixture.running)).key(&key));
    let revoking = app.send(Ask::new("DELETE", &format!("/api/keys/{id}")).key(&app.ours.admin));
    let (answer, _) = tokio::time::timeout(PATIENCE, async { tokio::join!(waiting, revoking) }).await.unwrap();
    answer.refused(401, "UNAUTHENTICATED", "the wait");
}

/// Every kind of stream that there is, opened with one key: none has said its last word.
async fn streams(app: &App, running: &str, agent: &str, key: &str) -> Vec<(String, axum::response::Response)> {
    let chat = app.send(Ask::post("/api/chats").key(key).json(&json!({"agent": agent}))).await.json();
    let chat = format!("/api/chats/{}", chat["id"].as_str().unwrap());
    let messages = json!([{"role": "user", "content": FALLS_SILENT}]);
    let model = |model: &str| json!({"model": model, "stream": true, "messages": messages});
    let asked = [
        Ask::get(&format!("/api/tasks/{running}/events")),
        Ask::post(&format!("{chat}/messages"))
            .header("accept", "text/event-stream")
            .json(&json!({"content": FALLS_SILENT})),
        Ask::get(&format!("{chat}/stream")),
        Ask::post("/v1/chat/completions").json(&model("scripted/echo")),
        Ask::post("/v1/chat/completions").json(&model(&format!("agent:{agent}"))),
    ];
    let mut opened = Vec::new();
    for ask in asked {
        let about = ask.path();
        let response = app.open(ask.key(key)).await;
        assert_eq!(response.status(), 200, "{about}");
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/event-stream"), "{about}: {kind}");
        opened.push((about, response));
    }
    opened
}

/// Reads them side by side: each ends, and says why as its readers write errors.
async fn all_end(opened: Vec<(String, axum::response::Response)>) {
    let reading = opened.into_iter().map(async |(about, response)| (about, to_its_end(response).await));
    for (about, text) in futures::future::join_all(reading).await {
        let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
        let is_openai = about.starts_with("/v1/");
        let told = if is_openai { last.starts_with("data: {\"error\":") } else { says_why(&text) };
        assert!(told && last.contains("UNAUTHENTICATED"), "{about}: {text}");
        assert!(!text.contains("[DONE]") && !text.contains("event: done"), "{about}: {text}");
    }
}

#[tokio::test]
async fn every_stream_ends_when_its_key_is_revoked_and_when_it_expires() {
    for expires in [false, true] {
        let app = App::start().await;
        let fixture = Fixture::of(&app, &app.ours).await;
        let admin = &app.ours.admin;
        let user = json!({"name": "An Operator", "email": "streams@example.com", "roles": ["operator"]});
        let user = app.send(Ask::post("/api/users").key(admin).json(&user)).await.json();
        let end = app.engine.clock().now().plus(Millis(3_600_000));
        let new = json!({"name": "screen", "userId": user["id"], "expiresAt": expires.then_some(end)});
        let key = app.send(Ask::post("/api/keys").key(admin).json(&new)).await.json();
        let opened = streams(&app, &fixture.running, &fixture.agent, key["key"].as_str().unwrap()).await;
        if expires {
            app.clock.advance(Millis(3_600_001));
        } else {
            let id = key["id"].as_str().unwrap();
            let revoked = app.send(Ask::new("DELETE", &format!("/api/keys/{id}")).key(admin)).await;
            assert_eq!(revoked.status, 204, "{}", revoked.text());
        }
        all_end(opened).await;
    }
}

/// Asks for the tasks with a key, through a proxy that names this address; the status and the whole answer.
async fn ask(server: SocketAddr, client: &str, key: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let head = format!(
        "GET /api/tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: {client}\r\n\
         Authorization: Bearer {key}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[tokio::test]
async fn an_address_that_sends_wrong_keys_is_braked_and_others_are_not() {
    let app = App::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let serving = kybern_server::serve(listener, app.router.clone(), Connections::default(), app.shutdown.clone());
    let asking = async {
        let (guesser, other) = ("192.0.2.1", "192.0.2.2");
        let mut statuses = Vec::new();
        for n in 0..60 {
            statuses.push(ask(server, guesser, &format!("kyb_guess_{n:032}")).await.0);
            // A colleague behind the same address is at work.
            assert_eq!(ask(server, guesser, &app.ours.viewer).await.0, 200);
        }
        assert_eq!(statuses, [401; 60]);
        // Now and then one is looked up after all: the next of several is not.
        let mut braked = String::new();
        for n in 0..20 {
            let (status, answer) = ask(server, guesser, &format!("kyb_other_{n:032}")).await;
            if status == 429 {
                braked = answer;
                break;
            }
        }
        assert!(braked.contains("\"code\":\"RATE_LIMITED\"") && braked.contains("retry-after: "), "{braked}");
        assert_eq!(ask(server, guesser, &app.ours.viewer).await.0, 200);
        assert_eq!(ask(server, other, "kyb_wrong_0000000000000000000000000000").await.0, 401);
        assert_eq!(ask(server, other, &app.ours.operator).await.0, 200);
    };
    tokio::select! {
        served = serving => panic!("the server ended: {served:?}"),
        () = asking => {}
    }
}
