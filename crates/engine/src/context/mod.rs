//! What a model is told: the layers of a prompt, written down.
//!
//! What is chosen and how much of it is the core's ([`kybern_core::context`]). Here it becomes messages. Only the server
//! and an approved prompt speak as `system`; whatever somebody else wrote is handed over as data, between marks that it
//! cannot contain, with the word for where it comes from.

mod compose;

pub use compose::{ComposedPrompt, Material, compose};
