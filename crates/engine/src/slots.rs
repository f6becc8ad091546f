//! The slots of this process: how much runs at once, and for whom. The rule by which tenants share them is
//! [`kybern_core::slots`]; here is who holds what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::id::TenantId;
use kybern_core::slots::{TenantShare, WorkerCapacity};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The most slots that are offered at once.
const BATCH: usize = 32;
/// Of so many tenants it is remembered when they got their last slot.
const REMEMBERED: usize = 256;

/// The slots of one kind of work.
pub(crate) struct Slots {
    /// Fair: a claim that waits for the next free slot gets it, whatever is submitted meanwhile.
    free: Arc<Semaphore>,
    total: u32,
    share: TenantShare,
    holders: Mutex<Holders>,
    freed: Notify,
}

/// Who holds slots, and who got one lately.
#[derive(Default)]
struct Holders {
    held: BTreeMap<TenantId, u32>,
    served: BTreeMap<TenantId, u64>,
    turn: u64,
}

impl Holders {
    fn enter(&mut self, tenant: TenantId) {
        *self.held.entry(tenant).or_insert(0) += 1;
        self.turn += 1;
        self.served.insert(tenant, self.turn);
        if self.served.len() > REMEMBERED {
            let oldest = self.served.iter().min_by_key(|(_, turn)| **turn).map(|(tenant, _)| *tenant);
            oldest.and_then(|tenant| self.served.remove(&tenant));
        }
    }

    fn leave(&mut self, tenant: TenantId) {
        if let Some(slots) = self.held.get_mut(&tenant) {
            *slots -= 1;
            if *slots == 0 {
                self.held.remove(&tenant);
            }
        }
    }
}

impl Slots {
    /// As many slots as it takes for a tenant to hold `alone` of them when no other tenant has work.
    pub(crate) fn new(alone: usize, share: TenantShare) -> Arc<Self> {
        let total = share.total(u32::try_from(alone.max(1)).unwrap_or(u32::MAX));
        let free = Arc::new(Semaphore::new(usize::try_from(total).unwrap_or(Semaphore::MAX_PERMITS)));
        Arc::new(Self { free, total, share, holders: Mutex::default(), freed: Notify::new() })
    }

    /// A slot for a tenant's new work, when one is free and its share leaves room.
    pub(crate) fn take(self: &Arc<Self>, tenant: TenantId) -> Option<Slot> {
        let mut holders = self.lock();
        let own = holders.held.get(&tenant).copied().unwrap_or(0);
        if !self.share.allows(own, self.unheld(&holders)) {
            return None;
        }
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        holders.enter(tenant);
        drop(holders);
        Some(Slot { slots: Arc::clone(self), tenant, _permit: permit })
    }

    /// Waits for a free slot and sets it aside, with as many more as are free.
    ///
    /// # Cancel safety
    /// Dropping it loses the place in the line, and nothing else.
    pub(crate) async fn vacant(self: &Arc<Self>) -> Option<VacantSlots> {
        let mut permits = vec![Arc::clone(&self.free).acquire_owned().await.ok()?];
        while permits.len() < BATCH
            && let Ok(more) = Arc::clone(&self.free).try_acquire_owned()
        {
            permits.push(more);
        }
        Some(VacantSlots { slots: Arc::clone(self), permits })
    }

    /// Waits until a slot was given back while a tenant had used up its share.
    ///
    /// # Cancel safety
    /// Dropping it loses nothing.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    /// How many slots tenants hold.
    pub(crate) fn held(&self) -> u32 {
        self.lock().held.values().sum()
    }

    /// How many there are.
    pub(crate) const fn total(&self) -> u32 {
        self.total
    }

    /// What no tenant holds; what is set aside is among it.
    fn unheld(&self, holders: &Holders) -> u32 {
        self.total.saturating_sub(holders.held.values().sum())
    }

    fn give_back(&self, tenant: TenantId) {
        let mut holders = self.lock();
        let free = self.unheld(&holders);
        let held_back = holders.held.values().max().is_some_and(|most| !self.share.allows(*most, free));
        holders.leave(tenant);
        drop(holders);
        if held_back {
            self.freed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Holders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Free slots that are set aside for a claim.
pub(crate) struct VacantSlots {
    slots: Arc<Slots>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl VacantSlots {
    /// What a claim may take, but for what runs here.
    pub(crate) fn offer(&self) -> WorkerCapacity {
        let holders = self.slots.lock();
        WorkerCapacity {
            limit: u32::try_from(self.permits.len()).unwrap_or(u32::MAX),
            free: self.slots.unheld(&holders),
            share: self.slots.share,
            held: holders.held.clone(),
            served: holders.served.clone(),
            running: Vec::new(),
        }
    }

    /// One of them for work that was claimed.
    pub(crate) fn give(&mut self, tenant: TenantId) -> Option<Slot> {
        let permit = self.permits.pop()?;
        self.slots.lock().enter(tenant);
        Some(Slot { slots: Arc::clone(&self.slots), tenant, _permit: permit })
    }
}

/// A slot that a tenant holds until it is dropped.
pub(crate) struct Slot {
    slots: Arc<Slots>,
    tenant: TenantId,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.give_back(self.tenant);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    fn tenant(n: u128) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(n))
    }

    fn taken(slots: &Arc<Slots>, who: TenantId) -> Vec<Slot> {
        std::iter::from_fn(|| slots.take(who)).collect()
    }

    #[test]
    fn submissions_of_one_tenant_leave_slots_for_others() {
        let slots = Slots::new(48, TenantShare::default());
        let flood = taken(&slots, tenant(1));
        assert_eq!(flood.len(), 48);
        assert_eq!(taken(&slots, tenant(2)).len(), 12, "what it took was given back");
        assert_eq!(taken(&slots, tenant(2)).len(), 12);
        drop(flood);
        assert_eq!(taken(&slots, tenant(1)).len(), 48);
    }

    #[test]
    fn what_is_set_aside_is_offered_and_counts_as_free() {
        let slots = Slots::new(48, TenantShare::default());
        let _one = slots.take(tenant(1)).unwrap();
        let mut vacant = slots.vacant().now_or_never().unwrap().unwrap();
        let offer = vacant.offer();
        assert_eq!((offer.limit, offer.free), (32, 63));
        assert_eq!(offer.held, BTreeMap::from([(tenant(1), 1)]));
        let _two = vacant.give(tenant(2)).unwrap();
        assert_eq!((vacant.offer().limit, vacant.offer().free), (31, 62));
        assert_eq!(taken(&slots, tenant(3)).len(), 31, "nobody else takes what is set aside");
        drop(vacant);
        assert_eq!(taken(&slots, tenant(3)).len(), 46);
    }

    #[test]
    fn whoever_was_held_back_is_looked_for_again_when_a_slot_is_given_back() {
        let slots = Slots::new(3, TenantShare::default());
        drop(slots.take(tenant(1)).unwrap());
        assert!(slots.freed().now_or_never().is_none(), "nobody was held back");
        let mut full = taken(&slots, tenant(1));
        assert_eq!(full.len(), 3);
        full.pop();
        assert!(slots.freed().now_or_never().is_some());
    }
}
