//! The command line with a real server, and without one.

use std::process::Output;

use serde_json::{Value, json};

use crate::samples;
use crate::server::client::Ask;
use crate::server::{KEY, Server, Site};

/// How a verb ended.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// Where verbs go: to a server, or to the database itself.
enum Way<'a> {
    Server(&'a Site, Server),
    Database(&'a Site),
}

impl Way<'_> {
    fn run(&self, args: &[&str]) -> Run {
        let mut command = match self {
            Self::Server(site, server) => {
                let mut command = site.command(args);
                command.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY);
                command
            }
            Self::Database(site) => {
                let mut command = site.command(args);
                command.args(["--database", &site.database()]);
                command
            }
        };
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// A verb that has to end well.
    fn done(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
        run
    }
}

fn every_verb_works(site: &Site, way: &Way<'_>) {
    let noop = json!({"key": "test.noop", "intentKey": "test.noop", "steps": [{"id": "a", "tool": "core.noop"}]});
    let faulty = json!({"key": "test.bad", "intentKey": "test.bad", "steps": [{"id": "a", "tool": "core.nope"}]});
    site.file("noop.json", noop.to_string());
    site.file("faulty.json", faulty.to_string());
    assert!(way.done(&["plan", "check", "noop.json"]).out.contains("test.noop is sound"));
    let checked = way.run(&["plan", "check", "faulty.json"]);
    assert!(checked.code == Some(1) && checked.out.contains("core.nope"), "{checked:?}");
    way.done(&["plan", "import", "noop.json"]);
    assert!(way.done(&["plan", "show", "test.noop"]).out.contains("core.noop"));
    assert!(way.done(&["plan", "list"]).out.contains("insurance.loss_run_pipeline"));
    assert!(way.done(&["tool", "list"]).out.contains("core.noop"));
    assert!(way.done(&["tool", "call", "core.noop", "{}"]).out.starts_with("success"));
    let refused = way.run(&["tool", "call", "core.wait", "{\"ms\":\"soon\"}"]);
    assert!(refused.code == Some(1) && refused.err.contains("ms"), "{refused:?}");

    let task = way.done(&["task", "submit", "hello", "--plan", "test.noop", "--wait", "--json"]).json();
    assert_eq!(task["status"], "completed");
    let id = task["id"].as_str().unwrap();
    assert!(way.done(&["task", "show", id]).out.contains("✓ a  core.noop"));
    assert!(way.done(&["task", "log", id]).out.contains("core.noop"));
    assert!(way.done(&["task", "replay", id]).out.contains("arrives at the same end"));
    assert!(way.done(&["task", "list"]).out.contains(id));

    let mails = samples::folder().join("mail");
    let lead = mails.join("07-new-lead-form.eml").display().to_string();
    assert!(way.done(&["task", "submit", &lead, "--wait"]).out.contains("insurance.new_lead"));
    let scan = mails.join("14-scan.eml").display().to_string();
    let waiting = way.run(&["task", "submit", &scan, "--wait"]);
    assert!(waiting.code == Some(3) && waiting.out.contains("dec-page-scan.pdf"), "{waiting:?}");
    let scanned = way.done(&["task", "list", "--status", "needs_review", "--json"]).json();
    let scanned = scanned["items"][0]["id"].as_str().unwrap();
    assert_eq!(way.run(&["task", "show", scanned]).code, Some(3));
    assert_eq!(way.run(&["task", "replay", scanned]).code, Some(1));
    way.done(&["task", "cancel", scanned]);
    assert!(way.done(&["audit", "verify"]).out.contains("the audit trail is whole"));
}

#[tokio::test]
async fn every_verb_works_against_a_server() {
    let site = Site::sqlite();
    every_verb_works(&site, &Way::Server(&site, site.start()));
}

#[tokio::test]
async fn every_verb_works_without_a_server() {
    let site = Site::sqlite();
    every_verb_works(&site, &Way::Database(&site));
    // What was done without a server, a server has: three submissions and a call.
    let server = site.start();
    assert_eq!(server.client().list("/api/tasks").await.len(), 4);
}

#[tokio::test]
async fn every_verb_works_without_a_server_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    every_verb_works(&site, &Way::Database(&site));
}

#[tokio::test]
async fn a_bundled_plan_is_not_taken_out_of_use_and_the_answer_says_what_to_do() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let key = "insurance.loss_run_pipeline";
    let off = |key: &str| Ask {
        method: reqwest::Method::PATCH,
        ..Ask::json(&format!("/api/plans/{key}"), &json!({"active": false}))
    };
    let (status, answer) = client.send(&off(key)).await;
    assert_eq!(status.as_u16(), 409, "{answer}");
    let told = answer["error"]["message"].as_str().unwrap();
    assert!(told.contains("is bundled") && told.contains("store a plan of your own under its key"), "{told}");
    let (status, answer) = client.send(&off("no.such")).await;
    assert!(status.as_u16() == 404 && answer.to_string().contains("no.such"), "{answer}");
    client.get(&format!("/api/plans/{key}")).await;
}

#[tokio::test]
async fn a_lost_admin_key_is_replaced() {
    let site = Site::sqlite();
    drop(site.start());
    let recovered = Way::Database(&site).done(&["key", "recover"]);
    let key = recovered.out.split_whitespace().find(|word| word.starts_with("kyb_")).unwrap().to_owned();
    let server = site.start();
    let client = server.client().with_key(&key);
    client.get("/api/users").await;
    client.get("/api/admin/tenants").await;
    let audit = client.list("/api/audit").await;
    assert!(audit.iter().any(|event| event.to_string().contains("recover") || event.to_string().contains("key")));
    client.audit_is_whole().await;
}

/// Without a given admin key, one is made and shown at the first start, and never again.
#[tokio::test]
async fn the_first_admin_key_is_shown_once() {
    let site = Site::sqlite().with("KYBERN_ADMIN_KEY", "");
    let server = site.start();
    let shown = |server: &Server| {
        server.said().lines().find_map(|line| line.strip_prefix("admin key, shown this once: ").map(str::to_owned))
    };
    let key = crate::server::client::until("the key is shown", || std::future::ready(shown(&server))).await;
    server.client().with_key(&key).get("/api/tasks").await;
    drop(server);
    let mut server = site.start();
    server.client().with_key(&key).get("/api/tasks").await;
    server.terminate();
    server.ended().await;
    assert_eq!(shown(&server), None);
}
