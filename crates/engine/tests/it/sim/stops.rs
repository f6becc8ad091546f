//! When a failure stopped what, by the rows of the journal: nothing begins after that but what runs always. A call that
//! ran at that moment leaves its row later.

use kybern_core::task::StepStatus;

use super::judge::{Judge, dependencies};
use super::program::{Kind, Step};

impl Judge<'_> {
    /// The row in which a step, or one that it injected, stopped the list that it stands in.
    pub(super) fn stop_of(&self, id: &str) -> Option<i64> {
        self.stopper(id).map(|(row, _)| row)
    }

    /// That row, and whether what it tells is a person's no.
    pub(super) fn stopper(&self, id: &str) -> Option<(i64, bool)> {
        let end = self.seen.steps.get(id)?.end.as_ref()?;
        let stops = end.outcome.status == StepStatus::Failed && !end.outcome.tolerated;
        let injected = end.outcome.injected.iter().filter_map(|step| self.stopper(step.id.as_str()));
        stops.then_some((end.seq, end.outcome.refused)).into_iter().chain(injected).min()
    }

    /// A step does not begin after a failure has stopped what it stands in. It began after that when what it waits for
    /// ended after that, or when its first row, which it leaves as it begins, comes after that.
    pub(super) fn not_after_stop(&mut self, id: &str, entries: &[(String, Step)], at: usize) {
        let step = &entries[at].1;
        let (Some(stop), Some(seen)) = (self.stopped, self.seen.steps.get(id)) else { return };
        if step.always || self.seen.retried {
            return;
        }
        let waited = dependencies(entries, at).into_iter().map(|dep| self.seen.last_end(&entries[dep].0)).max();
        let tells = matches!(step.kind, Kind::Input | Kind::Workflow(_) | Kind::Child(_)) || step.kind.is_container();
        let first = seen.first;
        if waited.is_some_and(|waited| waited > stop) || (tells && first > stop) {
            self.fault(id, format!("it began, its first row is {first}, after row {stop} had stopped it"));
        }
    }

    /// Nor does a round of a loop.
    pub(super) fn no_round_after_stop(&mut self, id: &str, before: &str) {
        let ends = self.seen.steps.iter().filter(|(known, _)| known.starts_with(before));
        let rested = ends.filter_map(|(_, step)| Some(step.end.as_ref()?.seq)).max();
        if let (Some(stop), Some(rested)) = (self.stopped, rested)
            && rested > stop
            && !self.seen.retried
        {
            self.fault(id, format!("a round after {before} began, although row {stop} had stopped it"));
        }
    }
}
