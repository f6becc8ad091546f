//! An agent, written down in Rust: by a pack, or by a program that uses Kybern as a library.
//!
//! The builder has no rules of its own. What it makes is checked as what `/api/agents` takes.

use super::config::AgentDraft;
use crate::error::Result;
use crate::money::{NanoUsd, Tokens};
use crate::pack::PackRegistry;
use crate::time::Millis;

/// An agent that is being put together.
///
/// ```
/// use kybern_core::agent::AgentDraft;
/// use kybern_core::pack::{DuplicateKey, PackRegistry};
///
/// let agent = AgentDraft::builder("clerk")
///     .name("Clerk")
///     .description("Answers questions about invoices.")
///     .prompt("You answer questions about the invoices of Acme, briefly.")
///     .tool("calculator")
///     .triggers(["invoice", "credit note"])
///     .iterations(6)
///     .temperature(0.2)
///     .build()?;
/// assert_eq!((agent.key.as_str(), agent.model.as_str()), ("clerk", "default"));
///
/// let refused = AgentDraft::builder("clerk").name("Clerk").build().unwrap_err();
/// assert_eq!(refused.details()[0].path, "/systemPrompt");
///
/// PackRegistry::default().agent(agent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[must_use = "an agent is made by build"]
pub struct AgentBuilder {
    draft: AgentDraft,
}

fn owned<T: Into<String>>(names: impl IntoIterator<Item = T>) -> impl Iterator<Item = String> {
    names.into_iter().map(Into::into)
}

impl AgentBuilder {
    /// Begins an agent of that key, `[a-z][a-z0-9_]*`; an empty one is made of the name.
    pub(super) fn new(key: &str) -> Self {
        Self { draft: AgentDraft { key: key.to_owned(), ..AgentDraft::named("", "") } }
    }

