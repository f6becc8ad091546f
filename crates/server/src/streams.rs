//! Places for event streams: how many a server keeps open, and how many of them one tenant and one user may have.
//!
//! A tenant alone may have three quarters of all places, of which a user alone has some five thousand; whoever comes
//! next may have the same share of the rest (see [`TenantShare`]). So the last places are there for those who have none
//! yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::actor::Actor;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{TenantId, UserId};
use kybern_core::slots::TenantShare;
use kybern_core::time::Millis;

/// Event streams that are open at the same time; one more is refused with `RATE_LIMITED`. One that hears nothing holds
/// some tens of kilobytes, so all of them fit into a few hundred megabytes.
pub const MAX_STREAMS: u32 = 8_192;
/// The share of a user in percent, of whom nobody else in the tenant has a stream.
const USER_SHARE: u32 = 62;
const COME_BACK: Millis = Millis::from_secs(10);

/// A user of a tenant; none for callers who are no users.
type Holder = (TenantId, Option<UserId>);

/// The open streams of a server. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    max: u32,
    open: Arc<Mutex<OpenStreams>>,
}

#[derive(Debug, Default)]
struct OpenStreams {
    all: u32,
    by_tenant: HashMap<TenantId, u32>,
    by_user: HashMap<Holder, u32>,
}

impl Streams {
    pub(crate) fn new(max: u32) -> Self {
        Self { max, open: Arc::default() }
    }

    /// A place for a stream of that caller.
    ///
    /// # Errors
    /// `RATE_LIMITED` with when to come back, when the tenant or the user has its share, or no place is left.
    pub(crate) fn take(&self, actor: &Actor) -> Result<StreamPlace, Error> {
        self.place((actor.tenant(), actor.user())).ok_or_else(|| {
            let message = "too many event streams are open, ask again later or without a stream";
            Error::new(ErrorCode::RateLimited, message).retry_after(COME_BACK)
        })
    }

    fn place(&self, holder: Holder) -> Option<StreamPlace> {
        let mut open = self.open();
        let free = self.max.saturating_sub(open.all);
        let of_tenant = open.by_tenant.get(&holder.0).copied().unwrap_or(0);
        let of_user = open.by_user.get(&holder).copied().unwrap_or(0);
        let user_share = TenantShare::percent(USER_SHARE).unwrap_or_default();
        if !TenantShare::default().allows(of_tenant, free) || !user_share.allows(of_user, free) {
            return None;
        }
        open.all += 1;
        open.by_tenant.insert(holder.0, of_tenant + 1);
        open.by_user.insert(holder, of_user + 1);
        Some(StreamPlace { streams: self.clone(), holder })
    }

    /// How many are open.
    pub(crate) fn count(&self) -> u32 {
        self.open().all
    }

    fn open(&self) -> MutexGuard<'_, OpenStreams> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the open streams, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    streams: Streams,
    holder: Holder,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.all = open.all.saturating_sub(1);
        give_back(&mut open.by_tenant, &self.holder.0);
        give_back(&mut open.by_user, &self.holder);
    }
}

fn give_back<K: Eq + std::hash::Hash>(held: &mut HashMap<K, u32>, holder: &K) {
    if let Some(count) = held.get_mut(holder) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            held.remove(holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn user(tenant: u128, user: u128) -> Holder {
        (TenantId::from_uuid(Uuid::from_u128(tenant)), Some(UserId::from_uuid(Uuid::from_u128(user))))
    }

    fn all_of(streams: &Streams, holder: Holder) -> Vec<StreamPlace> {
        std::iter::from_fn(|| streams.place(holder)).collect()
    }

    #[test]
    fn nobody_takes_the_places_of_the_others() {
        let streams = Streams::new(100);
        let first = all_of(&streams, user(1, 1));
        let second = all_of(&streams, user(1, 2));
        let third = all_of(&streams, user(1, 3));
        assert_eq!((first.len(), second.len(), third.len()), (62, 13, 0), "three quarters are the tenant's");
        assert!(streams.place(user(1, 1)).is_none());
        for tenant in 2..5 {
            assert!(!all_of(&streams, user(tenant, 1)).is_empty(), "tenant {tenant} is kept out");
        }
        drop((first, second));
        assert_eq!(all_of(&streams, user(1, 1)).len(), 62, "places are given back");
        assert!(streams.open().by_tenant.is_empty() && streams.open().by_user.is_empty() && streams.count() == 0);
    }
}
