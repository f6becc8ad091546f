//! The verbs of plans, tools, keys and the audit, and what is wrong on the command line itself.

use serde_json::{Value, json};

use super::server::{Answer, Server, envelope, kybern};

#[test]
fn a_plan_is_checked_fault_by_fault() {
    let server = Server::start(|seen| {
        let faults = json!([{"path": "/steps/0/tool", "stepId": "a", "message": "there is no tool \"x\""}]);
        (seen.path == "/api/plans/check").then(|| {
            let valid = seen.json()["key"] == "global.good";
            Answer::Json(200, json!({"valid": valid, "faults": if valid { json!([]) } else { faults }}))
        })
    });
    let plans = json!([{"key": "global.good", "steps": []}, {"key": "global.bad", "steps": []}]);
    std::fs::write(server.folder().join("plans.json"), plans.to_string()).unwrap();
    let run = server.run(&["plan", "check", "plans.json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let expected =
        "✓ global.good is sound\n✗ global.bad has 1 fault\n    /steps/0/tool (step a): there is no tool \"x\"\n";
    assert_eq!(run.out, expected);
}

#[test]
fn a_faulty_plan_does_not_keep_the_others_out() {
    let server = Server::start(|seen| {
        (seen.path == "/api/plans").then(|| {
            if seen.before == 0 {
                let faults = json!([{"path": "/steps", "message": "has a cycle"}]);
                return envelope(422, "UNPROCESSABLE", "the plan has faults", faults);
            }
            Answer::Json(201, json!({"key": "global.b", "version": 2}))
        })
    });
    std::fs::write(server.folder().join("a.json"), json!({"key": "global.a"}).to_string()).unwrap();
    std::fs::write(server.folder().join("b.json"), json!({"key": "global.b"}).to_string()).unwrap();
    let run = server.run(&["plan", "import", "a.json", "b.json"]);
    assert_eq!(run.code, 1);
    let expected = "✗ global.a: the plan has faults\n    /steps: has a cycle\n✓ global.b version 2 is stored\n";
    assert_eq!(run.out, expected);
    std::fs::write(server.folder().join("c.json"), "{").unwrap();
    let broken = server.run(&["plan", "import", "c.json"]);
    assert_eq!(broken.code, 1);
    assert!(broken.out.starts_with("✗ c.json is not JSON"), "{}{}", broken.out, broken.err);
}

#[test]
fn plans_that_cannot_be_used_stand_out() {
    let server = Server::start(|seen| {
        let bad = json!({"key": "global.bad", "version": 1, "steps": [{"id": "a", "kind": "tool", "tool": "x"}],
            "active": true, "quarantine": [{"path": "/steps/0/tool", "stepId": "a", "message": "there is no tool"}]});
        Some(match seen.path.as_str() {
            "/api/plans" => Answer::Json(200, json!({"items": [bad], "nextCursor": null})),
            "/api/plans/global.bad" => Answer::Json(200, bad),
            _other => return None,
        })
    });
    let list = server.run(&["plan", "list"]);
    assert!(list.out.contains("quarantined") && list.out.contains("kybern plan show global.bad"), "{}", list.out);
    let show = server.run(&["plan", "show", "global.bad"]);
    assert!(show.out.contains("  a  tool  x") && show.out.contains("(step a): there is no tool"), "{}", show.out);
    assert_eq!(server.run(&["plan", "show", "../tools"]).code, 1);
    assert!(server.seen("GET", "/api/tools").is_empty());
}

#[test]
fn a_call_ends_with_the_code_of_its_status() {
    let server = Server::start(|seen| {
        let status = match seen.path.as_str() {
            "/api/tools/a/invoke" => "success",
            "/api/tools/b/invoke" => "failure",
            "/api/tools/c/invoke" => "waiting",
            _other => return None,
        };
        let error = (status == "failure").then(|| json!({"code": "TOOL_ERROR", "message": "no", "retryable": true}));
        let answer = json!({"invocationId": "i", "status": status, "output": {"sum": 3}, "error": error,
            "durationMs": 12, "approvalId": if status == "waiting" { json!("ap-1") } else { json!(null) }});
        Some(Answer::Json(200, answer))
    });
    let good = server.run(&["tool", "call", "a", "{\"x\":[1,2]}"]);
    assert_eq!((good.code, good.out.as_str()), (0, "success  12 ms\n{\n  \"sum\": 3\n}\n"));
    assert_eq!(server.seen("POST", "/api/tools/a/invoke")[0].json(), json!({"input": {"x": [1, 2]}}));
    let bad = server.run(&["tool", "call", "b"]);
    assert_eq!(bad.code, 1);
    assert!(bad.out.contains("TOOL_ERROR: no") && bad.out.contains("another try may help"), "{}", bad.out);
    let waiting = server.run(&["tool", "call", "c", "--json"]);
    assert_eq!(waiting.code, 3);
    assert!(waiting.out.starts_with("{\"invocationId\""), "{}", waiting.out);
    // What is asked may be a form.
    let told = server.run(&["tool", "call", "c"]);
    assert!(told.out.ends_with("it waits for a person: kybern approval show ap-1\n"), "{}", told.out);
}

#[test]
fn tools_are_listed_and_shown() {
    let server = Server::start(|seen| {
        let tool = json!({"key": "core.wait", "description": "waits", "risk": "R0", "effect": "local",
            "inputSchema": {"required": ["ms"], "properties": {"ms": {"type": "integer"}}}});
        Some(match seen.path.as_str() {
            "/api/tools" => Answer::Json(200, json!({"items": [tool], "nextCursor": "c"})),
            "/api/tools/core.wait" => Answer::Json(200, tool),
            _other => return None,
        })
    });
    let list = server.run(&["tool", "list"]);
    assert!(list.out.contains("core.wait  R0") && list.out.contains("kybern tool list --cursor c"), "{}", list.out);
    let show = server.run(&["tool", "show", "core.wait"]);
    assert!(show.out.contains("ms (whole number; required)"), "{}", show.out);
}

#[test]
fn each_provider_is_tried_by_its_name_and_not_by_whichever_model_it_lists_first() {
    let server = Server::start(|seen| {
        let model = |id: &str, owner: &str| json!({"id": id, "object": "model", "owned_by": owner});
        Some(match (seen.method.as_str(), seen.path.as_str()) {
            ("GET", "/v1/models") => Answer::Json(
                200,
                json!({"data": [model("balanced", "kybern"), model("far/whisper-1", "far"), model("far/large", "far")]}),
            ),
            ("POST", "/v1/chat/completions") => {
                let message = json!({"role": "assistant", "content": "ready"});
                let usage = json!({"prompt_tokens": 9, "completion_tokens": 1});
                Answer::Json(200, json!({"model": "far/large", "choices": [{"message": message}], "usage": usage}))
            }
            _other => return None,
        })
    });
    let tried = server.run(&["model", "test"]);
    assert!(tried.code == 0 && tried.out.contains("far/large  ready"), "{}{}", tried.out, tried.err);
    let asked: Vec<Value> =
        server.seen("POST", "/v1/chat/completions").iter().map(|seen| seen.json()["model"].clone()).collect();
    assert_eq!(asked, ["far"]);
}

#[test]
fn a_tool_of_ones_own_is_approved_as_it_was_read() {
    let server = Server::start(|seen| {
        let version = json!({"id": "i", "key": "crm.ping", "version": 3, "status": "review", "hash": "00ff",
            "description": "Pings.", "effect": "read", "inputSchema": {"type": "object"}, "tags": [],
            "http": {"method": "GET", "url": "https://crm.example.com/ping"}});
        Some(match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/api/tools") => Answer::Json(201, version),
            ("GET", "/api/tools/crm.ping/versions") if seen.query.contains("status=approved") => {
                Answer::Json(200, json!({"items": [], "nextCursor": null}))
            }
            ("GET", "/api/tools/crm.ping/versions") => {
                Answer::Json(200, json!({"items": [version], "nextCursor": "c"}))
            }
            ("DELETE", "/api/tools/crm.ping") => Answer::Json(204, json!(null)),
            ("POST", path) if path.starts_with("/api/tools/crm.ping/") => Answer::Json(200, version),
            _other => return None,
        })
    });
    let file = server.folder().join("tool.json");
    std::fs::write(&file, "{\"key\": \"crm.ping\"}").unwrap();
    let made = server.run(&["tool", "create", file.to_str().unwrap()]);
    assert_eq!(made.out, "version 3 of crm.ping is a draft; hand it in with: kybern tool submit crm.ping\n");
    let list = server.run(&["tool", "versions", "crm.ping"]);
    assert!(list.out.contains("review  GET     https://crm.example.com/ping"), "{}", list.out);
    let reviewed = server.run(&["tool", "versions", "crm.ping", "--status", "review", "--limit", "1"]);
    let next = "more: kybern tool versions crm.ping --status review --limit 1 --cursor c";
    assert!(reviewed.out.contains(next), "{}", reviewed.out);
    // A program gets the version, with the hash that it names when it has read it.
    let read = server.run(&["tool", "approve", "crm.ping", "--json"]);
    let version: Value = serde_json::from_str(&read.out).unwrap_or_else(|_| panic!("{}", read.out));
    assert!(read.code == 3 && version["hash"] == "00ff", "{version}");
    // Nobody is there to be asked: what would be approved is shown, with the command that does it.
    for (verb, asked) in [("approve", "review"), ("activate", "disabled")] {
        let shown = server.run(&["tool", verb, "crm.ping"]);
        assert_eq!(shown.code, 3, "{}", shown.out);
        let command = format!("kybern tool {verb} crm.ping --hash 00ff");
        assert!(shown.out.contains("https://crm.example.com/ping") && shown.out.contains(&command), "{}", shown.out);
        let looked = server.seen("GET", "/api/tools/crm.ping/versions");
        assert!(looked.last().unwrap().query.contains(&format!("status={asked}")), "{asked}");
        assert!(server.seen("POST", &format!("/api/tools/crm.ping/{verb}")).is_empty());
        assert_eq!(server.run(&["tool", verb, "crm.ping", "--hash", "00ff"]).code, 0);
        assert_eq!(server.seen("POST", &format!("/api/tools/crm.ping/{verb}"))[0].json(), json!({"hash": "00ff"}));
    }
    let handed_in = server.run(&["tool", "submit", "crm.ping", "--json"]);
    assert!(handed_in.out.starts_with("{\"id\""), "{}", handed_in.out);
    assert_eq!(
        server.run(&["tool", "reject", "crm.ping", "--note", "No."]).out,
        "version 3 of crm.ping is sent back\n"
    );
    assert_eq!(server.run(&["tool", "disable", "crm.ping"]).code, 0);
    let deleted = server.run(&["tool", "delete", "crm.ping"]);
    assert_eq!(deleted.out, "tool crm.ping is deleted with every version of it\n");
}

#[test]
fn agents_are_listed_and_shown() {
    let server = Server::start(|seen| {
        let agent = json!({"id": "i", "key": "billing", "name": "Billing", "description": "Answers about invoices.",
            "systemPrompt": "You bill.\nBriefly.", "provider": "default", "model": "cheapest", "bundled": false,
            "version": 3, "maxTurns": 7, "maxToolCalls": 9, "timeoutMs": 5000, "toolKeys": ["calculator", "dates"],
            "missingTools": ["mail.send"], "triggers": []});
        let writer = json!({"key": "writer", "name": "Writer", "provider": "anthropic", "model": "opus",
            "bundled": true});
        Some(match seen.path.as_str() {
            "/api/agents" => Answer::Json(200, json!({"items": [agent, writer], "nextCursor": "c"})),
            "/api/agents/Billing" => Answer::Json(200, agent),
            _other => return None,
        })
    });
    let list = server.run(&["agent", "list"]);
    assert!(list.out.contains("billing  Billing  tenant   cheapest"), "{}", list.out);
    assert!(list.out.contains("writer   Writer   program  anthropic/opus"), "{}", list.out);
    assert!(list.out.contains("kybern agent list --cursor c"), "{}", list.out);
    let show = server.run(&["agent", "show", "Billing"]);
    let expected = "agent billing Billing\n  id       i\n  about    Answers about invoices.\n  \
        from     tenant, version 3\n  model    cheapest\n  a turn   at most 7 questions, 9 calls, 5000 ms\n  \
        tools    calculator, dates\n  missing  mail.send\nis told\n  You bill.\n  Briefly.\n\
        unless a prompt is active for it or for all agents\n";
    assert_eq!(show.out, expected);
    let json = server.run(&["agent", "show", "Billing", "--json"]);
    assert!(json.out.starts_with("{\"id\":\"i\",\"key\":\"billing\""), "{}", json.out);
}

#[test]
fn a_key_is_shown_once() {
    let id = "01920000-0000-7000-8000-000000000009";
    let server = Server::start(move |seen| {
        Some(match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/api/keys") => Answer::Json(201, json!({"id": id, "key": "kyb_new"})),
            ("GET", "/api/keys") => {
                let key = json!({"id": id, "name": "ci", "prefix": "kyb_ne", "roles": ["viewer"], "scopes": []});
                Answer::Json(200, json!({"items": [key], "nextCursor": null}))
            }
            ("DELETE", _path) => Answer::Raw(204, "application/json", String::new()),
            _other => return None,
        })
    });
    let args = ["key", "create", "--name", "ci", "--role", "viewer", "--expires", "2027-01-31T12:00:00Z"];
    let made = server.run(&args);
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(made.out, "kyb_new\n", "a script takes the whole output");
    assert!(made.err.contains(&format!("kybern key revoke {id}")), "{}", made.err);
    assert_eq!(
        server.seen("POST", "/api/keys")[0].json(),
        json!({"name": "ci", "roles": ["viewer"], "expiresAt": "2027-01-31T12:00:00Z"})
    );
    assert!(server.run(&["key", "list"]).out.contains("kyb_ne"));
    assert_eq!(server.run(&["key", "revoke", id]).out, format!("key {id} is revoked\n"));
}

