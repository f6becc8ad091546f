//! Knowledge.

use kybern_core::knowledge::KnowledgeDocument;
use utoipa::ToSchema;

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

page! {
    /// A page of documents.
    pub KnowledgePage of KnowledgeDocument: "The documents."
}
