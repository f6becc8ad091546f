//! A fork that would write outside again, as it is typed.

use serde_json::json;

use super::server::{Answer, Server};

const ID: &str = "01920000-0000-7000-8000-000000000001";

#[test]
fn outside_writes_are_listed_and_nothing_is_forked_without_a_yes() {
    let path = format!("/api/tasks/{ID}/fork");
    let repeats = json!([
        {"stepId": "pay", "kind": "call", "tool": "core.http_request", "effect": "keyed", "summary": "POST answered 200"},
        {"stepId": "tell", "kind": "message", "tool": "core.notify", "summary": ""},
    ]);
    let preview = json!({"dryRun": true, "repeats": repeats});
    let answer = preview.clone();
    let server = Server::start(move |seen| {
        Some(match seen.json()["dryRun"] == true {
            true => Answer::Json(200, answer.clone()),
            false => Answer::Json(202, json!({"id": "new-1", "status": "pending"})),
        })
    });
    let refused = server.run(&["task", "fork", ID, "--from", "pay"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.out.contains("2 outside writes again"), "{}", refused.out);
    assert!(refused.out.contains("pay  calls core.http_request (keyed); the first time: POST"), "{}", refused.out);
    assert!(refused.out.contains("tell  sends a message"), "{}", refused.out);
    assert!(refused.err.contains("pay, tell would be made again") && refused.err.contains("--yes"), "{}", refused.err);
    let refused = server.run(&["task", "fork", ID, "--from", "pay", "--json"]);
    assert_eq!((refused.code, refused.out), (2, format!("{preview}\n")), "{}", refused.err);
    assert_eq!(server.seen("POST", &path).len(), 2, "nothing but the previews");
    let forked = server.run(&["task", "fork", ID, "--from", "pay", "--yes"]);
    assert_eq!(forked.code, 0, "{}", forked.err);
    assert!(forked.out.contains("tell  sends a message") && forked.out.contains("task new-1 begins"), "{}", forked.out);
    assert_eq!(server.seen("POST", &path)[3].json(), json!({"fromStep": "pay", "confirm": ["pay", "tell"]}));
}
