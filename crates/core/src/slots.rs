//! Slots: how much of a process one tenant may take, and who gets the next free slot.
//!
//! A tenant may take another slot while what it holds stays below a fixed ratio of what is free. Alone it ends up with
//! its share of all slots; a second tenant that floods gets the same share of the rest, and so on, and the last free
//! slot is kept for a tenant that holds none. So work that hangs for hours leaves room for others, although nobody was
//! waiting when it began. (Dynamic thresholds, as switches share their buffers: Choudhury and Hahne, 1998.)

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use uuid::Uuid;

use crate::id::TenantId;
use crate::time::Timestamp;

/// The part of all slots that a tenant can hold when no other tenant holds any, in percent, from 1 to 100.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TenantShare(u32);

impl Default for TenantShare {
    fn default() -> Self {
        Self(75)
    }
}

impl TenantShare {
    /// No tenant is held back: where there is only one.
    pub const ALL: Self = Self(100);

    /// A share of so many percent; `None` outside of 1 to 100.
    #[must_use]
    pub const fn percent(percent: u32) -> Option<Self> {
        if percent >= 1 && percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// How many slots there have to be so that a tenant alone can hold `alone` of them.
    #[must_use]
    pub fn total(self, alone: u32) -> u32 {
        if self.0 == 100 {
            return alone;
        }
        let rest = u64::from(alone.saturating_sub(1)) * u64::from(100 - self.0) / u64::from(self.0) + 1;
        alone.saturating_add(u32::try_from(rest).unwrap_or(u32::MAX))
    }

    /// Whether a tenant that holds `held` slots may take one of the `free` ones.
    #[must_use]
    pub const fn allows(self, held: u32, free: u32) -> bool {
        if free == 0 {
            return false;
        }
        if held == 0 || self.0 == 100 {
            return true;
        }
        // held / (free - 1) < share / (1 - share)
        let (held, rest) = (held as u64, (free - 1) as u64);
        held * ((100 - self.0) as u64) < rest * (self.0 as u64)
    }
}

/// What a process offers to work that is due.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerCapacity {
    /// How much it takes at most.
    pub limit: u32,
    /// All slots that nobody holds, those of this offer among them.
    pub free: u32,
    /// What one tenant may take.
    pub share: TenantShare,
    /// The slots that tenants hold.
    pub held: BTreeMap<TenantId, u32>,
    /// When tenants got their last slot, as a number that grows; none for those that never got one, or long ago.
    pub served: BTreeMap<TenantId, u64>,
    /// What runs in this process: nothing of it is taken, although its lease may be over. A process that slept, or whose
    /// clock was set, does not take its own work from itself; it goes on and prolongs its leases.
    pub running: Vec<Uuid>,
}

/// A tenant with work that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingTenant {
    pub tenant: TenantId,
    /// Since when its longest due work has been due.
    pub since: Timestamp,
}

impl WorkerCapacity {
    /// An offer of so many slots, where nobody holds any and nobody is held back.
    #[must_use]
    pub const fn of(limit: u32) -> Self {
        Self {
            limit,
            free: limit,
            share: TenantShare::ALL,
            held: BTreeMap::new(),
            served: BTreeMap::new(),
            running: Vec::new(),
        }
    }

