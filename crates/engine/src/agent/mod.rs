//! Agents at work: what their models are asked, what they are given to call, and what becomes of what they ask for.
//!
//! A turn is walked like any plan ([`crate::executor`]): each question is a step whose outcome is the reply, each call
//! a step of its own below it. Here is what a question needs from outside and what a reply means.

mod ask;
mod calls;
mod choice;
mod functions;
mod gather;
mod meta;
mod transcript;

pub(crate) use ask::{Came, Question, ask};
pub(crate) use calls::interpret;
pub(crate) use choice::{bundled, route_name, tools_of};
pub(crate) use gather::{Gathered, InChat, Person, Subject};
pub(crate) use transcript::{Round, transcript};

/// The tool with which a model suggests to remember something: the only way, and nothing is remembered by it.
pub(crate) const SUGGEST_MEMORY: &str = "suggest_memory";
/// The most memories that a turn suggests.
pub(crate) const MAX_SUGGESTIONS: usize = 5;
/// The most characters of one.
pub(crate) const MAX_SUGGESTION: usize = 200;