#[test]
fn keys_that_fall_with_a_key_are_told_before_and_after() {
    let [id, below] = [9, 8].map(|n| format!("01920000-0000-7000-8000-00000000000{n}"));
    let made = below.clone();
    let server = Server::start(move |seen| {
        Some(match (seen.method.as_str(), seen.query.as_str()) {
            ("DELETE", "cascade=true") => {
                Answer::Json(200, json!({"revokedWith": [{"id": made, "name": "nightly\u{1b}[2J import"}]}))
            }
            ("DELETE", "cascade=false") => {
                let details = json!([{"path": format!("/{made}"), "message": "key \"nightly import\""}]);
                envelope(409, "CONFLICT", "1 more key was made with this one: revoke it with cascade=true", details)
            }
            ("DELETE", "cascade=false&force=true") => Answer::Raw(204, "application/json", String::new()),
            _other => return None,
        })
    });
    let refused = server.run(&["key", "revoke", &id]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains(&below) && refused.err.contains("nightly import"), "{}", refused.err);
    assert!(refused.err.contains("revoke it with --cascade\n") && !refused.err.contains("try:"), "{}", refused.err);
    let revoked = server.run(&["key", "revoke", &id, "--cascade"]);
    assert_eq!(revoked.code, 0, "{}", revoked.err);
    assert!(revoked.out.starts_with(&format!("key {id} is revoked\nwith it: key {below} (nightly")), "{}", revoked.out);
    assert!(!revoked.out.contains('\u{1b}'), "{}", revoked.out);
    assert_eq!(server.run(&["key", "revoke", &id, "--force"]).code, 0);
    assert_eq!(server.seen("DELETE", &format!("/api/keys/{id}")).len(), 3);
}

