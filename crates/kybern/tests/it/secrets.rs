//! Secrets of a tenant over real HTTP: what goes out, what comes back, and that a value is nowhere else.

mod beneath;
mod command;

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::receiver::Receiver;
use crate::server::{Client, Server, Site};

/// A value with everything in it that is written differently in JSON and in URLs.
pub(super) const VALUE: &str = "ex\"am/ple+value\\0123456789";

/// Repeats what it is sent in its answer, refuses `/refuse`, and leads `/away` elsewhere.
fn echo() -> Receiver {
    Receiver::answering(|seen, _| {
        let status = if seen.path == "/refuse" { 422 } else { 200 };
        let sent = seen.header("authorization").to_owned();
        let encoded = sent.replace('"', "%22").replace('/', "%2F").replace('+', "%2B").replace('\\', "%5C");
        Some((status, json!({"sent": sent, "nested": [{seen.header("x-token"): true}], "url": encoded})))
    })
}

/// A running server that may reach the receiver, with one secret for it.
pub(super) async fn prepared(site: Site, receiver: &Receiver) -> (Site, Server) {
    let site = site.with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()));
    let server = site.start();
    set(&server.client(), "crm_token", VALUE, &receiver.url("")).await;
    (site, server)
}

pub(super) async fn set(client: &Client, name: &str, value: &str, host: &str) -> Value {
    client.post("/api/secrets", &json!({"name": name, "value": value, "hosts": [host]})).await
}

/// Calls `core.http_request`.
pub(super) async fn request(client: &Client, input: Value) -> Value {
    client.post("/api/tools/core.http_request/invoke", &json!({"input": input})).await
}

/// Everything that the server tells of the tenant's tasks and acts.
pub(super) async fn told(client: &Client) -> String {
    let mut all = String::new();
    for list in ["/api/tasks", "/api/secrets", "/api/audit", "/api/outbox"] {
        for item in client.list(list).await {
            all += &item.to_string();
            if list == "/api/tasks" {
                let id = text(&item["id"]);
                all += &client.get(&format!("/api/tasks/{id}")).await.to_string();
                all += &client.get(&format!("/api/tasks/{id}/log?limit=200")).await.to_string();
            }
        }
    }
    all
}

/// Whether a text holds the value in some spelling.
pub(super) fn holds(text: &str) -> bool {
    let json = Value::from(VALUE).to_string();
    let twice = Value::from(json.trim_matches('"')).to_string();
    [VALUE, json.trim_matches('"'), twice.trim_matches('"'), "ple+value", "ple%2Bvalue"]
        .iter()
        .any(|spelling| text.contains(spelling))
}

async fn a_value_goes_to_its_host_and_comes_back_as_its_name(site: Site) {
    let receiver = echo();
    let (_site, server) = prepared(site, &receiver).await;
    let client = server.client();
    let auth = json!({"secret": "crm_token"});
    let input = json!({"method": "POST", "url": receiver.url("/leads"), "json": {"lead": 7}, "auth": auth,
        "headers": {"X-Token": {"secret": "crm_token"}, "X-Plain": "plain"}});
    let called = request(&client, input).await;
    assert_eq!(called["status"], "success", "{called}");
    let seen = receiver.seen().pop().unwrap();
    assert_eq!(seen.header("authorization"), format!("Bearer {VALUE}"));
    assert_eq!((seen.header("x-token"), seen.header("x-plain")), (VALUE, "plain"));
    let back = &called["output"]["json"];
    assert_eq!(back["sent"], "Bearer [secret:crm_token]");
    assert_eq!(back["nested"], json!([{"[secret:crm_token]": true}]));
    assert!(!holds(&called.to_string()), "{called}");
    // A refusal repeats it too.
    let refused = request(&client, json!({"method": "GET", "url": receiver.url("/refuse"), "auth": auth})).await;
    assert_eq!(refused["status"], "failure", "{refused}");
    let message = text(&refused["error"]["message"]);
    // What is said of an error is redacted as well, and takes the name for a value.
    assert!(message.contains("Bearer [secret:") && !holds(&message), "{message}");
    // The next version is used from the next call on.
    assert_eq!(set(&client, "crm_token", "example-value-2", &receiver.url("")).await["version"], 2);
    request(&client, json!({"method": "GET", "url": receiver.url("/again"), "auth": auth})).await;
    assert_eq!(receiver.seen().pop().unwrap().header("authorization"), "Bearer example-value-2");
    let all = told(&client).await;
    assert!(all.contains("secret.set") && all.contains("crm_token"), "{all}");
    assert!(!holds(&all) && !all.contains("example-value-2"), "a value is told");
    assert!(!holds(&server.said()), "a value is logged");
}

