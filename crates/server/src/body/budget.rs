//! How many bytes of bodies are held at a time, over all requests; and, in a budget of their own, of answers
//! ([`crate::answers`]).
//!
//! Each limit of one body is small; a thousand callers at once are not. So every byte of a body is booked as it arrives,
//! on whoever sends it, and given back when the last handler lets go of the body. Nobody waits for room: who gets none
//! is told when to come back.
//!
//! Callers who have proven who they are and callers who have not draw on pools of their own, so that strangers cannot
//! keep customers out. Within a pool each holder may take half of what the others leave, so that there is always some
//! room for the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::Request;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::TenantId;
use kybern_core::time::Millis;

use crate::auth::Caller;
use crate::peer::Network;
use crate::request::RequestInfo;
use crate::state::AppState;

/// The part of all bytes that is for callers who have proven nothing yet, as a divisor.
const UNPROVEN_PART: usize = 4;
const COME_BACK: Millis = Millis::from_secs(2);

/// On whom a body is booked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Holder {
    /// The tenant whose key came with it.
    Tenant(TenantId),
    /// The address it comes from: its sender has proven nothing yet. `None` where there is no connection.
    Address(Option<Network>),
}

impl Holder {
    /// Who sends a request, as far as the layers before its handler have found out.
    pub(crate) fn of(state: &AppState, request: &Request) -> Self {
        if let Some(Caller(actor)) = request.extensions().get::<Caller>() {
            return Self::Tenant(actor.tenant());
        }
        if let Some(holder) = request.extensions().get::<Self>() {
            return *holder;
        }
        let peer = request.extensions().get::<RequestInfo>().and_then(|asked| asked.peer);
        Self::Address(peer.map(|peer| Network::of(state.limits.proxies.client(peer, request.headers()))))
    }
}

/// What a budget is for.
#[derive(Clone, Copy, Debug)]
enum BudgetFor {
    Bodies,
    Answers,
}

impl BudgetFor {
    fn is_used_up(self) -> Error {
        let message = match self {
            Self::Bodies => {
                tracing::debug!("no room for a body, see server.max_bodies_bytes");
                "too many bytes of request bodies are being read at the moment, send it again in a few seconds"
            }
            Self::Answers => {
                tracing::debug!("no room for an answer, see server.max_answers_bytes");
                "too many bytes of answers wait to be taken at the moment, ask again in a few seconds"
            }
        };
        Error::new(ErrorCode::Unavailable, message).retry_after(COME_BACK)
    }
}

/// All bodies, or all answers, of a server.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<Pools>);

#[derive(Debug)]
struct Pools {
    of: BudgetFor,
    proven: Pool,
    unproven: Pool,
}

impl Pools {
    fn of(&self, holder: Holder) -> &Pool {
        match holder {
            Holder::Tenant(_) => &self.proven,
            Holder::Address(_) => &self.unproven,
        }
    }
}

#[derive(Debug)]
struct Pool {
    size: usize,
    taken: Mutex<PoolUse>,
}

#[derive(Debug, Default)]
struct PoolUse {
    all: usize,
    by_holder: HashMap<Holder, usize>,
}

impl Pool {
    fn new(size: usize) -> Self {
        Self { size, taken: Mutex::default() }
    }

    /// Books bytes, unless the holder would then have more than half of what the others leave. What `must` be is booked
    /// all the same.
    fn book(&self, holder: Holder, bytes: usize, must: bool) -> bool {
        let mut taken = self.taken();
        let own = taken.by_holder.get(&holder).copied().unwrap_or(0);
        let left_by_others = self.size.saturating_sub(taken.all - own);
        if own.saturating_add(bytes) > left_by_others / 2 && !must {
            return false;
        }
        taken.all += bytes;
        taken.by_holder.insert(holder, own + bytes);
        true
    }

