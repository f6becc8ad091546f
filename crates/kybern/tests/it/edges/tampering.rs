//! The audit trail, tampered with beneath a running server: rows are edited, removed and moved by another connection,
//! past the triggers. The server says so over HTTP, and the command line with it. Every single way is tried in the
//! store's own tests.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use kybern_core::id::TenantId;
use serde_json::{Value, json};

use crate::server::client::{text, until};
use crate::server::receiver::Receiver;
use crate::server::{Client, KEY, Server, Site};

/// What is done, in SQL that both databases take, and what is said of it. `{A}` is the tenant.
const WAYS: &[(&str, &str)] = &[
    ("UPDATE audit_event SET body = replace(body, 'user.create', 'user.change') WHERE tenant_id = {A}", "edited"),
    ("UPDATE audit_event SET at = at + 1 WHERE tenant_id = {A} AND seq = 5", "edited"),
    ("DELETE FROM audit_event WHERE tenant_id = {A} AND seq = 4", "removed"),
    ("DELETE FROM audit_event WHERE tenant_id = {A} AND seq = 1", "removed"),
    (
        "UPDATE audit_event SET seq = -seq WHERE tenant_id = {A} AND seq IN (3, 4); \
         UPDATE audit_event SET seq = 7 + seq WHERE tenant_id = {A} AND seq < 0",
        "does not follow",
    ),
    ("DELETE FROM audit_event WHERE tenant_id = {A} AND seq > 6", "cut or replaced"),
    (
        "UPDATE audit_head SET seq = 6, hash = (SELECT hash FROM audit_event WHERE tenant_id = {A} AND seq = 6) WHERE \
         tenant_id = {A}",
        "lies beyond",
    ),
    ("DELETE FROM audit_head WHERE tenant_id = {A}", "lies beyond"),
    ("DELETE FROM audit_event WHERE tenant_id = {A}", "cut or replaced"),
    (ALL_GONE, "no events"),
];
const ALL_GONE: &str = "DELETE FROM audit_event WHERE tenant_id = {A}; DELETE FROM audit_head WHERE tenant_id = {A}";

/// The chains as they were, and back.
const KEEP: &str =
    "CREATE TABLE kept_event AS SELECT * FROM audit_event; CREATE TABLE kept_head AS SELECT * FROM audit_head";
const RESTORE: &str = "DELETE FROM audit_event; DELETE FROM audit_head; INSERT INTO audit_event SELECT * FROM kept_event; \
                       INSERT INTO audit_head SELECT * FROM kept_head";

/// What the server says of the chain.
async fn verified(client: &Client) -> (bool, String) {
    let report = client.get("/api/audit/verify").await;
    (report["valid"] == true, report.to_string())
}

/// What the command line says of it: how it ended, and its words.
fn verified_by_hand(site: &Site, server: &Server) -> (Option<i32>, String) {
    let mut verify = site.command(&["audit", "verify"]);
    let output = verify.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

async fn hire(client: &Client, name: &str) {
    let user = json!({"name": name, "email": format!("{name}@example.com"), "roles": ["viewer"]});
    client.post("/api/users", &user).await;
}

async fn every_way_is_found(site: Site, off: &str) {
    let server = site.start();
    let client = server.client();
    let neighbour: Value = client.post("/api/admin/tenants", &json!({"name": "Neighbour"})).await;
    let next_door = client.with_key(&text(&neighbour["adminKey"]));
    for n in 0..9 {
        hire(&client, &format!("user{n}")).await;
    }
    client.audit_is_whole().await;
    site.beneath(off);
    site.beneath(KEEP);
    let ours = site.id(&TenantId::DEFAULT.to_string());
    for (statements, says) in WAYS {
        site.beneath(&statements.replace("{A}", &ours));
        let (valid, said) = verified(&client).await;
        assert!(!valid && said.contains(says), "{statements}: {said}");
        let (code, said) = verified_by_hand(&site, &server);
        assert!(code == Some(1) && said.contains(says), "{statements}: {said}");
        next_door.audit_is_whole().await;
        site.beneath(RESTORE);
        client.audit_is_whole().await;
    }
    assert_eq!(verified_by_hand(&site, &server).0, Some(0));
    // What is written afterwards covers nothing up.
    for (statements, says) in [WAYS[0], (ALL_GONE, "begin with the tenant's creation")] {
        site.beneath(&statements.replace("{A}", &ours));
        hire(&client, &format!("after.{}", says.len())).await;
        let (valid, said) = verified(&client).await;
        assert!(!valid && said.contains(says), "{statements}, and then another act: {said}");
    }
    next_door.audit_is_whole().await;
}

#[tokio::test]
async fn what_is_done_to_the_audit_beneath_a_running_server_is_found_on_sqlite() {
    every_way_is_found(Site::sqlite(), "DROP TRIGGER audit_event_keeps; DROP TRIGGER audit_event_stays").await;
}

#[tokio::test]
async fn what_is_done_to_the_audit_beneath_a_running_server_is_found_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    every_way_is_found(site, "ALTER TABLE audit_event DISABLE TRIGGER USER").await;
}

