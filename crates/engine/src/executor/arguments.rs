//! The arguments of a call: rendered for the first try of a generation, and the same for all its tries.
//!
//! Every try carries the same key, so the receiver takes all of them for one call. Templates read a state that steps
//! beside this one may change between two tries; so the rendered arguments are kept with the attempt, or with the row
//! that puts the step off, and are restored from there. What the plan, or a person's yes, says literally is not kept
//! again.

use std::sync::Arc;

use kybern_core::json::canonical_members;
use kybern_core::task::RenderedArgs;
use serde_json::{Map, Value};

use super::node::Node;
use super::run::TaskRun;
use super::step::render_object;
use super::taint::argument_is_tainted;
use crate::templates::{self, RenderError};

/// The arguments of a call, and where they come from.
pub(crate) struct Arguments {
    pub(crate) values: Map<String, Value>,
    /// The last row that templates could read when they were rendered.
    pub(crate) saw: i64,
    /// The names of those that come from untrusted sources.
    pub(crate) tainted: Vec<String>,
    /// As they were kept by an earlier try.
    restored: Option<Arc<RenderedArgs>>,
}

impl Arguments {
    /// What the next row or attempt has to keep of them, so that another try is called with the same.
    pub(crate) fn to_keep(
        &self,
        node: &Node,
        written: &Map<String, Value>,
        rendered: &Map<String, Value>,
    ) -> Option<Arc<RenderedArgs>> {
        if node.rendered.is_some() || node.literal_args || node.answer.approved_args.is_some() {
            return None;
        }
        if let Some(restored) = &self.restored {
            return Some(Arc::clone(restored));
        }
        // What a condition read is told by the row that it saw.
        if node.spec.condition.is_none() && !written.values().any(templates::has_expression) {
            return None;
        }
        let made = written.iter().filter(|(_, value)| templates::has_expression(value));
        let args = made.filter_map(|(name, _)| Some((name.clone(), rendered.get(name)?.clone()))).collect();
        Some(Arc::new(RenderedArgs { args, saw: self.saw, tainted: self.tainted.clone() }))
    }
}

/// The arguments of a step's next try: as a person approved them, as an earlier try had them, or rendered now.
///
/// # Errors
/// When a template cannot be rendered.
pub(crate) fn of(run: &TaskRun, index: usize, written: &Map<String, Value>) -> Result<Arguments, RenderError> {
    let node = run.walk.node(index);
    let saw = run.walk.last_seq();
    let tainted_now = || {
        let is_tainted = |(_, value): &(&String, &Value)| argument_is_tainted(run, index, value);
        written.iter().filter(is_tainted).map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    if let Some(approved) = &node.answer.approved_args {
        // A yes says that the call may be made, not that what it brings back is true.
        let mut tainted = approved.tainted.clone();
        tainted.extend(tainted_now().into_iter().filter(|name| !approved.tainted.contains(name)));
        return Ok(Arguments { values: approved.values.clone(), saw, tainted, restored: None });
    }
    if let Some(known) = run.rendered(node) {
        let value = |(name, value): (&String, &Value)| (name.clone(), known.args.get(name).unwrap_or(value).clone());
        let values = written.iter().map(value).collect();
        let (saw, tainted) = (known.saw, known.tainted.clone());
        return Ok(Arguments { values, saw, tainted, restored: Some(known) });
    }
    let values = render_object(run, index, written)?;
    Ok(Arguments { values, saw, tainted: tainted_now(), restored: None })
}

/// BLAKE3 of arguments' canonical form, in hex.
#[must_use]
pub fn hash_args(args: &Map<String, Value>) -> String {
    blake3::hash(&canonical_members(args)).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_hash_of_arguments_follows_their_values_and_not_their_order() {
        let (a, b) =
            (object(json!({"x": 1, "y": {"p": [1], "q": 2}})), object(json!({"y": {"q": 2, "p": [1]}, "x": 1})));
        assert_eq!(hash_args(&a), hash_args(&b));
        assert_ne!(hash_args(&a), hash_args(&object(json!({"x": 1, "y": {"p": [2], "q": 2}}))));
    }
}
