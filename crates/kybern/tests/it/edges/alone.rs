//! The command line without a server: what it leaves behind, and what it says when the database cannot be opened.

use std::fs;
use std::process::Output;

use serde_json::json;

use super::{plan, submit};
use crate::server::client::{Ask, until};
use crate::server::receiver::Receiver;
use crate::server::{KEY, Site};

/// A trace as a caller says it, and as it is exported.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

/// Runs a verb on the site's database: exit code, output, errors.
fn run(site: &Site, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = site.command(args).args(["--database", &site.database()]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

async fn reading_leaves_no_row(site: Site) {
    let mut server = site.start();
    let before = (server.client().list("/api/keys").await, server.client().list("/api/audit").await);
    server.terminate();
    server.ended().await;
    for verb in [&["task", "list"], &["tool", "list"], &["plan", "list"], &["key", "list"], &["audit", "verify"]] {
        let (code, out, err) = run(&site, verb);
        assert_eq!(code, Some(0), "{verb:?}: {out}{err}");
    }
    // A verb that works needs no key of its own either.
    assert_eq!(run(&site, &["tool", "call", "core.noop"]).0, Some(0));
    let server = site.start();
    assert_eq!(server.client().list("/api/keys").await, before.0);
    let after = server.client().list("/api/audit").await;
    assert!(after.iter().all(|event| !event.to_string().contains("key.")), "{after:?}");
    server.client().audit_is_whole().await;
}

#[tokio::test]
async fn reading_leaves_no_row_on_sqlite() {
    reading_leaves_no_row(Site::sqlite()).await;
}

#[tokio::test]
async fn reading_leaves_no_row_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    reading_leaves_no_row(site).await;
}

#[test]
fn reading_in_an_empty_folder_makes_nothing() {
    let site = Site::sqlite();
    let (code, out, err) = run(&site, &["task", "list"]);
    assert!(code == Some(0) && out.contains("no tasks"), "{out}{err}");
    let serve = format!("kybern --database {} serve", site.database());
    assert!(err.contains("there is no database") && err.contains(&serve), "{err}");
    assert!(out.contains(&format!("kybern --database {} task submit", site.database())), "{out}");
    let (code, out, err) = run(&site, &["tool", "list"]);
    assert!(code == Some(0) && out.contains("core.noop"), "{out}{err}");
    assert_eq!(fs::read_dir(site.folder()).unwrap().count(), 0);
}

#[test]
fn a_database_on_the_command_line_goes_before_a_server_of_the_environment() {
    let site = Site::sqlite().with("KYBERN_URL", "http://127.0.0.1:1");
    let (code, out, err) = run(&site, &["tool", "list"]);
    assert!(code == Some(0) && out.contains("core.noop"), "{out}{err}");
    let (code, _, err) = run(&site, &["tool", "list", "--url", "http://127.0.0.1:1"]);
    assert!(code == Some(2) && err.contains("one of them is meant"), "{err}");
}

#[tokio::test]
async fn a_damaged_database_is_named_and_replaced_by_a_backup() {
    let site = Site::sqlite();
    let mut server = site.start();
    server.terminate();
    server.ended().await;
    assert_eq!(run(&site, &["backup", "good.backup"]).0, Some(0));
    let path = site.folder().join("kybern.db");
    fs::write(&path, "this was a database once, and it is none any more".repeat(100)).unwrap();
    for verb in [&["task", "list"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let (code, _, err) = run(&site, verb);
        assert_eq!(code, Some(1), "{err}");
        assert!(err.starts_with(&format!("error: cannot open the database sqlite:{}", path.display())), "{err}");
        assert!(err.contains("is damaged or no Kybern database") && err.contains("--replace"), "{err}");
    }
    let (code, out, err) = run(&site, &["restore", "--replace", "good.backup"]);
    assert_eq!(code, Some(0), "{out}{err}");
    site.start().client().audit_is_whole().await;
}

#[tokio::test]
async fn a_restore_that_fails_leaves_the_database_that_was_there_in_its_place() {
    let site = Site::sqlite();
    let mut server = site.start();
    server.terminate();
    server.ended().await;
    assert_eq!(run(&site, &["backup", "good.backup"]).0, Some(0));
    let before = fs::read(site.folder().join("kybern.db")).unwrap();
    // Nothing can be opened beside this lock, neither the database that is there nor a new one.
    let lock = site.folder().join("kybern.db.lock");
    fs::remove_file(&lock).unwrap_or_default();
    fs::create_dir(&lock).unwrap();
    let (code, out, err) = run(&site, &["restore", "--replace", "good.backup"]);
    assert!(code == Some(1) && err.contains("is in its place again"), "{code:?} {out}{err}");
    assert!(fs::read(site.folder().join("kybern.db")).unwrap() == before);
    assert!(!site.folder().join("kybern.db.replaced").exists());
    fs::remove_dir(&lock).unwrap();
    assert_eq!(run(&site, &["restore", "--replace", "good.backup"]).0, Some(0));
    site.start().client().audit_is_whole().await;
}

async fn a_backup_without_the_key_makes_none(site: Site) {
    let mut server = site.start();
    server.terminate();
    server.ended().await;
    let key = fs::read(site.key_file()).unwrap();
    fs::remove_file(site.key_file()).unwrap();
    let (code, out, err) = run(&site, &["backup", "all.backup"]);
    assert!(code == Some(1) && err.contains("its master key") && err.contains("is not"), "{out}{err}");
    assert!(!site.key_file().exists() && !site.folder().join("all.backup").exists(), "neither a key nor a backup");
    fs::write(site.key_file(), key).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(site.key_file(), private).unwrap();
    let (code, out, err) = run(&site, &["backup", "all.backup"]);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[tokio::test]
async fn a_backup_without_the_key_makes_none_on_sqlite() {
    a_backup_without_the_key_makes_none(Site::sqlite()).await;
}

#[tokio::test]
async fn a_backup_without_the_key_makes_none_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_backup_without_the_key_makes_none(site).await;
}

#[tokio::test]
async fn partitions_are_looked_at_when_the_server_starts() {
    let Some(site) = Site::postgres() else { return };
    let mut server = site.start();
    server.terminate();
    server.ended().await;
    // January 2001: nothing is in it, and nobody needs it any more.
    let (from, to) = ("00e3c7a7-3400-0000-0000-000000000000", "00e4674c-5800-0000-0000-000000000000");
    let old = format!("CREATE TABLE step_row_2001_01 PARTITION OF step_row FOR VALUES FROM ('{from}') TO ('{to}')");
    site.beneath(&old);
    let count = || site.count("SELECT count(*)::text FROM pg_class WHERE relname = 'step_row_2001_01'");
    assert_eq!(count(), 1);
    let _server = site.start();
    until("the partition is gone", || async { (count() == 0).then_some(()) }).await;
}

#[tokio::test]
async fn a_restore_that_fails_leaves_nothing() {
    let from = Site::sqlite();
    drop(from.start());
    assert_eq!(run(&from, &["backup", "all.backup"]).0, Some(0));
    let whole = fs::read(from.folder().join("all.backup")).unwrap();
    let to = Site::sqlite();
    to.file("all.backup", &whole);
    let (code, _, err) = run(&to, &["restore", "all.backup"]);
    assert!(code == Some(1) && err.contains("master key") && err.contains("kybern.db.key"), "{err}");
    to.file("damaged.backup", &whole[..whole.len() / 2]);
    let (code, _, err) = run(&to, &["restore", "damaged.backup"]);
    assert!(code == Some(1) && err.contains("damaged.backup cannot be restored"), "{err}");
    let left: Vec<String> =
        fs::read_dir(to.folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| name.ends_with(".backup")), "{left:?}");
    fs::copy(from.key_file(), to.key_file()).unwrap();
    let (code, out, err) = run(&to, &["restore", "all.backup"]);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[tokio::test]
async fn watching_ends_with_the_task() {
    let site = Site::sqlite();
    let server = site.start();
    plan(&server.client(), "test.noop", json!([{"id": "a", "tool": "core.noop"}])).await;
    let id = submit(&server.client(), "test.noop").await;
    for _live_and_ended in 0..2 {
        let mut watch = site.command(&["task", "watch", &id]);
        let output = watch.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""));
        assert!(String::from_utf8(output.stdout).unwrap().contains("✓ a"));
    }
}

