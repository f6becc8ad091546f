//! Three functions instead of many: find a tool, have it explained, use it. What is used is judged as the tool itself.

use kybern_core::model::FunctionSpec;
use kybern_core::tool::ToolSpec;
use serde_json::{Map, Value, json};

use super::functions::{function_name, help, tool_of};
use crate::tools::ToolSnapshot;

/// From how many tools on they are found and used through the three functions: their schemas together would be longer
/// than most conversations.
pub(super) const MANY: usize = 40;
/// Tools that one search lists.
const LISTED: usize = 20;
/// Characters of a description in a list.
const SHOWN: usize = 160;

const FIND: &str = "find_tools";
const EXPLAIN: &str = "explain_tool";
const USE: &str = "use_tool";

/// What a call of one of the three comes to.
pub(super) enum MetaOutcome {
    /// The model is told this.
    Told {
        text: String,
        /// Whether it says that something is wrong.
        is_error: bool,
    },
    /// It means this tool, with these arguments.
    Uses(String, Value),
}

/// The three functions.
pub(super) fn functions() -> Vec<FunctionSpec> {
    let one = |name: &str, description: &str, parameters: Value| FunctionSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        strict: None,
    };
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    vec![
        one(
            FIND,
            "Finds tools by words of their names and descriptions. \"all\" lists every tool.",
            object(json!({"query": {"type": "string"}}), json!(["query"])),
        ),
        one(
            EXPLAIN,
            "Says what a tool does and which arguments it takes.",
            object(json!({"tool": {"type": "string"}}), json!(["tool"])),
        ),
        one(
            USE,
            "Calls a tool by its name with its arguments. Have it explained first.",
            object(json!({"tool": {"type": "string"}, "arguments": {"type": "object"}}), json!(["tool", "arguments"])),
        ),
    ]
}

/// What a call means; `None` when it is none of the three.
pub(super) fn meant(
    snapshot: &ToolSnapshot,
    offered: &[String],
    function: &str,
    args: &Map<String, Value>,
) -> Option<MetaOutcome> {
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
    let told = |text: String| MetaOutcome::Told { text, is_error: false };
    let named = || {
        let key = tool_of(offered, text("tool"));
        key.and_then(|key| snapshot.find(key)).map(|tool| tool.spec()).ok_or_else(|| MetaOutcome::Told {
            text: format!("there is no tool {:?}: look for one with {FIND}", text("tool")),
            is_error: true,
        })
    };
    Some(match function {
        FIND => told(found(snapshot, offered, text("query"))),
        EXPLAIN => match named() {
            Ok(spec) => told(format!("{}\n{}", spec.description, help(spec))),
            Err(unknown) => unknown,
        },
        USE => match named() {
            Ok(spec) => {
                MetaOutcome::Uses(spec.key.clone(), args.get("arguments").cloned().unwrap_or_else(|| json!({})))
            }
            Err(unknown) => unknown,
        },
        _ => return None,
    })
}

/// The tools in whose names, descriptions and tags all words stand, those with most of them in the name first.
fn found(snapshot: &ToolSnapshot, offered: &[String], query: &str) -> String {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let all = words.is_empty() || words == ["all"];
    let hits = |spec: &ToolSpec| {
        let (name, tags) = (spec.key.to_lowercase(), spec.tags.join(" "));
        let text = format!("{} {tags}", spec.description).to_lowercase();
        let everywhere = all || words.iter().all(|word| name.contains(word) || text.contains(word));
        everywhere.then(|| words.iter().filter(|word| name.contains(word.as_str())).count())
    };
    let specs = offered.iter().filter_map(|key| snapshot.find(key)).map(|tool| tool.spec());
    let mut found: Vec<(usize, &ToolSpec)> = specs.filter_map(|spec| hits(spec).map(|hits| (hits, spec))).collect();
    found.sort_by(|(a, one), (b, two)| b.cmp(a).then_with(|| one.key.cmp(&two.key)));
    if found.is_empty() {
        return format!("no tool has the words {query:?}: try fewer or other words, or \"all\"");
    }
    let (shown, total) = (found.iter().take(if all { usize::MAX } else { LISTED }), found.len());
    let line = |(_, spec): &(usize, &ToolSpec)| {
        let description: String = spec.description.chars().take(SHOWN).collect();
        format!("- {}: {description}", function_name(&spec.key))
    };
    let lines = shown.map(line).collect::<Vec<_>>().join("\n");
    format!("{total} found:\n{lines}")
}

#[cfg(test)]
mod tests {
    use kybern_core::pack::PackRegistry;

    use super::*;

    fn registry() -> (ToolSnapshot, Vec<String>) {
        let mut registry = PackRegistry::default();
        crate::tools::builtin::register(&mut registry).unwrap();
        let keys = registry.registered_tools().map(|tool| tool.spec().key.clone()).collect();
        (ToolSnapshot::of_bundled(registry.into()), keys)
    }

    fn told(function: &str, args: Value) -> (String, bool) {
        let (registry, keys) = registry();
        match meant(&registry, &keys, function, args.as_object().unwrap()) {
            Some(MetaOutcome::Told { text, is_error }) => (text, is_error),
            Some(MetaOutcome::Uses(..)) | None => panic!("{function} told nothing"),
        }
    }

    #[test]
    fn tools_are_found_by_all_words_and_explained() {
        let (text, is_error) = told(FIND, json!({"query": "RECORD"}));
        assert!(!is_error && text.contains("core__put_record") && text.contains("core__get_record"), "{text}");
        assert!(told(FIND, json!({"query": "no such thing"})).0.contains("no tool has"));
        let (registry, keys) = registry();
        assert!(told(FIND, json!({"query": "all"})).0.starts_with(&format!("{} found", keys.len())));
        let (text, is_error) = told(EXPLAIN, json!({"tool": "core.put_record"}));
        assert!(!is_error && text.contains("\"kind\"") && registry.find("core.put_record").is_some());
        assert!(told(EXPLAIN, json!({"tool": "ghost"})).1);
    }

    #[test]
    fn what_is_used_is_the_tool_itself_and_only_one_that_is_offered() {
        let (registry, keys) = registry();
        let args = json!({"tool": "core__set", "arguments": {"a": 1}});
        let used = meant(&registry, &keys, USE, args.as_object().unwrap());
        assert!(matches!(used, Some(MetaOutcome::Uses(key, args)) if key == "core.set" && args == json!({"a": 1})));
        let few = keys[..1].to_vec();
        let refused = meant(&registry, &few, USE, args.as_object().unwrap());
        assert!(matches!(refused, Some(MetaOutcome::Told { is_error: true, .. })));
        assert!(meant(&registry, &keys, "core__set", &Map::new()).is_none());
    }
}
