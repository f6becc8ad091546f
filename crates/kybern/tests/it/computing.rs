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

/// Mails that say one thing again and again, each as long as a long letter.
pub(crate) fn floods() -> Vec<String> {
    let again = |piece: &dyn Fn(usize) -> String| {
        let mut text = "Please send the loss runs.\r\n\r\n".to_owned();
        let mut n = 0;
        while text.len() < 40 << 10 {
            text.push_str(&piece(n));
            n += 1;
        }
        text
    };
    vec![
        again(&|_| "loss runs now for A B ".to_owned()),
        again(&|_| "Please send the loss runs for policy CP-20418. ".to_owned()),
        again(&|n| format!("Policy number: CP-{n:05}\r\n")),
        again(&|n| format!("BA{n:06}. ")),
    ]
}

#[tokio::test]
async fn mails_that_say_one_thing_again_and_again_stop_no_other_request() {
    let site = Site::sqlite().with("TOKIO_WORKER_THREADS", "2");
    let server = site.start();
    let client = server.client();
    let mut tasks = Vec::new();
    for (n, text) in floods().into_iter().enumerate() {
        for copy in 0..2 {
            let head =
                format!("From: s@example.com\r\nTo: d@example.com\r\nSubject: loss runs\r\nMessage-ID: <{n}.{copy}@x>");
            let raw = format!("{head}\r\nContent-Type: text/plain\r\n\r\n{text}");
            let received = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", raw)).await;
            tasks.push(crate::server::client::text(&received["taskId"]));
        }
    }
    stays_alive(&server).await;
    for id in &tasks {
        let task = client.rest(id).await;
        assert_ne!(task["status"], "failed", "{task}");
    }
}
