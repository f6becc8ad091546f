//! The conversation in which a task answers, and what its models are told beside what is said.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::agent::GatheredContext;
use crate::events::LiveReply;

/// What a task says, and where.
#[derive(Default)]
pub(super) struct TaskTalk {
    /// Where the pieces of its replies go.
    live: Option<Arc<LiveReply>>,
    /// What was gathered for each turn, by its agent's node.
    gathered: Mutex<HashMap<usize, Arc<OnceCell<GatheredContext>>>>,
}

impl TaskTalk {
    /// The talk of a task whose pieces go there.
    pub(super) fn new(live: Option<Arc<LiveReply>>) -> Self {
        Self { live, ..Self::default() }
    }

    /// Where what is gathered for a turn is kept.
    pub(super) fn gathered(&self, agent: usize) -> Arc<OnceCell<GatheredContext>> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gathered.entry(agent).or_default())
    }

    /// Where pieces of a reply go, when somebody reads along.
    pub(super) fn live_for_reading(&self) -> Option<Arc<LiveReply>> {
        self.live.as_ref().filter(|live| Arc::strong_count(live) > 1).map(Arc::clone)
    }

    /// What was written of a reply that is not there yet, to the question that was asked behind that row.
    pub(super) fn half_written(&self, asked_behind: Option<i64>) -> Option<String> {
        let written = self.live.as_ref()?.written();
        (asked_behind == Some(written.behind) && !written.pieces.is_empty()).then(|| written.pieces.concat())
    }
}
