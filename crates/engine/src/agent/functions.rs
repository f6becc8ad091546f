//! Tools as models know them: under names that every provider takes.

use kybern_core::model::FunctionSpec;
use kybern_core::tool::ToolSpec;

use super::meta;
use crate::schema;
use crate::tools::ToolSnapshot;

/// The most characters of a function's name at every provider.
const MAX_NAME: usize = 64;
/// Characters of the hash by which long names are told apart.
const SUFFIX: usize = 8;
/// The most characters of a description that are shown.
const MAX_DESCRIPTION: usize = 1_024;

/// The name under which models know a tool: its key with `__` for each dot; one that is too long, or has letters that
/// providers refuse, ends in a hash of the key.
pub(crate) fn function_name(key: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain = key.replace('.', "__");
    if plain.len() <= MAX_NAME && plain.chars().all(fits) {
        return plain;
    }
    let hash = blake3::hash(key.as_bytes()).to_hex();
    let short: String = plain.chars().map(|c| if fits(c) { c } else { '_' }).take(MAX_NAME - SUFFIX - 1).collect();
    format!("{short}_{}", hash.get(..SUFFIX).unwrap_or_default())
}

/// The tool among those offered that a function's name means.
pub(crate) fn tool_of<'a>(offered: &'a [String], function: &str) -> Option<&'a str> {
    offered.iter().map(String::as_str).find(|key| *key == function || function_name(key) == function)
}

/// What the model is given: the tools themselves, or three functions to find, explain and use them where they are many.
pub(crate) fn offered(snapshot: &ToolSnapshot, tools: &[String]) -> Vec<FunctionSpec> {
    let specs: Vec<&ToolSpec> = tools.iter().filter_map(|key| snapshot.find(key)).map(|tool| tool.spec()).collect();
    if specs.len() > meta::MANY { meta::functions() } else { specs.into_iter().map(function).collect() }
}

/// Whether the tools are found and used through the three functions.
pub(crate) fn are_many(snapshot: &ToolSnapshot, tools: &[String]) -> bool {
    tools.iter().filter(|key| snapshot.find(key).is_some()).count() > meta::MANY
}

fn function(spec: &ToolSpec) -> FunctionSpec {
    FunctionSpec {
        name: function_name(&spec.key),
        description: spec.description.chars().take(MAX_DESCRIPTION).collect(),
        parameters: schema::closed(&spec.input_schema),
        strict: None,
    }
}

/// How a tool is called, for a model that called it wrongly.
pub(crate) fn help(spec: &ToolSpec) -> String {
    format!("{} takes these arguments (JSON Schema): {}", function_name(&spec.key), schema::closed(&spec.input_schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_every_provider_and_stay_apart() {
        assert_eq!(function_name("insurance.create_deal"), "insurance__create_deal");
        let (long, other) = (format!("a.{}", "x".repeat(80)), format!("a.{}y", "x".repeat(79)));
        for key in [long.as_str(), &other, "mcp.größe/1"] {
            let name = function_name(key);
            assert!(name.len() <= MAX_NAME && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }
        assert_ne!(function_name(&long), function_name(&other));
        let offered = [long.clone(), "core.set".to_owned()];
        assert_eq!(tool_of(&offered, "core__set"), Some("core.set"));
        assert_eq!(tool_of(&offered, "core.set"), Some("core.set"), "models like to write the dot");
        assert_eq!(tool_of(&offered, &function_name(&long)), Some(long.as_str()));
        assert_eq!(tool_of(&offered, "core__get"), None);
    }
}
