//! What the server does at its edges: how it starts and stops, what it sends, what it is sent, who sees what.

mod alone;
mod backup;
mod callers;
mod chasing;
mod delivery;
mod egress;
mod events;
mod long;
mod machine;
mod mail;
mod nouns;
mod process;
mod purge;
mod rows;
mod starting;
mod tampering;
mod verbs;

use serde_json::{Value, json};

use crate::server::Client;
use crate::server::client::{Ask, text};

/// Stores a plan with these steps.
async fn plan(client: &Client, key: &str, steps: Value) {
    client.post("/api/plans", &json!({"key": key, "intentKey": key, "steps": steps})).await;
}

/// Submits a task that walks a plan, and gives its id.
async fn submit(client: &Client, key: &str) -> String {
    let task = client.ok(&Ask::json("/api/tasks", &json!({"input": "go", "planKey": key}))).await;
    text(&task["id"])
}
