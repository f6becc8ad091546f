//! What found no place in a prompt.

use serde::{Deserialize, Serialize};

use super::section::SectionKind;

/// What found no place in a prompt. It is journaled with the reply, so that whoever wonders why something was not known
/// finds out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeftOut {
    /// Sections of which nothing is there, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionKind>,
    /// How many items of lists of preferences.
    #[serde(skip_serializing_if = "is_zero")]
    pub items: usize,
    /// How many memories.
    #[serde(skip_serializing_if = "is_zero")]
    pub memories: usize,
    /// How many pieces of knowledge.
    #[serde(skip_serializing_if = "is_zero")]
    pub knowledge: usize,
    /// How many messages of the conversation.
    #[serde(skip_serializing_if = "is_zero")]
    pub messages: usize,
}

impl LeftOut {
    /// Whether everything found its place.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}
