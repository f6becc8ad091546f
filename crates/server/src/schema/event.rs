//! The log of a task.

use kybern_core::event::EventType;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::words::LogStatusSchema;
/// One entry of a task's log.
#[derive(ToSchema)]
#[schema(as = LogEntry, rename_all = "camelCase")]
pub struct LogEntrySchema {
    /// Its place; grows.
    pub seq: i64,
    /// When.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// What happened.
    pub event_type: EventType,
    /// The step.
    #[schema(required)]
    pub step_id: Option<String>,
    /// The tool.
    #[schema(required)]
    pub tool_key: Option<String>,
    /// The step's or the task's status.
    #[schema(required)]
    pub status: Option<LogStatusSchema>,
    /// What happened, in a few words; may be empty.
    pub summary: String,
    /// What went wrong.
    #[schema(required)]
    pub error: Option<String>,
    /// The names of the step's data.
    pub data_keys: Vec<String>,
    /// What else is known: counts, keys, durations, who answered, the title of a question.
    pub metadata: Map<String, Value>,
}

/// An event of a stream of server-sent events.
#[derive(ToSchema)]
#[schema(as = StreamEvent)]
pub struct StreamEventSchema {
    /// Its place, by which a reader goes on behind it; not there in OpenAI's streams, nor where the stream itself
    /// fails.
    #[schema(nullable = false)]
    pub id: Option<String>,
    /// Its type; not there in OpenAI's streams.
    #[schema(nullable = false)]
    pub event: Option<String>,
    /// What it says, as JSON; `[DONE]` at the end of OpenAI's streams.
    pub data: String,
}

page! {
    /// A page of a task's log.
    pub LogPage of LogEntrySchema: "The entries."
}
