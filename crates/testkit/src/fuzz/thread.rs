//! What this thread has had of the cores. Elsewhere than on Linux nothing is known, and all time counts as work.

use std::time::Duration;

/// The time that this thread has computed, whoever else did at the same time; 0 where nothing is known.
#[must_use]
pub fn computed() -> Duration {
    // Only at a switch does the system count what the thread has run so far.
    std::thread::yield_now();
    nanoseconds(0)
}

/// The time that this thread could have run and did not, because others did.
pub(super) fn waited_for_a_core() -> Duration {
    nanoseconds(1)
}

/// What it ran, and what it waited to run.
fn nanoseconds(at: usize) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let told = told.split_whitespace().nth(at).and_then(|told| told.parse().ok());
    Duration::from_nanos(told.unwrap_or_default())
}
