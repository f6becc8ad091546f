//! A backup of a SQLite file while its server works.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use serde_json::{Value, json};

use super::plan;
use crate::server::client::{Ask, text, until};
use crate::server::{Client, KEY, Site};

/// Tasks that are there before the backup begins, at least.
const BEFORE: usize = 40;
/// Backups that are made until one has met a submission.
const MAX_BACKUPS: usize = 50;
/// Who submits at the same time.
const SUBMITTERS: usize = 4;

/// What is submitted while backups are made.
#[derive(Default)]
struct Load {
    ids: Mutex<Vec<String>>,
    count: AtomicUsize,
    enough: AtomicBool,
}

impl Load {
    /// Submits mails, each with an original of its own, and tasks that write records, until it is enough.
    async fn submit(&self, client: &Client) {
        while !self.enough.load(Ordering::SeqCst) {
            let n = self.count.fetch_add(1, Ordering::SeqCst);
            let mail = Ask::post("/api/inbound/email", "message/rfc822", letter(n));
            let task = json!({"input": "go", "planKey": "test.put", "payload": {"n": n}});
            let (mail, task) = (client.ok(&mail).await, client.ok(&Ask::json("/api/tasks", &task)).await);
            self.ids.lock().unwrap().extend([text(&mail["taskId"]), text(&task["id"])]);
        }
    }

    fn taken(&self) -> Vec<String> {
        self.ids.lock().unwrap().clone()
    }
}

fn letter(n: usize) -> String {
    let headers = format!("From: a@example.com\r\nTo: b@example.com\r\nSubject: Letter {n}\r\nMessage-ID: <{n}@x>\r\n");
    let kind = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n";
    let body = "--cut\r\nContent-Type: text/plain\r\n\r\nPlease read.\r\n";
    let file = "--cut\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=n.txt\r\n\r\n";
    format!("{headers}{kind}{body}{file}Number {n}\r\n--cut--\r\n")
}

fn verb(site: &Site, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = site.command(args).args(["--database", &site.database()]).output().unwrap();
    (status.code(), format!("{}{}", String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap()))
}

