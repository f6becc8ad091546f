//! The task verbs.

use serde_json::{Value, json};

use super::server::{Answer, KEY, Seen, Server, envelope};

const ID: &str = "01920000-0000-7000-8000-000000000001";
const QUESTION: &str = "01920000-0000-7000-8000-000000000002";

fn at(seen: &Seen, method: &str, path: &str) -> bool {
    seen.method == method && seen.path == path
}

fn task_path(rest: &str) -> String {
    format!("/api/tasks/{ID}{rest}")
}

fn task(status: &str) -> Value {
    json!({"id": ID, "status": status, "channel": "email", "detectedIntent": "insurance.new_lead",
        "createdAt": "2026-09-21T14:13:20.123Z", "waits": []})
}

fn entry(seq: i64, event: &str, step: Value, summary: &str) -> Value {
    json!({"seq": seq, "createdAt": "2026-09-21T14:13:20.123Z", "eventType": event, "stepId": step,
        "toolKey": "core.set", "status": null, "summary": summary, "error": null, "dataKeys": [], "metadata": {}})
}

fn sse(entries: &[Value], done: bool) -> Answer {
    let mut text = String::from(": connected\n\n");
    for entry in entries {
        let (seq, event) = (&entry["seq"], entry["eventType"].as_str().unwrap());
        let data = json!({"type": event, "data": entry});
        text.push_str(&format!("id: {seq}\nevent: {event}\ndata: {data}\n\n"));
    }
    if done {
        text.push_str("event: done\ndata: {\"type\":\"done\",\"data\":{}}\n\n");
    }
    Answer::Raw(200, "text/event-stream", text)
}

/// A server with one task in that state.
fn with_task(task: Value) -> Server {
    Server::start(move |seen| {
        (seen.method == "GET").then_some(())?;
        match seen.path.strip_prefix(&task_path(""))? {
            "" => Some(Answer::Json(200, task.clone())),
            "/log" => {
                let items = [entry(8, "step_completed", json!("deal"), "deal made\u{1b}[2J")];
                Some(Answer::Json(200, json!({"items": items, "nextCursor": null})))
            }
            "/artifacts" => {
                let items = [json!({"kind": "insurance.deal", "key": "D-1", "role": "created", "stepId": "deal"})];
                Some(Answer::Json(200, json!({"items": items, "nextCursor": null})))
            }
            "/attachments" => {
                let file =
                    |n: u32, name: &str| json!({"n": n, "filename": name, "contentType": "application/pdf", "size": 9});
                let items = [file(0, "message.eml"), file(1, "../dec.pdf")];
                Some(Answer::Json(200, json!({"items": items, "nextCursor": null})))
            }
            "/attachments/1" => Some(Answer::Raw(200, "application/pdf", "%PDF-words".to_owned())),
            _other => None,
        }
    })
}

