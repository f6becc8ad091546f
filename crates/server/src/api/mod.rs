//! The routes, one file a noun. A handler reads its input, calls one method of the engine, and shows what came back.

mod agent_body;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod budgets;
pub(crate) mod chats;
pub(crate) mod dossiers;
pub(crate) mod inbound;
pub(crate) mod keys;
pub(crate) mod knowledge;
pub(crate) mod lessons;
pub(crate) mod memories;
pub(crate) mod messages;
pub(crate) mod models;
pub(crate) mod outbox;
pub(crate) mod own_tools;
pub(crate) mod permissions;
pub(crate) mod plans;
pub(crate) mod preferences;
pub(crate) mod prompts;
pub(crate) mod records;
pub(crate) mod retention;
pub(crate) mod secrets;
pub(crate) mod task_files;
pub(crate) mod task_internal;
pub(crate) mod task_request;
pub(crate) mod task_steer;
pub(crate) mod tasks;
pub(crate) mod tenants;
pub(crate) mod tools;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod webhooks;

use serde::Serialize;
use serde_json::Value;

use crate::error::{ApiResult, Problem};

/// A value as JSON.
fn shown(value: &impl Serialize) -> ApiResult<Value> {
    serde_json::to_value(value).map_err(|error| Problem::internal(format!("an answer cannot be written: {error}")))
}
