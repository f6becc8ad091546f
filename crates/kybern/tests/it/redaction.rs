//! Secrets and personal data, planted by the hundred in everything that a server is sent: none may be found in what it
//! writes for people to read, which is its log at debug, its spans, the errors of its API, the tasks' logs and the
//! audit. What is harmless comes through as it is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_testkit::plants::{Plant, planted};
use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::receiver::{Receiver, Seen};
use crate::server::{Client, Site};

/// How many are planted in a server.
const PLANTS: usize = 540;
/// What has to stay, as the redactor's own tests have it.
const HARMLESS: &str = include_str!("../../../core/src/policy/redact/harmless.txt");

/// A provider of models that refuses everything and repeats what it was asked, and takes spans and webhooks.
fn receiver() -> Receiver {
    Receiver::answering(|seen, _| match seen.path.as_str() {
        "/v1/chat/completions" => {
            let asked = text(&seen.json()["messages"][0]["content"]);
            Some((
                400,
                json!({"error": {"message": format!("cannot answer: {asked}"), "type": "invalid_request_error"}}),
            ))
        }
        "/hooks" => Some((500, json!({"error": "no"}))),
        _ => Some((200, Value::Null)),
    })
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The requests that say `said`, each in its own place.
fn places(said: &str, tenant: &str, receiver: &Receiver) -> Vec<Ask> {
    let chat = json!({"model": "fake/chat", "messages": [{"role": "user", "content": said}]});
    let call = |tool: &str, input: Value| Ask::json(&format!("/api/tools/{tool}/invoke"), &json!({ "input": input }));
    let steps = json!([{"id": "a", "tool": said}, {"id": "b", "tool": "core.noop", "condition": said}]);
    vec![
        // Tools: failures, arguments, names of arguments, calls that are refused on their way out.
        call("core.fail", json!({"message": said})),
        call("core.fail", json!({"message": {"nested": [said]}})),
        call("core.fail", json!({"message": "x", said: 1})),
        call("core.http_request", json!({"method": "GET", "url": format!("http://10.0.0.1/?q={}", encoded(said))})),
        call("core.http_request", json!({"method": said, "url": "http://10.0.0.1/"})),
        call("core.http_request", json!({"method": "POST", "url": receiver.url("/hooks"), "text": said})),
        // Providers that repeat what they were asked.
        Ask::json("/v1/chat/completions", &chat),
        Ask::json("/v1/chat/completions", &json!({"model": said, "messages": [{"role": "user", "content": "x"}]})),
        // Paths, parameters, headers, names and values of members.
        Ask::get(&format!("/api/tasks?status={}", encoded(said))),
        Ask::get(&format!("/api/tasks/{}", encoded(said))),
        Ask::get(&format!("/api/plans/{}", encoded(said))),
        Ask::get(&format!("/{}", encoded(said))),
        Ask::get("/api/tasks").header("x-request-id", said),
        Ask::get("/api/tasks/0198c1d2-7a3b-7c4d-8e5f-001122334455/events").header("last-event-id", said),
        Ask::json("/api/tasks", &json!({"input": "x", said: 1})),
        Ask::json("/api/tasks", &json!({"input": [said]})),
        Ask::json("/api/tasks", &json!({"planKey": said})),
        Ask::json("/api/tasks", &json!({"channel": said, "input": "x"})).header("idempotency-key", said),
        Ask::post("/api/tasks", "application/json", format!("{{\"input\": {said}")),
        Ask::post("/api/tasks", said, "x"),
        Ask::json("/api/plans", &json!({"key": "test.planted", "description": said, "steps": steps})),
        Ask::json("/api/plans/check", &json!({"key": said, "steps": steps})),
        Ask::json("/api/users", &json!({"email": "x", "roles": [said]})),
        Ask::json("/api/budgets", &json!({"subject": said})),
        // From outside: webhooks, callbacks, forms.
        Ask::post("/api/inbound/webhook/form", "application/json", format!("[{said}")).header("webhook-id", said),
        Ask::json(
            "/api/internal/brain/callback/0198c1d2-7a3b-7c4d-8e5f-001122334455",
            &json!({"workflowId": said,
            "success": false, "error": said}),
        )
        .header("x-callback-secret", said),
        Ask::json("/api/webhooks/outbound", &json!({"url": said})),
        // What the audit keeps.
        Ask::get("/api/tasks").header("x-tenant-id", tenant).header("x-sudo-reason", said),
        Ask::get("/api/tasks").header("x-tenant-id", said).header("x-sudo-reason", "to look"),
        Ask::json("/api/admin/tenants", &json!({"name": "x", said: said})),
    ]
}

/// Everything that people read.
struct Read(Vec<(String, String)>);

impl Read {
    fn note(&mut self, whence: impl Into<String>, text: impl Into<String>) {
        self.0.push((whence.into(), text.into()));
    }

    /// Fails with the secrets that were found, and where.
    fn holds_none_of(&self, plants: &[Plant]) {
        let mut found = Vec::new();
        for plant in plants {
            for (whence, text) in &self.0 {
                if let Some(at) = text.find(&plant.secret) {
                    let from = text.floor_char_boundary(at.saturating_sub(80));
                    let to = text.ceil_char_boundary((at + 120).min(text.len()));
                    found.push(format!("{} in {whence}: …{}…", plant.text, &text[from..to]));
                }
            }
        }
        assert!(found.is_empty(), "{} found, such as\n{}", found.len(), found[..found.len().min(25)].join("\n"));
    }
}

/// What the logs of all tasks say, and the errors that lists of tasks and of messages show.
async fn shown(client: &Client, read: &mut Read) {
    for task in client.list("/api/tasks").await {
        let id = text(&task["id"]);
        read.note("the list of tasks", json!([task["errorMessage"], task["error"]]).to_string());
        read.note(format!("the log of {id}"), client.get(&format!("/api/tasks/{id}/log?limit=200")).await.to_string());
    }
    for message in client.list("/api/outbox").await {
        read.note("the outbox", message["error"].to_string());
    }
    for event in client.list("/api/audit").await {
        read.note("the audit", event.to_string());
    }
}

async fn planted_secrets_are_never_shown(site: Site) {
    let receiver = receiver();
    let site = site
        .with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()))
        .with("KYBERN_PROVIDERS__FAKE__KIND", "custom")
        .with("KYBERN_PROVIDERS__FAKE__BASE_URL", &receiver.url("/v1"))
        .with("KYBERN_TELEMETRY__LOG", "debug")
        .with("KYBERN_TELEMETRY__OTLP_ENDPOINT", &receiver.url(""));
    let mut server = site.start();
    let client = server.client();
    let tenant = client.post("/api/admin/tenants", &json!({"name": "North"})).await;
    let (north, tenant) = (client.with_key(tenant["adminKey"].as_str().unwrap()), text(&tenant["id"]));
    let plants = planted(PLANTS);
    let mut read = Read(Vec::new());
    for (n, plant) in plants.iter().enumerate() {
        let mut asks = places(&plant.text, &tenant, &receiver);
        let ask = asks.swap_remove(n / 2 % asks.len());
        // A header that cannot be sent was never there.
        let Ok(response) = client.raw(&ask).await else { panic!("{ask:?}") };
        let status = response.status();
        let body = response.text().await.unwrap();
        // A task repeats its input to whoever may see it; an error, and how a call ended, does not.
        if status.is_client_error() || status.is_server_error() || ask.path.ends_with("/invoke") {
            read.note(format!("the answer {status} to {} {}", ask.method, ask.path), body);
        }
    }
    assert!(read.0.len() > PLANTS / 2, "{} answers", read.0.len());
    for tenant in [&client, &north] {
        shown(tenant, &mut read).await;
        tenant.audit_is_whole().await;
    }
    let crossed = read.0.iter().filter(|(_, text)| text.contains("tenant.sudo")).count();
    assert!(crossed >= PLANTS / 60, "{crossed} crossings were audited");
    server.terminate();
    server.ended().await;
    let spans: Vec<Seen> = receiver.seen().into_iter().filter(|seen| seen.path == "/v1/traces").collect();
    assert!(!spans.is_empty(), "spans were exported");
    spans.iter().for_each(|seen| read.note("the spans", String::from_utf8_lossy(&seen.body)));
    let said = server.said();
    assert!(said.contains("request refused") && said.contains("[redacted:"), "the log is on at debug");
    read.note("the log", said);
    read.holds_none_of(&plants);
}

