//! How long this thread has waited for a core. Elsewhere than on Linux nothing is known, and all time counts as work.

use std::time::Duration;

/// The time that this thread could have run and did not, because others did.
pub(super) fn for_a_core() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    // What it ran, what it waited to run, in nanoseconds, and how often.
    let waited = told.split_whitespace().nth(1).and_then(|waited| waited.parse().ok());
    Duration::from_nanos(waited.unwrap_or_default())
}