    /// How many slots each waiting tenant gets, the first to be served first. Each slot goes to the tenant that holds
    /// the fewest by then, among those to the one whose last slot lies farthest back, and then to the one that has been
    /// waiting longest, unless its share is used up. How much work a tenant has is not known here: who gets more than it
    /// needs leaves the rest to the next offer.
    #[must_use]
    pub fn allot(&self, waiting: &[WaitingTenant]) -> Vec<(TenantId, u32)> {
        let place = |waiting: &WaitingTenant| {
            let held = self.held.get(&waiting.tenant).copied().unwrap_or(0);
            let served = self.served.get(&waiting.tenant).copied().unwrap_or(0);
            Reverse((held, served, waiting.since, waiting.tenant))
        };
        let mut queue: BinaryHeap<_> = waiting.iter().map(place).collect();
        let mut allotted: Vec<(TenantId, u32)> = Vec::new();
        let mut free = self.free;
        let last = self.served.values().max().copied().unwrap_or(0);
        for turn in (last + 1..).take(usize::try_from(self.limit).unwrap_or(usize::MAX)) {
            let Some(Reverse((held, _, since, tenant))) = queue.pop() else { break };
            // Whoever holds the fewest is held back last.
            if !self.share.allows(held, free) {
                break;
            }
            free -= 1;
            queue.push(Reverse((held + 1, turn, since, tenant)));
            match allotted.iter_mut().find(|(known, _)| *known == tenant) {
                Some((_, slots)) => *slots += 1,
                None => allotted.push((tenant, 1)),
            }
        }
        allotted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn tenant(n: u32) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(u128::from(n) + 1))
    }

    fn waiting(n: u32, since: i64) -> WaitingTenant {
        WaitingTenant { tenant: tenant(n), since: Timestamp::from_millis(since) }
    }

    /// How many slots a tenant takes of so many that are free.
    fn takes(share: TenantShare, mut free: u32) -> u32 {
        let mut held = 0;
        while share.allows(held, free) {
            (held, free) = (held + 1, free - 1);
        }
        held
    }

    #[test]
    fn each_tenant_that_floods_takes_its_share_of_what_the_others_leave() {
        let share = TenantShare::default();
        assert_eq!([takes(share, 64), takes(share, 16), takes(share, 4), takes(share, 1)], [48, 12, 3, 1]);
        assert_eq!([takes(share, 1), takes(share, 2), takes(share, 3)], [1, 1, 2]);
        assert_eq!((takes(TenantShare::ALL, 64), takes(share, 0)), (64, 0));
        assert_eq!((TenantShare::percent(0), TenantShare::percent(101)), (None, None));
    }

    #[test]
    fn a_tenant_alone_gets_what_was_meant_for_it_and_there_is_room_beside_it() {
        for percent in 1..=100 {
            let share = TenantShare::percent(percent).unwrap();
            for alone in [1, 2, 3, 12, 32, 64, 1000] {
                let total = share.total(alone);
                assert_eq!(takes(share, total), alone, "{percent} % of {total}");
                assert!(percent == 100 || total > alone);
            }
        }
        assert_eq!((TenantShare::default().total(64), TenantShare::default().total(12)), (86, 16));
    }

    #[test]
    fn who_holds_nothing_comes_before_who_floods_however_long_that_waits() {
        let held = BTreeMap::from([(tenant(0), 40)]);
        let offer = WorkerCapacity { free: 24, share: TenantShare::default(), held, ..WorkerCapacity::of(1) };
        assert_eq!(offer.allot(&[waiting(0, 1), waiting(1, 900)]), [(tenant(1), 1)]);
        assert_eq!(offer.allot(&[waiting(0, 1)]), [(tenant(0), 1)]);
        let full = WorkerCapacity { free: 14, ..offer };
        assert_eq!(full.allot(&[waiting(0, 1)]), [], "its share is used up");
    }

    #[test]
    fn among_equals_the_one_comes_first_that_was_not_served_last() {
        let waiting = [waiting(0, 1), waiting(1, 800), waiting(2, 900)];
        let mut offer = WorkerCapacity::of(1);
        let mut order = Vec::new();
        // One slot for everybody, whose work never takes long.
        for turn in 1..=6 {
            let next = offer.allot(&waiting)[0].0;
            offer.served.insert(next, turn);
            order.push(next);
        }
        assert_eq!(order, [0, 1, 2, 0, 1, 2].map(tenant));
    }

    #[test]
    fn among_equals_the_longest_waiting_is_first() {
        let offer = WorkerCapacity::of(4);
        let found = offer.allot(&[waiting(0, 30), waiting(1, 10), waiting(2, 20)]);
        assert_eq!(found, [(tenant(1), 2), (tenant(2), 1), (tenant(0), 1)]);
    }

    proptest! {
        #[test]
        fn an_offer_is_shared_out_fairly(
            total in 1_u32..200,
            percent in 1_u32..=100,
            held in prop::collection::vec(0_u32..40, 1..8),
            since in prop::collection::vec(0_i64..5, 8),
            limit in 0_u32..64,
        ) {
            let all: u32 = held.iter().sum();
            let free = total.saturating_sub(all);
            let limit = limit.min(free);
            let share = TenantShare::percent(percent).unwrap();
            let count = u32::try_from(held.len()).unwrap();
            let map = (0..count).map(tenant).zip(held.iter().copied()).collect();
            let line: Vec<WaitingTenant> = (0..count).map(|n| waiting(n, since[n as usize])).collect();
            let offer = WorkerCapacity { limit, free, share, held: map, ..WorkerCapacity::of(0) };
            let found = offer.allot(&line);

            let given: u32 = found.iter().map(|(_, slots)| slots).sum();
            prop_assert!(given <= limit);
            let after = |n: usize| {
                let more = found.iter().find(|(id, _)| *id == line[n].tenant).map_or(0, |(_, slots)| *slots);
                (held[n] + more, more)
            };
            for n in 0..held.len() {
                let (now, more) = after(n);
                for other in 0..held.len() {
                    // Nobody got a slot while somebody who waits as well held fewer.
                    prop_assert!(more == 0 || now <= after(other).0 + 1);
                }
                // What is left over is left because nobody may have it.
                prop_assert!(given == limit || !share.allows(now, free - given));
            }
            // One that holds nothing gets one as long as there is one.
            if held.contains(&0) && limit > 0 {
                prop_assert!(given > 0);
            }
        }
    }
}