#[tokio::test]
async fn planted_secrets_are_never_shown_on_sqlite() {
    planted_secrets_are_never_shown(Site::sqlite()).await;
}

#[tokio::test]
async fn planted_secrets_are_never_shown_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    planted_secrets_are_never_shown(site.with("KYBERN_TELEMETRY__FORMAT", "json")).await;
}

#[tokio::test]
async fn harmless_words_and_values_are_shown_as_they_are() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let lines: Vec<&str> = HARMLESS.lines().collect();
    assert!(lines.len() >= 150, "{}", lines.len());
    for lines in lines.chunks(10) {
        let message = lines.join(" | ");
        let ask = Ask::json("/api/tools/core.fail/invoke", &json!({"input": {"message": message}}));
        let answer = client.ok(&ask).await;
        assert_eq!(answer["error"]["message"], json!(message));
        let id = text(&answer["invocationId"]);
        let log = client.get(&format!("/api/tasks/{id}/log?limit=200")).await;
        assert!(log["items"].as_array().unwrap().iter().any(|entry| entry["error"] == json!(message)), "{log}");
    }
}

/// A reviewer sees what they decide about, and a caller the result: these are not redacted.
#[tokio::test]
async fn what_is_worked_on_is_exact() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let plant = planted(24).swap_remove(22);
    let set = Ask::json("/api/tools/core.set/invoke", &json!({"input": {"note": plant.text}}));
    let answer = client.ok(&set).await;
    assert_eq!(answer["output"]["note"], json!(plant.text), "{answer}");
    let steps = json!([{"id": "ask", "kind": "input", "title": plant.text, "fields": {"yes": {"type": "boolean"}}}]);
    client.post("/api/plans", &json!({"key": "test.ask", "steps": steps})).await;
    let task = client.post("/api/tasks", &json!({"planKey": "test.ask", "input": plant.text})).await;
    let task = client.rest(&text(&task["id"])).await;
    assert_eq!((&task["input"], &task["waits"][0]["title"]), (&json!(plant.text), &json!(plant.text)));
}

