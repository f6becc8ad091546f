//! Conversations: what a person or a program says to an agent, and what is answered.
//!
//! Each message is a task whose plan is one agent step, so a turn has what every task has: it is journaled, budgeted,
//! resumed, can wait for a person, and can be explained afterwards. Here is what makes a conversation of those tasks.

mod answer;
mod follow;
mod manage;
mod say;

use crate::agent::Agents;
use crate::retention::Removal;
use crate::task::Tasks;

pub use follow::TurnReader;
pub use manage::{ChatExport, ImportedMessage, check_content};
pub use say::{SayRequest, TurnView};

pub(crate) use answer::{answer, no_answer};

/// Conversations: begun, gone on with, read along, and looked after.
#[derive(Clone)]
pub struct Chats {
    pub(crate) tasks: Tasks,
    pub(crate) agents: Agents,
    pub(crate) removal: Removal,
}
