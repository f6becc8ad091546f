//! Prompts on their way into and out of the store.

use super::{Prompt, PromptStatus};
use crate::id::{PromptId, UserId};
use crate::time::Timestamp;

/// A prompt that is begun. Its version is the store's to give.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPrompt {
    pub id: PromptId,
    /// The key of the agent that it is for; `None` for all agents of the tenant that have none of their own.
    pub agent: Option<String>,
    /// What it says, [checked](super::checked).
    pub text: String,
    /// Who begins it.
    pub by: UserId,
    pub at: Timestamp,
}

impl NewPrompt {
    /// The [hash](Prompt::text_hash) of what it says.
    #[must_use]
    pub fn text_hash(&self) -> String {
        super::hash_of(&self.text)
    }

    /// The prompt as a draft of that version.
    #[must_use]
    pub fn begun(&self, version: u32) -> Prompt {
        Prompt {
            id: self.id,
            agent: self.agent.clone(),
            version,
            text: self.text.clone(),
            status: PromptStatus::Draft,
            authors: vec![self.by],
            approved_by: None,
            note: None,
            created_at: self.at,
            updated_at: self.at,
        }
    }
}

/// An act on a prompt, as the store carries it out: only while everything is still as `before` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptChange {
    /// The prompt as it was read.
    pub before: Prompt,
    /// The prompt as it shall be.
    pub after: Prompt,
    /// The active prompt of the same agent that makes room, when this one becomes active.
    pub retires: Option<Prompt>,
}

/// Whose prompts are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum OfAgent {
    /// Everybody's.
    #[default]
    Any,
    /// Those that are for all agents.
    All,
    /// Those of the agent with that key.
    One(String),
}

/// Which prompts are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PromptFilter {
    pub agent: OfAgent,
    /// How they stand.
    pub status: Option<PromptStatus>,
}
