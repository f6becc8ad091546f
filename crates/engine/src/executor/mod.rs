//! The executor: walks a plan under a lease; every step is committed before anything outside can depend on it.
//!
//! `walk` is pure: it is told what happened (journal rows) and says what can happen next. Everything else in here
//! carries that out: `run` drives one task, `step` begins one step, `signals` takes in what others left. A resume is the
//! same walk over the stored rows.
//!
//! What reaches outside is somebody else's: `steps` says what the kernel asks of whoever carries out a task's steps, and
//! `call` what it knows of a call.

pub mod active;
pub(crate) mod arguments;
mod asking;
pub(crate) mod call;
mod calls;
mod containers;
mod drive;
mod earlier;
mod ending;
mod held;
pub(crate) mod inject;
pub(crate) mod kernel;
pub(crate) mod lessons;
pub(crate) mod load;
mod next_move;
pub(crate) mod node;
pub(crate) mod open_effects;
pub(crate) mod patience;
mod phase_walk;
pub(crate) mod phases;
pub(crate) mod put_off;
mod rest;
pub(crate) mod rewalk;
pub(crate) mod run;
mod settle;
mod signals;
mod snapshot;
pub(crate) mod step;
pub(crate) mod step_kinds;
pub(crate) mod steps;
pub(crate) mod taint;
mod take_over;
pub(crate) mod tenant_names;
pub(crate) mod turn;
pub(crate) mod turn_rounds;
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
pub(crate) mod weight;

pub use arguments::hash_args;
pub(crate) use drive::RunStop;
pub(crate) use kernel::Kernel;
pub use node::{Node, NodeState, Phase};
pub(crate) use run::TaskRun;
pub(crate) use walk_retry::StandingWalk;