#[tokio::test]
async fn a_value_goes_to_its_host_and_comes_back_as_its_name_on_sqlite() {
    a_value_goes_to_its_host_and_comes_back_as_its_name(Site::sqlite()).await;
}

#[tokio::test]
async fn a_value_goes_to_its_host_and_comes_back_as_its_name_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_value_goes_to_its_host_and_comes_back_as_its_name(site).await;
}

#[tokio::test]
async fn a_value_goes_nowhere_else() {
    let (receiver, elsewhere) = (echo(), echo());
    let site = Site::sqlite();
    let allow = format!("[\"{}\", \"{}\"]", receiver.address(), elsewhere.address());
    let server = site.with("KYBERN_EGRESS__ALLOW", &allow).start();
    let client = server.client();
    set(&client, "crm_token", VALUE, &receiver.url("")).await;
    set(&client, "tls_only", "example-value", &receiver.address()).await;
    let call = async |url: &str, args: Value| {
        let mut input = json!({"method": "GET", "url": url});
        input.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        request(&client, input).await
    };
    let auth = json!({"auth": {"secret": "crm_token"}});
    for (url, args, code, says) in [
        (elsewhere.url("/"), auth.clone(), "PERMISSION_DENIED", "crm_token may not be sent to http://127.0.0.1"),
        (receiver.url("/").replace("127.0.0.1", "localhost"), auth.clone(), "PERMISSION_DENIED", "may not be sent"),
        (receiver.url("/"), json!({"auth": {"secret": "tls_only"}}), "PERMISSION_DENIED", "http:// included"),
        (receiver.url("/"), json!({"auth": {"secret": "nowhere"}}), "NOT_FOUND", "kybern secret set nowhere"),
        (
            receiver.url("/"),
            json!({"headers": {"X-Request-Id": {"secret": "crm_token"}}}),
            "VALIDATION_ERROR",
            "redirects",
        ),
        (
            receiver.url("/"),
            json!({"auth": {"secret": "crm_token"}, "headers": {"authorization": "x"}}),
            "VALIDATION_ERROR",
            "leave one out",
        ),
    ] {
        let called = call(&url, args.clone()).await;
        assert_eq!((&called["status"], &called["error"]["code"]), (&json!("failure"), &json!(code)), "{args} {called}");
        assert!(text(&called["error"]["message"]).contains(says), "{called}");
        assert!(!holds(&called.to_string()), "{called}");
    }
    assert!(receiver.seen().is_empty() && elsewhere.seen().is_empty(), "nothing was sent at all");
    let misfit = Ask::json(
        "/api/tools/core.http_request/invoke",
        &json!({"input": {"method": "GET", "url": "http://x",
        "auth": {"secret": "CRM"}}}),
    );
    assert_eq!(client.send(&misfit).await.0.as_u16(), 400);
}

