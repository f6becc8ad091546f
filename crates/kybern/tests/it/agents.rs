//! The agents that every tenant has from the start, as the whole program brings them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::server::Site;
use crate::server::client::text;

fn names(agent: &Value, of: &str) -> BTreeSet<String> {
    agent[of].as_array().into_iter().flatten().map(text).collect()
}

#[tokio::test]
async fn a_prompt_names_no_tool_that_its_agent_has_not() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let agents = client.list("/api/agents").await;
    let mut named = 0;
    for agent in &agents {
        let (own, prompt) = (names(agent, "toolKeys"), text(&agent["systemPrompt"]));
        let words =
            prompt.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').map(|word| word.trim_matches('.'));
        // A word such as "calculator" may be meant as a word; a name with a sign in it is a tool, or promises one.
        for word in words.filter(|word| word.contains(['_', '.'])) {
            assert!(own.contains(word), "{} has no {word}", agent["key"]);
            named += 1;
        }
    }
    assert!(named > 0 && agents.len() > 1, "some prompts name their tools: {agents:?}");
}

/// Every tool that the program has, by key and alias.
async fn tools_by_name(client: &crate::server::client::Client) -> BTreeSet<String> {
    let tools = client.list("/api/tools").await;
    let keys = tools.iter().map(|tool| text(&tool["key"]));
    keys.chain(tools.iter().flat_map(|tool| names(tool, "aliases"))).collect()
}

#[tokio::test]
async fn no_group_and_no_agent_names_a_tool_that_does_not_exist() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    let known = tools_by_name(&client).await;
    let registry = crate::offline::packs::registry(crate::offline::packs::USUAL).unwrap();
    let mut named = 0;
    for (group, tools) in registry.tool_groups() {
        for tool in tools {
            assert!(known.contains(tool), "the group {group} names {tool}, which does not exist");
            named += 1;
        }
    }
    assert!(named > 20 && known.contains("core.hand_to_person"), "{named}");
    for agent in client.list("/api/agents").await {
        assert!(names(&agent, "missingTools").is_empty(), "{}: {}", agent["key"], agent["missingTools"]);
    }
}

#[tokio::test]
async fn every_tool_has_words_and_an_example_that_a_plan_may_call() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    for tool in client.list("/api/tools").await {
        let key = text(&tool["key"]);
        let examples = tool["examples"].as_array().unwrap();
        assert!(!names(&tool, "tags").is_empty() && !examples.is_empty(), "{key}");
        for example in examples {
            let step = serde_json::json!({"id": "call", "tool": key, "args": example});
            let plan = serde_json::json!({"key": "test.example", "steps": [step]});
            let checked = client.post("/api/plans/check", &plan).await;
            assert_eq!(checked["valid"], true, "{key} {example}: {checked}");
        }
    }
}