#[test]
fn a_changed_audit_trail_fails() {
    let server = Server::start(|seen| {
        let broken = json!({"valid": false, "length": 9, "faults": [{"seq": 4, "problem": "the hash does not fit"}]});
        let whole = json!({"valid": true, "length": 9, "faults": []});
        Some(Answer::Json(200, if seen.before == 0 { whole } else { broken }))
    });
    assert_eq!(server.run(&["audit", "verify"]).out, "✓ the audit trail is whole: 9 events\n");
    let run = server.run(&["audit", "verify"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("4      the hash does not fit"), "{}", run.out);
}

#[test]
fn a_lesson_that_is_written_down_can_be_read_by_a_program() {
    let lesson = json!({"id": "l-1", "status": "suggested", "kind": "trusted_sender", "address": "a@example.com"});
    let answer = lesson.clone();
    let server = Server::start(move |seen| (seen.path == "/api/lessons").then(|| Answer::Json(201, answer.clone())));
    for args in
        [["lesson", "add", "sender", "a@example.com", "--json"], ["lesson", "add", "--json", "sender", "a@example.com"]]
    {
        let run = server.run(&args);
        assert_eq!((run.code, run.out), (0, format!("{lesson}\n")), "{args:?}: {}", run.err);
    }
    let told = server.run(&["lesson", "add", "sender", "a@example.com"]);
    assert!(told.out.contains("kybern lesson accept l-1"), "{}", told.out);
}

#[test]
fn what_cannot_be_typed_ends_with_2() {
    let server = Server::start(|_| None);
    std::fs::write(server.folder().join("mail.eml"), "x").unwrap();
    let id = "01920000-0000-7000-8000-000000000001";
    let wrong: [&[&str]; 12] = [
        &[],
        &["tusk"],
        &["task", "show", "not-an-id"],
        &["task", "submit", "hello", "--payload", "{"],
        &["task", "submit", "hello", "--payload", "[1]"],
        &["task", "submit", "missing.eml"],
        &["task", "submit", "mail.eml", "--plan", "x"],
        &["task", "list", "--status", "sleeping"],
        &["task", "list", "--limit", "0"],
        &["task", "fork", id],
        &["key", "create", "--name", "x", "--role", "king"],
        &["tool", "call", "x", "not json"],
    ];
    for args in wrong {
        let run = server.run(args);
        assert_eq!(run.code, 2, "{args:?}: {} {}", run.out, run.err);
        assert!(!run.err.is_empty(), "{args:?}");
    }
    for args in [
        &["task", "submit", "hello", "--attach", "missing.pdf"][..],
        &["plan", "check", "missing.json"],
        &["plan", "check", "."],
        &["restore", "missing.backup"],
        &["knowledge", "add", "missing.txt"],
        &["audit", "verify", "--export", "missing.jsonl"],
        &["audit", "verify", "--export", "."],
        &["audit", "verify", "--head", "missing.json"],
        &["audit", "purge", "--exported", "missing.jsonl", "--older-than", "400"],
        &["secret", "set", "erp", "--host", "erp.example.com", "--from-env", "NO_SUCH_VARIABLE"],
        &["--config", "missing.toml", "task", "list"],
        &["--url", "ftp://x", "task", "list"],
    ] {
        let run = server.run(args);
        assert_eq!(run.code, 2, "{args:?}: {} {}", run.out, run.err);
        assert!(run.err.contains("try: ") || run.err.contains("missing.toml"), "{args:?}: {}", run.err);
    }
    std::fs::write(server.folder().join("broken.json"), "{").unwrap();
    let broken = server.run(&["plan", "check", "broken.json"]);
    assert!(broken.code == 1 && broken.err.contains("is not JSON"), "what is in a file is no usage: {}", broken.err);
    for (text, fault) in [("[server", "is not TOML"), ("[server]\nlissen = \"x\"\n", "server.lissen")] {
        std::fs::write(server.folder().join("own.toml"), text).unwrap();
        let faulty = server.run(&["--config", "own.toml", "task", "list"]);
        assert!(faulty.code == 2 && faulty.err.contains(fault), "{}", faulty.err);
    }
    std::fs::write(server.folder().join("own.toml"), "[smtp]\nhost = \"mail.example.com\"\nfrom = \"a@b.example\"\n")
        .unwrap();
    assert_ne!(server.run(&["--config", "own.toml", "task", "list"]).code, 2, "a file that can be read");
    assert_eq!(server.run(&["--version"]).code, 0);
}

#[test]
fn a_server_that_is_named_and_does_not_answer_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let run = kybern(folder.path(), &["task", "list"], &[("KYBERN_URL", &url)]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with(&format!("error: no answer from {url}: ")), "{}", run.err);
    assert!(run.err.contains("kybern serve"), "{}", run.err);
    let wrong = kybern(folder.path(), &["task", "list", "--url", "localhost"], &[]);
    assert!(wrong.err.contains("is not the URL of a server"), "{}", wrong.err);
}

