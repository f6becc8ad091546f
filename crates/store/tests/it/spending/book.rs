//! What the processes have said, and what must have been spent because of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kybern_core::id::ReservationId;
use kybern_core::money::NanoUsd;

use super::{ESTIMATE, actual, is_given_back};

/// What was said of one round.
#[derive(Default)]
pub(super) struct Told {
    /// Reservations, with their call and its link.
    pub(super) reserved: BTreeMap<ReservationId, (u64, u64)>,
    /// Those of them that were settled.
    pub(super) settled: BTreeSet<ReservationId>,
    /// Places that were taken under the rate.
    pub(super) placed: u64,
}

/// What was said of every round.
#[derive(Default)]
pub(super) struct Book(BTreeMap<i64, Told>);

impl Book {
    pub(super) fn read(&mut self, lines: &[String]) {
        for line in lines {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default();
            let (what, round) = (word(), word().parse::<i64>().unwrap());
            let told = self.0.entry(round).or_default();
            match what {
                "round" => {}
                "placed" => told.placed += 1,
                "reserved" => {
                    let id = word().parse().unwrap();
                    told.reserved.insert(id, (word().parse().unwrap(), word().parse().unwrap()));
                }
                "settled" => drop(told.settled.insert(word().parse().unwrap())),
                other => panic!("a process said {other:?}"),
            }
        }
    }

    pub(super) fn last(&self) -> Option<i64> {
        self.0.keys().next_back().copied()
    }

    pub(super) fn round(&self, round: i64) -> &Told {
        &self.0[&round]
    }

    /// What those rounds must have cost, when these were lost. A settlement that was not confirmed was written, or else
    /// its reservation is among the lost; a reservation that was not confirmed was not written, or is among the lost.
    pub(super) fn expected(&self, rounds: &Range<i64>, lost: &BTreeSet<ReservationId>) -> NanoUsd {
        let mut sum = i64::try_from(lost.len()).unwrap() * ESTIMATE.0;
        for (round, told) in self.0.range(rounds.clone()) {
            for (id, (n, link)) in &told.reserved {
                assert!(!(lost.contains(id) && told.settled.contains(id)), "{id} was settled, and lost all the same");
                if !lost.contains(id) && !is_given_back(*n) {
                    sum += actual(*round, *n, *link).0;
                }
            }
        }
        NanoUsd(sum)
    }
}
