//! What each kind of step does that reaches outside: calls of tools, turns of agents, decisions, and the phases before a
//! plan. The kernel asks for it by [`crate::executor::steps`], and knows nothing of it.
//!
//! A new kind of step begins in [`task_steps`]: its file here says how it begins, how its call is made, and what comes of it.

mod answers;
mod confirm;
mod context;
mod handler;
mod lessons;
mod not_made;
mod nouns;
mod phase_documents;
mod phase_open;
mod phase_scans;
mod phases;
mod question;
mod question_call;
mod reply;
mod services;
mod talk;
mod task_steps;
mod tool_call;
mod tool_step;
mod writes;

pub(crate) use services::{Kinds, StepServices};
