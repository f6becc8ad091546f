//! How new props meet a record's props. Pure; the store calls it inside the commit.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The ways to merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merge {
    /// Only what is empty is filled; `null`, `""` and `[]` count as empty.
    Fill,
    /// New values replace old ones; a new empty value replaces nothing.
    #[default]
    Overwrite,
    /// Lists become the union of both, without doubles; everything else is filled.
    Union,
}

/// The outcome of a merge.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeOutcome {
    /// The props after it.
    pub props: Map<String, Value>,
    /// The names whose values changed.
    pub changed: Vec<String>,
}

/// Whether a value counts as empty.
#[must_use]
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Merges `new` into `old`.
#[must_use]
pub fn merge(old: &Map<String, Value>, new: &Map<String, Value>, how: Merge) -> MergeOutcome {
    let mut props = old.clone();
    let mut changed = Vec::new();
    for (name, value) in new {
        let before = old.get(name).unwrap_or(&Value::Null);
        if let Some(after) = meet(before, value, how)
            && after != *before
        {
            props.insert(name.clone(), after);
            changed.push(name.clone());
        } else if !old.contains_key(name) && is_empty(value) {
            props.insert(name.clone(), value.clone());
        }
    }
    MergeOutcome { props, changed }
}

/// What stands after `new` meets `old`; `None` when nothing changes.
fn meet(old: &Value, new: &Value, how: Merge) -> Option<Value> {
    if is_empty(new) {
        return None;
    }
    match (how, old, new) {
        (Merge::Union, Value::Array(before), Value::Array(added)) => {
            let mut union = before.clone();
            union.extend(added.iter().filter(|item| !before.contains(item)).cloned());
            Some(Value::Array(union))
        }
        (Merge::Overwrite, _, _) => Some(new.clone()),
        (Merge::Fill | Merge::Union, _, _) => is_empty(old).then(|| new.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn fill_leaves_what_is_there() {
        let merged = merge(
            &object(json!({"name": "Acme", "phone": "", "tags": []})),
            &object(json!({"name": "Other", "phone": "5125550142", "tags": ["a"], "email": null})),
            Merge::Fill,
        );
        let after = json!({"name": "Acme", "phone": "5125550142", "tags": ["a"], "email": null});
        assert_eq!(Value::Object(merged.props), after);
        assert_eq!(merged.changed, ["phone", "tags"]);
    }

    #[test]
    fn union_joins_lists_without_doubles() {
        let merged = merge(&object(json!({"ids": [1, 2]})), &object(json!({"ids": [2, 3], "name": "x"})), Merge::Union);
        assert_eq!(Value::Object(merged.props), json!({"ids": [1, 2, 3], "name": "x"}));
    }

    #[test]
    fn merging_the_same_twice_changes_nothing_the_second_time() {
        let new = object(json!({"a": 1, "b": ["x"]}));
        for how in [Merge::Fill, Merge::Overwrite, Merge::Union] {
            let once = merge(&Map::new(), &new, how);
            assert_eq!(merge(&once.props, &new, how).changed, Vec::<String>::new());
        }
    }
}
