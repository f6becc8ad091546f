//! What the cap on a task's steps does: nothing is scheduled beyond it, and nothing is refused before it.

use std::collections::BTreeSet;

use kybern_core::task::{JournalEntry, StepStatus};
use serde_json::json;

use super::judge::Judge;
use super::leaf::Legal;
use super::program::{Kind, Step};
use super::seen::{End, SeenStep};

impl Judge<'_> {
    /// Whether a step was refused because the task may schedule no more.
    pub(super) fn is_refused(&mut self, id: &str, end: &End) -> bool {
        let Some(cap) = end.outcome.over_cap else { return false };
        self.refused.push(end.seq);
        if cap != self.cap || end.outcome.status != StepStatus::Failed {
            self.fault(id, format!("it was refused by the cap {cap}, the task's is {}", self.cap));
        }
        true
    }

    /// As many steps were scheduled as may be, where one was refused, and never more.
    pub(super) fn within_cap(&mut self) {
        let what =
            format!("{} steps scheduled, {} refused, the cap is {}", self.scheduled, self.refused.len(), self.cap);
        // What ran when a process died or stopped leaves no row, and may not come to its turn again. A retry puts back what failed.
        let is_lost = |row: i64| {
            self.seen.rows.iter().any(|later| later.seq > row && matches!(later.entry, JournalEntry::Recovered { .. }))
        };
        let early = self.scheduled + self.waited < self.cap
            && !self.seen.is_cancelled()
            && !self.seen.retried
            && !self.ledger.stops
            && self.refused.iter().any(|row| !is_lost(*row));
        if self.scheduled > self.cap || early {
            self.fault("-", what);
        }
    }

    /// What a tool proposes is refused when it could not be scheduled in any case: with what is known already it is
    /// over the cap. How much was known at that moment lies between the plan's own steps with what had begun inside of
    /// them, and all that there may ever be.
    pub(super) fn proposal(&self, id: &str, steps: &[Step], end: &End) -> Legal {
        let more = count(steps);
        let skipped = |step: &SeenStep| step.end.as_ref().is_some_and(|end| end.outcome.status == StepStatus::Skipped);
        let seen = |known: &String| self.seen.steps.get(known);
        let is_own = |known: &String| !self.seen.is_replaced() && !seen(known).is_some_and(skipped);
        let own = self.own.iter().filter(|known| is_own(known));
        let begun = |(known, step): &(&String, &SeenStep)| *known == id || (step.first < end.seq && !skipped(step));
        let known: BTreeSet<&String> =
            own.chain(self.seen.steps.iter().filter(begun).map(|(known, _)| known)).collect();
        let least = u32::try_from(known.len()).unwrap();
        Legal {
            completed: (least + more <= self.cap).then(|| json!({})),
            fails: self.most + more > self.cap,
            ..Legal::default()
        }
    }
}

/// How many steps there are, with those inside others.
fn count(steps: &[Step]) -> u32 {
    steps.iter().map(|step| 1 + step.kind.lists().into_iter().map(|list| count(list)).sum::<u32>()).sum()
}

/// How many steps there can ever be: in every round of every loop, and with all that tools propose.
pub(super) fn most(steps: &[Step]) -> u32 {
    let inside = |step: &Step| match &step.kind {
        Kind::Over { rounds, steps } => rounds * most(steps),
        Kind::While { rounds, steps } => rounds * (most(steps) + 1),
        Kind::Inject(steps) | Kind::Patch { steps, .. } => most(steps),
        kind => kind.lists().into_iter().map(|list| most(list)).sum(),
    };
    steps.iter().map(|step| 1 + inside(step)).sum()
}
