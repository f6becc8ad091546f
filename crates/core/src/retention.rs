//! Retention: what is over is kept for a time, and then removed.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::budget::Period;
use crate::error::{Error, Result};
use crate::id::{TaskId, TenantId};
use crate::ports::RetentionStore;
use crate::tenant::TenantScope;
use crate::time::{Millis, Timestamp};

words! {
    /// What is removed when it is old.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = RetentionKind))]
    pub enum RetentionKind {
        /// Original bytes that nothing names any more.
        Files = "files",
        /// Conversations in which nothing was said for so long, with their messages.
        Chats = "chats",
        /// Trees of tasks that have ended, with everything that belongs to them alone. Records stay.
        Tasks = "tasks",
        /// Messages of the outbox that have their end: sent, kept, failed, uncertain.
        Messages = "messages",
        /// Jobs that are done or dead.
        Jobs = "jobs",
        /// Answers to idempotency keys that have expired, and keys that never got an answer.
        IdempotencyKeys = "idempotency_keys",
    }
}

/// The youngest that may be removed: what is younger may be needed to drop a repeated delivery.
pub const SHORTEST: Millis = Millis(7 * 24 * 60 * 60 * 1000);
/// The oldest that can be asked for: a hundred years.
pub const LONGEST: Millis = Millis(36_500 * 24 * 60 * 60 * 1000);
/// Characters of the reason of a hold.
pub const MAX_REASON: usize = 2_000;

/// A removal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purge {
    /// What is removed.
    pub kept: RetentionKind,
    /// Only what was made and over before that moment.
    pub before: Timestamp,
    /// The tenants, by name or slug, of which nothing is removed.
    pub holds: Vec<String>,
    /// Whether it is only counted, and stays.
    pub dry_run: bool,
}

impl Purge {
    /// Whether nothing of that tenant may be removed.
    #[must_use]
    pub fn holds(&self, name: &str, slug: &str) -> bool {
        self.holds.iter().any(|held| held == name || held == slug)
    }

    /// The beginning of the month at `at`: what was billed since then stays, because its bill is not written yet.
    #[must_use]
    pub fn billed_since(at: Timestamp) -> Timestamp {
        Timestamp::from_millis(Period::Month.window(at).first.saturating_mul(24 * 60 * 60 * 1000))
    }
}

/// A tenant as retention sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptTenant {
    /// The right to remove what is its.
    pub scope: TenantScope,
    pub name: String,
    pub slug: String,
}

/// What one transaction of a removal did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PurgeStep {
    /// How much was removed, or would be.
    pub count: u64,
    /// Where the next transaction goes on; `None` when nothing is left to look at.
    pub next: Option<String>,
}

/// What was removed of a tenant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Purged {
    pub tenant: TenantId,
    /// How much.
    pub count: u64,
}

/// Why a task is kept, however old it becomes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskHold {
    pub task_id: TaskId,
    /// Why.
    pub reason: String,
    /// Who put it on hold.
    pub held_by: String,
    pub held_at: Timestamp,
}

impl TaskHold {
    /// Why nothing of a conversation that shows the task may be taken away, and what to do.
    #[must_use]
    pub fn keeps_its_conversation(&self) -> String {
        let Self { task_id, reason, held_by, held_at } = self;
        format!(
            "nothing is taken away from this conversation: its task {task_id} is on hold since {held_at}, by {held_by} \
             ({reason}); release it first"
        )
    }
}

/// One removal, walked through tenant by tenant: each gets one small transaction, then the next one has its turn, so
/// that no tenant waits for another one's history.
#[derive(Debug)]
pub struct PurgePass {
    purge: Purge,
    at: Timestamp,
    waiting: VecDeque<TenantTurn>,
    counts: BTreeMap<TenantId, u64>,
}

/// Before which moment things of tenants, by slug or name, are removed; `None` keeps them. A slug goes before a name: it
/// is one tenant's, whatever others are called.
pub type OwnTimes = BTreeMap<String, Option<Timestamp>>;