/// The heads that were posted, by the tenants' ids.
fn posted(receiver: &Receiver, tenant: &str) -> Vec<Value> {
    let heads =
        receiver.seen().into_iter().flat_map(|seen| seen.json()["heads"].as_array().cloned().unwrap_or_default());
    heads.filter(|head| head["tenantId"] == tenant).collect()
}

/// Waits until the file holds the tenant's chain as it is now.
async fn until_kept(file: &std::path::Path, client: &Client) -> Value {
    let head = client.get("/api/audit/head").await;
    let line = format!("\"seq\":{},\"hash\":\"{}\"", head["seq"], text(&head["hash"]));
    until("the head in the file", || async {
        std::fs::read_to_string(file).is_ok_and(|kept| kept.contains(&line)).then_some(())
    })
    .await;
    head
}

async fn heads_are_kept_elsewhere(site: Site, off: &str) {
    // The receiver is down at first: what it has not taken comes again.
    let receiver = Receiver::answering(|_, n| (n < 2).then(|| (503, json!({}))));
    let file = site.folder().join("heads.jsonl");
    let url = receiver.url("/heads");
    let site = site
        .with("KYBERN_AUDIT__HEAD_FILE", &file.display().to_string())
        .with("KYBERN_AUDIT__HEAD_WEBHOOK", &url)
        .with("KYBERN_AUDIT__HEAD_EVERY_MS", "1000");
    let server = site.start();
    let client = server.client();
    let neighbour: Value = client.post("/api/admin/tenants", &json!({"name": "Neighbour"})).await;
    let next_door = client.with_key(&text(&neighbour["adminKey"]));
    hire(&client, "first").await;
    let first = until_kept(&file, &client).await;
    hire(&client, "second").await;
    hire(&client, "third").await;
    let last = until_kept(&file, &client).await;
    let theirs = until_kept(&file, &next_door).await;
    for head in [&last, &theirs] {
        let tenant = text(&head["tenantId"]);
        until("the head at the receiver", || async {
            posted(&receiver, &tenant).last().is_some_and(|posted| posted["hash"] == head["hash"]).then_some(())
        })
        .await;
    }
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let verified = || {
        let mut verify = site.command(&["audit", "verify", "--head", &file.display().to_string()]);
        let output = verify.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = verified();
    assert!(code == Some(0) && said.contains("is whole"), "{said}");
    // The same head by hand, for people and for programs; what programs get is a file to verify by.
    let by_hand = |args: &[&str]| {
        let mut head = site.command(&[&["audit", "head"], args].concat());
        let output = head.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let (shown, json) = (by_hand(&[]), by_hand(&["--json"]));
    let signed: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&signed["seq"], &signed["hash"], &signed["tenantId"]),
        (&last["seq"], &last["hash"], &last["tenantId"])
    );
    for part in [last["seq"].to_string(), text(&last["hash"])] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }
    let kept = site.file("by-hand.json", &json);
    let mut verify = site.command(&["audit", "verify", "--head", &kept.display().to_string()]);
    let output = verify.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // A full disk leaves half a line; what is added afterwards begins on its own.
    std::fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"tenantId\": \"0").unwrap();
    hire(&client, "fourth").await;
    until_kept(&file, &client).await;
    let (code, said) = verified();
    assert!(code == Some(0) && said.contains("is whole") && said.contains("a write was cut off"), "{said}");

    // Somebody who may write anything takes the newest events back, and then more is done: the chain is whole by itself.
    site.beneath(off);
    let (ours, seq) = (site.id(&TenantId::DEFAULT.to_string()), &first["seq"]);
    site.beneath(&format!(
        "DELETE FROM audit_event WHERE tenant_id = {ours} AND seq > {seq}; UPDATE audit_head SET seq = {seq}, hash = \
         '{}' WHERE tenant_id = {ours}",
        text(&first["hash"])
    ));
    hire(&client, "other").await;
    hire(&client, "another").await;
    hire(&client, "latest").await;
    client.audit_is_whole().await;
    until_kept(&file, &client).await;
    let (code, said) = verified();
    assert!(code == Some(1) && said.contains("made anew") && said.contains(&last["seq"].to_string()), "{said}");
    next_door.audit_is_whole().await;
}

#[tokio::test]
async fn heads_that_are_kept_elsewhere_show_a_trail_that_was_made_anew_on_sqlite() {
    heads_are_kept_elsewhere(Site::sqlite(), "DROP TRIGGER audit_event_keeps; DROP TRIGGER audit_event_stays").await;
}

#[tokio::test]
async fn heads_that_are_kept_elsewhere_show_a_trail_that_was_made_anew_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    heads_are_kept_elsewhere(site, "ALTER TABLE audit_event DISABLE TRIGGER USER").await;
}
