//! What is journaled of a turn: what holds for all of it, and each reply of the model before anything is done with it.
//!
//! Together with the outcomes of the calls that a reply asked for, this is all that a turn is: where it stands, what the
//! model is told next and what readers of its stream see follows from it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::limit::{Cap, TurnLimits};
use super::turn::Reply;
use crate::chat::{LinkFilter, without_links};
use crate::context::{LayerUse, LeftOut};
use crate::id::PromptId;
use crate::model::message::text_of;
use crate::model::{FinishReason, ModelMessage, Part, Role};
use crate::money::Usage;
use crate::plan::StepId;

use super::batch::CallKind;

/// What holds for a whole turn, as it was when the turn began.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStart {
    /// The agent's key.
    pub agent: String,
    /// The agent's version.
    pub version: u32,
    /// By what the model is chosen.
    pub route: String,
    /// The most tokens of one reply.
    pub max_tokens: u32,
    /// From 0 to 2.
    pub temperature: f64,
    /// How much the turn may take.
    pub limits: TurnLimits,
    /// The tools it has, by key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What it is to do, where that is not simply the input of its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The steps whose results it is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<StepId>,
    /// Whether what it is to do, or is shown, comes from mail, documents or the web.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
}

/// What became of a call that a reply asks for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Step(StepId),
    /// It is none: the model is answered so.
    Answered {
        /// What it is told.
        text: String,
        /// Whether that says that the call cannot be made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// It suggests to remember something. Nothing else is done.
    Suggested {
        memory: String,
    },
}

/// A call of a reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedCall {
    /// The provider's id of it.
    pub id: String,
    /// The function as the model named it.
    pub function: String,
    /// The tool; `None` when there is none of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether it only looks.
    pub reads: bool,
    pub became: CallOutcome,
}

/// Which links and pictures of a reply are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// All: the model was told nothing that strangers wrote.
    #[default]
    All,
    /// These addresses only, of those that the reply has: the user or the operator wrote them.
    Only(BTreeSet<String>),
}

impl Links {
    fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// A text beside the reply as people see it.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        match self {
            Self::All => text.to_owned(),
            Self::Only(kept) => without_links(text, kept).0,
        }
    }

    /// The same, without the addresses that the reply does not have.
    #[must_use]
    pub fn in_text(&self, reply: &ReplyRecord) -> Self {
        match self {
            Self::All => Self::All,
            Self::Only(kept) => Self::Only(without_links(&reply.text(), kept).1),
        }
    }
}

/// A reply of the model, with what it was told and what becomes of its calls.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyRecord {
    /// `provider/model` that gave it.
    pub model: String,
    /// Text, reasoning and calls, in order.
    pub parts: Vec<Part>,
    /// Why it ended; `None` when it broke off.
    pub finish: Option<FinishReason>,
    /// Its calls, in order; none of a model that was given no tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<AskedCall>,
    /// Whether it was given its tools.
    pub tools: bool,
    /// What kept them away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Cap>,
    /// The governed prompt it was told; `None` when that was the agent's own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptId>,
    /// What each layer of the prompt took, with its digest.
    pub layers: Vec<LayerUse>,
    /// What found no place in it.
    #[serde(default, skip_serializing_if = "LeftOut::is_nothing")]
    pub left_out: LeftOut,
    /// The last row of the journal when it was asked: where its pieces stand in the stream.
    pub behind: i64,
    /// How many bytes each piece of its text had when it streamed. Empty when it did not: then it is one piece.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<u32>,
    /// Which of its links are shown. The parts have all of them, as the model wrote them.
    #[serde(default, skip_serializing_if = "Links::is_all")]
    pub links: Links,
}

