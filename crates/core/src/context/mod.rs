//! What enters a prompt, in which order, and how much of it.
//!
//! A prompt has five [layers](Layer), the strongest first. A later layer never overrides an earlier one, and only the
//! first two speak for the server: everything else is material that somebody wrote, labelled with its [`Origin`].
//! Each layer has a share of the model's window ([`Shares`]). What does not fit is left out by rule and not by chance:
//! sections in a fixed order ([`Section`]), preferences item by item ([`shortened`]), memories and knowledge as they were ranked ([`that_fit`]), the conversation from its
//! oldest end and never between a call and its result ([`mod@window`]).
//!
//! All of this is pure. Where the texts come from, and how they are written down, is the engine's.

mod layer;
mod left_out;
mod rank;
mod section;
mod share;
mod window;

pub use layer::{Layer, LayerUse, Origin};
pub use left_out::LeftOut;
pub use rank::{Importance, SearchHit, Similarity, that_fit};
pub use section::{Section, SectionKind, fitting, shortened};
pub use share::{PromptPurpose, Shares};
pub use window::{WindowLimits, WindowMessage, window};
