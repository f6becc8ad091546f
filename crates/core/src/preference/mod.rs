//! What a user wants to be answered like, and what they have told about themselves.
//!
//! Preferences are wishes: they stand in a layer of the prompt that never overrides the server's or an operator's, and
//! they give no right. How much happens without a yes is not among them: that is the server's policy
//! ([`crate::policy::ToolPolicy`]), which users do not set for themselves.

use serde::{Deserialize, Serialize};

use crate::error::Detail;
use crate::policy::redact::has_secret;
use crate::time::Timestamp;

/// The most texts of any list.
pub const MAX_TEXTS: usize = 50;
/// The most characters of an instruction or a fact.
pub const MAX_TEXT: usize = 500;
/// The most characters of all instructions together, or of all that a profile says.
pub const MAX_TOGETHER: usize = 4_000;
/// The most characters of a name.
pub const MAX_NAME: usize = 80;

words! {
    /// How long answers are.
    #[derive(Default)]
    pub enum ResponseLength {
        /// Short.
        Concise = "concise",
        /// As long as the question asks for.
        #[default]
        Balanced = "balanced",
        /// Long, with reasons.
        Detailed = "detailed",
    }
}

words! {
    /// How answers sound.
    #[derive(Default)]
    pub enum Formality {
        /// As among friends.
        Casual = "casual",
        /// Neither.
        #[default]
        Neutral = "neutral",
        /// As in a letter.
        Formal = "formal",
    }
}

/// What a user has told about themselves.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Profile {
    /// What they want to be called.
    #[cfg_attr(feature = "schema", schema(required))]
    pub name: Option<String>,
    /// What they care about.
    #[cfg_attr(feature = "schema", schema(required))]
    pub interests: Vec<String>,
    /// What they want to reach.
    #[cfg_attr(feature = "schema", schema(required))]
    pub goals: Vec<String>,
    /// Anything else.
    #[cfg_attr(feature = "schema", schema(required))]
    pub facts: Vec<String>,
}

/// A user's preferences.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = in_place::Preferences))]
pub struct Preferences {
    /// How long answers are.
    #[cfg_attr(feature = "schema", schema(required))]
    pub response_length: ResponseLength,
    /// How they sound.
    #[cfg_attr(feature = "schema", schema(required))]
    pub formality: Formality,
    /// What they always want.
    #[cfg_attr(feature = "schema", schema(required))]
    pub custom_instructions: Vec<String>,
    /// What they have told about themselves.
    #[cfg_attr(feature = "schema", schema(required))]
    pub profile: Profile,
    /// When they were set last; null when never.
    #[cfg_attr(feature = "schema", schema(required))]
    pub updated_at: Option<Timestamp>,
}

impl Preferences {
    /// The same without spaces around texts.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        let Profile { name, interests, goals, facts } = &mut self.profile;
        let texts = [&mut self.custom_instructions, interests, goals, facts].into_iter().flatten();
        for text in texts.chain(name.as_mut()) {
            *text = text.trim().to_owned();
        }
        self
    }

    /// Everything that is wrong with them.
    #[must_use]
    pub fn faults(&self) -> Vec<Detail> {
        let mut faults = Vec::new();
        if let Some(name) = &self.profile.name {
            text("/profile/name", name, MAX_NAME, &mut faults);
        }
        let Profile { interests, goals, facts, .. } = &self.profile;
        for (path, list) in [
            ("/customInstructions", &self.custom_instructions),
            ("/profile/interests", interests),
            ("/profile/goals", goals),
            ("/profile/facts", facts),
        ] {
            if list.len() > MAX_TEXTS {
                faults.push(Detail::new(path, format!("at most {MAX_TEXTS} texts, not {}", list.len())));
            }
            for (n, one) in list.iter().enumerate() {
                text(&format!("{path}/{n}"), one, MAX_TEXT, &mut faults);
            }
        }
        let length = |lists: &[&Vec<String>]| -> usize {
            lists.iter().flat_map(|list| list.iter()).map(|text| text.chars().count()).sum()
        };
        for (path, long) in [
            ("/customInstructions", length(&[&self.custom_instructions])),
            ("/profile", length(&[interests, goals, facts])),
        ] {
            if long > MAX_TOGETHER {
                faults.push(Detail::new(path, format!("at most {MAX_TOGETHER} characters together, not {long}")));
            }
        }
        faults
    }
}

fn text(path: &str, text: &str, most: usize, faults: &mut Vec<Detail>) {
    let length = text.chars().count();
    if length == 0 || length > most {
        faults.push(Detail::new(path, format!("a text of 1 to {most} characters, not {length}")));
    } else if has_secret(text) {
        let message = "this looks like a password, a key or a number of an account, which no model should be told";
        faults.push(Detail::new(path, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(instructions: &[&str]) -> Preferences {
        let custom_instructions = instructions.iter().map(|text| (*text).to_owned()).collect();
        Preferences { custom_instructions, ..Preferences::default() }
    }

    fn places(preferences: &Preferences) -> Vec<String> {
        preferences.faults().into_iter().map(|fault| fault.path).collect()
    }

    #[test]
    fn what_was_never_said_is_balanced_and_neutral() {
        let said: Preferences = serde_json::from_str("{}").unwrap();
        assert_eq!(said, Preferences::default());
        assert_eq!((said.response_length.as_str(), said.formality.as_str()), ("balanced", "neutral"));
        assert!(said.faults().is_empty());
    }

    #[test]
    fn texts_are_bounded_each_and_together() {
        assert_eq!(
            places(&with(&["ok", "", "x".repeat(MAX_TEXT + 1).as_str()])),
            ["/customInstructions/1", "/customInstructions/2"]
        );
        assert_eq!(places(&with(&["x"; MAX_TEXTS + 1])), ["/customInstructions"]);
        assert_eq!(places(&with(&["x".repeat(MAX_TEXT).as_str(); 9])), ["/customInstructions"]);
        let profile =
            Profile { name: Some("x".repeat(MAX_NAME + 1)), goals: vec![String::new()], ..Profile::default() };
        assert_eq!(places(&Preferences { profile, ..Preferences::default() }), ["/profile/name", "/profile/goals/0"]);
        assert_eq!(places(&with(&["  "]).trimmed()), ["/customInstructions/0"]);
    }

    #[test]
    fn secrets_are_refused_and_addresses_are_not() {
        assert_eq!(places(&with(&["my password is hunter2hunter2"])), ["/customInstructions/0"]);
        assert!(places(&with(&["Write to me at ada@example.com", "Call me Ada"])).is_empty());
    }
}
