//! The executor: walks a plan under a lease; every step is committed before anything outside can depend on it.
//!
//! `walk` is pure: it is told what happened (journal rows) and says what can happen next. Everything else in here
//! carries that out: `run` drives one task, `step` executes one step, `phases` finds out what is wanted, `signals`
//! takes in what others left. A resume is the same walk over the stored rows.

pub mod active;
mod answers;
mod arguments;
mod asking;
mod calls;
mod confirm;
mod drive;
mod earlier;
mod ending;
mod held;
pub mod inject;
pub(crate) mod known;
mod lessons;
mod message;
mod next_move;
mod node;
mod not_made;
pub(crate) mod patience;
mod perform;
pub(crate) mod phase_answers;
mod phase_documents;
mod phase_open;
mod phase_scans;
mod phase_walk;
mod phases;
mod rest;
pub(crate) mod rewalk;
pub(crate) mod run;
mod settle;
mod signals;
mod snapshot;
mod step;
mod step_kinds;
mod taint;
mod take_over;
mod talk;
pub(crate) mod tenant_names;
mod tool_step;
mod turn;
mod turn_reply;
mod turn_rounds;
pub mod view;
pub mod walk;
mod walk_apply;
mod walk_open;
mod walk_retry;
mod walk_state;
#[cfg(test)]
mod walk_tests;
pub mod walk_view;
mod wanted;
mod weight;
mod writes;

pub use arguments::hash_args;
pub(crate) use drive::Stop;
pub(crate) use message::message_of;
pub use node::{Node, NodeState, Phase};
pub(crate) use phase_documents::{EXTRACTIONS, decided};
pub(crate) use phases::{classify_input, doubtful_sender};
pub(crate) use walk_retry::Standing;
