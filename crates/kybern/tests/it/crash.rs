//! The proofs that users run: the server is killed in the middle of the work, and every claim is counted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::server::Site;

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_demo_survives_its_kills_and_proves_it() {
    let site = Site::sqlite();
    let ran = site.command(&["demo", "--crash", "--dir", "crash"]).output().unwrap();
    let told = said(&ran);
    assert_eq!(ran.status.code(), Some(0), "{told}");
    assert_eq!(told.matches("kill -9 process").count(), 5, "{told}");
    assert!(told.contains("8 of 8 claims hold") && !told.contains('✗'), "{told}");
    for figure in [
        "5 kills;",
        "33 messages, 33 tasks",
        "requests: 10 took effect",
        "10 answers in the journal",
        "0 after one was",
    ] {
        assert!(told.contains(figure), "{figure}: {told}");
    }
    // What it kept is a database that anybody can look into.
    let listed = site.command(&["task", "list", "--json", "--database", "sqlite:crash/demo.db"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(listed["items"].as_array().is_some_and(|tasks| !tasks.is_empty()), "{listed}");
    let again = site.command(&["demo", "--crash", "--dir", "crash"]).output().unwrap();
    assert!(again.status.code() == Some(1) && said(&again).contains("is there already"), "{}", said(&again));
}

/// The folder of the example.
fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crash")
}

fn check(evidence: &Path) -> (Option<i32>, String) {
    let checked = Command::new("python3").arg(example().join("check.py")).arg(evidence).output().unwrap();
    (checked.status.code(), said(&checked))
}

/// The evidence with another text in a file of it, and what the check says of that.
fn planted(evidence: &Path, file: &str, change: impl Fn(&str) -> String) -> String {
    let path = evidence.join(file);
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, change(&good)).unwrap();
    let (code, told) = check(evidence);
    std::fs::write(&path, good).unwrap();
    assert_eq!(code, Some(1), "{told}");
    told
}

#[test]
fn the_example_survives_its_kills_and_finds_what_is_planted() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = folder.path().join("evidence");
    let mut command = Command::new("sh");
    let ran = command.arg(example().join("run.sh")).arg(env!("CARGO_BIN_EXE_kybern")).arg(&evidence).output().unwrap();
    let told = said(&ran);
    assert_eq!(ran.status.code(), Some(0), "{told}");
    assert_eq!((told.matches("kill -9").count(), told.matches('✓').count()), (2, 5), "{told}");
    assert!(told.contains(" requests, 6 booked, ") && told.contains("every claim holds"), "{told}");
    assert_eq!(check(&evidence).0, Some(0));

    let line = |more: Value| move |good: &str| format!("{good}{more}\n");
    let charge = json!({"what": "charge", "order": "B-1", "key": "other", "booked": true, "cents": 1250, "process": 1});
    assert!(planted(&evidence, "world.log", line(charge)).contains("order B-1 was charged 2 times"));
    let question = json!({"what": "question", "order": "B-2", "process": 1, "at": 99_999_999_999.0_f64});
    let asked = planted(&evidence, "world.log", line(question));
    assert!(asked.contains("order B-2 was asked about after its answer was in the journal"), "{asked}");
    let lost = planted(&evidence, "tasks.json", |good| {
        let mut tasks: Value = serde_json::from_str(good).unwrap();
        tasks["items"].as_array_mut().unwrap().pop();
        tasks.to_string()
    });
    assert!(lost.contains("is lost"), "{lost}");
    let doubled = planted(&evidence, "outbox.json", |good| {
        let mut outbox: Value = serde_json::from_str(good).unwrap();
        let one = outbox["items"][0].clone();
        outbox["items"].as_array_mut().unwrap().push(one);
        outbox.to_string()
    });
    assert!(doubled.contains("has 2 messages"), "{doubled}");
}
