//! Records and outgoing messages.

use kybern_core::outbox::OutboxMessage;
use kybern_core::record::{Record, RecordTask, RecordVersion};
use utoipa::ToSchema;

/// A kind of which there are records.
#[derive(ToSchema)]
#[schema(as = RecordKind)]
pub struct RecordKindSchema {
    /// The kind.
    pub kind: String,
    /// How many there are.
    pub count: i64,
}

page! {
    /// A page of records.
    pub RecordPage of Record: "The records."
}

page! {
    /// A page of a record's versions.
    pub RecordVersionPage of RecordVersion: "The versions, newest first."
}

page! {
    /// A page of the tasks that touched a record.
    pub RecordTaskPage of RecordTask: "The tasks' links, those of the newest task first."
}

/// The records that may be meant.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EntityList {
    /// The records.
    #[schema(max_items = 50)]
    pub items: Vec<Record>,
    /// `true`: there are more, which only a narrower name finds.
    pub more: bool,
    /// Always null: there is no next page.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

page! {
    /// The kinds.
    pub RecordKindPage of RecordKindSchema: "The kinds.", "Always null: the list is whole."
}

page! {
    /// A page of messages.
    pub OutboxPage of OutboxMessage: "The messages."
}
