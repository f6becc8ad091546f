//! What this process counts of its own work, for metrics.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kybern_core::model::TokenUsage;
use kybern_core::money::NanoUsd;
use kybern_core::ports::{DiskSpace, OpenWork};
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;

/// The upper bounds of the buckets of [`Times`], in milliseconds: from a task of one step to one that waits for a day.
pub const BOUNDS: [u64; 12] =
    [10, 50, 100, 250, 1_000, 5_000, 15_000, 60_000, 300_000, 1_800_000, 7_200_000, 86_400_000];

/// How long things took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// How many there were.
    pub count: u64,
    /// The sum of their times.
    pub sum: Millis,
    /// How many of them took at most as long as each of [`BOUNDS`], and longer than the one before.
    pub buckets: [u64; BOUNDS.len()],
}

impl Times {
    fn add(&mut self, took: Millis) {
        self.count += 1;
        self.sum = Millis(self.sum.0.saturating_add(took.0));
        if let Some(bucket) = BOUNDS.iter().position(|bound| took.0 <= *bound).and_then(|at| self.buckets.get_mut(at)) {
            *bucket += 1;
        }
    }
}

kybern_core::named! {
    /// How a question to a model ended.
    #[derive(PartialOrd, Ord)]
    pub enum Outcome {
        /// It was answered.
        Answered = "answered",
        /// It failed, and may have cost something.
        Failed = "failed",
        /// It was refused or never arrived, and cost nothing.
        Refused = "refused",
    }
}

/// What a provider was asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ModelUse {
    /// How many questions ended in each way.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// How long they took, with all their tries.
    pub times: Times,
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    pub cost: NanoUsd,
}

/// What this process has done since its start.
#[derive(Debug, Default)]
pub struct Meter {
    models: Mutex<BTreeMap<String, ModelUse>>,
    tasks: Mutex<BTreeMap<&'static str, Times>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Meter {
    /// A question to a model of that provider ended.
    pub(crate) fn asked(&self, provider: &str, outcome: Outcome, took: Millis, (used, cost): (&TokenUsage, NanoUsd)) {
        let mut models = lock(&self.models);
        if !models.contains_key(provider) {
            models.insert(provider.to_owned(), ModelUse::default());
        }
        let Some(known) = models.get_mut(provider) else { return };
        *known.outcomes.entry(outcome).or_default() += 1;
        known.times.add(took);
        known.input = known.input.saturating_add(used.input);
        known.output = known.output.saturating_add(used.output);
        known.cost = NanoUsd(known.cost.0.saturating_add(cost.0));
    }

    /// A task ended, so long after it was made.
    pub(crate) fn ended(&self, status: TaskStatus, age: Millis) {
        lock(&self.tasks).entry(status.as_str()).or_default().add(age);
    }

    /// What each provider was asked.
    #[must_use]
    pub fn models(&self) -> BTreeMap<String, ModelUse> {
        lock(&self.models).clone()
    }

    /// How old tasks were when they ended, by status.
    #[must_use]
    pub fn tasks(&self) -> BTreeMap<&'static str, Times> {
        lock(&self.tasks).clone()
    }
}

/// What is open right now.
#[derive(Clone, Debug)]
pub struct Figures {
    pub tasks: Vec<(TaskStatus, i64)>,
    /// What waits besides tasks.
    pub open: OpenWork,
    /// How long the oldest work of each kind has waited; no time where none waits.
    pub oldest: [(&'static str, Millis); 5],
    /// Slots of this process: the kind of work, how many are held, and how many there are.
    pub slots: [(&'static str, u32, u32); 2],
    /// The room on the store's disk, where it is this machine's.
    pub room: Option<DiskSpace>,
    /// Providers of models, and whether their circuit breaker lets questions through.
    pub providers: Vec<(String, bool)>,
    /// Mail and the engines of workflows, as far as they are configured, and whether each answered when it was last asked.
    pub receivers: Vec<(String, bool)>,
    /// Whether this process can claim work.
    pub claims: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_the_bucket_that_holds_them() {
        let mut times = Times::default();
        for took in [0, 10, 11, 86_400_000, 86_400_001] {
            times.add(Millis(took));
        }
        assert_eq!((times.count, times.sum), (5, Millis(172_800_022)));
        assert_eq!((times.buckets[0], times.buckets[1], times.buckets[11]), (2, 1, 1));
        assert_eq!(times.buckets.iter().sum::<u64>(), 4, "what took longer than all bounds is in the count only");
    }
}
