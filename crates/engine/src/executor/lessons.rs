//! With which lessons of its tenant a task reads: the version stands in the outcomes of its phases, or in a row of its own.

use serde_json::Value;

use super::node::Phase;
use super::walk::Walk;

/// Under what the version stands in a phase's outcome; where it does not, nothing had been learned.
pub(crate) const VERSION: &str = "lessonsVersion";

/// The version that an outcome names.
pub(crate) fn version_in(data: &Value) -> u32 {
    data.get(VERSION).and_then(Value::as_u64).and_then(|version| u32::try_from(version).ok()).unwrap_or_default()
}

/// The version with which a task reads, once its journal says so.
pub(crate) fn version_of(walk: &Walk) -> Option<u32> {
    let outcome = |phase| walk.phase(phase)?.outcome.as_ref();
    let of_phase = [Phase::Extraction, Phase::Intent].into_iter().find_map(outcome);
    of_phase.map(|outcome| version_in(&outcome.data)).or(walk.lessons_version)
}