/// What is left to do of a tenant.
#[derive(Debug)]
struct TenantTurn {
    scope: TenantScope,
    before: Timestamp,
    after: Option<String>,
}

impl PurgePass {
    /// A round of every tenant that is not on hold.
    ///
    /// # Errors
    /// `NOT_FOUND` when a hold names no tenant: a misspelt hold costs space, not evidence.
    pub async fn begin<S: RetentionStore + ?Sized>(store: &S, purge: Purge, at: Timestamp) -> Result<Self> {
        let before = purge.before;
        Self::begin_with(store, purge, &OwnTimes::default(), Some(before), at).await
    }

    /// The same where tenants have times of their own. `before` is for all others; `None` keeps what is theirs.
    ///
    /// # Errors
    /// `NOT_FOUND` when a hold or a time names no tenant.
    pub async fn begin_with<S: RetentionStore + ?Sized>(
        store: &S,
        purge: Purge,
        own: &OwnTimes,
        before: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<Self> {
        let tenants = store.kept_tenants().await?;
        for name in purge.holds.iter().chain(own.keys()) {
            if !tenants.iter().any(|tenant| tenant.name == *name || tenant.slug == *name) {
                return Err(Error::not_found("tenant", name));
            }
        }
        let slugs: HashSet<String> = tenants.iter().map(|tenant| tenant.slug.clone()).collect();
        let by_name = |name: &String| own.get(name).filter(|_| !slugs.contains(name));
        let free = tenants.into_iter().filter(|tenant| !purge.holds(&tenant.name, &tenant.slug));
        let turns = free.filter_map(|tenant| {
            // A tenant may be named twice, by its name and by its slug: what keeps more counts, and `None` keeps most.
            let named = [by_name(&tenant.name), own.get(&tenant.slug)].into_iter().flatten().copied().min();
            Some(TenantTurn { scope: tenant.scope, before: named.unwrap_or(before)?, after: None })
        });
        let waiting = turns.collect();
        Ok(Self { purge, at, waiting, counts: BTreeMap::new() })
    }

    /// The same of one tenant only.
    #[must_use]
    pub fn of(mut self, tenant: TenantId) -> Self {
        self.waiting.retain(|turn| turn.scope.tenant() == tenant);
        self
    }

    /// Whether nothing is left to look at: of a round that has just begun, whether everything is on hold.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Does one transaction and answers what it removed; `None` when there was none left to do. A tenant whose
    /// transaction failed is left out of the rest of the round, the others go on.
    pub async fn step<S: RetentionStore + ?Sized>(&mut self, store: &S) -> Result<Option<u64>> {
        let Some(TenantTurn { scope, before, after }) = self.waiting.pop_front() else { return Ok(None) };
        self.purge.before = before;
        let step = store.purge(scope, &self.purge, after.as_deref(), self.at).await?;
        *self.counts.entry(scope.tenant()).or_default() += step.count;
        if step.next.is_some() {
            self.waiting.push_back(TenantTurn { scope, before, after: step.next });
        }
        Ok(Some(step.count))
    }

    /// Of whom how much was removed; tenants of whom nothing was are left out.
    #[must_use]
    pub fn purged(self) -> Vec<Purged> {
        let counts = self.counts.into_iter().filter(|(_, count)| *count > 0);
        counts.map(|(tenant, count)| Purged { tenant, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_month_of_the_bill_begins_on_its_first_day() {
        let at = Timestamp::from_millis(1_790_000_000_123);
        assert_eq!(Purge::billed_since(at).to_string(), "2026-09-01T00:00:00.000Z");
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        assert!(RetentionKind::ALL.into_iter().all(|kept| RetentionKind::parse(kept.as_str()) == Some(kept)));
        assert_eq!(RetentionKind::parse("records"), None);
    }
}