#[test]
fn another_program_is_not_taken_for_kybern() {
    for status in [200, 500] {
        let server = Server::start(move |_| Some(Answer::Raw(status, "text/html", "<html>".to_owned())));
        let run = server.run(&["task", "list"]);
        assert_eq!(run.code, 1);
        assert!(run.err.contains("something else than Kybern's API"), "{}", run.err);
    }
}

#[test]
fn every_fault_of_the_configuration_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kybern.toml"), "[server]\nlisten = \"x\"\n[worker]\nslots = 0\nfoo = 1\n")
        .unwrap();
    let run = kybern(folder.path(), &["serve"], &[]);
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("error: the configuration has 3 faults\n"), "{}", run.err);
    assert!(run.err.contains("  worker.slots = 0 (kybern.toml) is not between 1 and 10000\n"), "{}", run.err);
    assert!(run.err.contains("    write an address and a port, such as \"127.0.0.1:7171\"\n"), "{}", run.err);
    // In JSON a detail is a fault, and what to do stands where every error says it.
    let told = |settings: &str| -> Value {
        std::fs::write(folder.path().join("kybern.toml"), settings).unwrap();
        let run = kybern(folder.path(), &["task", "list", "--json"], &[]);
        assert_eq!(run.code, 2);
        serde_json::from_str::<Value>(&run.err).unwrap_or_else(|_| panic!("{}", run.err))["error"].take()
    };
    let one = told("[server]\nlisten = \"x\"\n");
    assert_eq!(one["details"].as_array().unwrap().len(), 1, "{one}");
    assert_eq!(one["remedy"], "write an address and a port, such as \"127.0.0.1:7171\"", "{one}");
    let several = told("[server]\nlisten = \"x\"\n[worker]\nslots = 0\nfoo = 1\n");
    assert_eq!(several["details"].as_array().unwrap().len(), 3, "{several}");
    assert!(several["remedy"].as_str().unwrap().contains("server.listen: write an address"), "{several}");
}

