//! The engine's own nouns, as a tool may read them: what its spec asks for, and whoever it works for may see.

use std::sync::Arc;

use super::{KnowledgeReader, MemoryReader, PlanReader, TaskReader};
use crate::tool::ToolFailure;

/// The readers that a tool is given.
#[derive(Clone, Default)]
pub struct Nouns {
    /// What is remembered.
    pub memories: Option<Arc<dyn MemoryReader>>,
    /// The published documents.
    pub knowledge: Option<Arc<dyn KnowledgeReader>>,
    pub tasks: Option<Arc<dyn TaskReader>>,
    pub plans: Option<Arc<dyn PlanReader>>,
}

fn given<'a, T: ?Sized>(reader: Option<&'a Arc<T>>, what: &str) -> Result<&'a T, ToolFailure> {
    let missing = || ToolFailure::permanent(format!("the tool's spec does not ask for {what}"));
    reader.map(AsRef::as_ref).ok_or_else(missing)
}

impl Nouns {
    /// What is remembered.
    ///
    /// # Errors
    /// When the tool's spec does not ask for it: a fault of the tool.
    pub fn memories(&self) -> Result<&dyn MemoryReader, ToolFailure> {
        given(self.memories.as_ref(), "memories")
    }

    /// The published documents.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn knowledge(&self) -> Result<&dyn KnowledgeReader, ToolFailure> {
        given(self.knowledge.as_ref(), "knowledge")
    }

    /// Tasks.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn tasks(&self) -> Result<&dyn TaskReader, ToolFailure> {
        given(self.tasks.as_ref(), "tasks")
    }

    /// Plans.
    ///
    /// # Errors
    /// When the tool's spec does not ask for them: a fault of the tool.
    pub fn plans(&self) -> Result<&dyn PlanReader, ToolFailure> {
        given(self.plans.as_ref(), "plans")
    }
}