    fn give_back(&self, holder: Holder, bytes: usize) {
        let mut taken = self.taken();
        taken.all = taken.all.saturating_sub(bytes);
        if let Some(own) = taken.by_holder.get_mut(&holder) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                taken.by_holder.remove(&holder);
            }
        }
    }

    fn taken(&self) -> MutexGuard<'_, PoolUse> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Budget {
    /// A budget of that many bytes, of which a quarter is for callers who have proven nothing.
    pub(crate) fn new(bytes: usize) -> Self {
        let unproven = bytes / UNPROVEN_PART;
        Self(Arc::new(Pools {
            of: BudgetFor::Bodies,
            proven: Pool::new(bytes - unproven),
            unproven: Pool::new(unproven),
        }))
    }

    /// A budget of that many bytes for answers, which only callers get who have proven who they are.
    pub(crate) fn of_answers(bytes: usize) -> Self {
        Self(Arc::new(Pools { of: BudgetFor::Answers, proven: Pool::new(bytes), unproven: Pool::new(0) }))
    }

    /// A body of which nothing has arrived, or an answer before it is known how large it is.
    pub(crate) fn open(&self, holder: Holder) -> ByteReservation {
        ByteReservation { pools: Arc::clone(&self.0), holder, bytes: 0 }
    }
}

/// What is booked for one body, or answer; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ByteReservation {
    pools: Arc<Pools>,
    holder: Holder,
    bytes: usize,
}

impl ByteReservation {
    /// Books what has arrived.
    ///
    /// # Errors
    /// `UNAVAILABLE` with when to come back.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Error> {
        self.book(bytes, false)
    }

    /// Books what is there in any case, also over the budget: the next one finds no room then.
    pub(crate) fn must_add(&mut self, bytes: usize) {
        // It is booked whatever is taken.
        self.book(bytes, true).unwrap_or_default();
    }

    /// Whether there is any room.
    ///
    /// # Errors
    /// `UNAVAILABLE` with when to come back.
    pub(crate) fn has_room(&self) -> Result<(), Error> {
        Self { pools: Arc::clone(&self.pools), holder: self.holder, bytes: 0 }.add(1)
    }

    fn book(&mut self, bytes: usize, must: bool) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        if !self.pools.of(self.holder).book(self.holder, bytes, must) {
            return Err(self.pools.of.is_used_up());
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for ByteReservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.pools.of(self.holder).give_back(self.holder, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn tenant(n: u128) -> Holder {
        Holder::Tenant(TenantId::from_uuid(Uuid::from_u128(n)))
    }

    fn stranger(n: u32) -> Holder {
        Holder::Address(Some(Network::of(std::net::Ipv4Addr::from_bits(n).into())))
    }

    #[test]
    fn a_holder_gets_half_of_what_the_others_leave_and_strangers_have_a_pool_of_their_own() {
        let budget = Budget::new(1_600);
        let mut first = budget.open(tenant(1));
        assert!(first.add(601).is_err(), "half of the 1,200 of those who are known");
        first.add(600).unwrap();
        assert!(budget.open(tenant(1)).add(1).is_err(), "another body of the same holder counts with the first");
        let mut second = budget.open(tenant(2));
        second.add(300).unwrap();
        assert!(second.add(1).is_err());
        let mut other = budget.open(stranger(1));
        other.add(200).unwrap();
        assert_eq!(other.add(1).unwrap_err().code(), ErrorCode::Unavailable);
        budget.open(stranger(2)).add(100).unwrap();
        drop(second);
        assert!(first.add(1).is_err());
        drop((first, other));
        budget.open(tenant(1)).add(600).unwrap();
        assert!(budget.0.proven.taken().by_holder.is_empty() && budget.0.unproven.taken().by_holder.is_empty());
    }

    #[test]
    fn what_is_booked_is_what_is_open() {
        let budget = Budget::new(2_000);
        let mut open: Vec<ByteReservation> = Vec::new();
        let mut refused = 0;
        let mut bytes = vec![0; 6_000];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        for step in bytes.chunks_exact(3) {
            let (holder, size, closes) = (tenant(u128::from(step[0] % 4)), usize::from(step[1]), step[2] < 90);
            if closes && !open.is_empty() {
                open.swap_remove(size % open.len());
            } else {
                let mut booking = budget.open(holder);
                match booking.add(size) {
                    Ok(()) => open.push(booking),
                    Err(_) => refused += 1,
                }
            }
            let taken = budget.0.proven.taken();
            assert_eq!(taken.all, open.iter().map(|one| one.bytes).sum::<usize>());
            assert_eq!(taken.by_holder.values().sum::<usize>(), taken.all);
            assert!(taken.all < 1_500, "some room is left for the next");
        }
        assert!(refused > 100 && open.len() > 1, "{refused} {}", open.len());
    }
}
