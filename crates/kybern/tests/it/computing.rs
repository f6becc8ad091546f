//! Calls that compute for long: the server answers everybody else meanwhile, also after it was killed and finds them
//! unfinished.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::client::{Ask, text, until};
use crate::server::{Client, Server, Site};

/// How soon the server says that it is alive, whatever it computes.
const ALIVE: Duration = Duration::from_secs(1);

/// Looks at every letter for one that never comes, from each letter on.
fn endless() -> Value {
    let options = json!({"find": "(?s).*[^A-Z]|[A-Z]", "with": "", "regex": true});
    json!({"id": "search", "tool": "text_transform",
        "args": {"text": "A".repeat(400 << 10), "operation": "replace", "options": options}})
}

/// Hands in more tasks that search for ever than there are threads, and waits until each has begun.
async fn compute(client: &Client) -> Vec<String> {
    let plan = json!({"key": "search.endless", "steps": [endless()]});
    client.post("/api/plans", &plan).await;
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let task = client.post("/api/tasks", &json!({"planKey": "search.endless", "input": "x"})).await;
        tasks.push(text(&task["id"]));
    }
    tasks
}

/// Asks ten times whether the server is alive.
async fn stays_alive(server: &Server) {
    let client = server.client();
    for look in 0..10 {
        let answer = tokio::time::timeout(ALIVE, client.send(&Ask::get("/healthz"))).await;
        assert!(answer.is_ok_and(|(status, _)| status.is_success()), "look {look}");
        crate::server::client::pause(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_search_without_an_end_stops_no_other_request_and_is_given_up() {
    let site = Site::sqlite().with("TOKIO_WORKER_THREADS", "2");
    let mut server = site.start();
    let client = server.client();
    let tasks = compute(&client).await;
    stays_alive(&server).await;
    server.kill();
    server = site.start();
    stays_alive(&server).await;
    let client = server.client();
    for id in &tasks {
        let task = client.rest(id).await;
        assert_eq!(text(&task["status"]), "failed", "{task}");
    }
    // A call that ends does so although others were stopped.
    let short = json!({"input": {"text": "a-b-c", "operation": "replace",
        "options": {"find": "[^a-z]", "with": "", "regex": true}}});
    let answer = until("a short search is answered", || async {
        let answer = client.post("/api/tools/text_transform/invoke", &short).await;
        (answer["status"] == "success").then_some(answer)
    })
    .await;
    assert_eq!(answer["output"]["result"], "abc");
}
