//! Who an agent is: what it is told, which model answers for it, which tools it has and how much a turn of it may take.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::builder::AgentBuilder;
use super::limit::TurnLimits;
use crate::error::{Error, Result};
use crate::id::AgentId;
use crate::time::Timestamp;

/// What stands for the configured provider or model, found out when the agent is asked.
pub const DEFAULT: &str = "default";
/// What stands for a model that is chosen among those of all providers, anew for each question.
pub const STRATEGIES: [&str; 6] = ["cheapest", "fastest", "smartest", "reasoning", "balanced", "fallback"];
/// The most characters of an agent's key.
pub const MAX_KEY: usize = 64;
/// The most characters of an agent's name.
pub const MAX_NAME: usize = 80;
/// The most characters of an agent's description.
pub const MAX_DESCRIPTION: usize = 2_000;
/// The most tools, groups or words that an agent names, of each.
pub const MAX_ITEMS: usize = 200;
/// The most characters of a provider's, a model's, a tool's, a group's or a trigger's name.
pub const MAX_NAMED: usize = 200;
/// The most characters of a sign or a category.
pub const MAX_LABEL: usize = 40;
/// The most tokens that an agent may let a model write in one reply.
pub const MAX_OUTPUT: u32 = 200_000;

/// An agent as it is written down: by a person, or in the file of bundled agents.
///
/// A stored one may say more than this program knows: a newer one next to it has written it. Files and requests are read
/// more strictly, see [`AgentDraft::of_file`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDraft {
    /// How plans and models name it: `[a-z][a-z0-9_]*`. Made of the name when nobody says.
    #[serde(default)]
    pub key: String,
    /// What people call it.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// A sign for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// Where it is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What it is told: the second layer of its prompt.
    pub system_prompt: String,
    /// The provider, or `default`.
    #[serde(default = "default_name")]
    pub provider: String,
    /// The model, a routing strategy, or `default`.
    #[serde(default = "default_name")]
    pub model: String,
    /// The most tokens of one reply.
    #[serde(default = "default_output")]
    pub max_tokens: u32,
    /// From 0 to 2.
    #[serde(default = "default_temperature")]
    pub temperature: f64,
    /// How much a turn may take.
    #[serde(default)]
    pub limits: TurnLimits,
    /// The tools it has, by key or alias. Those that this server does not have are left out when it is asked.
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub tool_groups: Vec<String>,
    /// Words in a message by which it is chosen when nobody names an agent.
    #[serde(default)]
    pub triggers: Vec<String>,
}

fn default_name() -> String {
    DEFAULT.to_owned()
}

/// 4,000, the orchestrator's default.
const fn default_output() -> u32 {
    4_000
}

/// 0.7, the orchestrator's default.
const fn default_temperature() -> f64 {
    0.7
}

/// The first member that was said and is not known, by its place; one that is null says nothing.
fn unknown(said: &Value, known: &Value) -> Option<String> {
    let within = |(name, value): (&String, &Value)| match known.get(name) {
        None if value.is_null() => None,
        None => Some(format!("/{name}")),
        Some(known) => unknown(value, known).map(|place| format!("/{name}{place}")),
    };
    said.as_object()?.iter().find_map(within)
}

impl AgentDraft {
    /// An agent of that name with everything else left to the defaults.
    #[must_use]
    pub fn named(name: &str, system_prompt: &str) -> Self {
        Self {
            key: String::new(),
            name: name.to_owned(),
            description: String::new(),
            emoji: None,
            category: None,
            system_prompt: system_prompt.to_owned(),
            provider: default_name(),
            model: default_name(),
            max_tokens: default_output(),
            temperature: default_temperature(),
            limits: TurnLimits::default(),
            tools: Vec::new(),
            tool_groups: Vec::new(),
            triggers: Vec::new(),
        }
    }

    /// Begins an agent of that key, written down in Rust.
    pub fn builder(key: &str) -> AgentBuilder {
        AgentBuilder::new(key)
    }

    /// The agent that a file says.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for what is no agent, and for a member that no agent has: somebody has mistyped it.
    pub fn of_file(said: &Value) -> Result<Self> {
        let draft = Self::deserialize(said).map_err(|error| Error::invalid("", error.to_string()))?;
        let known = serde_json::to_value(&draft).map_err(|error| Error::invalid("", error.to_string()))?;
        match unknown(said, &known) {
            Some(path) => Err(Error::invalid(path, "unknown field")),
            None => draft.checked(),
        }
    }