#[tokio::test]
async fn a_redirect_to_another_origin_does_not_take_it_along() {
    let elsewhere = echo();
    let location = elsewhere.url("/caught");
    let receiver = crate::server::receiver::redirecting(&location);
    let allow = format!("[\"{}\", \"{}\"]", receiver.0, elsewhere.address());
    let server = Site::sqlite().with("KYBERN_EGRESS__ALLOW", &allow).start();
    let client = server.client();
    set(&client, "crm_token", VALUE, &format!("http://{}", receiver.0)).await;
    let input = json!({"method": "GET", "url": format!("http://{}/", receiver.0), "auth": {"secret": "crm_token"},
        "headers": {"X-Token": {"secret": "crm_token"}}});
    let called = request(&client, input).await;
    assert_eq!(called["status"], "success", "{called}");
    assert!(holds(&receiver.1.lock().unwrap().join("\n")), "the first got it");
    let caught = elsewhere.seen().pop().unwrap();
    assert!(!holds(&format!("{:?}", caught.headers)), "{:?}", caught.headers);
    assert_eq!((caught.header("authorization"), caught.header("x-token")), ("", ""));
}

#[tokio::test]
async fn another_tenant_has_no_such_secret_and_a_removed_one_is_gone() {
    let receiver = echo();
    let (_site, server) = prepared(Site::sqlite(), &receiver).await;
    let client = server.client();
    let neighbour = client.post("/api/admin/tenants", &json!({"name": "Neighbour"})).await;
    let other = client.with_key(&text(&neighbour["adminKey"]));
    let input = json!({"method": "GET", "url": receiver.url("/"), "auth": {"secret": "crm_token"}});
    let called = request(&other, input.clone()).await;
    assert_eq!(called["error"]["code"], "NOT_FOUND", "{called}");
    assert_eq!(other.send(&Ask::get("/api/secrets/crm_token")).await.0.as_u16(), 404);
    assert!(other.list("/api/secrets").await.is_empty());
    assert_eq!(request(&client, input.clone()).await["status"], "success");
    let remove = Ask { method: reqwest::Method::DELETE, ..Ask::get("/api/secrets/crm_token") };
    assert_eq!(client.send(&remove).await.0.as_u16(), 204);
    let called = request(&client, input).await;
    assert_eq!(called["error"]["code"], "NOT_FOUND", "{called}");
    assert_eq!(receiver.seen().len(), 1);
}

#[tokio::test]
async fn who_may_call_tools_may_use_a_secret_and_only_an_admin_may_touch_it() {
    let receiver = echo();
    let (_site, server) = prepared(Site::sqlite(), &receiver).await;
    let admin = server.client();
    let key = admin.post("/api/keys", &json!({"name": "operator", "roles": ["operator"]})).await;
    let operator = admin.with_key(&text(&key["key"]));
    let new = json!({"name": "theirs", "value": "example-value", "hosts": ["a.example.com"]});
    let remove = Ask { method: reqwest::Method::DELETE, ..Ask::get("/api/secrets/crm_token") };
    for ask in [Ask::json("/api/secrets", &new), Ask::get("/api/secrets"), Ask::get("/api/secrets/crm_token"), remove] {
        assert_eq!(operator.send(&ask).await.0.as_u16(), 403, "{} {}", ask.method, ask.path);
    }
    let called =
        request(&operator, json!({"method": "GET", "url": receiver.url("/"), "auth": {"secret": "crm_token"}}));
    assert_eq!(called.await["status"], "success");
}

#[tokio::test]
async fn a_stranger_does_not_choose_which_secret_goes_out() {
    let receiver = Receiver::answering(|_, _| Some((200, json!({"which": "crm_token"}))));
    let (_site, server) = prepared(Site::sqlite(), &receiver).await;
    let client = server.client();
    let step = |id: &str, args: Value| json!({"id": id, "tool": "core.http_request", "args": args});
    let plan = json!({"key": "leads.push", "steps": [
        step("look", json!({"method": "GET", "url": receiver.url("/")})),
        step("push", json!({"method": "GET", "url": receiver.url("/"), "auth": {"secret": "{{ state.json.which }}"}})),
    ]});
    client.post("/api/plans", &plan).await;
    let id = text(&client.post("/api/tasks", &json!({"input": "x", "planKey": "leads.push"})).await["id"]);
    let task = client.rest(&id).await;
    assert_eq!(task["status"], "needs_review", "{task}");
    assert_eq!(receiver.seen().len(), 1, "only the first step has asked");
}
