//! Conversations: chats, their messages, and what readers of a turn are told.
//!
//! Each message of a user is a task whose plan is one agent step; its answer is the message that the end of the task
//! writes. Messages stand in the order of their ids, which are made when the turn is submitted: those of the user and of
//! the answer together, so that whoever writes while an answer is on its way comes after it.

mod event;
mod links;
mod noun;

pub use event::{
    EventId, TurnAddress, TurnEvent, call_status, done_of, events_of, in_log, invocation_of, start, start_in_log,
};
pub use links::{LinkFilter, links_in, without_links};
pub use noun::{Attached, Chat, MAX_CONTENT, MAX_TITLE, MAX_WAITING, Message, NewTurn, Speaker, TURN_STEP, TurnRef};
