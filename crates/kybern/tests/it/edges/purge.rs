//! What an admin keeps and what they remove, with the command line and a real server.

use std::os::unix::fs::PermissionsExt as _;

use nix::sys::stat::{Mode, umask};
use serde_json::{Value, json};

use super::{plan, submit};
use crate::server::client::Ask;
use crate::server::{KEY, Server, Site};

/// Runs a verb against the server: exit code, output, errors.
fn run(site: &Site, server: &Server, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = site.command(args);
    let output = command.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

async fn a_task_is_put_on_hold_and_released_and_what_is_young_stays(site: Site) {
    let server = site.start();
    let client = server.client();
    plan(&client, "old", json!([{"id": "a", "tool": "core.noop"}])).await;
    let kept = submit(&client, "old").await;
    client.rest(&kept).await;
    let (code, out, err) = run(&site, &server, &["task", "hold", &kept, "--reason", "a claim is before the court"]);
    assert!(code == Some(0) && out.contains(&format!("kybern task release {kept}")), "{out}{err}");
    let (_, out, _) = run(&site, &server, &["task", "show", &kept]);
    assert!(out.contains("a claim is before the court"), "{out}");
    let (code, _, err) = run(&site, &server, &["task", "hold", &kept, "--reason", "again"]);
    assert!(code == Some(1) && err.contains("on hold already"), "{err}");

    // What is young stays, and what is removed when it is old is tried where there is a clock to set.
    let purge = |more: &[&str]| {
        let args = [&["purge", "--older-than", "7d", "--kind", "tasks"], more].concat();
        let (code, out, err) = run(&site, &server, &args);
        assert_eq!(code, Some(0), "{out}{err}");
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(purge(&["--dry-run"]).starts_with("KIND WOULD GO tasks 0 nothing is over for 7 days"));
    assert!(purge(&[]).starts_with("KIND REMOVED tasks 0 nothing is over"));
    client.replays(&kept).await;
    let (code, out, err) = run(&site, &server, &["task", "release", &kept]);
    assert!(code == Some(0) && out.contains("no longer kept"), "{out}{err}");
    let (code, _, err) = run(&site, &server, &["task", "release", &kept]);
    assert!(code == Some(1) && err.contains("not on hold"), "{err}");

    let audit = client.list("/api/audit").await;
    for act in ["task.hold", "task.release", "retention.ask"] {
        assert!(audit.iter().any(|event| event.to_string().contains(act)), "{act} is in the audit: {audit:?}");
    }
    client.audit_is_whole().await;
    let (code, _, err) = run(&site, &server, &["purge", "--older-than", "6d"]);
    assert!(code == Some(2) && err.contains("from 7 on"), "{err}");
    let (status, answer) = client.send(&Ask::json("/api/purge", &json!({"olderThanDays": 6, "kinds": ["taks"]}))).await;
    assert!(status.as_u16() == 400 && answer.to_string().contains("/kinds/0"), "{answer}");
    let (status, answer) = client.send(&Ask::json("/api/purge", &json!({"olderThanDays": 6}))).await;
    assert!(status.as_u16() == 400 && answer.to_string().contains("/olderThanDays"), "{answer}");
}

#[tokio::test]
async fn a_task_is_put_on_hold_and_released_and_what_is_young_stays_on_sqlite() {
    a_task_is_put_on_hold_and_released_and_what_is_young_stays(Site::sqlite()).await;
}

#[tokio::test]
async fn a_task_is_put_on_hold_and_released_and_what_is_young_stays_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_task_is_put_on_hold_and_released_and_what_is_young_stays(site).await;
}

#[tokio::test]
async fn while_a_tenant_is_on_hold_nothing_of_it_is_removed() {
    let site = Site::sqlite().with("KYBERN_RETENTION__HOLDS", "[\"default\"]");
    let server = site.start();
    let (code, _, err) = run(&site, &server, &["purge", "--older-than", "30d"]);
    assert!(code == Some(1) && err.contains("on hold"), "{err}");
    let site = Site::sqlite().with("KYBERN_RETENTION__HOLDS", "[\"defualt\"]");
    let server = site.start();
    let (code, _, err) = run(&site, &server, &["purge", "--older-than", "30d"]);
    assert!(code == Some(1) && err.contains("names no tenant") && err.contains("defualt"), "{err}");
}

async fn the_audit_is_exported_checked_and_removed_no_younger_than_a_month(site: Site) {
    let server = site.start();
    let client = server.client();
    for n in 0..205 {
        let user = json!({"name": format!("n{n}"), "email": format!("n{n}@example.com"), "roles": ["viewer"]});
        client.post("/api/users", &user).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let path = file.to_str().unwrap();
    // The command line inherits a mask that keeps nothing from anybody.
    umask(Mode::empty());
    let (code, out, err) = run(&site, &server, &["audit", "export", path]);
    assert!(code == Some(0) && out.contains("events written to") && out.contains("verify --export"), "{out}{err}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, _, err) = run(&site, &server, &["audit", "export", path]);
    assert!(code == Some(1) && err.contains("File exists"), "an export is not written over: {err}");
    let (code, out, err) = run(&site, &server, &["audit", "verify", "--export", path]);
    assert!(code == Some(0) && out.contains("the audit trail is whole: "), "{out}{err}");

    // What is younger than a month stays; what is old is removed where there is a clock to set.
    let (code, out, err) = run(&site, &server, &["audit", "purge", "--exported", path, "--older-than", "7d"]);
    assert!(code == Some(0) && out.contains("nothing goes"), "{out}{err}");
    client.audit_is_whole().await;

    // An export that was changed, cut off or mixed proves nothing, and nothing is removed for it.
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let without = |n: usize| [&lines[..n], &lines[n + 1..]].concat().join("\n");
    let edited = whole.replacen("user.create", "user.change", 1);
    let head = lines[lines.len() - 1];
    let last = format!("{}\n{}", lines[..lines.len() - 2].join("\n"), forged_head(head, lines[lines.len() - 3]));
    for (changed, says) in [
        (edited, "its content was edited"),
        (whole.replacen("{\"seq\":7,", "{\"note\":\"seen\",\"seq\":7,", 1), "does not cover"),
        (whole.replacen("{\"seq\":7,", "{\"seq\":8,\"seq\":7,", 1), "is not written as an export is"),
        (whole.replacen(head, &head.replacen('{', "{\"note\":\"seen\",", 1), 1), "does not cover"),
        (last, "the head was not signed"),
        (without(150), "removed or reordered"),
        (lines[5..].join("\n"), "what was before is missing"),
        (without(200), "does not follow"),
        (without(lines.len() - 2), "is not the event that the head names"),
    ] {
        std::fs::write(&file, changed).unwrap();
        let (code, out, _) = run(&site, &server, &["audit", "verify", "--export", path]);
        assert!(code == Some(1) && out.contains(says), "{says}: {out}");
        let (code, _, err) = run(&site, &server, &["audit", "purge", "--exported", path, "--older-than", "400d"]);
        assert!(code == Some(1) && err.contains("is no whole export"), "{says}: {err}");
    }
    std::fs::write(&file, without(lines.len() - 1)).unwrap();
    let (code, _, err) = run(&site, &server, &["audit", "verify", "--export", path]);
    assert!(code == Some(1) && err.contains("the export was cut off"), "{err}");
}

/// A head that names another event, without the key to sign it.
fn forged_head(head: &str, event: &str) -> String {
    let (mut head, event): (Value, Value) = (serde_json::from_str(head).unwrap(), serde_json::from_str(event).unwrap());
    head["seq"] = event["seq"].clone();
    head["hash"] = event["hash"].clone();
    head.to_string()
}

#[tokio::test]
async fn the_audit_is_exported_checked_and_removed_no_younger_than_a_month_on_sqlite() {
    the_audit_is_exported_checked_and_removed_no_younger_than_a_month(Site::sqlite()).await;
}

#[tokio::test]
async fn the_audit_is_exported_checked_and_removed_no_younger_than_a_month_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    the_audit_is_exported_checked_and_removed_no_younger_than_a_month(site).await;
}
