//! The other tenant: a picture of it, to see that nothing changes, and every other way by which a request could name
//! something of it.

use serde_json::{Value, json};

use crate::server::Client;
use crate::server::client::Ask;

use super::ids::NOBODY;
use super::rows::{Input, Row};
use super::suite::{Suite, with_body};
use super::things::SHARED_KIND;

/// Everything that the admin of a tenant can read, page by page.
pub(crate) async fn picture(admin: &Client) -> Vec<(String, String)> {
    let lists = ["plans", "records", "outbox", "users", "keys", "webhooks/outbound", "audit", "tasks"];
    let mut paths: Vec<String> = lists
        .into_iter()
        .chain(["agents", "prompts", "chats", "memories", "knowledge"])
        .map(|list| format!("/api/{list}"))
        .collect();
    for task in admin.list("/api/tasks").await {
        let id = task["id"].as_str().unwrap().to_owned();
        paths.extend(["", "/log", "/artifacts", "/attachments"].map(|part| format!("/api/tasks/{id}{part}")));
    }
    for kind in admin.get("/api/records").await["items"].as_array().unwrap() {
        paths.push(format!("/api/records/{}", kind["kind"].as_str().unwrap()));
    }
    for user in admin.list("/api/users").await {
        paths.push(format!("/api/users/{}/permissions", user["id"].as_str().unwrap()));
    }
    let mut picture = Vec::new();
    for path in paths {
        let limited = path.split('/').count() < 4 || path.ends_with("/log") || path.contains("/outbound");
        let asked = if limited && path != "/api/records" { format!("{path}?limit=200") } else { path.clone() };
        let mut shown = admin.get(&asked).await;
        // What its own people export is in its audit, and nobody else's doing.
        if let Some(items) = shown["items"].as_array_mut().filter(|_| path == "/api/audit") {
            items.retain(|event| event["action"] != "chat.export");
        }
        picture.push((path, shown.to_string()));
    }
    picture
}

/// What a property of a body names.
enum Names {
    /// Something of the tenant's: theirs and nobody's get the same answer.
    Tenants(fn(&Suite) -> (String, String)),
    /// Something new, or something inside the thing that the path names.
    Own,
}

/// Every property of a body that is called an id or a key.
const REFERENCES: &[(&str, &str, &str, Names)] = &[
    ("POST", "/api/tasks", "planKey", Names::Tenants(|suite| (suite.theirs.plan.clone(), "no.such".to_owned()))),
    ("POST", "/api/tasks", "idempotencyKey", Names::Own),
    ("POST", "/api/tasks/{id}/review", "stepId", Names::Own),
    ("POST", "/api/internal/brain/review/{id}", "stepId", Names::Own),
    (
        "POST",
        "/api/tasks/{id}/review",
        "approvalId",
        Names::Tenants(|suite| (suite.theirs.approval.clone(), NOBODY.to_owned())),
    ),
    (
        "POST",
        "/api/internal/brain/review/{id}",
        "approvalId",
        Names::Tenants(|suite| (suite.theirs.approval.clone(), NOBODY.to_owned())),
    ),
    (
        "POST",
        "/api/internal/brain/callback/{id}",
        "workflowId",
        Names::Tenants(|suite| (suite.theirs.workflow_id.clone(), format!("v1:{NOBODY}:{NOBODY}:quote:0"))),
    ),
    ("POST", "/api/plans", "key", Names::Own),
    ("POST", "/api/plans", "intentKey", Names::Own),
    ("POST", "/api/plans/check", "key", Names::Own),
    ("POST", "/api/plans/check", "intentKey", Names::Own),
    ("POST", "/api/agents", "key", Names::Own),
    ("POST", "/api/tools", "key", Names::Own),
    ("POST", "/api/prompts/preview", "chatId", Names::Tenants(|suite| (suite.theirs.chat.clone(), NOBODY.to_owned()))),
    ("POST", "/api/chats/{id}/fork", "messageId", Names::Own),
    ("POST", "/api/keys", "userId", Names::Tenants(|suite| (suite.theirs.user.clone(), NOBODY.to_owned()))),
];

/// What a request names outside its path is looked for in its own tenant only.
pub(crate) async fn references_to_others_lead_nowhere(suite: &Suite) {
    for row in &suite.rows {
        let Input::Json(good, _) = row.input else { continue };
        let properties = suite.document.body(row)["properties"].as_object().cloned().unwrap_or_default();
        for name in properties.keys().filter(|name| name.ends_with("Id") || name.ends_with("Key") || *name == "key") {
            let known = REFERENCES.iter().find(|(method, path, property, _)| {
                (*method, *path, *property) == (row.method, row.path, name.as_str())
            });
            let Some((.., names)) = known else {
                suite.expect(false, || format!("{}: what does {name} name? Say it in REFERENCES", row.name()));
                continue;
            };
            let Names::Tenants(both) = names else { continue };
            let (theirs, nobodys) = both(suite);
            let ask = async |named: &str| {
                let mut body = good(&suite.ours, 2);
                body[name.as_str()] = json!(named);
                let path = super::ids::fill(row, &suite.ours);
                let ask = with_body(row.bare(&path), "application/json", body.to_string());
                let key = suite.able(row).map(|caller| caller.key.as_str());
                let answer = suite.ask(row, key, &ask, &[named]).await;
                suite.expect((400..500).contains(&answer.status), || {
                    format!("{}: {name} {named}: {}", row.name(), answer.status)
                });
                answer.essence(&[named])
            };
            let (theirs, nobodys) = (ask(&theirs).await, ask(&nobodys).await);
            suite.expect(theirs == nobodys, || format!("{}: {name}\n  {theirs}\n  {nobodys}", row.name()));
        }
    }
    cursors(suite).await;
    filters(suite).await;
    tools(suite).await;
    callbacks(suite).await;
}