impl ReplyRecord {
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }

    /// Its text as people see it.
    #[must_use]
    pub fn shown(&self) -> String {
        self.links.shown(&self.text())
    }

    /// The pieces in which people see it, each in its place; some are empty where what comes next decides.
    #[must_use]
    pub fn shown_pieces(&self) -> Vec<String> {
        let Links::Only(kept) = &self.links else { return self.pieces() };
        let mut filter = LinkFilter::new(kept.clone());
        let mut shown: Vec<String> = self.pieces().iter().map(|piece| filter.push(piece)).collect();
        shown.push(filter.end());
        shown
    }

    /// The pieces in which its text streamed; one when it did not stream, none when there is no text.
    #[must_use]
    pub fn pieces(&self) -> Vec<String> {
        let text = self.text();
        let (mut pieces, mut rest) = (Vec::with_capacity(self.pieces.len()), text.as_str());
        for length in &self.pieces {
            let length = usize::try_from(*length).unwrap_or(usize::MAX);
            let Some((piece, more)) = rest.split_at_checked(length) else { break };
            pieces.push(piece.to_owned());
            rest = more;
        }
        if !rest.is_empty() {
            pieces.push(rest.to_owned());
        }
        pieces
    }

    /// The same as far as the turn goes by it.
    #[must_use]
    pub fn as_reply(&self, usage: Usage) -> Reply {
        let kind = |call: &AskedCall| if call.reads { CallKind::Reads } else { CallKind::Acts };
        Reply { text: self.shown(), calls: self.calls.iter().map(kind).collect(), finish: self.finish, usage }
    }

    /// The message that it is in the conversation: text and calls. Reasoning stays where the provider wants it back.
    #[must_use]
    pub fn message(&self) -> ModelMessage {
        // Calls that are not made because there were no tools are no part of the conversation: nothing answers them.
        let stays = |part: &&Part| self.tools || !matches!(part, Part::ToolCall(_));
        ModelMessage { role: Role::Assistant, parts: self.parts.iter().filter(stays).cloned().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replied(text: &str, pieces: &[u32]) -> ReplyRecord {
        ReplyRecord {
            model: "p/m".to_owned(),
            parts: vec![Part::Text { text: text.to_owned() }],
            finish: Some(FinishReason::Stop),
            calls: Vec::new(),
            tools: false,
            cap: None,
            prompt: None,
            layers: Vec::new(),
            left_out: LeftOut::default(),
            behind: 0,
            pieces: pieces.to_vec(),
            links: Links::All,
        }
    }

    #[test]
    fn what_found_no_place_is_journaled_only_where_there_is_some() {
        let mut reply = replied("all", &[]);
        let bare = serde_json::to_value(&reply).unwrap();
        assert_eq!(bare.get("leftOut"), None);
        assert_eq!(serde_json::from_value::<ReplyRecord>(bare).unwrap(), reply);
        reply.left_out = LeftOut { items: 2, ..LeftOut::default() };
        let told = serde_json::to_value(&reply).unwrap();
        assert_eq!(told["leftOut"], serde_json::json!({"items": 2}));
        assert_eq!(serde_json::from_value::<ReplyRecord>(told).unwrap(), reply);
    }

    #[test]
    fn links_are_shown_as_they_were_while_it_streamed_and_journaled_as_they_were_written() {
        let text = "![x](https://evil.example/?q=1) https://docs.example.com.";
        let mut reply = replied(text, &[3, 12, 20]);
        assert_eq!((reply.shown(), reply.shown_pieces().concat()), (text.to_owned(), text.to_owned()));
        let kept = ["https://docs.example.com".to_owned(), "https://other.example.com".to_owned()];
        reply.links = Links::Only(kept.into()).in_text(&reply);
        assert_eq!(reply.links, Links::Only(BTreeSet::from(["https://docs.example.com".to_owned()])));
        let shown = "![x] (picture removed: `evil[.]example/…`) https://docs.example.com.";
        assert_eq!((reply.shown().as_str(), reply.shown_pieces().len()), (shown, 5));
        assert_eq!((reply.shown_pieces().concat().as_str(), reply.text().as_str()), (shown, text));
        assert_eq!(reply.as_reply(Usage::default()).text, shown);
        let read: ReplyRecord = serde_json::from_value(serde_json::to_value(&reply).unwrap()).unwrap();
        assert_eq!(read, reply);
    }

    #[test]
    fn a_text_comes_apart_as_it_streamed() {
        assert_eq!(replied("Größe: 7", &[2, 5, 2]).pieces(), ["Gr", "öße", ": ", "7"]);
        assert_eq!(replied("Größe: 7", &[2, 1]).pieces(), ["Gr", "öße: 7"], "no letter is cut");
        assert_eq!(replied("all", &[]).pieces(), ["all"]);
        assert_eq!(replied("", &[]).pieces(), Vec::<String>::new());
        assert_eq!(replied("abc", &[1, 1, 1]).pieces(), ["a", "b", "c"]);
        assert_eq!(replied("abc", &[9]).pieces(), ["abc"]);
    }
}
