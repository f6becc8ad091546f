//! What the command line says when something does not fit: once, with the code, and with what to do.

use serde_json::json;

use super::server::{Answer, Server, envelope, kybern};
use crate::server::Site;

const ID: &str = "01920000-0000-7000-8000-000000000001";

fn task(status: &str) -> serde_json::Value {
    json!({"id": ID, "status": status, "channel": "api", "createdAt": "2026-09-21T14:13:20.123Z", "waits": []})
}

#[test]
fn done_ends_a_stream_also_under_the_id_of_the_last_event() {
    let server = Server::start(|seen| {
        if seen.path.ends_with("/events") {
            let entry = json!({"seq": 24, "eventType": "task_completed", "summary": "all done"});
            let data = json!({"type": "task_completed", "data": entry});
            let done = "id: 24\nevent: done\ndata: {\"type\":\"done\",\"data\":{}}\n\n";
            let text = format!("id: 24\nevent: task_completed\ndata: {data}\n\n{done}");
            return Some(Answer::Raw(200, "text/event-stream", text));
        }
        let list = seen.path.ends_with("/log") || seen.path.ends_with("/artifacts");
        Some(Answer::Json(200, if list { json!({"items": [], "nextCursor": null}) } else { task("completed") }))
    });
    let run = server.run(&["task", "watch", ID]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(server.seen("GET", &format!("/api/tasks/{ID}/events")).len(), 1);
}

#[test]
fn nothing_is_said_twice() {
    let server = Server::start(|_| {
        let details = json!([{"path": "", "message": "the body is empty, send the whole message"}]);
        Some(envelope(400, "VALIDATION_ERROR", "the body is empty, send the whole message", details))
    });
    std::fs::write(server.folder().join("empty.eml"), "").unwrap();
    let run = server.run(&["task", "submit", "empty.eml"]);
    assert_eq!(run.err, "error: the body is empty, send the whole message\n  code VALIDATION_ERROR, request req-1\n");
}

#[test]
fn a_task_whose_plan_cannot_be_read_is_not_answered() {
    let server = Server::start(|seen| {
        let mut task = task("needs_review");
        task["unreadable"] = json!("the frozen plan cannot be read: EOF; `kybern doctor` says what to do");
        task["waits"] = json!([{"stepId": "ask", "kind": "input", "schema": {"properties": {"v": {}}}}]);
        let list = ["/log", "/artifacts", "/attachments"].iter().any(|end| seen.path.ends_with(end));
        Some(Answer::Json(200, if list { json!({"items": [], "nextCursor": null}) } else { task }))
    });
    let show = server.run(&["task", "show", ID]);
    assert!(
        show.out.contains("the frozen plan cannot be read: EOF") && !show.out.contains("task review"),
        "{}",
        show.out
    );
    assert!(show.out.contains(&format!("task cancel {ID}")), "{}", show.out);
    for answer in [&["--set", "v=1"][..], &[]] {
        let run = server.run(&[&["task", "review", ID], answer].concat());
        assert_eq!(run.code, 1, "{}", run.err);
        let told = ["the frozen plan cannot be read: EOF", "doctor", "task cancel"];
        assert!(told.iter().all(|words| run.err.contains(words)), "{}", run.err);
    }
    assert!(server.seen("POST", &format!("/api/tasks/{ID}/review")).is_empty());
}

#[test]
fn doctor_says_that_it_did_not_look_at_the_rows_of_a_server_with_another_database() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/healthz" | "/readyz" => Some(Answer::Json(200, json!({"status": "ok", "ready": true, "checks": []}))),
        _other => None,
    });
    let run = server.run(&["doctor"]);
    assert!(run.out.contains("rows") && run.out.contains("not looked at"), "{}", run.out);
    assert!(run.out.contains("nothing that was looked at is broken"), "{}", run.out);
}

