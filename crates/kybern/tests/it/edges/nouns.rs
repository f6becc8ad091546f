//! The verbs of nouns, typed against a server.

use serde_json::Value;

use crate::samples;
use crate::server::client::until;
use crate::server::{KEY, Server, Site};

/// A verb that has to end well; what it printed.
fn done(site: &Site, server: &Server, args: &[&str]) -> String {
    let mut command = site.command(args);
    let output = command.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn id_of(json: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap();
    value["id"].as_str().unwrap_or_else(|| panic!("no id in {json}")).to_owned()
}

#[tokio::test]
async fn people_organisations_and_receivers_are_made_shown_and_taken_back() {
    let site = Site::sqlite();
    let server = site.start();
    let type_in = |args: &[&str]| done(&site, &server, args);
    let user = id_of(&type_in(&["user", "create", "--name", "Clerk", "--email", "clerk@example.com", "--json"]));
    assert!(type_in(&["user", "list"]).contains("clerk@example.com"));
    assert!(type_in(&["user", "show", &user]).contains("Clerk"));
    assert!(type_in(&["user", "permissions", &user]).contains("\"read\""));
    let made = type_in(&["tenant", "create", "Second Office"]);
    assert!(made.contains("kyb_"), "the first key is shown: {made}");
    assert!(type_in(&["tenant", "list"]).contains("Second Office"));
    let hook = type_in(&["webhook", "create", "https://hooks.example.com/kybern", "--json"]);
    assert!(hook.contains("whsec_"), "{hook}");
    assert!(type_in(&["webhook", "list"]).contains("hooks.example.com"));
    type_in(&["webhook", "delete", &id_of(&hook)]);
    assert!(!type_in(&["webhook", "list"]).contains("hooks.example.com"));
}

#[tokio::test]
async fn what_tasks_wrote_is_looked_at_and_what_was_kept_is_sent_again() {
    let site = Site::sqlite();
    let server = site.start();
    let type_in = |args: &[&str]| done(&site, &server, args);
    let lead = samples::folder().join("mail").join("07-new-lead-form.eml").display().to_string();
    type_in(&["task", "submit", &lead, "--wait"]);
    assert!(type_in(&["record", "kinds"]).contains("insurance.deal"));
    let page: Value = serde_json::from_str(&type_in(&["record", "list", "insurance.deal", "--json"])).unwrap();
    let deal = page["items"][0]["id"].as_str().unwrap();
    assert!(type_in(&["record", "show", "insurance.deal", deal]).contains(deal));
    let sent: Value = serde_json::from_str(&type_in(&["outbox", "list", "--json"])).unwrap();
    let kept = sent["items"].as_array().unwrap().iter().find(|message| message["status"] == "kept").unwrap();
    let again = type_in(&["outbox", "retry", kept["id"].as_str().unwrap()]);
    assert!(again.contains("is sent once more"), "{again}");
}

#[tokio::test]
async fn what_agents_are_told_is_written_looked_for_and_forgotten() {
    let site = Site::sqlite();
    let server = site.start();
    let type_in = |args: &[&str]| done(&site, &server, args);
    site.file("hours.txt", "The office opens at nine and closes at five.");
    let document = id_of(&type_in(&["knowledge", "add", "hours.txt", "--title", "Opening hours", "--json"]));
    until("it is read", async || type_in(&["knowledge", "show", &document]).contains("ready").then_some(())).await;
    type_in(&["knowledge", "publish", &document]);
    assert!(type_in(&["knowledge", "search", "When does the office open?"]).contains("nine"));
    type_in(&["knowledge", "unpublish", &document]);
    type_in(&["knowledge", "delete", &document]);
    assert!(!type_in(&["knowledge", "list"]).contains("Opening hours"));

    let memory = id_of(&type_in(&["memory", "add", "Prefers short answers.", "--category", "preference", "--json"]));
    assert!(type_in(&["memory", "show", &memory]).contains("Prefers short answers."));
    assert!(type_in(&["memory", "list"]).contains("Prefers short"));
    let users: Value = serde_json::from_str(&type_in(&["user", "list", "--json"])).unwrap();
    let me = format!("user:{}", users["items"][0]["id"].as_str().unwrap());
    assert!(type_in(&["memory", "export", "--of", &me]).contains("Prefers short answers."));
    type_in(&["memory", "delete", &memory]);
    assert!(!type_in(&["memory", "list"]).contains("Prefers short"));

    site.file("prompt.txt", "Answer in whole sentences.");
    let prompt = id_of(&type_in(&["prompt", "create", "prompt.txt", "--json"]));
    assert!(type_in(&["prompt", "show", &prompt]).contains("whole sentences"));
    type_in(&["prompt", "submit", &prompt]);
    assert!(type_in(&["prompt", "list"]).contains("review"));
    assert!(type_in(&["prompt", "preview", "hello", "--text", "prompt.txt"]).contains("whole sentences"));
}