#[test]
fn the_doctor_names_each_fault_and_makes_nothing() {
    let site = Site::sqlite().with("KYBERN_TELEMETRY__OTLP_ENDPOINT", "http://127.0.0.1:1");
    let (code, out, _) = run(&site, &["doctor"]);
    assert!(code == Some(1) && out.contains("traces") && out.contains("127.0.0.1:1"), "{out}");
    assert_eq!(fs::read_dir(site.folder()).unwrap().count(), 0);
    site.file("kybern.toml", "[server]\nlisten = \"nowhere\"\n[worker]\nslots = 0\nlease_ms = \"x\"\n");
    let (code, out, _) = run(&site, &["doctor"]);
    assert_eq!(code, Some(2), "{out}");
    for part in ["server.listen", "worker.slots", "worker.lease_ms", "kybern.toml", "such as \"127.0.0.1:7171\""] {
        assert!(out.contains(part), "{part} is not in: {out}");
    }
    site.file("kybern.toml", "[server]\nlisten = \n");
    let (_, out, _) = run(&site, &["doctor"]);
    assert!(out.contains("is not TOML at line 2, column 10: "), "{out}");
}

#[tokio::test]
async fn the_doctor_leaves_nothing_beside_a_file_at_which_it_looks() {
    let site = Site::sqlite();
    let names = |site: &Site| {
        let entries = fs::read_dir(site.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.collect::<std::collections::BTreeSet<_>>()
    };
    let mut server = site.start();
    plan(&server.client(), "test.noop", json!([{"id": "a", "tool": "core.noop"}])).await;
    submit(&server.client(), "test.noop").await;
    server.terminate();
    server.ended().await;
    let before = names(&site);
    let (_, out, err) = run(&site, &["doctor"]);
    assert!(out.contains("kybern.db: 1 task, 0 dead jobs"), "{out}{err}");
    assert_eq!(names(&site), before);
    // What a process leaves behind that was killed is read too.
    let mut server = site.start();
    submit(&server.client(), "test.noop").await;
    server.kill();
    let (_, out, err) = run(&site, &["doctor"]);
    assert!(out.contains("kybern.db: 2 tasks, 0 dead jobs"), "{out}{err}");
}

#[test]
fn the_doctor_makes_nothing_on_postgres_either() {
    let Some(site) = Site::postgres() else { return };
    let (_, out, _) = run(&site, &["doctor"]);
    assert!(out.contains("is not looked into"), "{out}");
    let tables = site.rows("SELECT count(*)::text FROM information_schema.tables WHERE table_schema = 'public'");
    assert_eq!(tables, [["0"]], "{out}");
    assert!(!site.key_file().exists());
}

/// The bytes that a text of hex digits stands for.
fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[tokio::test]
async fn the_span_of_a_request_lies_in_the_callers_trace() {
    let receiver = Receiver::start();
    let site = Site::sqlite().with("KYBERN_TELEMETRY__OTLP_ENDPOINT", &receiver.url(""));
    let mut server = site.start();
    let ask = Ask::get("/api/tasks").header("traceparent", &format!("00-{TRACE}-{SPAN}-01"));
    server.client().ok(&ask).await;
    server.terminate();
    server.ended().await;
    let has = |body: &[u8], part: &str| body.windows(part.len() / 2).any(|window| window == bytes(part));
    let exported = receiver.seen();
    let found = exported.iter().any(|request| has(&request.body, TRACE) && has(&request.body, SPAN));
    assert!(found, "{} exports", exported.len());
}

#[test]
fn where_no_server_runs_it_is_said_what_became_of_a_task_and_that_the_rest_waits() {
    let site = Site::sqlite().with("KYBERN_SERVER__SHUTDOWN_GRACE_MS", "200");
    let database = site.database();
    let cli = |args: &[&str]| {
        let args: Vec<&str> = ["--database", &database].into_iter().chain(args.iter().copied()).collect();
        run(&site, &args)
    };
    let mail = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/mail/09-certificate-request.eml");
    let (code, out, err) = cli(&["task", "submit", mail, "--wait"]);
    assert_eq!(code, Some(3), "{out}{err}");
    let id = out.split_whitespace().find_map(|word| word.parse::<uuid::Uuid>().ok()).unwrap().to_string();
    assert!(out.contains(&format!("kybern --database {database} task review {id}")), "{out}");
    let (code, out, err) = cli(&["task", "review", &id, "--set", "handled=true"]);
    // It was worked on while the verb ran.
    let show = format!("look at it with: kybern --database {database} task show {id}");
    assert!(code == Some(0) && out.contains("it is completed already") && out.contains(&show), "{out}{err}");
    let (_, again, _) = cli(&["task", "submit", mail]);
    assert!(again.contains("came in before") && !again.contains("waits"), "{again}");
    let slow = json!({"key": "slow", "steps": [{"id": "a", "tool": "core.wait", "args": {"ms": 60_000}}]});
    site.file("slow.json", slow.to_string());
    assert_eq!(cli(&["plan", "import", "slow.json"]).0, Some(0));
    let (_, long, _) = cli(&["task", "submit", "go", "--plan", "slow"]);
    assert!(long.contains("no server runs, so what is left of it waits") && long.contains("--wait"), "{long}");
    let short = json!({"key": "short", "steps": [{"id": "a", "tool": "core.noop"}]});
    site.file("short.json", short.to_string());
    assert_eq!(cli(&["plan", "import", "short.json"]).0, Some(0));
    let (_, done, _) = cli(&["task", "submit", "go", "--plan", "short"]);
    assert!(done.contains("it is completed already") && !done.contains("no server runs"), "{done}");
}
