//! Every route does its work for the weakest caller who may ask it, and answers as the document says; the same request
//! under the same idempotency key is one effect.

use serde_json::{Value, json};

use crate::server::client::until;

use super::ids::fill;
use super::rows::{Input, Row, Who};
use super::suite::Suite;

/// Routes whose key means something else: the id of a delivery, which is answered as a duplicate whatever its body, and
/// the key of an agent's turn, of which a model's own answer knows nothing. Each has tests of its own.
const KEYED_IN_THEIR_OWN_WAY: [&str; 2] = ["/api/inbound/webhook/{source}", "/v1/chat/completions"];

/// In the order of the rows.
pub(crate) async fn each_route_does_its_work(suite: &Suite) {
    for row in &suite.rows {
        let key = suite.able(row).map(|caller| caller.key.as_str());
        let mut ask = row.good(&fill(row, &suite.ours), &suite.ours, 4);
        if row.who == Who::Secret {
            ask.headers.retain(|(name, _)| *name != "x-callback-secret");
            ask = ask.header("x-callback-secret", &suite.ours.secret);
        }
        let answer = suite.ask(row, key, &ask, &[]).await;
        suite.expect(answer.status == row.success, || format!("{}: {} {}", row.name(), answer.status, answer.text()));
        let misfits = suite.document.misfits(row, answer.status, &answer.body);
        suite.expect(misfits.is_empty(), || format!("{}: {misfits:?}: {}", row.name(), answer.text()));
        let creates = suite.document.parameters(row, "header").iter().any(|(name, _)| name == "Idempotency-Key");
        if creates && !KEYED_IN_THEIR_OWN_WAY.contains(&row.path) {
            once(suite, row, key).await;
        }
    }
    came_to_its_end(suite).await;
}

/// Twice under one key is one effect; under one key with another body is a conflict.
async fn once(suite: &Suite, row: &Row, key: Option<&str>) {
    let ask = |n: u32| row.good(&fill(row, &suite.ours), &suite.ours, n).header("idempotency-key", "once");
    // A fork of n = 0 is the one without a body to speak of.
    let n = if matches!(row.path, "/api/tasks/{id}/fork") { 0 } else { 5 };
    let first = suite.ask(row, key, &ask(n), &[]).await;
    let again = suite.ask(row, key, &ask(n), &[]).await;
    let about = |what: &str| format!("{}: {what}: {} then {}", row.name(), first.text(), again.text());
    suite.expect(first.status == row.success && again.status == row.success, || about("not done"));
    suite.expect(first.json() == again.json(), || about("two effects"));
    suite.expect(again.header("idempotency-replayed") == "true", || about("does not say that it is a repeat"));
    let other = suite.ask(row, key, &ask(6), &[]).await;
    suite.refused(&other, 409, "CONFLICT", || format!("{}: another body under a known key", row.name()));
}

/// What the rows did has happened: each thing is in the state in which its row leaves it.
async fn came_to_its_end(suite: &Suite) {
    let admin = suite.platform.with_key(&suite.ours.admin);
    for (id, status) in [
        (&suite.ours.running, "cancelled"),
        (&suite.ours.failed, "failed"),
        (&suite.ours.waiting, "completed"),
        (&suite.ours.asked, "completed"),
        (&suite.ours.asking, "completed"),
        (&suite.ours.delegated, "completed"),
    ] {
        until(&format!("{id} is {status}"), || async {
            (admin.get(&format!("/api/tasks/{id}")).await["status"] == status).then_some(())
        })
        .await;
    }
    let user = admin.get(&format!("/api/users/{}", suite.ours.user)).await;
    suite.expect(user["roles"] == json!(["operator"]), || format!("the user's roles: {user}"));
    let gone = |list: Value, id: &str| {
        !list["items"].as_array().unwrap().iter().any(|one| one["id"] == id && one["revokedAt"].is_null())
    };
    suite.expect(gone(admin.get("/api/keys?limit=200").await, &suite.ours.key), || "the key still works".to_owned());
    let hooks = admin.get("/api/webhooks/outbound?limit=200").await;
    suite.expect(gone(hooks, &suite.ours.webhook), || "the webhook is still there".to_owned());
    let creating = suite.rows.iter().filter(|row| row.method == "POST" && matches!(row.input, Input::Json(..)));
    suite.expect(creating.count() > 8, || "the rows create hardly anything".to_owned());
}
