//! How the time of some work grows with how much there is to do.

use std::time::Duration;

use crate::fuzz::computed;

/// How many times as much there is to do the second time.
const TIMES: usize = 8;
/// Any machine is slow once: the quickest of so many tries counts.
const TRIES: usize = 3;

/// How many times as long `work` takes with eight times as many things: about 8 where it is linear, up to 64 where it
/// is quadratic. What this thread computes counts, whatever else the machine does; 0 where that is not known.
pub fn growth(few: usize, mut work: impl FnMut(usize)) -> f64 {
    let mut took = |count| {
        let tries = (0..TRIES).map(|_| {
            let before = computed();
            work(count);
            computed().saturating_sub(before)
        });
        tries.min().unwrap_or_default()
    };
    let (few, many) = (took(few), took(few * TIMES));
    many.as_secs_f64() / few.max(Duration::from_micros(100)).as_secs_f64()
}
