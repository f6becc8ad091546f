//! What was read before and still holds: who holds which key, and the plans of a tenant.
//!
//! Every submission asks for both. The one process of a SQLite file sees every change of them, so it need not read
//! them again before one is committed. On PostgreSQL others write too: keys are read each time, and plans are compared
//! by a stamp that the database makes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::id::TenantId;
use kybern_core::identity::KeyHolder;
use kybern_core::plan::Plan;

/// Keys, and tenants' plans, that are kept; beyond it the memory is emptied.
const KEPT: usize = 4_096;

/// The state of the tables at which something was read. It is equal only when nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stamp {
    /// How many changes this process has committed.
    Turn(u64),
    /// What the database says.
    Digest(String),
}

type StampedPlans = (Stamp, Arc<Vec<Plan>>);

/// What was read, with its stamp.
#[derive(Default)]
pub(crate) struct Known {
    turn: AtomicU64,
    holders: Mutex<HashMap<String, (Stamp, KeyHolder)>>,
    plans: Mutex<HashMap<TenantId, StampedPlans>>,
}

impl Known {
    /// The stamp of this moment, to be taken before reading.
    pub(crate) fn turn(&self) -> Stamp {
        Stamp::Turn(self.turn.load(Ordering::Acquire))
    }

    /// A change of keys, users or plans has been committed.
    pub(crate) fn changed(&self) {
        self.turn.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn holder(&self, key_hash: &str, stamp: &Stamp) -> Option<KeyHolder> {
        let holders = lock(&self.holders);
        holders.get(key_hash).filter(|(known, _)| known == stamp).map(|(_, holder)| holder.clone())
    }

    pub(crate) fn keep_holder(&self, key_hash: &str, stamp: Stamp, holder: KeyHolder) {
        keep(&mut lock(&self.holders), key_hash.to_owned(), (stamp, holder));
    }

    pub(crate) fn plans(&self, tenant: TenantId, stamp: &Stamp) -> Option<Arc<Vec<Plan>>> {
        let plans = lock(&self.plans);
        plans.get(&tenant).filter(|(known, _)| known == stamp).map(|(_, plans)| Arc::clone(plans))
    }

    pub(crate) fn keep_plans(&self, tenant: TenantId, stamp: Stamp, plans: &Arc<Vec<Plan>>) {
        keep(&mut lock(&self.plans), tenant, (stamp, Arc::clone(plans)));
    }
}

fn keep<K: std::hash::Hash + Eq, V>(known: &mut HashMap<K, V>, key: K, value: V) {
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(key, value);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
