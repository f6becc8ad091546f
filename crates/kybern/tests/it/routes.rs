//! Every route, by every kind of caller, with everything that can be wrong, on SQLite and on PostgreSQL.
//!
//! The suite walks the OpenAPI document that the server itself serves. [`rows`] declares what each operation asks of
//! its caller, what stands in its path and what it reads; an operation without a row fails, and so does a row without
//! an operation. Everything else is generated: from the document the wrong inputs, from [`callers`] who asks.
//!
//! Whatever is asked, [`suite::Suite::ask`] holds each answer against the same rules: documented, in the envelope,
//! never a fault of the server, and nothing of another tenant in it.

mod answer;
mod bodies;
mod callers;
mod crossing;
mod document;
mod foreign;
mod ids;
mod proofs;
mod queries;
mod rows;
mod suite;
mod things;
mod work;

use serde_json::{Value, json};

use crate::server::receiver::Receiver;
use crate::server::{KEY, Site};
use suite::Suite;

/// The largest body in this suite, so that one over the limit is small.
const MAX_BODY: usize = 64 * 1024;
/// The largest mail.
const MAX_MAIL: usize = 96 * 1024;

#[tokio::test]
async fn every_route_holds_on_sqlite() {
    let receiver = receiver();
    let server = prepared(Site::sqlite(), &receiver);
    every_route_holds(server.1.url(), &receiver).await;
}

#[tokio::test]
async fn every_route_holds_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    let receiver = receiver();
    let server = prepared(site, &receiver);
    every_route_holds(server.1.url(), &receiver).await;
}

/// Takes everything, and is a provider of language models.
pub(crate) fn receiver() -> Receiver {
    Receiver::answering(|seen, _| {
        let answer = match seen.path.as_str() {
            "/v1/chat/completions" => json!({
                "id": "reply-1", "object": "chat.completion", "created": 1, "model": "chat",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
            }),
            "/v1/embeddings" => json!({
                "object": "list", "model": "embed",
                "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}],
                "usage": {"prompt_tokens": 3, "total_tokens": 3},
            }),
            "/v1/models" => json!({
                "object": "list",
                "data": [{"id": "chat", "object": "model", "created": 1, "owned_by": "receiver"}],
            }),
            _ => Value::Null,
        };
        Some((200, answer))
    })
}

fn prepared(site: Site, receiver: &Receiver) -> (Site, crate::server::Server) {
    let site = site
        // The suite sends wrong keys by the thousand.
        .with("KYBERN_SERVER__WRONG_KEYS_PER_MINUTE", "0")
        .with("KYBERN_SERVER__MAX_BODY_BYTES", &MAX_BODY.to_string())
        .with("KYBERN_SERVER__MAX_MAIL_BYTES", &MAX_MAIL.to_string())
        .with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()))
        .with("KYBERN_WORKFLOWS__QUOTE__URL", &receiver.url("/quote"))
        .with("KYBERN_PROVIDERS__FAKE__KIND", "custom")
        .with("KYBERN_PROVIDERS__FAKE__BASE_URL", &receiver.url("/v1"));
    let server = site.start();
    (site, server)
}

/// All of it. What answers wrongly is collected and told at the end.
async fn every_route_holds(url: &str, receiver: &Receiver) {
    let suite = Suite::start(url, KEY, receiver).await;
    suite.every_operation_has_a_row();
    proofs::without_a_proof_nothing_is_answered(&suite).await;
    callers::each_caller_may_what_its_rights_say(&suite).await;
    crossing::only_a_platform_admin_crosses(&suite).await;
    ids::what_is_not_ours_is_not_there(&suite).await;
    foreign::references_to_others_lead_nowhere(&suite).await;
    queries::bad_queries_are_refused_with_the_parameter(&suite).await;
    bodies::bad_bodies_are_refused_with_the_place(&suite).await;
    work::each_route_does_its_work(&suite).await;
    suite.nothing_of_theirs_has_changed().await;
    suite.finish();
}
