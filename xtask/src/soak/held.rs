//! What a server holds after each round, and whether it is too much.

use std::fmt;

/// Rounds without which nothing can be said: half of them are the warm-up.
pub(super) const LEAST: usize = 8;
/// What may stay in memory of each task that has ended, in bytes. Statistics of the allocator and pages of caches that
/// fill up slowly look like growth; a task that stays costs thousands.
const BYTES_PER_TASK: f64 = 256.0;
/// Growth that says nothing: the allocator returns memory in pieces of this order.
const NOISE: f64 = 8.0 * 1024.0 * 1024.0;
/// Handles that may come and go: connections of a pool, files that are being written.
const HANDLES: u64 = 8;

/// What a process held after a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sample {
    /// Tasks that have ended since the start.
    pub(super) tasks: u64,
    /// Resident memory of its own, in bytes.
    pub(super) memory: u64,
    /// Open files and connections.
    pub(super) handles: u64,
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tasks, {:.1} MB, {} handles", self.tasks, megabytes(self.memory as f64), self.handles)
    }
}

/// The end of a run.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Bytes for each task, by the line that fits best.
    per_task: f64,
    /// Tasks after the warm-up.
    tasks: u64,
    handles: (u64, u64),
}

impl Verdict {
    /// Judges the rounds after the warm-up, and what was open at the very end.
    pub(super) fn of(samples: &[Sample], last: &Sample) -> Self {
        let warm = &samples[samples.len() / 2..];
        let tasks = warm.last().map_or(0, |last| last.tasks) - warm.first().map_or(0, |first| first.tasks);
        let first = samples.first().map_or(0, |first| first.handles);
        Self { per_task: slope(warm), tasks, handles: (first, last.handles) }
    }

    fn growth(&self) -> f64 {
        self.per_task * self.tasks as f64
    }

    pub(super) fn holds(&self) -> bool {
        let (first, last) = self.handles;
        (self.per_task <= BYTES_PER_TASK || self.growth() <= NOISE) && last <= first + HANDLES
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.handles;
        write!(
            f,
            "{} after the warm-up memory grew by {:.0} bytes a task over {} tasks ({:.1} MB; {BYTES_PER_TASK:.0} bytes a \
             task are allowed), handles went from {first} to {last}",
            if self.holds() { "holds:" } else { "falls short:" },
            self.per_task,
            self.tasks,
            megabytes(self.growth()),
        )
    }
}

fn megabytes(bytes: f64) -> f64 {
    bytes / (1024.0 * 1024.0)
}

/// The slope of the line that fits best, in bytes for each task.
fn slope(samples: &[Sample]) -> f64 {
    let count = samples.len() as f64;
    let mean = |of: fn(&Sample) -> u64| samples.iter().map(|sample| of(sample) as f64).sum::<f64>() / count;
    let (tasks, memory) = (mean(|sample| sample.tasks), mean(|sample| sample.memory));
    let (mut covered, mut spread) = (0.0, 0.0);
    for sample in samples {
        let off = sample.tasks as f64 - tasks;
        covered += off * (sample.memory as f64 - memory);
        spread += off * off;
    }
    if spread > 0.0 { covered / spread } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    /// Rounds of a thousand tasks, with so much memory after each.
    fn rounds(memory: impl Fn(u64) -> u64) -> Vec<Sample> {
        (0..20).map(|n| Sample { tasks: (n + 1) * 1_000, memory: memory(n), handles: 20 }).collect()
    }

    fn verdict(samples: &[Sample]) -> Verdict {
        Verdict::of(samples, samples.last().unwrap())
    }

    #[test]
    fn what_grows_while_it_warms_up_and_then_wavers_holds() {
        let warming = verdict(&rounds(|n| (100 + n.min(9) * 10 + n % 3) * MB));
        assert!(warming.holds(), "{warming}");
    }

    #[test]
    fn what_keeps_something_of_each_task_falls_short() {
        let growing = verdict(&rounds(|n| (100 + 2 * n + n % 2) * MB));
        assert!(!growing.holds() && growing.per_task > 1_900.0, "{growing}");
    }

    #[test]
    fn handles_that_stay_open_fall_short() {
        let samples = rounds(|_| 100 * MB);
        let leaky = Sample { handles: 40, ..*samples.last().unwrap() };
        assert!(!Verdict::of(&samples, &leaky).holds());
        assert!(verdict(&samples).holds());
    }
}
