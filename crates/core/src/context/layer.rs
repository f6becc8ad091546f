//! The layers of a prompt, and where texts come from.

use serde::{Deserialize, Serialize};

use crate::money::Tokens;

words! {
    /// A part of a prompt. The order is that of their strength: what stands in a later one never overrides an earlier one.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = PromptLayer))]
    pub enum Layer {
        /// The server's own rules, which nobody can change.
        Core = "core",
        /// The governed prompt of the tenant or the agent, with what the server says about tools, place and time.
        Prompt = "prompt",
        /// What the user wants to be answered like, and what they have told about themselves.
        Preferences = "preferences",
        /// Memories and knowledge that were looked up for this turn.
        Retrieved = "retrieved",
        /// What was said before, and what is said now.
        Conversation = "conversation",
    }
}

/// What a layer took.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerUse {
    pub layer: Layer,
    /// About how many tokens.
    pub tokens: Tokens,
    /// A digest of its messages under the tenant's key: two calls with the same one were told the same.
    pub hash: Option<String>,
}

words! {
    /// Where a text comes from.
    pub enum Origin {
        /// The server.
        Core = "core",
        /// An operator: a prompt that was approved.
        Operator = "operator",
        /// The user whose turn it is.
        User = "user",
        /// Something that was remembered.
        Memory = "memory",
        /// The result of a tool.
        Tool = "tool",
        /// A document, a mail, a page of knowledge.
        Document = "document",
    }
}

impl Origin {
    /// Whether a turn that has read the text acts under taint: somebody else than the user and the operator may have
    /// written it.
    #[must_use]
    pub const fn taints(self) -> bool {
        match self {
            Self::Core | Self::Operator | Self::User => false,
            Self::Memory | Self::Tool | Self::Document => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_ordered_by_their_strength() {
        assert!(Layer::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        let names: Vec<String> = Layer::ALL.iter().map(|layer| serde_json::to_string(layer).unwrap()).collect();
        assert!(names.iter().zip(Layer::ALL).all(|(json, layer)| *json == format!("\"{}\"", layer.as_str())));
    }

    #[test]
    fn what_others_wrote_than_the_user_and_the_operator_taints() {
        let all = [Origin::Core, Origin::Operator, Origin::User, Origin::Memory, Origin::Tool, Origin::Document];
        assert_eq!(all.map(Origin::taints), [false, false, false, true, true, true]);
        for origin in all {
            assert_eq!(serde_json::to_string(&origin).unwrap(), format!("\"{}\"", origin.as_str()));
        }
    }
}
