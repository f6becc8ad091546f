//! In which order the calls of one reply are made.

use serde::{Deserialize, Serialize};

/// What a call does, as far as others beside it are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// It only looks, or cannot be made at all.
    Reads,
    /// It may change something.
    Acts,
}

/// Calls that are made at the same time, one batch after the other: those that only look and stand beside each other,
/// and each that acts by itself. A call that reads therefore sees what was changed before it, and nothing of what is
/// asked for after it.
#[must_use]
pub fn batches(calls: &[CallKind]) -> Vec<Vec<usize>> {
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut together = false;
    for (place, kind) in calls.iter().enumerate() {
        let reads = *kind == CallKind::Reads;
        match batches.last_mut() {
            Some(batch) if reads && together => batch.push(place),
            Some(_) | None => batches.push(vec![place]),
        }
        together = reads;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use CallKind::{Acts, Reads};

    #[test]
    fn calls_that_look_are_made_together_and_those_that_act_alone() {
        assert_eq!(batches(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(batches(&[Reads, Reads, Reads]), [vec![0, 1, 2]]);
        assert_eq!(batches(&[Acts, Acts]), [vec![0], vec![1]]);
        assert_eq!(batches(&[Reads, Acts, Reads, Reads, Acts]), [vec![0], vec![1], vec![2, 3], vec![4]]);
    }
}