    /// Checks it, and gives it its key.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the field.
    pub fn checked(mut self) -> Result<Self> {
        self.name = self.name.trim().to_owned();
        if self.name.is_empty() || self.name.chars().count() > MAX_NAME {
            return Err(Error::invalid("/name", format!("name is a text of 1 to {MAX_NAME} characters")));
        }
        if self.key.is_empty() {
            self.key = key_of(&self.name);
        }
        if !is_key(&self.key) {
            let message =
                format!("key {:?} must match [a-z][a-z0-9_]* and have at most {MAX_KEY} characters", self.key);
            return Err(Error::invalid("/key", message));
        }
        if self.description.chars().count() > MAX_DESCRIPTION {
            let message = format!("description has at most {MAX_DESCRIPTION} characters");
            return Err(Error::invalid("/description", message));
        }
        for (field, text) in [("emoji", &self.emoji), ("category", &self.category)] {
            if let Some(text) = text {
                short(field, text, MAX_LABEL)?;
            }
        }
        for (field, text) in [("provider", &self.provider), ("model", &self.model)] {
            if text.trim().is_empty() {
                let message = format!("{field} is empty: name one, or \"{DEFAULT}\"");
                return Err(Error::invalid(format!("/{field}"), message));
            }
            short(field, text, MAX_NAMED)?;
        }
        if self.provider != DEFAULT && STRATEGIES.contains(&self.model.as_str()) {
            let message = format!(
                "model {} chooses among all providers: leave provider at \"{DEFAULT}\", or name a model of {}",
                self.model, self.provider
            );
            return Err(Error::invalid("/model", message));
        }
        if !(1..=MAX_OUTPUT).contains(&self.max_tokens) {
            let message = format!("maxTokens is a number from 1 to {MAX_OUTPUT}, not {}", self.max_tokens);
            return Err(Error::invalid("/maxTokens", message));
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err(Error::invalid("/temperature", "temperature is a number from 0 to 2"));
        }
        for (field, named) in [("tools", &self.tools), ("toolGroups", &self.tool_groups), ("triggers", &self.triggers)]
        {
            if named.len() > MAX_ITEMS {
                let message = format!("{field} has {} names, at most {MAX_ITEMS} are allowed", named.len());
                return Err(Error::invalid(format!("/{field}"), message));
            }
            if named.iter().any(|one| one.trim().is_empty()) {
                return Err(Error::invalid(format!("/{field}"), format!("{field} has an empty name, remove it")));
            }
            named.iter().enumerate().try_for_each(|(n, one)| short(&format!("{field}/{n}"), one, MAX_NAMED))?;
        }
        self.limits = self.limits.check()?;
        self.system_prompt = crate::prompt::checked(&self.system_prompt)
            .map_err(|error| Error::invalid("/systemPrompt", format!("systemPrompt: {error}")))?;
        Ok(self)
    }
}

/// Refuses a text that is too long to be shown in a list.
fn short(field: &str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if length <= most {
        return Ok(());
    }
    Err(Error::invalid(format!("/{field}"), format!("{field} has {length} characters, the limit is {most}")))
}

/// A name as a key: its letters and digits, `_` between them.
#[must_use]
pub fn key_of(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let joined = plain.split_whitespace().collect::<Vec<_>>().join("_");
    joined.chars().take(MAX_KEY).collect()
}

