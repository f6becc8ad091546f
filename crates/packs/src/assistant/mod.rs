//! The agents that every tenant has from the start, and the groups in which agents are given tools.
//!
//! Both are data, in `agents.json`. They name only tools that the program has, which a test of the whole program sees
//! to, and no agent is told to do what its tools cannot. Agents name the provider and the model `default`, which is found
//! out when they are asked.

use std::collections::BTreeMap;

use kybern_core::agent::AgentDraft;
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};
use serde::Deserialize;
use serde_json::Value;

/// The pack of agents for everybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssistantPack;

const FILE: &str = include_str!("agents.json");

/// What the file says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AssistantFile {
    /// The tools of each group, by its name.
    groups: BTreeMap<String, Vec<String>>,
    agents: Vec<Value>,
}

/// The same, read.
struct File {
    groups: BTreeMap<String, Vec<String>>,
    agents: Vec<AgentDraft>,
}

/// The file. A test keeps one that cannot be read from being shipped; such a program would have no agents.
fn read() -> Result<File, String> {
    let AssistantFile { groups, agents } = serde_json::from_str(FILE).map_err(|error| error.to_string())?;
    let agent = |said: &Value| {
        AgentDraft::of_file(said).map_err(|error| format!("agent {}: {error} {:?}", said["name"], error.details()))
    };
    Ok(File { groups, agents: agents.iter().map(agent).collect::<Result<_, _>>()? })
}

impl Pack for AssistantPack {
    fn name(&self) -> &'static str {
        "assistant"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        let Ok(file) = read() else { return Ok(()) };
        for (group, tools) in file.groups {
            registry.tool_group(&group, tools);
        }
        file.agents.into_iter().try_for_each(|agent| registry.agent(agent))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kybern_core::agent::{ASSISTANT, DEFAULT, chosen, merged};

    use super::*;

    #[test]
    fn the_file_is_good() {
        let file = read().unwrap();
        let keys: BTreeSet<&str> = file.agents.iter().map(|agent| agent.key.as_str()).collect();
        assert_eq!(keys.len(), file.agents.len(), "each key once");
        assert!(keys.contains(ASSISTANT), "there is one to fall back to");
        for agent in &file.agents {
            assert_eq!((agent.provider.as_str(), agent.model.as_str()), (DEFAULT, DEFAULT), "{}", agent.key);
            assert!(agent.emoji.is_some() && agent.category.is_some(), "{}", agent.key);
            assert!(!agent.description.is_empty(), "{}", agent.key);
            for group in &agent.tool_groups {
                assert!(file.groups.contains_key(group), "{} names the group {group}", agent.key);
            }
        }
        for (group, tools) in &file.groups {
            let once: BTreeSet<&String> = tools.iter().collect();
            assert!(!tools.is_empty() && once.len() == tools.len(), "{group}");
        }
    }

    #[test]
    fn every_group_is_used_and_no_agent_has_a_tool_twice() {
        let file = read().unwrap();
        for group in file.groups.keys() {
            assert!(file.agents.iter().any(|agent| agent.tool_groups.contains(group)), "nobody has {group}");
        }
        for agent in &file.agents {
            let groups = agent.tool_groups.iter().flat_map(|group| &file.groups[group]);
            for tool in groups {
                assert!(!agent.tools.contains(tool), "{} names {tool}, which its groups have", agent.key);
            }
        }
    }

    #[test]
    fn the_words_of_messages_choose_the_agent_that_is_meant() {
        let file = read().unwrap();
        let agents = merged(&file.agents, &[]);
        for (message, key) in [
            ("Good morning!", "assistant"),
            ("Please research the sources on container prices", "researcher"),
            ("Proofread this paragraph and rewrite the last sentence", "writer"),
            ("Translate this letter into Portuguese", "translator"),
            ("What is the average of this column in the spreadsheet?", "data_analyst"),
            ("Reply to the e-mail in the inbox about the shipment", "back_office"),
            ("Break this project down into steps with a deadline", "planner"),
            ("Remember that I prefer trains", "memory_keeper"),
        ] {
            assert_eq!(chosen(&agents, message).map(|agent| agent.draft.key.as_str()), Some(key), "{message}");
        }
    }
}
