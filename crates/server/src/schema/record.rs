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

page! {
    /// The records that may be meant.
    pub EntityPage of Record: "The records.", "Always null: the list is whole."
}

page! {
    /// The kinds.
    pub RecordKindPage of RecordKindSchema: "The kinds.", "Always null: the list is whole."
}

page! {
    /// A page of messages.
    pub OutboxPage of OutboxMessage: "The messages."
}
