//! How much a task's journal weighs: about the bytes of memory that its values take while the task is walked.
//!
//! Whoever walks, shows or replays a task has all of its journal in memory, so one task's journal is bounded, however
//! many steps it has. The weight follows from the rows alone: it is the same after a restart.

use kybern_core::task::{ContainerOpening, JournalEntry, StepOutcome};
use serde_json::{Map, Value};

use crate::size;

/// What a value takes besides its text, and a member of an object besides its name and its value.
const NODE: usize = 32;

/// What an entry adds.
pub(crate) fn of(entry: &JournalEntry) -> usize {
    match entry {
        JournalEntry::Finished(outcome) => of_outcome(outcome),
        JournalEntry::Opened(ContainerOpening::Items { items, .. }) => items.iter().map(of_value).sum(),
        JournalEntry::Retrying { rendered: Some(rendered), .. } => of_members(&rendered.args),
        JournalEntry::Waiting(wait) => of_value(&wait.schema) + of_value(&wait.details),
        JournalEntry::Answered { signal, .. } => as_text(signal),
        JournalEntry::Retrying { rendered: None, .. }
        | JournalEntry::Opened(_)
        | JournalEntry::Recovered { .. }
        | JournalEntry::Ended { .. }
        | JournalEntry::Unreadable { .. } => 0,
    }
}

fn of_outcome(outcome: &StepOutcome) -> usize {
    let said = outcome.reply.iter().flat_map(|reply| &reply.parts).map(size::of_part).sum::<u64>();
    let injected = if outcome.injected.is_empty() { 0 } else { as_text(&outcome.injected) };
    of_value(&outcome.data) + injected + usize::try_from(said).unwrap_or(usize::MAX)
}

fn as_text(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// What a value weighs.
pub(crate) fn of_value(value: &Value) -> usize {
    NODE + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(of_value).sum(),
        Value::Object(members) => of_members(members),
    }
}

fn of_members(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| NODE + name.len() + of_value(value)).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[test]
    fn small_values_weigh_more_than_their_text() {
        let numbers = Value::Array(vec![json!(0); 1_000]);
        assert_eq!(numbers.to_string().len(), 2_001);
        assert_eq!(of(&JournalEntry::Finished(Arc::new(StepOutcome::completed(numbers)))), 32 * 1_001);
        assert_eq!(of_value(&json!({"ab": "cde", "f": [true]})), 32 + (32 + 2 + 35) + (32 + 1 + 64));
        let items = vec![json!("x".repeat(100)); 3];
        assert_eq!(of(&JournalEntry::Opened(ContainerOpening::Items { items, tainted: false })), 3 * 132);
        assert_eq!(of(&JournalEntry::Opened(ContainerOpening::Branches)), 0);
    }
}
