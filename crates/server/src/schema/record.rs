//! Records and outgoing messages.

use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::words::{OutboxChannelSchema, OutboxStatusSchema};
/// A record.
#[derive(ToSchema)]
#[schema(as = Record, rename_all = "camelCase")]
pub struct RecordSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Unique in its kind.
    pub key: String,
    /// What it holds.
    pub props: Map<String, Value>,
    /// Grows by one with each change, from 1.
    pub version: i64,
    /// When it was created.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it last changed.
    #[schema(format = "date-time")]
    pub updated_at: String,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    pub unreadable: Option<String>,
}

/// A page of records.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RecordPage {
    /// The records.
    pub items: Vec<RecordSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A kind of which there are records.
#[derive(ToSchema)]
#[schema(as = RecordKind)]
pub struct RecordKindSchema {
    /// The kind.
    pub kind: String,
    /// How many there are.
    pub count: i64,
}

/// The kinds.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RecordKindPage {
    /// The kinds.
    pub items: Vec<RecordKindSchema>,
    /// Always null: the list is whole.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A message that left the house, or waits to.
#[derive(ToSchema)]
#[schema(as = OutboxMessage, rename_all = "camelCase")]
pub struct OutboxSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// How it leaves.
    pub channel: OutboxChannelSchema,
    /// An address, a URL, or a workflow's name.
    pub target: String,
    /// The idempotency key that every try carries.
    pub key: String,
    /// The message.
    #[schema(required)]
    pub body: Option<Value>,
    /// The task that made it.
    #[schema(format = "uuid", required)]
    pub task_id: Option<String>,
    /// How far it is.
    pub status: OutboxStatusSchema,
    /// The trace of the task that made it.
    pub trace_id: Option<String>,
    /// Tries so far.
    pub attempts: u32,
    /// What went wrong last.
    #[schema(required)]
    pub error: Option<String>,
    /// When it was written.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When the receiver took it.
    #[schema(format = "date-time", required)]
    pub sent_at: Option<String>,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    pub unreadable: Option<String>,
}

/// A page of messages.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct OutboxPage {
    /// The messages.
    pub items: Vec<OutboxSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
