//! Effects on the engine's own nouns: memories, plans, and other tasks. Each carries what was believed when it was
//! decided on, and is refused with [`CommitRefused::Changed`](super::CommitRefused::Changed) when that does not hold any
//! more.

use crate::audit::AuditEvent;
use crate::id::{PlanId, TaskId};
use crate::memory::Memory;
use crate::plan::parse::PlanDraft;

/// What becomes of a memory. It gets its vector from the first search that reads it.
#[derive(Clone, PartialEq, Debug)]
pub enum MemoryEffect {
    /// It is written. Refused when its subject is not known any more, or has as many as it may.
    Add(Memory),
    /// It is written in place of the one that was read.
    Change {
        /// As it was read.
        before: Memory,
        after: Box<Memory>,
    },
    /// It is removed, when it is stored as it was read.
    Remove(Memory),
}

impl MemoryEffect {
    /// The memory that it is about, as it was, or as it is to be at first.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        match self {
            Self::Add(memory) | Self::Remove(memory) => memory,
            Self::Change { before, .. } => before,
        }
    }
}

/// What becomes of a plan of the tenant's own.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanEffect {
    /// It is stored and in use from then on. Refused when its version is not the next one of its key, and when the
    /// tenant has no room for it.
    Put {
        id: PlanId,
        /// The plan, with the version that it is to be.
        draft: PlanDraft,
    },
    /// Every version is taken out of use. Refused when the one in use is another.
    Retire {
        key: String,
        /// The version in use.
        version: u32,
    },
}

impl PlanEffect {
    /// The plan's key.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Put { draft, .. } => &draft.key,
            Self::Retire { key, .. } => key,
        }
    }
}

crate::named! {
    /// What is wanted of a task. Its names stand in the audit.
    pub enum SteerAction {
        /// It is to be cancelled.
        Cancel = "task.cancel",
        /// It is not to be worked on for a while.
        Pause = "task.pause",
        /// It is to go on.
        Resume = "task.resume",
    }
}

impl SteerAction {
    /// Whether a task that has not ended can be steered so, by whether it is paused.
    #[must_use]
    pub const fn fits(self, is_paused: bool) -> bool {
        match self {
            Self::Cancel => true,
            Self::Pause => !is_paused,
            Self::Resume => is_paused,
        }
    }
}

/// An effect on one of the engine's own nouns, with its audit.
#[derive(Clone, PartialEq, Debug)]
pub struct NounEffect {
    /// What is written.
    pub what: Noun,
    /// The act.
    pub audit: AuditEvent,
}

/// Which noun, and what becomes of it.
#[derive(Clone, PartialEq, Debug)]
pub enum Noun {
    Memory(MemoryEffect),
    Plan(PlanEffect),
    /// Another task is steered. Refused when it has ended, or is paused (not paused) already.
    Task(TaskId, SteerAction),
}
