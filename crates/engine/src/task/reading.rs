//! Whose turn it is to read what may be large: a task with all that its journal says, the bytes of an attachment; or to
//! do what takes long, such as the preview of a lesson.
//!
//! Reading takes some hundred megabytes at worst while it is put together, whoever asks for it. So only a few are put
//! together at a time, and only some of one tenant; the others wait, which takes next to nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kybern_core::id::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is read at the same time.
const MOST: usize = 8;
/// What is read at the same time for one tenant.
const MOST_OF_TENANT: usize = 4;

/// The turns.
pub(crate) struct ReadingTurns {
    all: Arc<Semaphore>,
    most_of_tenant: usize,
    by_tenant: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

impl Default for ReadingTurns {
    fn default() -> Self {
        Self::at_most(MOST, MOST_OF_TENANT)
    }
}

/// A turn, over when it is dropped. `None` where a semaphore was closed, which none is.
pub(crate) struct Turn(
    #[expect(dead_code, reason = "it is given back when it is dropped")] [Option<OwnedSemaphorePermit>; 2],
);

impl ReadingTurns {
    /// Turns for so many at a time, and for so many of one tenant.
    pub(crate) fn at_most(all: usize, most_of_tenant: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), most_of_tenant, by_tenant: Mutex::default() }
    }

    /// Waits for a turn.
    ///
    /// # Cancel safety
    /// Whoever drops it stands in nobody's way.
    pub(crate) async fn turn(&self, tenant: TenantId) -> Turn {
        // A tenant waits for its own first: it has no more than its share among those who wait for one of all.
        let own = self.of(tenant).acquire_owned().await.ok();
        let all = Arc::clone(&self.all).acquire_owned().await.ok();
        Turn([own, all])
    }

    fn of(&self, tenant: TenantId) -> Arc<Semaphore> {
        let mut by_tenant = self.by_tenant.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = by_tenant.get(&tenant).and_then(Weak::upgrade) {
            return known;
        }
        by_tenant.retain(|_, known| known.strong_count() > 0);
        let new = Arc::new(Semaphore::new(self.most_of_tenant));
        by_tenant.insert(tenant, Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_tenant_has_so_many_turns_and_others_have_theirs() {
        let reading = ReadingTurns::default();
        let turn = |tenant| reading.turn(TenantId::from_uuid(Uuid::from_u128(tenant))).now_or_never();
        let first: Vec<Turn> = std::iter::from_fn(|| turn(1)).collect();
        assert_eq!(first.len(), MOST_OF_TENANT);
        let second: Vec<Turn> = std::iter::from_fn(|| turn(2)).collect();
        assert_eq!(second.len(), MOST - MOST_OF_TENANT);
        assert!(turn(3).is_none());
        drop(first);
        assert!(turn(3).is_some() && turn(1).is_some());
        assert_eq!(reading.by_tenant.lock().unwrap().len(), 2, "who has none left is forgotten");
    }

    #[test]
    fn previews_take_turns_by_tenant() {
        let previews = ReadingTurns::at_most(crate::lesson::PREVIEWS, 1);
        let turn = |tenant| previews.turn(TenantId::from_uuid(Uuid::from_u128(tenant))).now_or_never();
        let first = turn(1);
        assert!(first.is_some() && turn(1).is_none(), "one of a tenant");
        let second = turn(2);
        assert!(second.is_some() && turn(3).is_none(), "no tenant keeps another from its turn");
        drop(second);
        assert!(turn(3).is_some());
    }
}
