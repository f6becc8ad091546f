//! What earlier holders of a task have left.

use std::sync::Arc;

use kybern_core::plan::StepId;
use kybern_core::task::{Attempt, RenderedArgs};

use super::node::Node;

/// What they left.
#[derive(Default)]
pub(crate) struct EarlierRuns {
    /// The worker from which the task was taken over, until that has been journaled.
    pub(crate) recovered_from: Option<String>,
    /// Whether the worker before died, or let its lease expire.
    pub(crate) after_crash: bool,
    /// Attempts that began in an earlier life of the task, or in this one before a record had changed under the call.
    pub(crate) attempts: Vec<Attempt>,
}

impl EarlierRuns {
    /// The attempts of a step's generation behind the last one that has ended.
    pub(crate) fn open(&self, step: &StepId, generation: u32, ended: u32) -> impl Iterator<Item = &Attempt> {
        let is_open = move |attempt: &&Attempt| attempt.generation == generation && attempt.attempt > ended;
        self.attempts.iter().filter(is_open).filter(move |attempt| attempt.step == *step)
    }

    /// What an earlier try of a step's generation was called with, as far as it was made of templates.
    pub(crate) fn rendered(&self, node: &Node) -> Option<Arc<RenderedArgs>> {
        let begun = |attempt: &&Attempt| attempt.step == node.id && attempt.generation == node.generation;
        self.attempts.iter().filter(begun).find_map(|attempt| attempt.rendered.clone())
    }
}
