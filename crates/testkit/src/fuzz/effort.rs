//! What an input costs on a machine that has other work too. Elsewhere than on Linux only the time that passes is known.

use std::time::Duration;

/// Of the time in which this process did not work, one part in so many counts: it may have waited for its turn, and
/// what waits for something else waits for long.
const IDLE_SHARE: u32 = 10;
/// How Linux counts what a process has worked.
const TICK: Duration = Duration::from_millis(10);

/// What this process has worked on all its threads.
pub(super) fn worked() -> Option<Duration> {
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in brackets, may hold anything; eleven fields later come the ticks of the program and of the system.
    let mut ticks = status.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || ticks.next()?.parse::<u32>().ok();
    Some(TICK * next()?.checked_add(next()?)?)
}

/// What counts of the time that passed, when the process has worked so much of it.
pub(super) fn weighed(passed: Duration, worked: Option<Duration>) -> Duration {
    let worked = worked.unwrap_or(passed).min(passed);
    worked + (passed - worked) / IDLE_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_counts_less_than_work_and_counts() {
        let seconds = Duration::from_secs;
        assert_eq!(weighed(seconds(12), Some(seconds(2))), seconds(3));
        assert_eq!(weighed(seconds(2), Some(seconds(4))), seconds(2), "two threads have worked");
        assert_eq!(weighed(seconds(2), None), seconds(2));
    }

    #[test]
    fn work_is_counted() {
        let Some(before) = worked() else { return };
        let mut rounds = 0_u64;
        while worked().is_some_and(|now| now == before) {
            rounds = std::hint::black_box(rounds + 1);
        }
        assert!(worked() > Some(before));
    }
}
