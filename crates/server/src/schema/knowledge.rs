//! Knowledge.

use utoipa::ToSchema;

use super::words::KnowledgeStatusSchema;
/// A document.
#[derive(ToSchema)]
#[schema(as = Knowledge, rename_all = "camelCase")]
pub struct KnowledgeSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// What people call it.
    pub title: String,
    /// The name of the file.
    pub filename: String,
    /// Its declared type.
    pub content_type: String,
    /// How many bytes it has.
    pub size: u64,
    /// How far it is.
    pub status: KnowledgeStatusSchema,
    /// Whether it may be found.
    pub published: bool,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<String>,
    /// In how many pieces it is.
    pub pieces: u32,
    /// The model that made the vectors of its pieces; null when there was none.
    #[schema(required)]
    pub model: Option<String>,
    /// Grows with each indexing.
    pub version: u32,
    /// Who uploaded it.
    #[schema(required, format = "uuid")]
    pub created_by: Option<String>,
    /// When it was uploaded.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it was changed last.
    #[schema(format = "date-time")]
    pub updated_at: String,
}

/// A page of documents.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct KnowledgePage {
    /// The documents.
    pub items: Vec<KnowledgeSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A piece that was found.
#[derive(ToSchema)]
pub struct KnowledgeFound {
    /// The document and the place of the piece in it.
    pub id: String,
    /// What people call the document.
    pub title: String,
    /// What stands there.
    pub text: String,
    /// How near it is to the question, from 0 to 1,000.
    pub similarity: u16,
}

/// What was found.
#[derive(ToSchema)]
pub struct KnowledgeSearch {
    /// The pieces, the nearest first.
    pub items: Vec<KnowledgeFound>,
}