fn row<'a>(suite: &'a Suite, method: &str, path: &str) -> &'a Row {
    suite.rows.iter().find(|row| (row.method, row.path) == (method, path)).unwrap()
}

/// A cursor of their list is refused as one that our list did not give.
async fn cursors(suite: &Suite) {
    let theirs = suite.platform.with_key(&suite.theirs.admin);
    for row in &suite.rows {
        let paged = suite.document.parameters(row, "query").iter().any(|(name, _)| name == "cursor");
        if !paged || row.right() == Some("platform") {
            continue;
        }
        let page = theirs.get(&format!("{}?limit=1", super::ids::fill(row, &suite.theirs))).await;
        let Some(cursor) = page["nextCursor"].as_str() else { continue };
        let path = format!("{}?limit=200&cursor={cursor}", super::ids::fill(row, &suite.ours));
        let key = suite.able(row).map(|caller| caller.key.as_str());
        let answer = suite.ask(row, key, &Ask::get(&path), &[cursor]).await;
        suite.expect(answer.status == 400, || format!("{path}: {}", answer.text()));
    }
}

/// A filter that names something of theirs finds nothing.
async fn filters(suite: &Suite) {
    let (ours, theirs) = (&suite.ours, &suite.theirs);
    let key = &theirs.record_key;
    for (list, path, named) in [
        ("/api/tasks", format!("/api/tasks?intent={}", theirs.plan), theirs.plan.as_str()),
        ("/api/records/{kind}", format!("/api/records/{}?key={key}", ours.kind), theirs.record_key.as_str()),
        ("/api/records/{kind}", format!("/api/records/{SHARED_KIND}?key={key}"), theirs.record_key.as_str()),
        ("/api/records/{kind}", format!("/api/records/{}?key={key}", theirs.kind), theirs.record_key.as_str()),
    ] {
        let row = row(suite, "GET", list);
        let key = suite.able(row).map(|caller| caller.key.as_str());
        let answer = suite.ask(row, key, &Ask::get(&path), &[named, &theirs.kind]).await;
        suite.expect(answer.json()["items"] == json!([]), || format!("{path}: {}", answer.text()));
    }
}

/// Tools and plans see their own tenant only.
async fn tools(suite: &Suite) {
    let (ours, theirs) = (&suite.ours, &suite.theirs);
    let invoke = row(suite, "POST", "/api/tools/{name}/invoke");
    let key = suite.able(invoke).map(|caller| caller.key.as_str());
    for (things, found) in [(theirs, false), (ours, true)] {
        let input = json!({"input": {"kind": SHARED_KIND, "key": things.record_key}});
        let ask = with_body(invoke.bare("/api/tools/core.get_record/invoke"), "application/json", input.to_string());
        let answer = suite.ask(invoke, key, &ask, &[]).await;
        suite.expect(answer.json()["output"]["found"] == found, || format!("get_record: {}", answer.text()));
    }

    let check = row(suite, "POST", "/api/plans/check");
    let key = suite.able(check).map(|caller| caller.key.as_str());
    let child = async |plan: &str| {
        let body = json!({"key": "a.b", "steps": [{"id": "child", "kind": "task", "planKey": plan, "input": "x"}]});
        let ask = with_body(check.bare("/api/plans/check"), "application/json", body.to_string());
        suite.ask(check, key, &ask, &[plan]).await.essence(&[plan])
    };
    let (their, no, our) = (child(&theirs.plan).await, child("no.such").await, child(&ours.plan).await);
    suite.expect(their == no, || format!("a child of their plan\n  {their}\n  {no}"));
    suite.expect(our.contains("\"valid\":true"), || format!("a child of our plan: {our}"));
}

/// The proof of our delegation ends none of theirs.
async fn callbacks(suite: &Suite) {
    let row = row(suite, "POST", "/api/internal/brain/callback/{id}");
    let (ours, theirs) = (&suite.ours, &suite.theirs);
    for (about, task, workflow, status) in [
        ("their task, our delegation", &theirs.delegated, &ours.workflow_id, 404),
        ("their task, their delegation, our secret", &theirs.delegated, &theirs.workflow_id, 401),
        ("our task, their delegation", &ours.delegated, &theirs.workflow_id, 404),
    ] {
        let body: Value = json!({"workflowId": workflow, "success": true});
        let path = format!("/api/internal/brain/callback/{task}");
        let ask = with_body(Ask { headers: Vec::new(), ..row.bare(&path) }, "application/json", body.to_string());
        let answer = suite.ask(row, None, &ask.header("x-callback-secret", &ours.secret), &[task, workflow]).await;
        suite.expect(answer.status == status, || format!("{about}: {} {}", answer.status, answer.text()));
    }
}