    /// What people call it. Required.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.draft.name = name.into();
        self
    }

    /// What it is told. Required.
    pub fn prompt(mut self, system_prompt: impl Into<String>) -> Self {
        self.draft.system_prompt = system_prompt.into();
        self
    }

    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.draft.description = description.into();
        self
    }

    /// A sign for it.
    pub fn emoji(mut self, emoji: impl Into<String>) -> Self {
        self.draft.emoji = Some(emoji.into());
        self
    }

    /// Where it is listed.
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.draft.category = Some(category.into());
        self
    }

    /// The provider; `default` when nobody says.
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.draft.provider = provider.into();
        self
    }

    /// The model, or a routing strategy; `default` when nobody says.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.draft.model = model.into();
        self
    }

    /// The most tokens of one reply; 4,000 when nobody says.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.draft.max_tokens = tokens;
        self
    }

    /// From 0 to 2; 0.7 when nobody says.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.draft.temperature = temperature;
        self
    }

    /// One more tool, by key or alias.
    pub fn tool(self, tool: impl Into<String>) -> Self {
        self.tools([tool.into()])
    }

    /// More tools, by key or alias.
    pub fn tools<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.draft.tools.extend(owned(tools));
        self
    }

    /// One more group of tools.
    pub fn tool_group(mut self, group: impl Into<String>) -> Self {
        self.draft.tool_groups.push(group.into());
        self
    }

    /// More words in a message by which it is chosen when nobody names an agent.
    pub fn triggers<T: Into<String>>(mut self, triggers: impl IntoIterator<Item = T>) -> Self {
        self.draft.triggers.extend(owned(triggers));
        self
    }

    /// How often the model is asked in a turn, from 1 to 50.
    pub fn iterations(mut self, iterations: u32) -> Self {
        self.draft.limits.iterations = iterations;
        self
    }

    /// How many calls a turn makes, at most 200.
    pub fn calls(mut self, calls: u32) -> Self {
        self.draft.limits.calls = calls;
        self
    }

    /// How many tokens a turn reads and writes in all.
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.draft.limits.tokens = Some(tokens);
        self
    }

    /// What a turn may cost.
    pub fn cost(mut self, cost: NanoUsd) -> Self {
        self.draft.limits.cost = Some(cost);
        self
    }

    /// How long a turn may take while nobody is waited for.
    pub fn timeout(mut self, time: Millis) -> Self {
        self.draft.limits.time = time;
        self
    }

    /// How far back in its conversation the model may see.
    pub fn history(mut self, span: Millis) -> Self {
        self.draft.limits.history = span;
        self
    }

    /// The agent, ready to be registered by a pack or created by the engine. Groups of tools are looked up by
    /// [`AgentBuilder::build_in`], and by the engine when it starts: other packs may bring them later.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the field, and what to do about it.
    pub fn build(self) -> Result<AgentDraft> {
        self.draft.checked()
    }

    /// The agent, whose groups of tools have to be in the registry already.
    ///
    /// # Errors
    /// As [`AgentBuilder::build`], and for a group that no pack brings.
    pub fn build_in(self, registry: &PackRegistry) -> Result<AgentDraft> {
        let draft = self.build()?;
        registry.check_groups(&draft)?;
        Ok(draft)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::TurnLimits;

    fn clerk() -> AgentBuilder {
        AgentDraft::builder("clerk").name("Clerk").prompt("You count.")
    }

    #[test]
    fn what_is_left_out_is_as_it_is_for_an_agent_of_the_api() {
        let built = clerk().build().unwrap();
        let said = serde_json::json!({"key": "clerk", "name": "Clerk", "systemPrompt": "You count."});
        assert_eq!(built, AgentDraft::of_file(&said).unwrap());
        assert_eq!(AgentDraft::builder("").name("Big Clerk").prompt("You count.").build().unwrap().key, "big_clerk");
    }

    #[test]
    fn all_that_an_agent_can_be_can_be_built() {
        let built = clerk()
            .description("Counts.")
            .emoji("🧮")
            .category("office")
            .provider("anthropic")
            .model("big")
            .max_tokens(500)
            .temperature(0.0)
            .tool("t.one")
            .tools(["t.two", "t.three"])
            .tool_group("records")
            .triggers(["count"])
            .iterations(2)
            .calls(3)
            .tokens(Tokens(4))
            .cost(NanoUsd(5))
            .timeout(Millis(6))
            .history(Millis(7))
            .build()
            .unwrap();
        let (tokens, cost) = (Some(Tokens(4)), Some(NanoUsd(5)));
        let limits = TurnLimits { iterations: 2, calls: 3, tokens, cost, time: Millis(6), history: Millis(7) };
        assert_eq!(built.limits, limits);
        assert_eq!(
            (built.tools, built.tool_groups.as_slice()),
            (["t.one", "t.two", "t.three"].map(str::to_owned).to_vec(), &["records".to_owned()][..])
        );
        assert_eq!((built.provider.as_str(), built.model.as_str(), built.max_tokens), ("anthropic", "big", 500));
        assert_eq!((built.emoji.as_deref(), built.category.as_deref()), (Some("🧮"), Some("office")));
        assert_eq!((built.description.as_str(), built.triggers.as_slice()), ("Counts.", &["count".to_owned()][..]));
        assert!(built.temperature.abs() < f64::EPSILON);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_field_and_what_to_do() {
        let bad = [
            (AgentDraft::builder("clerk").prompt("You count."), "/name", "1 to 80 characters"),
            (AgentDraft::builder("clerk").name("Clerk"), "/systemPrompt", "a prompt says something"),
            (AgentDraft::builder("Bad-Key").name("Clerk").prompt("You count."), "/key", "[a-z][a-z0-9_]*"),
            (clerk().model(" "), "/model", "or \"default\""),
            (clerk().temperature(2.5), "/temperature", "from 0 to 2"),
            (clerk().max_tokens(0), "/maxTokens", "from 1 to"),
            (clerk().iterations(51), "/iterations", "from 1 to 50"),
            (clerk().calls(201), "/calls", "at most 200"),
            (clerk().timeout(Millis(0)), "/time", "at least a millisecond"),
            (clerk().history(Millis(0)), "/history", "at least a millisecond"),
            (clerk().tool(""), "/tools", "remove it"),
        ];
        for (builder, field, remedy) in bad {
            let error = builder.build().unwrap_err();
            assert_eq!(error.details()[0].path, field);
            assert!(error.to_string().contains(remedy), "{error}");
        }
    }

    #[test]
    fn groups_are_those_of_the_registry() {
        let mut registry = PackRegistry::default();
        let unknown = clerk().tool_group("records").build_in(&registry).unwrap_err();
        assert_eq!(unknown.details()[0].path, "/toolGroups/0");
        registry.tool_group("records", ["core.get_record".to_owned()]);
        assert!(clerk().tool_group("records").build_in(&registry).is_ok());
    }
}
