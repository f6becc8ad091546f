//! What an agent's configuration comes to on this server: by what its model is chosen, and which tools it has.

use kybern_core::agent::{Agent, AgentDraft, DEFAULT};
use kybern_core::id::AgentId;
use kybern_core::pack::Registry;
use kybern_core::time::Timestamp;

/// By what the model is chosen: `default`, a strategy, a provider for its own default, or `provider/model`.
pub(crate) fn route_name(agent: &AgentDraft) -> String {
    match (agent.provider.as_str(), agent.model.as_str()) {
        (DEFAULT, model) => model.to_owned(),
        (provider, DEFAULT) => provider.to_owned(),
        (provider, model) => format!("{provider}/{model}"),
    }
}

/// The tools that an agent names, itself or by groups, and that are here: by key, each once, in order.
pub(crate) fn tools_of(registry: &Registry, agent: &AgentDraft) -> Vec<String> {
    let grouped = agent
        .tool_groups
        .iter()
        .flat_map(|group| registry.tool_groups().filter(move |(name, _)| name == group).flat_map(|(_, tools)| tools));
    let mut tools: Vec<String> = Vec::new();
    for name in agent.tools.iter().chain(grouped) {
        if let Some(tool) = registry.find_tool(name)
            && !tools.contains(&tool.spec().key)
        {
            tools.push(tool.spec().key.clone());
        }
    }
    tools
}

/// A bundled agent. Its id follows from its key.
pub(crate) fn bundled(draft: &AgentDraft) -> Agent {
    let hash = blake3::hash(format!("agent/{}", draft.key).as_bytes());
    let mut tail = [0_u8; 10];
    for (byte, of_hash) in tail.iter_mut().zip(hash.as_bytes()) {
        *byte = *of_hash;
    }
    let id = AgentId::from_uuid(uuid::Builder::from_unix_timestamp_millis(0, &tail).into_uuid());
    let (created_at, updated_at) = (Timestamp::default(), Timestamp::default());
    Agent { id, draft: draft.clone(), bundled: true, version: 1, created_at, updated_at }
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

    #[test]
    fn tools_are_those_that_are_here_each_once() {
        let mut registry = Registry::default();
        crate::tools::builtin::register(&mut registry).unwrap();
        registry.tool_group("records", ["core.get_record", "core.put_record", "not.built"].map(str::to_owned));
        let agent = AgentDraft {
            tools: ["http_request", "core.get_record", "ghost"].map(str::to_owned).to_vec(),
            tool_groups: ["records", "nowhere"].map(str::to_owned).to_vec(),
            ..AgentDraft::named("Helper", "You help.")
        };
        assert_eq!(tools_of(&registry, &agent), ["core.http_request", "core.get_record", "core.put_record"]);
    }
}
