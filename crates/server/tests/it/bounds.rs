//! The bounds that the document names are those that the core holds.

use kybern_core::money::MAX_COST;
use kybern_core::{
    agent, approval, chat, document, knowledge, lesson, memory, plan, policy, preference, prompt, retention, secret,
    task, tool,
};
use serde_json::{Value, json};

use crate::nouns::NOUNS;
use crate::schemas::document as described;

/// A bound: the schema, the member, the keyword, and what the core has.
pub(crate) type Bound = (&'static str, &'static str, &'static str, Value);

fn bounds() -> Vec<Bound> {
    let mut bounds = vec![
        ("SubmitTask", "input", "maxLength", json!(task::limits::MAX_INPUT)),
        ("SubmitTaskForm", "input", "maxLength", json!(task::limits::MAX_INPUT)),
        ("SubmitTask", "maxSteps", "maximum", json!(task::limits::MAX_MAX_STEPS)),
        ("SubmitTaskForm", "maxSteps", "maximum", json!(task::limits::MAX_MAX_STEPS)),
        ("HoldTask", "reason", "maxLength", json!(retention::MAX_REASON)),
        ("Decide", "note", "maxLength", json!(approval::MAX_NOTE)),
        ("RejectPrompt", "note", "maxLength", json!(approval::MAX_NOTE)),
        ("NewMessage", "content", "maxLength", json!(chat::MAX_CONTENT)),
        ("ImportedMessage", "content", "maxLength", json!(chat::MAX_CONTENT)),
        ("PreviewPrompt", "content", "maxLength", json!(chat::MAX_CONTENT)),
        ("NewChat", "title", "maxLength", json!(chat::MAX_TITLE)),
        ("ImportChat", "title", "maxLength", json!(chat::MAX_TITLE)),
        ("ImportedChat", "title", "maxLength", json!(chat::MAX_TITLE)),
        ("NewAgent", "key", "maxLength", json!(agent::MAX_KEY)),
        ("NewKnowledge", "title", "maxLength", json!(knowledge::MAX_TITLE)),
        ("NewKnowledgeForm", "title", "maxLength", json!(knowledge::MAX_TITLE)),
        ("NewMemory", "content", "maxLength", json!(memory::MAX_CONTENT)),
        ("ChangeMemory", "content", "maxLength", json!(memory::MAX_CONTENT)),
        ("NewLesson", "text", "maxLength", json!(lesson::MAX_EXAMPLE)),
        ("NewLesson", "label", "maxLength", json!(lesson::MAX_LABEL)),
        ("NewLesson", "address", "maxLength", json!(lesson::MAX_ADDRESS)),
        ("SetProfile", "name", "maxLength", json!(preference::MAX_NAME)),
        ("NewSecret", "value", "maxLength", json!(secret::MAX_VALUE)),
        ("NewSecret", "description", "maxLength", json!(secret::MAX_DESCRIPTION)),
        ("NewSecret", "hosts", "maxItems", json!(secret::MAX_HOSTS)),
        ("NewPlan", "intentKey", "maxLength", json!(plan::parse::MAX_INTENT_KEY)),
        ("NewPlan", "steps", "maxItems", json!(plan::limits::MAX_STEPS)),
        ("NewPlan", "domain", "maxLength", json!(plan::limits::MAX_DOMAIN)),
        ("NewPlan", "description", "maxLength", json!(plan::limits::MAX_DESCRIPTION)),
        ("Step", "if", "maxLength", json!(plan::limits::MAX_EXPRESSION)),
        ("Step", "while", "maxLength", json!(plan::limits::MAX_EXPRESSION)),
        ("Step", "id", "maxLength", json!(plan::limits::MAX_DERIVED_ID)),
        ("Step", "maxIterations", "maximum", json!(plan::limits::MAX_ITERATIONS)),
    ];
    let files = [("SubmitTask", "attachments"), ("SubmitTaskForm", "files"), ("NewMessage", "attachments")];
    bounds.extend(files.map(|(schema, name)| (schema, name, "maxItems", json!(document::limits::MAX_ATTACHMENTS))));
    for (schema, price) in [("ToolPrice", "fixedNanos"), ("UnitPrice", "nanos")] {
        bounds.push((schema, price, "minimum", json!(0)));
        bounds.push((schema, price, "maximum", json!(MAX_COST)));
    }
    let rates = ["perMinute", "perHour", "perDay"];
    bounds.extend(rates.map(|name| ("ToolLimits", name, "maximum", json!(tool::setting::MAX_CALLS))));
    for schema in ["NewAgent", "ChangeAgent"] {
        bounds.push((schema, "name", "maxLength", json!(agent::MAX_NAME)));
        bounds.push((schema, "description", "maxLength", json!(agent::MAX_DESCRIPTION)));
        bounds.push((schema, "systemPrompt", "maxLength", json!(prompt::MAX_PROMPT)));
        bounds.push((schema, "maxTokens", "maximum", json!(agent::MAX_OUTPUT)));
        bounds.extend(["emoji", "category"].map(|name| (schema, name, "maxLength", json!(agent::MAX_LABEL))));
        bounds.extend(["provider", "model"].map(|name| (schema, name, "maxLength", json!(agent::MAX_NAMED))));
        let lists = ["tools", "toolGroups", "triggers"];
        bounds.extend(lists.map(|name| (schema, name, "maxItems", json!(agent::MAX_ITEMS))));
    }
    let names = ["tool", "agent", "workflow", "planKey", "capability"];
    bounds.extend(names.map(|name| ("Step", name, "maxLength", json!(plan::limits::MAX_NAMED))));
    let prompts = ["NewPrompt", "ChangePrompt", "PreviewPrompt"];
    bounds.extend(prompts.map(|schema| (schema, "text", "maxLength", json!(prompt::MAX_PROMPT))));
    let lists = ["allowedTools", "deniedTools", "allowedPaths", "allowedHosts"];
    bounds.extend(lists.map(|name| ("ChangePermissions", name, "maxItems", json!(policy::MAX_ENTRIES))));
    let keys = ["intent", "schema", "field", "value", "company"];
    bounds.extend(keys.map(|name| ("NewLesson", name, "maxLength", json!(lesson::MAX_KEY))));
    bounds.push(("SetPreferences", "customInstructions", "maxItems", json!(preference::MAX_TEXTS)));
    let lists = ["interests", "goals", "facts"];
    bounds.extend(lists.map(|name| ("SetProfile", name, "maxItems", json!(preference::MAX_TEXTS))));
    bounds.extend(NOUNS.iter().flat_map(|noun| (noun.bounds)()));
    bounds
}

#[test]
fn the_bounds_of_the_document_are_those_of_the_core() {
    let document = described();
    for (schema, member, keyword, held) in bounds() {
        let said = &document["components"]["schemas"][schema]["properties"][member][keyword];
        assert_eq!(*said, held, "{schema}.{member} {keyword}");
    }
}

#[test]
fn the_bounds_of_what_stands_in_lists_are_said_too() {
    let document = described();
    let held = [
        ("ChatStop/oneOf/1/maxItems", json!(4)),
        ("EmbeddingInput/oneOf/0/minLength", json!(1)),
        ("EmbeddingInput/oneOf/1/maxItems", json!(2_048)),
        ("EmbeddingInput/oneOf/1/items/minLength", json!(1)),
        ("EmbeddingInput/oneOf/2/minItems", json!(1)),
        ("EmbeddingInput/oneOf/3/maxItems", json!(2_048)),
        ("NewSecret/properties/hosts/items/$ref", json!("#/components/schemas/SecretHost")),
        ("SecretHost/pattern", json!(secret::HostRule::PATTERN)),
        ("SecretHost/maxLength", json!(secret::HostRule::MAX)),
        ("SecretReference/properties/secret/pattern", json!(secret::SecretName::PATTERN)),
        ("ToolTag/maxLength", json!(tool::own::MAX_TAG)),
        ("HttpCall/properties/headers/maxProperties", json!(tool::own::MAX_HEADERS)),
        ("HttpHeaderText/maxLength", json!(tool::own::MAX_HEADER)),
    ];
    for (place, held) in held {
        assert_eq!(document.pointer(&format!("/components/schemas/{place}")), Some(&held), "{place}");
    }
    assert!(document["paths"]["/api/tools/{name}/invoke"]["post"]["responses"].get("402").is_some());
}

/// Whether a description names the words that a text may be.
fn lists_words(description: &str) -> bool {
    let words = description.split('`').skip(1).step_by(2);
    let plain = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    description.contains("` or `") && words.filter(plain).count() >= 2
}

#[test]
fn a_text_that_is_one_of_some_words_is_an_enum() {
    let open = ["NewCompletionWebhook.url"];
    let document = described();
    let mut found = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for (member, property) in schema["properties"].as_object().into_iter().flatten() {
            let texts = property["type"] == "string" || property["type"][0] == "string";
            let described = property["description"].as_str().unwrap_or_default();
            if texts && property.get("enum").is_none() && lists_words(described) {
                found.push(format!("{name}.{member}: {described}"));
            }
        }
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let described = parameter["description"].as_str().unwrap_or_default();
                if parameter["schema"]["type"] == "string" && lists_words(described) {
                    found.push(format!("{path} {}: {described}", parameter["name"]));
                }
            }
        }
    }
    found.retain(|one| !open.iter().any(|known| one.starts_with(known)));
    assert!(found.is_empty(), "closed sets of words that are no enum: {found:#?}");
}