#[test]
fn a_dossier_is_of_the_one_entity_that_is_called_so() {
    let server = Server::start(|seen| {
        let entity =
            |id: &str| json!({"id": id, "kind": "test.company", "key": "name:acme", "props": {"name": "Acme"}});
        let found = match (seen.path.as_str(), seen.query.as_str()) {
            ("/api/entities", "name=Acme") => json!([entity("e-1")]),
            ("/api/entities", "name=Twins") => json!([entity("e-1"), entity("e-2")]),
            ("/api/entities", _) => json!([]),
            ("/api/entities/e-1/dossier", _) => {
                let dossier = json!({"entity": entity("e-1"), "state": {}, "insights": [], "preferences": [],
                    "recentEvents": [], "memoriesLeftOut": 0, "memoriesWithheld": true});
                return Some(Answer::Json(200, dossier));
            }
            _other => return None,
        };
        Some(Answer::Json(200, json!({"items": found, "nextCursor": null})))
    });
    let run = server.run(&["dossier", "Acme", "--query", "open claims"]);
    assert_eq!((run.code, run.out.lines().next()), (0, Some("Acme  (test.company e-1)")), "{}", run.err);
    assert!(run.out.contains("asks for the right"), "{}", run.out);
    assert_eq!(server.seen("GET", "/api/entities/e-1/dossier")[0].query, "query=open+claims");
    let none = server.run(&["dossier", "Nobody"]);
    assert!(none.code != 0 && none.err.contains("no entity is called Nobody"), "{}", none.err);
    let several = server.run(&["dossier", "Twins"]);
    assert!(several.code != 0 && several.err.contains("2 entities are called Twins"), "{}", several.err);
    assert!(several.err.contains("  e-2  name:acme  Acme"), "{}", several.err);
}
