//! The tools of an agent: those it names, and those of its groups.

use std::collections::BTreeSet;

use kybern_core::agent::{Agent, AgentDraft};

use crate::tools::{Grant, ToolService, ToolSnapshot};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AgentTools {
    /// The keys of those that this server has, each once, in the order in which they are named.
    pub keys: Vec<String>,
    /// The names of those that it does not have.
    pub missing: Vec<String>,
}

impl AgentTools {
    /// The tools of an agent among those that its tenant can call. Whether the tenant and the user allow them is judged
    /// with each call.
    #[must_use]
    pub fn of(agent: &Agent, tools: &ToolSnapshot) -> Self {
        named(tools, &agent.draft)
    }
}

/// Those of the tools that may be called under that grant.
pub(crate) fn open_to(snapshot: &ToolSnapshot, tools: &[String], grant: &Grant) -> Vec<String> {
    let is_open = |key: &&String| snapshot.find(key).is_some_and(|tool| ToolService::is_open(tool, grant));
    tools.iter().filter(is_open).cloned().collect()
}

pub(crate) fn named(snapshot: &ToolSnapshot, draft: &AgentDraft) -> AgentTools {
    let of_group = |group: &String| snapshot.group(group);
    let (mut tools, mut seen) = (AgentTools::default(), BTreeSet::new());
    for name in draft.tools.iter().chain(draft.tool_groups.iter().flat_map(of_group)) {
        match snapshot.find(name) {
            Some(tool) => {
                let key = &tool.spec().key;
                if seen.insert(key.clone()) {
                    tools.keys.push(key.clone());
                }
            }
            None => {
                if seen.insert(name.clone()) {
                    tools.missing.push(name.clone());
                }
            }
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kybern_testkit::tools::ScriptedTool;

    use kybern_core::pack::PackRegistry;

    use super::*;

    #[test]
    fn tools_of_an_agent_are_its_own_and_its_groups_each_once() {
        let mut registry = PackRegistry::default();
        for key in ["t.one", "t.two", "t.three"] {
            registry.tool(Arc::new(ScriptedTool::echo(key))).unwrap();
        }
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        registry.tool_group("numbers", names(&["t.two", "t.one", "t.later"]));
        registry.tool_group("empty", names(&[]));
        let draft = AgentDraft {
            tools: names(&["t.one", "t.soon", "t.one"]),
            tool_groups: names(&["numbers", "empty", "numbers"]),
            ..AgentDraft::named("Counter", "You count.")
        };
        let tools = named(&ToolSnapshot::of_bundled(registry.into()), &draft);
        assert_eq!((tools.keys, tools.missing), (names(&["t.one", "t.two"]), names(&["t.soon", "t.later"])));
    }
}
