//! The verbs that work on this machine: backup, restore, doctor, demo.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::samples;
use crate::server::client::{Ask, text};
use crate::server::{KEY, Site};

/// Runs a verb on the site's database: exit code, output, errors.
fn run(site: &Site, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = site.command(args).args(["--database", &site.database()]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Everything that one database holds goes into a file, and out of it into another database.
async fn a_backup_is_restored(from: Site, to: Site) {
    let mut server = from.start();
    let client = server.client();
    samples::hire(&client).await;
    let samples = samples::all();
    let sample = samples.iter().find(|sample| sample.file.starts_with("mail/01-")).unwrap();
    let task = client.rest(&text(&client.ok(&sample.ask).await["taskId"])).await;
    assert_eq!(task["status"], "completed");
    server.terminate();
    server.ended().await;
    let file = from.folder().join("all.backup").display().to_string();
    std::fs::write(&file, "something else").unwrap();
    let (code, _, err) = run(&from, &["backup", &file]);
    assert!(code == Some(2) && err.contains("is there already"), "{err}");
    std::fs::remove_file(&file).unwrap();
    let (code, said, err) = run(&from, &["backup", &file]);
    assert_eq!(code, Some(0), "{said}{err}");
    let id = text(&task["id"]);

    let (code, _, err) = run(&to, &["restore", &file]);
    assert!(code == Some(1) && err.contains("master key"), "{err}");
    fs::copy(from.key_file(), to.key_file()).unwrap();
    let (code, said, err) = run(&to, &["restore", &file]);
    assert_eq!(code, Some(0), "{said}{err}");
    let server = to.start();
    let client = server.client();
    assert_eq!(client.get(&format!("/api/tasks/{id}")).await, task);
    client.replays(&id).await;
    client.audit_is_whole().await;
    assert_eq!(client.list("/api/records/insurance.policy").await.len(), 2);
    let attachments = client.get(&format!("/api/tasks/{id}/attachments")).await;
    for attachment in attachments["items"].as_array().unwrap() {
        let path = format!("{}/api/tasks/{id}/attachments/{}", server.url(), attachment["n"]);
        let original = reqwest::Client::new().get(path).bearer_auth(KEY).send().await.unwrap();
        assert_eq!(original.status().as_u16(), 200);
        assert!(!original.bytes().await.unwrap().is_empty());
    }
    // The same mail again is still known.
    assert_eq!(client.ok(&sample.ask).await, json!({"taskId": id, "duplicate": true}));
    drop(server);
    // A database that is there is not overwritten unasked.
    let (code, _, err) = run(&to, &["restore", &file]);
    if to.key_file().ends_with("kybern.key") {
        assert!(code == Some(1) && err.contains("the database is not empty"), "{err}");
        return;
    }
    assert!(code == Some(1) && err.contains("--replace"), "{err}");
    assert_eq!(run(&to, &["restore", "--replace", &file]).0, Some(0));
}

#[tokio::test]
async fn a_backup_is_restored_on_sqlite() {
    a_backup_is_restored(Site::sqlite(), Site::sqlite()).await;
}

#[tokio::test]
async fn a_backup_moves_from_sqlite_to_postgres_and_back() {
    let (Some(there), Some(back)) = (Site::postgres(), Site::postgres()) else { return };
    a_backup_is_restored(Site::sqlite(), there).await;
    a_backup_is_restored(back, Site::sqlite()).await;
}

#[tokio::test]
async fn the_doctor_says_what_is_missing() {
    let site = Site::sqlite();
    let (code, out, err) = run(&site, &["doctor", "--url", "http://127.0.0.1:1", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let broken = report["findings"].as_array().unwrap().iter().filter(|finding| finding["state"] == "broken");
    // The usual port may be taken on this machine; nothing else is broken but the server that was named.
    let broken: Vec<&Value> = broken.filter(|finding| finding["part"] != "address").collect();
    assert!(broken.len() == 1 && broken[0]["part"] == "server" && code == Some(1), "{broken:?}");
    let remedy = |part: &str| {
        let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["part"] == part);
        found.map(|finding| text(&finding["remedy"])).unwrap_or_default()
    };
    assert!(remedy("mail out").contains("[smtp]") && remedy("server").ends_with(" serve`"), "{report}");
    let times = "[retention]\ntasks_days = 800\n[retention.tenants.acme]\nchats_days = 0\n";
    site.file("kybern.toml", times);
    let (_, out, err) = run(&site, &["doctor", "--url", "http://127.0.0.1:1"]);
    assert!(out.contains("tasks 800 days") && out.contains("retention: acme: chats for ever"), "{out}{err}");
    site.file("kybern.toml", "[smtp]\nhots = \"x\"\n");
    let (code, out, _) = run(&site, &["doctor", "--json"]);
    assert!(code == Some(2) && out.contains("smtp.hots"), "{out}");
}

#[tokio::test]
async fn the_doctor_sees_a_running_server() {
    let site = Site::sqlite();
    let server = site.start();
    let output = site.command(&["doctor", "--url", server.url()]).env("KYBERN_API_KEY", KEY).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains(server.url()), "{out}");
    assert!(out.contains("as it should be while a server runs") && !out.contains("stop that one"), "{out}");
    assert_eq!(output.status.code(), Some(0), "{out}");
}

#[tokio::test]
async fn the_doctor_says_what_the_running_server_says_of_itself() {
    let site = Site::sqlite();
    site.file(
        "kybern.toml",
        "[providers.away]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n[egress]\nallow = [\"127.0.0.1:1\"]\n",
    );
    let server = site.start();
    // Nobody names the server: its file says where it is.
    let doctor = |key: &str| {
        let output = site
            .command(&["doctor", "--json", "--database", &site.database()])
            .env("KYBERN_API_KEY", key)
            .output()
            .unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let part = |name: &str| {
            let found = told["findings"].as_array().unwrap().iter().find(|found| found["part"] == name);
            let found = found.unwrap_or_else(|| panic!("{name} is not in {told}"));
            (found["state"].clone(), found["message"].as_str().unwrap().to_owned())
        };
        (part("server"), part("provider:away"))
    };
    let ((state, message), _) = doctor(KEY);
    assert!(state == "ok" && message.contains(server.url()), "{state} {message}");
    let ask = json!({"model": "away/x", "messages": [{"role": "user", "content": "Hello."}]});
    let refused = server.client().raw(&Ask::json("/v1/chat/completions", &ask)).await.unwrap();
    assert_eq!(refused.status(), 502);
    let said = server.said();
    let told = said.lines().find(|line| line.contains("provider of models has failed"));
    assert!(told.is_some_and(|line| line.contains("away") && line.contains("no connection")), "{said}");
    let ((state, _), away) = doctor(KEY);
    assert!(state == "warning" && away.0 == "warning" && away.1.starts_with("has failed, at "), "{state} {away:?}");
    let (_, away) = doctor("");
    assert_eq!(away, (json!("warning"), "the server says more with a key, once it can check it".to_owned()));
}

#[tokio::test]
async fn the_doctor_tells_the_facts_of_the_server_that_it_asks_and_not_of_its_own_shell() {
    let site = Site::sqlite().with("OPENAI_API_KEY", "k").with("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let server = site.start();
    let elsewhere = Site::sqlite();
    let parts = |site: &Site, args: &[&str]| {
        let mut doctor = site.command(args);
        doctor.env("KYBERN_API_KEY", KEY).env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL");
        let told: Value = serde_json::from_slice(&doctor.output().unwrap().stdout).unwrap();
        let findings = told["findings"].as_array().unwrap().clone();
        findings.iter().map(|found| text(&found["part"])).collect::<Vec<_>>()
    };
    // Beside its own database, without its environment.
    let own = parts(&site, &["doctor", "--json", "--url", server.url()]);
    let has = |parts: &[String], name: &str| parts.iter().any(|part| part == name);
    assert!(has(&own, "provider:openai") && has(&own, "master key") && !has(&own, "language models"), "{own:?}");
    // With the settings of another database, of which the server knows nothing.
    let other = parts(&elsewhere, &["doctor", "--json", "--url", server.url()]);
    assert!(has(&other, "provider:openai") && has(&other, "database") && has(&other, "jobs"), "{other:?}");
    // The server says these of itself, and each of them once.
    for told in ["retention", "scans", "documents"] {
        let count = |parts: &[String]| parts.iter().filter(|part| *part == told).count();
        assert_eq!((count(&own), count(&other)), (1, 1), "{told}");
    }
    for not_its_own in ["master key", "mail out", "language models"] {
        assert!(!has(&other, not_its_own), "{not_its_own} is in {other:?}");
    }
}

#[tokio::test]
async fn the_demo_runs_to_its_end() {
    let site = Site::sqlite();
    let folder = site.folder().join("demo").display().to_string();
    let output = site.command(&["demo", "--dir", &folder]).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{out}{}", String::from_utf8_lossy(&output.stderr));
    for part in [
        "Juniper Flats Transport LLC",
        "dec-page-scan.pdf",
        "audit chain",
        "A correction that teaches",
        "accepted: version 1",
        "What next",
    ] {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    // Each value with the file, the page and the words where it stands.
    let read = out.lines().find(|line| line.starts_with("contact.phone")).unwrap_or_else(|| panic!("{out}"));
    let cells: Vec<&str> = read.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells, ["contact.phone", "3255550142", "message", "1", "(325) 555-0142", "0.50"]);
}

/// What the doctor says beside a server: the state of the rows, and which findings have the part `server`.
fn beside(site: &Site, database: &str, url: &str, key: Option<&str>) -> (Option<String>, Vec<String>) {
    let mut doctor = site.command(&["doctor", "--json", "--url", url]);
    doctor.env("KYBERN_DATABASE__URL", database).envs(key.map(|key| ("KYBERN_API_KEY", key)));
    let report: Value = serde_json::from_slice(&doctor.output().unwrap().stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().clone();
    let rows = findings.iter().find(|found| found["part"] == "rows").map(|found| text(&found["state"]));
    let is_doubt = |found: &&Value| text(&found["message"]).contains("is not known, and taken for granted");
    let doubts = findings.iter().filter(is_doubt).inspect(|found| {
        assert_eq!((&found["part"], &found["state"]), (&json!("server"), &json!("warning")), "{found}");
    });
    (rows, doubts.map(|found| text(&found["message"])).collect())
}

/// Both servers have the default tenant, and each made it at a moment of its own.
#[tokio::test]
async fn the_doctor_takes_no_server_of_another_postgresql_database_for_its_own() {
    let (Some(ours), Some(theirs)) = (Site::postgres(), Site::postgres()) else { return };
    let mut once = ours.start();
    once.terminate();
    once.ended().await;
    let server = theirs.start();
    let asked = |site: &Site, key: Option<&str>| beside(site, &site.database(), server.url(), key);
    let state = |name: &str| Some(name.to_owned());
    assert_eq!(asked(&theirs, Some(KEY)), (state("ok"), vec![]), "its own");
    assert_eq!(asked(&ours, Some(KEY)), (state("off"), vec![]), "another's");
    for (key, why) in [(None, "no API key is set"), (Some("kyb_of-nobody-0123456789abcdefghi"), "API key")] {
        let (rows, doubts) = asked(&ours, key);
        assert_eq!((rows, doubts.len()), (state("ok"), 1), "nobody knows whose: {doubts:?}");
        assert!(doubts[0].contains("it does not list its tenants: ") && doubts[0].contains(why), "{doubts:?}");
    }
}

#[tokio::test]
async fn beside_a_server_the_doctor_knows_an_empty_database_for_another_and_doubts_none_that_it_cannot_use() {
    let (Some(empty), Some(theirs)) = (Site::postgres(), Site::postgres()) else { return };
    let server = theirs.start();
    let master_key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    // Not looked into, because nobody has its key.
    let (rows, doubts) = beside(&empty, &empty.database(), server.url(), Some(KEY));
    assert!(rows.is_none() && doubts.len() == 1 && doubts[0].contains("was not looked into"), "{rows:?} {doubts:?}");
    let empty = empty.with("KYBERN_MASTER_KEY", master_key);
    let off = (Some("off".to_owned()), vec![]);
    assert_eq!(beside(&empty, &empty.database(), server.url(), Some(KEY)), off);
    assert_eq!(beside(&empty, "postgres://u@127.0.0.1:1/k", server.url(), Some(KEY)), (None, vec![]), "unreachable");
    assert_eq!(beside(&empty, &theirs.database(), server.url(), Some(KEY)), (None, vec![]), "under another key");
}