#[test]
fn a_list_shows_where_the_next_page_begins() {
    let server = Server::start(|seen| {
        at(seen, "GET", "/api/tasks")
            .then(|| Answer::Json(200, json!({"items": [task("completed"), task("failed")], "nextCursor": "c-2"})))
    });
    let run = server.run(&["task", "list", "--status", "failed", "--limit", "2"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("ID ") && lines[0].contains("STATUS") && !lines[0].contains("PLAN"), "{}", run.out);
    assert!(lines[1].starts_with(ID) && lines[1].contains("completed  email    insurance.new_lead"), "{}", run.out);
    assert_eq!(lines[3], "more: kybern task list --status failed --limit 2 --cursor c-2");
    let asked = &server.seen("GET", "/api/tasks")[0];
    assert_eq!(asked.query, "status=failed&limit=2");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[test]
fn json_is_printed_as_it_came() {
    let body = "{\"items\":[{\"id\":\"x\", \"n\": 1.0}],  \"nextCursor\":null}";
    let server = Server::start(move |_| Some(Answer::Raw(200, "application/json", body.to_owned())));
    assert_eq!(server.run(&["task", "list", "--json"]).out, format!("{body}\n"));
}

#[test]
fn an_error_is_told_in_full() {
    let details = json!([{"path": "/planKey", "message": "no plan has this key"}]);
    let server =
        Server::start(move |_| Some(envelope(400, "VALIDATION_ERROR", "the input does not fit", details.clone())));
    let run = server.run(&["task", "submit", "hello", "--plan", "x"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert_eq!(
        run.err,
        "error: the input does not fit\n  /planKey: no plan has this key\n  code VALIDATION_ERROR, request req-1\n"
    );
    let server = Server::start(|_| Some(envelope(401, "UNAUTHENTICATED", "no key", json!([]))));
    let run = server.run(&["task", "list"]);
    assert!(run.err.contains("try: set KYBERN_API_KEY"), "{}", run.err);
}

#[test]
fn a_task_is_shown_with_its_steps_and_records() {
    let run = with_task(task("completed")).run(&["task", "show", ID]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("✓ deal  core.set  deal made [2J"), "{}", run.out);
    assert!(run.out.contains("insurance.deal  D-1  created  deal"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "no control character comes through, and no colour outside a terminal");
}

#[test]
fn a_message_is_shown_with_what_is_to_be_decided_and_its_files_are_fetched() {
    let mut mail = task("needs_review");
    mail["input"] = json!("Loss runs please.");
    mail["payload"] = json!({"subject": "Renewal", "from": {"name": "Kim", "address": "kim@acme.example"}});
    mail["waits"] = json!([{"stepId": "ask", "kind": "input", "reason": "the DOT number is missing",
        "schema": {"required": ["dot"], "properties": {"dot": {"type": "string"}}}}]);
    let server = with_task(mail);
    for verb in ["show", "review"] {
        let run = server.run(&["task", verb, ID]);
        assert_eq!(run.code, 3, "{}", run.err);
        for said in ["Kim <kim@acme.example>", "subject   Renewal", "Loss runs please.", "../dec.pdf", "--set dot=…"]
        {
            assert!(run.out.contains(said), "{verb}: {said} is not in {}", run.out);
        }
    }
    let run = server.run(&["task", "attachment", ID, "1"]);
    assert_eq!((run.code, run.out.as_str()), (0, "10 bytes in dec.pdf\n"), "{}", run.err);
    assert_eq!(std::fs::read(server.folder().join("dec.pdf")).unwrap(), b"%PDF-words");
    let run = server.run(&["task", "attachment", ID, "1"]);
    assert!(run.code == 2 && run.err.contains("is there already"), "{}", run.err);
    assert_eq!(server.run(&["task", "attachment", ID, "1", "--out", "-"]).out, "%PDF-words");
    let text = server.run(&["task", "attachment", ID, "1", "--text"]);
    assert_eq!((text.code, text.out.as_str()), (0, "%PDF-words\n"), "{}", text.err);
    let asked = server.seen("GET", &task_path("/attachments/1"));
    assert!(asked.last().unwrap().query.contains("text=true"));
}

#[test]
fn the_exit_code_is_the_tasks() {
    for (status, code) in [("executing", 0), ("completed", 0), ("failed", 1), ("cancelled", 1), ("needs_review", 3)] {
        let server = with_task(task(status));
        assert_eq!(server.run(&["task", "show", ID]).code, code, "{status}");
        assert_eq!(server.run(&["task", "show", ID, "--json"]).code, code, "{status}");
    }
}

#[test]
fn a_broken_stream_goes_on_where_it_broke() {
    let server = Server::start(|seen| {
        let first = entry(0, "task_created", Value::Null, "came in");
        let second = entry(8, "step_completed", json!("deal"), "deal made");
        let last = entry(16, "task_completed", Value::Null, "all done");
        if at(seen, "GET", &task_path("/events")) {
            return Some(match seen.before {
                0 => sse(&[first, second], false),
                // Busy for a moment, and then it begins a little too early.
                1 => envelope(503, "UNAVAILABLE", "starting", json!([])),
                _later => sse(&[second, last], true),
            });
        }
        at(seen, "GET", &task_path("")).then(|| Answer::Json(200, task("completed"))).or_else(|| {
            let list = ["/log", "/artifacts", "/attachments"].iter().any(|end| seen.path.ends_with(end));
            list.then(|| Answer::Json(200, json!({"items": [], "nextCursor": null})))
        })
    });
    let run = server.run(&["task", "watch", ID]);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines[..3],
        ["14:13:20  · task created  came in", "14:13:20  ✓ deal  deal made", "14:13:20  ✓ task completed  all done",]
    );
    let resumed: Vec<Option<String>> = server
        .seen("GET", &task_path("/events"))
        .iter()
        .map(|seen| seen.header("last-event-id").map(str::to_owned))
        .collect();
    assert_eq!(resumed, [None, Some("8".to_owned()), Some("8".to_owned())]);
}

#[test]
fn watching_ends_where_a_person_is_needed() {
    let waiting = |step: &str| json!([{"stepId": step, "kind": "input", "reason": "the DOT number is missing"}]);
    let server = Server::start(move |seen| {
        if at(seen, "GET", &task_path("/events")) {
            // The first wait has been answered long ago.
            let log = [
                entry(8, "needs_review", json!("old"), "asked before"),
                entry(16, "human_review", json!("old"), "answered"),
                entry(24, "needs_review", json!("ask"), "asked"),
            ];
            return Some(sse(&log, false));
        }
        let mut task = task("needs_review");
        task["waits"] = waiting("ask");
        at(seen, "GET", &task_path(""))
            .then_some(Answer::Json(200, task))
            .or_else(|| Some(Answer::Json(200, json!({"items": [], "nextCursor": null}))))
    });
    let run = server.run(&["task", "watch", ID]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.out.contains("answered") && run.out.contains("asked\n"), "{}", run.out);
    assert!(run.out.contains(&format!("yes: kybern task review {ID}")), "{}", run.out);
    assert_eq!(server.seen("GET", &task_path("/events")).len(), 1);
}

#[test]
fn a_stream_that_is_refused_is_not_asked_for_again() {
    let server = Server::start(|_| None);
    let run = server.run(&["task", "watch", ID]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("error: there is no such thing"), "{}", run.err);
    assert_eq!(server.seen("GET", &task_path("/events")).len(), 1);
}

#[test]
fn an_email_is_sent_as_it_is() {
    let server = Server::start(|seen| {
        at(seen, "POST", "/api/inbound/email")
            .then(|| Answer::Json(202, json!({"taskId": ID, "duplicate": seen.before > 0})))
    });
    std::fs::write(server.folder().join("mail.eml"), b"Subject: \xff\r\n\r\nhello").unwrap();
    let keyed = server.run(&["task", "submit", "mail.eml", "--idempotency-key", "k-1"]);
    assert_eq!(keyed.code, 2);
    assert!(keyed.err.contains("--idempotency-key does not go with an e-mail"), "{}", keyed.err);
    let run = server.run(&["task", "submit", "mail.eml"]);
    assert_eq!((run.code, run.out), (0, format!("task {ID} is submitted\nnext: kybern task watch {ID}\n")));
    let again = server.run(&["task", "submit", "mail.eml"]);
    assert!(again.out.starts_with(&format!("this came in before, as task {ID}")), "{}", again.out);
    let sent = &server.seen("POST", "/api/inbound/email")[0];
    assert_eq!(sent.body, b"Subject: \xff\r\n\r\nhello");
    assert_eq!(sent.header("content-type"), Some("message/rfc822"));
}

#[test]
fn a_text_goes_with_files_and_is_waited_for() {
    let server = Server::start(|seen| {
        if at(seen, "POST", "/api/tasks") {
            return Some(Answer::Json(202, task("pending")));
        }
        let status = if seen.before == 0 { "executing" } else { "needs_review" };
        at(seen, "GET", &task_path(""))
            .then(|| Answer::Json(200, task(status)))
            .or_else(|| Some(Answer::Json(200, json!({"items": [], "nextCursor": null}))))
    });
    std::fs::write(server.folder().join("a.pdf"), b"%PDF").unwrap();
    let run = server.run(&[
        "task",
        "submit",
        "hello",
        "--attach",
        "a.pdf",
        "--plan",
        "global.x",
        "--payload",
        "{\"a\":1}",
        "--max-steps",
        "9",
        "--budget-nanos",
        "5",
        "--wait",
    ]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(
        server.seen("POST", "/api/tasks")[0].json(),
        json!({"channel": "api", "input": "hello", "planKey": "global.x", "payload": {"a": 1}, "maxSteps": 9,
            "budgetNanos": 5,
            "attachments": [{"filename": "a.pdf", "contentType": "application/pdf", "dataBase64": "JVBERg=="}]})
    );
    assert!(server.seen("GET", &task_path("")).iter().all(|seen| seen.query == "waitMs=60000"));
}

#[test]
fn waiting_outlives_a_server_that_is_started_again() {
    let server = Server::start(|seen| {
        if at(seen, "POST", "/api/tasks") {
            return Some(Answer::Json(202, task("pending")));
        }
        if at(seen, "GET", &task_path("")) && seen.before < 2 {
            return Some(envelope(503, "UNAVAILABLE", "starting", json!([])));
        }
        Some(Answer::Json(200, task("completed")))
    });
    let run = server.run(&["task", "submit", "hello", "--wait", "--json"]);
    assert_eq!((run.code, run.out), (0, format!("{}\n", task("completed"))), "{}", run.err);
    assert_eq!(server.seen("GET", &task_path("")).len(), 3);
}

#[test]
fn an_answer_is_read_by_its_schema() {
    let server = Server::start(|seen| {
        if at(seen, "POST", &task_path("/review")) {
            return Some(Answer::Json(200, task("needs_review")));
        }
        let mut task = task("needs_review");
        task["waits"] = json!([{"stepId": "ask", "kind": "input", "reason": "the DOT number is missing",
            "approvalId": QUESTION, "schema": {"required": ["dot"], "properties": {"dot": {"type": "string"}}}}]);
        if at(seen, "GET", &task_path("/attachments")) {
            return Some(Answer::Json(200, json!({"items": [], "nextCursor": null})));
        }
        at(seen, "GET", &task_path("")).then_some(Answer::Json(200, task))
    });
    let asked = server.run(&["task", "review", ID]);
    assert_eq!(asked.code, 3, "{}", asked.err);
    let over = server.run(&["task", "review", ID, "--step", "deal"]);
    assert_eq!(over.code, 1, "{}", over.out);
    assert!(over.err.contains("does not wait at deal: it waits at ask"), "{}", over.err);
    assert!(asked.out.contains("dot (text; required)") && asked.out.contains("--set dot=…"), "{}", asked.out);
    let answered = server.run(&["task", "review", ID, "--set", "dot=0042"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
    let sent = server.seen("POST", &task_path("/review"));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].json(), json!({"corrections": {"dot": "0042"}, "stepId": "ask", "approvalId": QUESTION}));
    assert!(asked.out.contains("--step ask --no --note WHY"), "{}", asked.out);
    for (args, note) in [(&["--no", "--note", "not ours"][..], "not ours"), (&["--drop"], "there is nothing to do")] {
        let refused = server.run(&[&["task", "review", ID], args].concat());
        assert_eq!(refused.code, 0, "{}", refused.err);
        let sent = server.seen("POST", &task_path("/review")).pop().unwrap().json();
        let said =
            json!({"corrections": {}, "stepId": "ask", "approvalId": QUESTION, "resolution": "fail", "note": note});
        assert_eq!(sent, said);
    }
    assert_eq!(server.run(&["task", "review", ID, "--no", "--set", "dot=1"]).code, 2, "yes and no");
}

#[test]
fn several_waits_need_a_step() {
    let server = Server::start(|seen| {
        let mut task = task("needs_review");
        task["waits"] = json!([{"stepId": "a", "kind": "input"}, {"stepId": "b", "kind": "ambiguous"}]);
        Some(Answer::Json(200, if seen.method == "GET" { task } else { json!({}) }))
    });
    let run = server.run(&["task", "review", ID, "--set", "x=1"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("waits at 2 steps: a, b") && run.err.contains("--step"), "{}", run.err);
    let run = server.run(&["task", "review", ID, "--step", "b", "--resolution", "done"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let sent = server.seen("POST", &task_path("/review"))[0].json();
    assert_eq!(sent, json!({"corrections": {}, "stepId": "b", "resolution": "done"}));
}

#[test]
fn a_task_is_steered_replayed_and_forked() {
    let server = Server::start(|seen| {
        Some(match seen.path.rsplit('/').next()? {
            "replay" if seen.before == 0 => Answer::Json(200, json!({"matches": true, "differences": [], "steps": 4})),
            "replay" => Answer::Json(
                200,
                json!({"matches": false, "differences": ["result differs"], "moreDifferences": 7, "steps": 1}),
            ),
            "fork" if seen.json()["dryRun"] == true => Answer::Json(200, json!({"dryRun": true, "repeats": []})),
            "fork" => Answer::Json(202, json!({"id": "new-1", "status": "pending"})),
            "cancel" => Answer::Json(200, task("executing")),
            "retry" => envelope(409, "CONFLICT", "the task has not failed", json!([])),
            _pause_or_resume => Answer::Json(200, task("executing")),
        })
    });
    assert!(server.run(&["task", "cancel", ID]).out.contains("after the step that runs now"));
    assert!(server.run(&["task", "pause", ID]).out.contains("kybern task resume"));
    assert!(server.run(&["task", "resume", ID]).out.contains("is resumed; follow it with"));
    let refused = server.run(&["task", "retry", ID]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("the task has not failed") && refused.err.contains("kybern task show"));
    assert_eq!(server.run(&["task", "replay", ID]).code, 0);
    let elsewhere = server.run(&["task", "replay", ID]);
    assert_eq!(elsewhere.code, 1);
    assert!(elsewhere.out.contains("1 step was replayed from the journal and arrives elsewhere"), "{}", elsewhere.out);
    assert!(elsewhere.out.ends_with("  result differs\n  … and 7 more\n"), "{}", elsewhere.out);
    assert!(server.run(&["task", "fork", ID, "--from", "deal"]).out.contains("task new-1 begins at step deal"));
    let forks = server.seen("POST", &task_path("/fork"));
    assert_eq!(forks[0].json(), json!({"fromStep": "deal", "dryRun": true}));
    assert_eq!(forks[1].json(), json!({"fromStep": "deal"}));
}
