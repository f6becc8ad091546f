//! What an admin keeps and what they remove, with the command line and a real server.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use kybern_core::pack::PackRegistry;
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::task::SubmitRequest;
use nix::sys::stat::{Mode, umask};
use serde_json::{Value, json};

use super::{plan, submit};
use crate::server::client::{Ask, until};
use crate::server::inside::{self, ShiftedClock};
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

    // What is young stays.
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

/// What was done forty days ago, by a process of that time: a task that has ended, one that has and is to be held, one
/// that waits for a person.
async fn forty_days_ago(site: &Site) -> [String; 3] {
    let forty_days = Millis(40 * 86_400_000);
    let clock = Arc::new(ShiftedClock::behind(forty_days));
    let (engine, admin) = inside::start(site, clock, PackRegistry::default()).await;
    let tell = json!({"to": "someone@example.com", "subject": "done", "body": "done"});
    let over = json!({"key": "old", "steps": [{"id": "a", "tool": "core.notify", "args": tell}]});
    let open =
        json!({"key": "open", "steps": [{"id": "a", "tool": "core.ask", "args": {"title": "?", "fields": {"v": {}}}}]});
    for plan in [&over, &open] {
        engine.plans().put(&admin, plan).await.unwrap();
    }
    let submit = async |plan: &str| {
        let request = SubmitRequest { plan_key: Some(plan.to_owned()), ..SubmitRequest::text("go") };
        let id = engine.tasks().submit(&admin, request, None).await.unwrap().id;
        until("the task rests", || async {
            let status = engine.tasks().get(&admin, id).await.unwrap().status;
            (status.is_terminal() || status == TaskStatus::NeedsReview).then_some(())
        })
        .await;
        id.to_string()
    };
    let ids = [submit("old").await, submit("old").await, submit("open").await];
    until("what was to be sent is done with", || async {
        (site.count("SELECT count(*) FROM job WHERE status = 'pending'") == 0).then_some(())
    })
    .await;
    engine.drain(Millis(5_000)).await;
    // PostgreSQL has a clock of its own, by which all of this was today.
    let since = if site.keeps_time() { forty_days.0 } else { 0 };
    site.beneath(&format!(
        "UPDATE task SET created_at = created_at - {since}; UPDATE outbox SET created_at = created_at - {since}; \
         UPDATE job SET created_at = created_at - {since}; \
         UPDATE task SET completed_at = created_at + 1000 WHERE completed_at IS NOT NULL; \
         UPDATE job SET finished_at = created_at + 1000"
    ));
    ids
}

