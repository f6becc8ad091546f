//! Memories.

use utoipa::ToSchema;

use super::words::{MemoryCategorySchema, MemoryStatusSchema, SubjectKindSchema, TrustSchema};
/// Of what something is remembered.
#[derive(ToSchema)]
#[schema(as = Subject)]
pub struct SubjectSchema {
    /// Whether of a user or of a record.
    pub r#type: SubjectKindSchema,
    /// The user, or the record.
    #[schema(format = "uuid")]
    pub id: String,
}

/// Where a memory comes from.
#[derive(ToSchema)]
#[schema(as = Provenance)]
pub struct ProvenanceSchema {
    /// The task in which it was said.
    #[schema(required, format = "uuid")]
    pub task: Option<String>,
    /// The conversation.
    #[schema(required, format = "uuid")]
    pub chat: Option<String>,
    /// The message.
    #[schema(required, format = "uuid")]
    pub message: Option<String>,
    /// The tool that said it.
    #[schema(required)]
    pub tool: Option<String>,
}

/// A memory.
#[derive(ToSchema)]
#[schema(as = Memory, rename_all = "camelCase")]
pub struct MemorySchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// Of what.
    pub subject: SubjectSchema,
    /// What.
    pub content: String,
    /// What kind of knowledge it is.
    pub category: MemoryCategorySchema,
    /// How much it matters, from 1 to 10.
    pub importance: u8,
    /// Whose word it is.
    pub trust: TrustSchema,
    /// How it stands.
    pub status: MemoryStatusSchema,
    /// Where it comes from.
    pub provenance: ProvenanceSchema,
    /// When it holds no more; null for never.
    #[schema(required, format = "date-time")]
    pub expires_at: Option<String>,
    /// When it was first said.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it was changed last.
    #[schema(format = "date-time")]
    pub updated_at: String,
    /// How near it is to what is looked for, from 0 to 1,000; only in a search.
    pub similarity: Option<u16>,
}

/// A page of memories.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct MemoryPage {
    /// The memories.
    pub items: Vec<MemorySchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// All memories of a subject.
#[derive(ToSchema)]
pub struct MemoryExport {
    /// The memories, the oldest first.
    pub items: Vec<MemorySchema>,
}