/// No proxy of the environment is used, neither for what is open nor for what is closed.
#[tokio::test]
async fn a_proxy_in_the_environment_sees_nothing() {
    let (proxy, receiver) = (Receiver::start(), Receiver::start());
    let mut site = Site::sqlite().with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()));
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        site = site.with(name, &proxy.url(""));
    }
    let server = site.start();
    let client = server.client();
    for (url, status) in [(receiver.url("/here"), "success"), ("http://10.0.0.1/".to_owned(), "failure")] {
        let input = json!({"input": {"method": "GET", "url": url}});
        let answer = client.post("/api/tools/core.http_request/invoke", &input).await;
        assert_eq!(answer["status"], status, "{answer}");
    }
    assert_eq!((proxy.seen().len(), receiver.seen().len()), (0, 1));
}

/// Basic credentials are what a header carries; the text of them is not repeated either.
#[tokio::test]
async fn a_wrong_key_is_not_repeated() {
    let site = Site::sqlite().with("KYBERN_TELEMETRY__LOG", "debug").with("KYBERN_SERVER__WRONG_KEYS_PER_MINUTE", "0");
    let server = site.start();
    let wrong = planted(60);
    let mut read = Read(Vec::new());
    for plant in &wrong {
        let client = server.client().with_key(&plant.secret);
        let (status, answer) = client.send(&Ask::get("/api/tasks")).await;
        assert_eq!(status.as_u16(), 401);
        read.note("the answer", answer.to_string());
        let basic = STANDARD.encode(format!("svc:{}", plant.secret));
        let ask = Ask::get("/api/tasks").header("x-auth", &basic);
        read.note("the answer", client.send(&ask).await.1.to_string());
    }
    read.note("the log", server.said());
    read.holds_none_of(&wrong);
}