async fn what_is_old_goes_and_what_is_held_or_open_stays(site: Site) {
    let [gone, held, open] = forty_days_ago(&site).await;
    let server = site.start();
    let client = server.client();
    let young = submit(&client, "old").await;
    client.rest(&young).await;
    let (code, out, err) = run(&site, &server, &["task", "hold", &held, "--reason", "a claim is before the court"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let days = |count: &str| format!("SELECT count(*) FROM {count}");
    until("what the young task sends is done with", || async {
        (site.count(&days("job WHERE status = 'pending'")) == 0).then_some(())
    })
    .await;
    let stored = || ["task", "step_row", "outbox", "job"].map(|table| site.count(&days(table)));
    let before = stored();
    let purge = |more: &[&str]| {
        let (code, out, err) = run(&site, &server, &[&["purge", "--older-than", "30d"], more].concat());
        assert_eq!(code, Some(0), "{out}{err}");
        out
    };
    let line = |out: &str, kind: &str| {
        let line = out.lines().find(|line| line.split_whitespace().next() == Some(kind));
        line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or_else(|| panic!("{kind}: {out}")).to_owned()
    };
    let would = purge(&["--dry-run"]);
    assert_eq!(line(&would, "tasks"), "1", "{would}");
    assert_eq!(stored(), before, "a dry run removes nothing");
    let removed = purge(&[]);
    for kind in ["tasks", "messages", "jobs"] {
        assert_eq!(line(&removed, kind), line(&would, kind), "{would}{removed}");
    }
    let (status, _) = client.send(&Ask::get(&format!("/api/tasks/{gone}"))).await;
    assert_eq!(status.as_u16(), 404);
    let rows = format!("step_row WHERE task_id = {}", site.id(&gone));
    assert_eq!(site.count(&days(&rows)), 0, "its journal went with it");
    for id in [&held, &young] {
        client.replays(id).await;
        let sent = format!("outbox WHERE task_id = {}", site.id(id));
        assert_eq!(site.count(&days(&sent)), 1, "what it sent stays");
    }
    assert_eq!(site.count(&days(&format!("outbox WHERE task_id = {}", site.id(&gone)))), 0);
    let task = client.get(&format!("/api/tasks/{open}")).await;
    assert_eq!(client.review(&task, &json!({"corrections": {"v": "yes"}})).await["status"], "completed");
    assert_eq!(line(&purge(&[]), "tasks"), "0", "nothing is left that is old");
    let audit = client.list("/api/audit").await;
    assert!(audit.iter().any(|event| event["action"] == "retention.purge"), "{audit:?}");
    client.audit_is_whole().await;
}

#[tokio::test]
async fn what_is_old_goes_and_what_is_held_or_open_stays_on_sqlite() {
    what_is_old_goes_and_what_is_held_or_open_stays(Site::sqlite()).await;
}

#[tokio::test]
async fn what_is_old_goes_and_what_is_held_or_open_stays_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    what_is_old_goes_and_what_is_held_or_open_stays(site).await;
}

#[tokio::test]
async fn while_a_tenant_is_on_hold_nothing_of_it_is_removed() {
    let site = Site::sqlite().with("KYBERN_RETENTION__HOLDS", "[\"default\"]");
    let server = site.start();
    let (code, _, err) = run(&site, &server, &["purge", "--older-than", "30d"]);
    assert!(code == Some(1) && err.contains("on hold"), "{err}");
    let (_, out, _) = run(&site, &server, &["doctor"]);
    assert!(out.contains("default: on hold") && !out.contains("no tenant is called so"), "{out}");
    let site = Site::sqlite().with("KYBERN_RETENTION__HOLDS", "[\"defualt\"]");
    let server = site.start();
    let (code, _, err) = run(&site, &server, &["purge", "--older-than", "30d"]);
    assert!(code == Some(1) && err.contains("names no tenant, correct it") && err.contains("defualt"), "{err}");
    assert!(!err.contains("show") && !err.contains("list"), "{err}");
    let once = || async { server.said().contains("nothing old is removed").then_some(()) };
    until("the log says that nothing is removed", once).await;
    // The doctor says so, whether it has to ask the server or looks by itself.
    let told = |code: Option<i32>, out: &str| {
        assert!(
            code == Some(1) && out.contains("retention.holds names \"defualt\", and no tenant is called so"),
            "{out}"
        );
    };
    let (code, out, _) = run(&site, &server, &["doctor"]);
    told(code, &out);
    // What counts is what the server was started with, not what this shell has.
    let mut other = site.command(&["doctor", "--url", server.url()]);
    other.env("KYBERN_API_KEY", KEY).env("KYBERN_RETENTION__HOLDS", "[]").env("KYBERN_DOCUMENTS__OCR", "off");
    let output = other.output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    told(output.status.code(), &out);
    assert!(!out.contains("ocr is off") && out.contains("scans"), "{out}");
    // Whoever administers one tenant is told that a name is wrong, and not which.
    let client = server.client();
    let admin = json!({"name": "a", "email": "a@example.com", "roles": ["admin"]});
    let admin = client.post("/api/users", &admin).await;
    let key = client.post("/api/keys", &json!({"name": "a", "userId": admin["id"]})).await;
    let ready = client.with_key(key["key"].as_str().unwrap()).get("/readyz").await;
    let mut parts = ready["checks"].as_array().unwrap().iter();
    let part = parts.find(|check| check["name"] == "retention").unwrap();
    assert!(part["state"] == "broken" && !part.to_string().contains("defualt"), "{part}");
    let mut server = server;
    server.terminate();
    server.ended().await;
    assert_eq!(server.said().matches("nothing old is removed").count(), 1, "{}", server.said());
    assert!(!server.said().contains("old rows were not removed"), "{}", server.said());
    drop(server);
    let output = site.command(&["doctor", "--database", &site.database()]).output().unwrap();
    told(output.status.code(), &String::from_utf8_lossy(&output.stdout));
}

#[tokio::test]
async fn beside_a_server_the_doctor_looks_at_the_names_of_its_own_settings_too() {
    let site = Site::sqlite();
    let server = site.start();
    let doctor = |holds: &str| {
        let mut doctor = site.command(&["doctor", "--url", server.url(), "--database", &site.database()]);
        let output = doctor.env("KYBERN_API_KEY", KEY).env("KYBERN_RETENTION__HOLDS", holds).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, out) = doctor("[\"default\"]");
    assert!(code == Some(0) && !out.contains("no tenant is called so"), "{out}");
    let (code, out) = doctor("[\"defualt\"]");
    assert!(code == Some(1) && out.contains("retention.holds names \"defualt\", and no tenant is called so"), "{out}");
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
    assert!(code == Some(2) && err.contains("is there already"), "an export is not written over: {err}");
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
    for (changed, says) in [
        (whole.replacen("{\"seq\":1,", "{\"seq\":-9223372036854775808,", 1), "line 1: seq is no number from 1 on"),
        (format!("{}\n{whole}", " ".repeat(9 << 20)), "line 1: is longer than 8388608 bytes"),
    ] {
        std::fs::write(&file, changed).unwrap();
        let (code, _, err) = run(&site, &server, &["audit", "verify", "--export", path]);
        assert!(code == Some(1) && err.contains(says), "{says}: {err}");
    }
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
