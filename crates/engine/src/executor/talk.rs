//! The conversation in which a task answers, and what its models are told beside what is said.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::chat::TurnRef;
use tokio::sync::OnceCell;

use crate::agent::{Gathered, InChat};
use crate::events::Live;

/// What a task says, and where.
#[derive(Default)]
pub(super) struct Talk {
    /// The turn of a conversation that the task is.
    pub(super) turn: Option<TurnRef>,
    /// Where the pieces of its replies go.
    live: Option<Arc<Live>>,
    /// Behind which row the last question was asked whose reply is not there.
    pub(super) asked_behind: Option<i64>,
    /// What was gathered for each turn, by its agent's node.
    gathered: Mutex<HashMap<usize, Arc<OnceCell<Gathered>>>>,
}

impl Talk {
    /// The talk of a task that is that turn, and whose pieces go there.
    pub(super) fn new(turn: Option<TurnRef>, live: Option<Arc<Live>>) -> Self {
        Self { turn, live, ..Self::default() }
    }

    /// Where what is gathered for a turn is kept.
    pub(super) fn gathered(&self, agent: usize) -> Arc<OnceCell<Gathered>> {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gathered.entry(agent).or_default())
    }

    /// Where pieces of a reply go, when somebody reads along.
    pub(super) fn live_for_reading(&self) -> Option<Arc<Live>> {
        self.live.as_ref().filter(|live| Arc::strong_count(live) > 1).map(Arc::clone)
    }

    /// What was written of a reply that is not there yet.
    pub(super) fn half_written(&self) -> Option<String> {
        let written = self.live.as_ref()?.written();
        (self.asked_behind == Some(written.behind) && !written.pieces.is_empty()).then(|| written.pieces.concat())
    }

    /// The conversation in which its turn stands.
    pub(super) fn in_chat(&self) -> Option<InChat> {
        self.turn.map(|turn| InChat { chat: turn.chat_id, before: turn.message_id })
    }
}
