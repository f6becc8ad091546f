//! Memories.

use kybern_core::context::Similarity;
use kybern_core::memory::Memory;
use serde::Serialize;
use utoipa::ToSchema;

/// A memory.
#[derive(Serialize, ToSchema)]
#[schema(as = Memory)]
pub struct MemoryAnswer {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// How near it is to what is looked for, from 0 to 1,000; only in a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Similarity>,
}

impl From<Memory> for MemoryAnswer {
    fn from(memory: Memory) -> Self {
        Self { memory, similarity: None }
    }
}

/// All memories of a subject.
#[derive(ToSchema)]
pub struct MemoryExport {
    /// The memories, the oldest first.
    pub items: Vec<MemoryAnswer>,
}

page! {
    /// A page of memories.
    pub MemoryPage of MemoryAnswer: "The memories."
}