#[test]
fn serve_refuses_the_url_of_another_server() {
    let server = Server::start(|_| None);
    let run = server.run(&["serve", "--url", "http://127.0.0.1:1"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("--url names a server to talk to") && run.err.contains("--listen"), "{}", run.err);
}

#[test]
fn a_verb_that_works_on_this_machine_refuses_the_url_of_a_server() {
    let server = Server::start(|_| None);
    let verbs: [&[&str]; 4] = [&["backup", "u.kyb"], &["restore", "u.kyb"], &["key", "recover"], &["demo"]];
    for verb in verbs {
        let args = [verb, &["--database", "sqlite:new.db", "--url", "http://127.0.0.1:1"]].concat();
        let run = server.run(&args);
        assert_eq!(run.code, 2, "{verb:?}: {}{}", run.out, run.err);
        assert!(run.err.contains("--url names a server to talk to") && run.err.contains("leave it out"), "{}", run.err);
    }
    assert_eq!(std::fs::read_dir(server.folder()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_task_that_is_paused_or_cannot_be_read_stands_out_in_the_list() {
    let server = Server::start(|seen| {
        let mut paused = task("executing");
        paused["pausedAt"] = json!("2026-09-21T14:14:00.000Z");
        let mut damaged = task("completed");
        damaged["unreadable"] = json!("waits: EOF");
        let items = if seen.query.is_empty() { json!([paused, damaged]) } else { json!([]) };
        Some(Answer::Json(200, json!({"items": items, "nextCursor": null})))
    });
    let list = server.run(&["task", "list"]);
    assert!(list.out.contains("executing, paused"), "{}", list.out);
    assert!(list.out.contains("completed, unreadable"), "{}", list.out);
    assert_eq!(server.run(&["task", "list", "--intent", "none.such"]).out, "no such tasks\n");
}

#[test]
fn what_is_neither_a_mail_nor_a_text_is_not_sent() {
    let server = Server::start(|_| None);
    std::fs::create_dir(server.folder().join("mails.eml")).unwrap();
    std::fs::write(server.folder().join("note.txt"), "x").unwrap();
    for (what, said) in [
        ("mails.eml", "is a folder"),
        (".", "is a folder"),
        ("note.txt", "--attach note.txt"),
        ("no.pdf", "there is no file no.pdf"),
        ("inbox/no.TXT", "there is no file inbox/no.TXT"),
    ] {
        let run = server.run(&["task", "submit", what]);
        assert!(run.code == 2 && run.err.contains(said), "{what}: {}", run.err);
    }
    let run = server.run(&["task", "submit", "hello", "--attach", "missing.pdf"]);
    assert!(run.code == 2 && run.err.contains("try: name a file that exists"), "{}", run.err);
    let run = server.run(&["task", "submit", "hello", "--budget-nanos", "-5"]);
    assert!(run.code == 2 && run.err.contains("-5 is not in"), "{}", run.err);
    assert!(server.seen("POST", "/api/tasks").is_empty());
}

#[test]
fn a_key_that_was_used_before_says_what_happens() {
    let server = Server::start(|seen| {
        (seen.path == "/api/tasks").then(|| {
            envelope(409, "CONFLICT", "this Idempotency-Key was used with another body, use a new key", json!([]))
        })
    });
    let run = server.run(&["task", "submit", "hello", "--idempotency-key", "k"]);
    assert!(run.err.contains("try: take another --idempotency-key"), "{}", run.err);
    assert!(run.err.contains("code CONFLICT"), "{}", run.err);
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_other_plans_out() {
    let server = Server::start(|seen| {
        (seen.path == "/api/plans").then(|| Answer::Json(201, json!({"key": "global.a", "version": 1})))
    });
    std::fs::write(server.folder().join("a.json"), json!({"key": "global.a"}).to_string()).unwrap();
    let run = server.run(&["plan", "import", "a.json", "missing.json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.starts_with("✗ missing.json cannot be read: "), "{}", run.out);
    assert!(run.out.ends_with("✓ global.a version 1 is stored\n"), "{}", run.out);
    std::fs::write(server.folder().join("bad.json"), "{").unwrap();
    for (files, code) in [
        (&["bad.json", "missing.json"][..], 1),
        (&["missing.json", "bad.json"], 1),
        (&["missing.json"], 2),
        (&["missing.json", "absent.json"], 2),
    ] {
        let run = server.run(&[&["plan", "import"], files].concat());
        assert_eq!((run.code, run.err.as_str()), (code, ""), "{files:?}");
        assert!(
            run.out.lines().count() == files.len() && run.out.lines().all(|line| line.starts_with("✗ ")),
            "{}",
            run.out
        );
    }
}

#[test]
fn a_chat_that_asks_a_form_shows_how_it_is_answered() {
    let question = "01920000-0000-7000-8000-000000000002";
    let server = Server::start(move |seen| {
        let event = |id: u8, name: &str, data: serde_json::Value| {
            format!("id: {id}\nevent: {name}\ndata: {}\n\n", json!({"type": name, "data": data}))
        };
        let schema = json!({"required": ["dot"], "properties": {"dot": {"type": "string"}}});
        Some(match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/api/chats") => Answer::Json(201, json!({"id": ID, "agent": null})),
            ("POST", path) if path.ends_with("/messages") => {
                let start = event(1, "message.start", json!({"taskId": ID, "messageId": "m-1"}));
                let asked = json!({"approvalId": question, "toolName": null, "reason": "the DOT number is missing",
                    "kind": "input", "input": null});
                Answer::Raw(200, "text/event-stream", start + &event(2, "approval.required", asked))
            }
            ("GET", path) if path.ends_with(&format!("/tasks/{ID}")) => {
                let mut task = task("needs_review");
                task["waits"] = json!([{"stepId": "ask", "kind": "input", "reason": "the DOT number is missing",
                    "approvalId": question, "schema": schema}]);
                Answer::Json(200, task)
            }
            _other => return None,
        })
    });
    let run = server.run(&["chat", "look it up"]);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    assert!(run.out.contains("a person is asked: the DOT number is missing") && !run.out.contains("needs a yes"));
    let command = format!("kybern task review {ID} --step ask --set dot=");
    assert!(run.out.contains(&command) && !run.out.contains("approval approve"), "{}", run.out);
}

#[test]
fn a_server_without_tls_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| None);
    let url = server.url().replace("http:", "https:");
    let run = kybern(folder.path(), &["task", "list", "--url", &url], &[]);
    assert!(run.code == 1 && run.err.contains("does not speak TLS"), "{}", run.err);
    assert!(run.err.contains(&format!("set KYBERN_URL to {}", server.url())), "{}", run.err);
}

#[test]
fn shells_and_manuals_know_the_verbs() {
    let site = Site::sqlite();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = site.command(&["completion", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("doctor") && script.contains("submit"), "{shell}");
    }
    let folder = site.folder().join("pages/man1");
    let output = site.command(&["man", &folder.display().to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(folder.join("kybern-task-submit.1")).unwrap();
    assert!(page.contains("Submit an e\\-mail") && page.contains("max\\-steps"), "{page}");
}