/// Backs up beside everything else that goes on.
async fn back_up(site: &Arc<Site>, file: &Path) {
    let (site, file) = (Arc::clone(site), file.display().to_string());
    let (code, said) = tokio::task::spawn_blocking(move || verb(&site, &["backup", &file])).await.unwrap();
    assert_eq!(code, Some(0), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_whole_and_of_one_moment() {
    let from = Arc::new(Site::sqlite());
    let server = from.start();
    let client = server.client();
    let args = json!({"kind": "thing", "key": "k{{ task.payload.n }}", "props": {"n": "{{ task.payload.n }}"}});
    plan(&client, "test.put", json!([{"id": "put", "tool": "core.put_record", "args": args}])).await;
    let load = Load::default();
    let working = join_all((0..SUBMITTERS).map(|_| load.submit(&client)));
    let backing_up = async {
        until("there is something", || std::future::ready((load.taken().len() >= BEFORE).then_some(()))).await;
        // On a busy machine a backup may pass between two submissions; then it proves nothing.
        for n in 1..=MAX_BACKUPS {
            let (file, before) = (from.folder().join(format!("{n}.backup")), load.taken());
            back_up(&from, &file).await;
            if load.taken().len() > before.len() {
                load.enough.store(true, Ordering::SeqCst);
                return (file, before);
            }
        }
        panic!("nothing was submitted during {MAX_BACKUPS} backups")
    };
    let (_, (file, before)) = tokio::join!(working, backing_up);
    drop(server);

    let to = Site::sqlite();
    fs::copy(from.key_file(), to.key_file()).unwrap();
    let (code, said) = verb(&to, &["restore", &file.display().to_string()]);
    assert_eq!(code, Some(0), "{said}");
    let server = to.start();
    let client = server.client();
    let restored: BTreeSet<String> = client.list("/api/tasks").await.iter().map(|task| text(&task["id"])).collect();
    let lost: Vec<&String> = before.iter().filter(|id| !restored.contains(*id)).collect();
    assert!(lost.is_empty(), "taken before the backup, and not in it: {lost:?}");
    let (mut originals, mut ended) = (0, 0);
    for id in &restored {
        // A letter that nobody understands asks a person; only what has ended can be replayed.
        if client.rest(id).await["status"] == "completed" {
            client.replays(id).await;
            ended += 1;
        }
        originals += all_originals_are_there(&client, server.url(), id).await;
    }
    assert!(originals >= before.len(), "each letter has two");
    assert!(ended >= before.len() / 2 - SUBMITTERS, "{ended} of {}", restored.len());
    client.audit_is_whole().await;
}

/// How many originals a task has; each of them can be read.
async fn all_originals_are_there(client: &Client, url: &str, id: &str) -> usize {
    let attachments = client.get(&format!("/api/tasks/{id}/attachments")).await;
    let attachments = attachments["items"].as_array().unwrap();
    for attachment in attachments {
        let path = format!("{url}/api/tasks/{id}/attachments/{}", attachment["n"]);
        let original = reqwest::Client::new().get(path).bearer_auth(KEY).send().await.unwrap();
        assert_eq!(original.status().as_u16(), 200, "{id}: {attachment}");
    }
    attachments.len()
}

#[tokio::test]
async fn an_original_that_is_gone_is_named_and_the_rest_is_backed_up() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let taken = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", letter(1))).await;
    client.rest(&text(&taken["taskId"])).await;
    let originals = originals(&site.folder().join("kybern.db.files"));
    assert_eq!(originals.len(), 2);
    fs::remove_file(&originals[0]).unwrap();
    let (code, said) = verb(&site, &["backup", "some.backup"]);
    let name = originals[0].file_name().unwrap().to_str().unwrap();
    assert!(code == Some(1) && said.contains(name), "{said}");
    let to = Site::sqlite();
    fs::copy(site.key_file(), to.key_file()).unwrap();
    let (code, said) = verb(&to, &["restore", &site.folder().join("some.backup").display().to_string()]);
    assert!(code == Some(0) && said.contains("and 1 file, as of"), "{said}");
}

/// The script of the nightly backup, which finds this program on its path.
fn nightly(site: &Site, folder: &Path) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/backup");
    let program = Path::new(env!("CARGO_BIN_EXE_kybern")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", program.display());
    let mut shell = std::process::Command::new("/bin/sh");
    shell.arg(script).arg(folder).current_dir(site.folder()).env_clear().env("PATH", path);
    shell.env("KYBERN_DATABASE__URL", site.database()).output().unwrap()
}

#[tokio::test]
async fn a_damaged_original_costs_neither_the_nightly_backup_nor_older_ones() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let taken = client.ok(&Ask::post("/api/inbound/email", "message/rfc822", letter(1))).await;
    client.rest(&text(&taken["taskId"])).await;
    let folder = site.folder().join("nightly");
    fs::create_dir(&folder).unwrap();
    let old = site.file("nightly/kybern-20200101T000000Z.backup", "old");
    let young = site.file("nightly/kybern-20200102T000000Z.backup", "not so old");
    let aged = |path: &Path, hours: u64| {
        let hours = std::time::Duration::from_secs(hours * 3_600);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() - hours).unwrap();
    };
    // On either side of fourteen days.
    aged(&old, 14 * 24 + 1);
    aged(&young, 14 * 24 - 1);
    let is_new = |path: &PathBuf| ![&old, &young].contains(&path);
    let names = || -> BTreeSet<PathBuf> { originals(&folder).into_iter().filter(is_new).collect() };

    let originals = originals(&site.folder().join("kybern.db.files"));
    let whole = fs::read(&originals[0]).unwrap();
    fs::write(&originals[0], "damaged").unwrap();
    let Output { status, stderr, .. } = nightly(&site, &folder);
    let said = String::from_utf8(stderr).unwrap();
    assert!(status.code() == Some(1) && said.contains("originals named above are missing"), "{said}");
    let kept = names();
    assert!(old.exists() && kept.len() == 1, "{kept:?}");
    let file = kept.first().unwrap().display().to_string();
    assert!(file.ends_with(".backup"), "{file}");
    let to = Site::sqlite();
    fs::copy(site.key_file(), to.key_file()).unwrap();
    let (code, said) = verb(&to, &["restore", &file]);
    assert!(code == Some(0) && said.contains("and 1 file, as of"), "{said}");

    // One that fails altogether leaves nothing of itself, and the old ones where they are.
    let away = site.folder().join("away.key");
    fs::rename(site.key_file(), &away).unwrap();
    assert_eq!(nightly(&site, &folder).status.code(), Some(1));
    assert!(old.exists() && names() == kept, "{:?}", names());

    fs::rename(&away, site.key_file()).unwrap();
    fs::write(&originals[0], whole).unwrap();
    // Two of one second would have one name.
    fs::rename(&file, format!("{file}.first")).unwrap();
    let Output { status, stderr, .. } = nightly(&site, &folder);
    assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
    assert!(!old.exists() && young.exists());
}

/// Every file below a folder.
fn originals(folder: &Path) -> Vec<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.into_iter().flat_map(|path| if path.is_dir() { originals(&path) } else { vec![path] }).collect()
}

/// What a restore would replace is looked after by nobody else; what a backup reads may be in use.
#[tokio::test]
async fn a_restore_over_the_file_of_a_running_server_is_refused() {
    let site = Site::sqlite();
    let server = site.start();
    let (code, said) = verb(&site, &["backup", "some.backup"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = verb(&site, &["restore", "--replace", "some.backup"]);
    assert!(code == Some(1) && said.contains(&format!("in use by process {}", server.pid())), "{said}");
    let health: Value = server.client().get("/healthz").await;
    assert_eq!(health["status"], "ok");
}
