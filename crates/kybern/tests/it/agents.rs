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
    let tools = client.list("/api/tools").await;
    // All that is a tool here, or is named as one by an agent.
    let mut known: BTreeSet<String> = tools.iter().map(|tool| text(&tool["key"])).collect();
    known.extend(tools.iter().flat_map(|tool| names(tool, "aliases")));
    known.extend(agents.iter().flat_map(|agent| names(agent, "toolKeys")));
    known.extend(agents.iter().flat_map(|agent| names(agent, "missingTools")));
    let mut named = 0;
    for agent in &agents {
        let (own, prompt) = (names(agent, "toolKeys"), text(&agent["systemPrompt"]));
        let words =
            prompt.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').map(|word| word.trim_matches('.'));
        // A word such as "calculator" may be meant as a word; a name with a sign in it is a tool.
        for word in words.filter(|word| word.contains(['_', '.'])) {
            assert!(!known.contains(word) || own.contains(word), "{} has no {word}", agent["key"]);
            named += usize::from(own.contains(word));
        }
    }
    assert!(named > 0 && agents.len() > 1, "some prompts name their tools: {agents:?}");
}