fn is_key(key: &str) -> bool {
    key.len() <= MAX_KEY
        && key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Its id. That of a bundled agent follows from its key and is the same on every server.
    pub id: AgentId,
    /// What was written down.
    #[serde(flatten)]
    pub draft: AgentDraft,
    /// Whether it comes with the program and nothing about it was changed.
    pub bundled: bool,
    /// Grows by one with each change, from 1; of an agent as it is in the program, 1, also after a reset.
    pub version: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Agent {
    /// Whether somebody who says `name` means this agent: by its key, or by its name in any case.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.draft.key == name || self.draft.name.to_lowercase() == name.trim().to_lowercase()
    }

    /// How many of its words stand in a message, each as a whole word or phrase.
    #[must_use]
    pub fn triggered_by(&self, message: &str) -> usize {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
        };
        let said = words(message);
        let stands = |trigger: &&String| {
            let phrase = words(trigger);
            !phrase.is_empty() && said.windows(phrase.len()).any(|window| window == phrase)
        };
        self.draft.triggers.iter().filter(stands).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_has_a_key_made_of_its_name() {
        let agent = AgentDraft::named("  Research Agent ", "You search.").checked().unwrap();
        assert_eq!((agent.key.as_str(), agent.name.as_str()), ("research_agent", "Research Agent"));
        assert_eq!((agent.max_tokens, agent.provider.as_str(), agent.model.as_str()), (4_000, DEFAULT, DEFAULT));
        assert_eq!(AgentDraft { key: "own".to_owned(), ..agent }.checked().unwrap().key, "own");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_field() {
        let good = || AgentDraft::named("Helper", "You help.");
        let bad = [
            (AgentDraft { name: " ".to_owned(), ..good() }, "/name"),
            (AgentDraft { name: "x".repeat(81), ..good() }, "/name"),
            (AgentDraft { name: "42".to_owned(), ..good() }, "/key"),
            (AgentDraft { key: "Bad-Key".to_owned(), ..good() }, "/key"),
            (AgentDraft { model: String::new(), ..good() }, "/model"),
            (AgentDraft { provider: "own".to_owned(), model: "cheapest".to_owned(), ..good() }, "/model"),
            (AgentDraft { max_tokens: 0, ..good() }, "/maxTokens"),
            (AgentDraft { temperature: f64::NAN, ..good() }, "/temperature"),
            (AgentDraft { temperature: 2.1, ..good() }, "/temperature"),
            (AgentDraft { tools: vec![" ".to_owned()], ..good() }, "/tools"),
            (AgentDraft { triggers: vec!["x".to_owned(); 201], ..good() }, "/triggers"),
            (AgentDraft { tool_groups: vec!["x".to_owned(), "x".repeat(201)], ..good() }, "/toolGroups/1"),
            (AgentDraft { emoji: Some("x".repeat(41)), ..good() }, "/emoji"),
            (AgentDraft { system_prompt: String::new(), ..good() }, "/systemPrompt"),
            (AgentDraft { limits: TurnLimits { iterations: 51, ..TurnLimits::default() }, ..good() }, "/iterations"),
        ];
        for (draft, field) in bad {
            assert_eq!(draft.clone().checked().unwrap_err().details()[0].path, field, "{draft:?}");
        }
    }

    #[test]
    fn a_stored_agent_may_say_more_than_is_known_and_a_file_may_not() {
        let mut said = serde_json::json!({"name": "Helper", "systemPrompt": "You help.", "emoji": null,
            "limits": {"calls": 3}});
        let helper = AgentDraft::of_file(&said).unwrap();
        assert_eq!((helper.key.as_str(), helper.limits.calls, helper.limits.iterations), ("helper", 3, 10));
        said["limits"]["patience"] = 7.into();
        said["voice"] = "soft".into();
        let stored: AgentDraft = serde_json::from_value(said.clone()).unwrap();
        assert_eq!(stored.checked().unwrap(), helper);
        for place in ["/limits/patience", "/voice"] {
            assert_eq!(AgentDraft::of_file(&said).unwrap_err().details()[0].path, place);
            said["limits"].as_object_mut().unwrap().remove("patience");
        }
    }

    #[test]
    fn words_choose_an_agent_and_parts_of_words_do_not() {
        let draft = AgentDraft {
            triggers: ["invoice", "credit note"].map(str::to_owned).to_vec(),
            ..AgentDraft::named("Billing", "You bill.")
        };
        let (id, at) = (AgentId::from_uuid(uuid::Uuid::nil()), Timestamp::default());
        let agent =
            Agent { id, draft: draft.checked().unwrap(), bundled: true, version: 1, created_at: at, updated_at: at };
        for (message, hits) in [
            ("Where is my Invoice?", 1),
            ("a credit-note for that invoice", 2),
            ("invoices", 0),
            ("credit and note", 0),
            ("", 0),
        ] {
            assert_eq!(agent.triggered_by(message), hits, "{message}");
        }
        assert!(agent.is_called("billing") && agent.is_called(" BILLING") && !agent.is_called("bill"));
    }
}
