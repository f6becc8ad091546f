//! The options of an operation. One that belongs to another operation is refused, because it would do nothing.

use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::super::refuse;

/// Their schema.
pub(super) fn schema() -> Value {
    json!({
        "type": ["object", "null"],
        "description": "Options of the operation.",
        "properties": {
            "maxLength": {
                "type": "integer", "minimum": 1, "maximum": 1_048_576,
                "description": "truncate (needed), slugify, summarize: the most characters of the result."
            },
            "ellipsis": {
                "type": "string", "maxLength": 20,
                "description": "truncate: what marks the cut, within maxLength. A … when nothing is given."
            },
            "find": {"type": "string", "maxLength": 1_000, "description": "replace (needed): what to look for."},
            "with": {
                "type": "string", "maxLength": 10_000,
                "description": "replace: what to put there; nothing when nothing is given. With regex, $1 or ${name} \
                                is a group and $$ a dollar sign."
            },
            "regex": {
                "type": "boolean",
                "description": "replace: whether find is a regular expression (RE2 style: no look-around and no \
                                back-references)."
            },
            "ignoreCase": {
                "type": "boolean",
                "description": "replace, sort_lines, unique_lines: whether large and small letters are the same."
            },
            "separator": {
                "type": "string", "maxLength": 100,
                "description": "split_lines: where to split, at line ends when nothing is given. join_lines: what to \
                                put between lines, a blank when nothing is given."
            },
            "descending": {"type": "boolean", "description": "sort_lines: whether the last comes first."},
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": super::entities::KINDS},
                "description": "extract_entities: which kinds; all when nothing is given."
            },
            "count": {
                "type": "integer", "minimum": 1, "maximum": 100,
                "description": "keywords: how many; 10 when nothing is given."
            },
            "targetLanguage": {
                "type": "string", "minLength": 1, "maxLength": 60,
                "description": "translate (needed): the language, as in German or pt-BR."
            },
            "schema": {
                "type": "object",
                "description": "extract (needed): the JSON Schema of what to take out of the text."
            },
            "urlSafe": {
                "type": "boolean",
                "description": "base64_encode: whether to use - and _ and no padding."
            }
        },
        "additionalProperties": false
    })
}

/// The options of a call.
pub(super) struct Options<'a> {
    given: Option<&'a Map<String, Value>>,
}

impl<'a> Options<'a> {
    /// Those of a call, when all belong to the operation.
    ///
    /// # Errors
    /// When one does not.
    pub(super) fn of(args: &'a Map<String, Value>, operation: &str, allowed: &[&str]) -> Result<Self, ToolFailure> {
        let given = args.get("options").and_then(Value::as_object);
        let stray = given.and_then(|given| given.keys().find(|name| !allowed.contains(&name.as_str())));
        match stray {
            None => Ok(Self { given }),
            Some(stray) if allowed.is_empty() => {
                Err(refuse(format!("{operation} takes no option {stray}: leave it out")))
            }
            Some(stray) => Err(refuse(format!("{operation} takes no option {stray}, only {}", allowed.join(", ")))),
        }
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.given?.get(name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.get(name)
    }

    /// A yes or no; no when it is not given.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A number from 1.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.get(name)?.as_u64()?).ok()
    }

    /// A list of texts.
    pub(super) fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        Some(self.get(name)?.as_array()?.iter().filter_map(Value::as_str).collect())
    }
}
