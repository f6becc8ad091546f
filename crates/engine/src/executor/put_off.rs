//! Leaving a step to another worker.

use kybern_core::error::ErrorCode;
use kybern_core::task::{JournalEntry, StepError};
use kybern_core::time::{Millis, Timestamp};

use super::node::Node;
use super::step::{Draft, RowDraft, failure};

/// How long a step is left to other workers when this one does not have its tool or plan, and how often: five minutes in all,
/// in which an upgrade of all workers is done.
const MISS: Millis = Millis::from_secs(5);
const MOST_MISSES: u32 = 60;

/// Leaves a step to another worker: while workers are upgraded one by one, some have tools and plans that others have
/// not. `None` once that is over.
pub(crate) fn put_off(node: &Node, kind: &str, name: &str, now: Timestamp) -> Option<Draft> {
    if node.misses >= MOST_MISSES {
        return None;
    }
    let error = failure(ErrorCode::NotFound, format!("this worker does not have the {kind} {name}"));
    let summary = format!("left to a worker that has {name}");
    let error = StepError { retryable: true, ..error };
    let entry = JournalEntry::Retrying { error, due: now.plus(MISS), rendered: None };
    Some(Draft::row(RowDraft::of(node, node.attempts, summary, entry)))
}
