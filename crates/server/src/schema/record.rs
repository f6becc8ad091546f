//! Records and outgoing messages.

use kybern_core::outbox::OutboxMessage;
use kybern_core::record::Record;
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
