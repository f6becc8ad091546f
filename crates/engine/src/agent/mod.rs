//! Agents: which a tenant has and which of them a message chooses; and agents at work: what their models are asked, what
//! they are given to call, and what becomes of what they ask for.
//!
//! A turn is walked like any plan ([`crate::executor`]): each question is a step whose outcome is the reply, each call
//! a step of its own below it. Here is what a question needs from outside and what a reply means.

mod ask;
mod attached;
mod calls;
pub(crate) mod functions;
mod gather;
pub mod manage;
mod meta;
mod sections;
pub(crate) mod told;
pub mod tools;
mod transcript;

use kybern_core::agent::{AgentDraft, DEFAULT};
pub(crate) use kybern_core::memory::MAX_SUGGESTION;

pub(crate) use crate::tools::builtin::SUGGEST_MEMORY;
pub(crate) use ask::{Question, QuestionOutcome, ask, prepare, written};
pub(crate) use attached::Files;
pub(crate) use calls::interpret;
pub(crate) use gather::TurnServices;
pub(crate) use gather::{ChatPosition, GatheredContext, ModelPermissions, Person, TurnInput, gather, section};
pub use manage::Agents;
pub(crate) use sections::ToolSections;
pub use tools::AgentTools;
pub(crate) use transcript::{ReplyRound, keep_short, transcript};

/// By what an agent's model is chosen: `default`, a strategy, a provider for its own default, or `provider/model`.
pub(crate) fn route_name(agent: &AgentDraft) -> String {
    match (agent.provider.as_str(), agent.model.as_str()) {
        (DEFAULT, model) => model.to_owned(),
        (provider, DEFAULT) => provider.to_owned(),
        (provider, model) => format!("{provider}/{model}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_found_out_when_the_agent_is_asked() {
        let agent = |provider: &str, model: &str| AgentDraft {
            provider: provider.to_owned(),
            model: model.to_owned(),
            ..AgentDraft::named("Helper", "You help.")
        };
        for (provider, model, route) in [
            ("default", "default", "default"),
            ("default", "cheapest", "cheapest"),
            ("anthropic", "default", "anthropic"),
            ("openrouter", "openai/gpt-5", "openrouter/openai/gpt-5"),
        ] {
            assert_eq!(route_name(&agent(provider, model)), route);
        }
    }
}
