//! Rows that are read again and again, and still hold.
//!
//! Every submission asks for key holders, users and a tenant's plans; every call of a tool for the user's permissions and
//! the tenant's tools and settings; every turn of an agent for agents, active prompts, published knowledge, lessons,
//! preferences, and whether anything is remembered.
//!
//! The one process of a SQLite file sees every change, so it reads again only after one was committed. On PostgreSQL
//! other processes write too and say so when they commit; because such a notification may be lost, an entry is trusted
//! for a moment only.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::agent::OwnAgent;
use kybern_core::cache::ByteCache;
use kybern_core::id::{TenantId, UserId};
use kybern_core::identity::{KeyHolder, User};
use kybern_core::knowledge::PublishedPiece;
use kybern_core::lesson::Lessons;
use kybern_core::memory::Subject;
use kybern_core::plan::Plan;
use kybern_core::ports::UserRules;
use kybern_core::preference::Preferences;
use kybern_core::prompt::Prompt;
use kybern_core::time::Millis;
use kybern_core::tool::ToolSetting;
use kybern_core::tool::own::OwnTool;
use tokio::time::Instant;

use crate::error::Result;

/// Keys, users, and tenants' lists that are kept of each; beyond it the memory is emptied.
const KEPT: usize = 4_096;

/// Bytes of what tenants have learned: one may have a few megabytes of it.
const KEPT_LESSONS: usize = 32 << 20;
/// What a lesson takes besides its words.
const LESSON_OVERHEAD_BYTES: usize = 512;

/// Bytes of own tools that tenants have active.
const KEPT_OWN_TOOLS: usize = 64 << 20;
/// What an own tool takes besides its definition, and how many times as much as its JSON the definition does.
const OWN_TOOL_OVERHEAD_BYTES: usize = 1_024;
const PARSED_JSON_FACTOR: usize = 4;

/// Tenants whose knowledge is kept: it is large.
const KEPT_KNOWLEDGE: usize = 16;

/// The moment at which something was read, to be taken before reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    turn: u64,
    /// Of the clock that nobody sets.
    at: Instant,
}

/// What was read, each with the moment at which it was.
pub(crate) struct StampedCache<K, V> {
    /// At most so many; beyond it the memory is emptied.
    most: usize,
    known: Mutex<HashMap<K, (Stamp, V)>>,
}

impl<K: Hash + Eq, V: Clone> StampedCache<K, V> {
    fn at_most(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// What was read last, whenever that was.
    fn get(&self, key: &K) -> Option<(Stamp, V)> {
        self.lock().get(key).cloned()
    }

    fn keep(&self, key: K, then: Stamp, value: V) {
        let mut known = self.lock();
        // What is read again takes no other's place.
        if known.len() >= self.most && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, (then, value));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, (Stamp, V)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What tells whether the published documents of a tenant have changed: how many there are, and sums over them.
pub(crate) type Revision = [i64; 4];

/// The published pieces of a tenant, as of a revision.
type KnowledgePieces = (Revision, Arc<Vec<PublishedPiece>>);

type UserKey = (TenantId, UserId);

/// A tenant's active tools, and when they were read.
type StampedOwnTools = (Stamp, Arc<Vec<OwnTool>>);

/// What was read, with its stamp.
pub(crate) struct StoreCache {
    /// For how long something holds of which no change is heard; `None` means for ever.
    holds_for: Option<Millis>,
    turn: AtomicU64,
    /// The same for memories alone: many are added while nothing else changes.
    memories: AtomicU64,
    pub(crate) holders: StampedCache<String, KeyHolder>,
    pub(crate) plans: StampedCache<TenantId, Arc<Vec<Plan>>>,
    pub(crate) users: StampedCache<UserKey, User>,
    pub(crate) rules: StampedCache<UserKey, Arc<UserRules>>,
    pub(crate) settings: StampedCache<TenantId, Arc<Vec<ToolSetting>>>,
    pub(crate) agents: StampedCache<TenantId, Arc<Vec<OwnAgent>>>,
    pub(crate) prompts: StampedCache<TenantId, Arc<Vec<Arc<Prompt>>>>,
    pub(crate) preferences: StampedCache<UserKey, Arc<Preferences>>,
    lessons: Mutex<ByteCache<TenantId, (Stamp, Arc<Lessons>)>>,
    own_tools: Mutex<ByteCache<TenantId, StampedOwnTools>>,
    pieces: StampedCache<TenantId, KnowledgePieces>,
    unremembered: StampedCache<(TenantId, Subject), ()>,
    no_entities: StampedCache<TenantId, ()>,
}

impl StoreCache {
    pub(crate) fn new(holds_for: Option<Millis>) -> Self {
        Self {
            holds_for,
            turn: AtomicU64::new(0),
            memories: AtomicU64::new(0),
            holders: StampedCache::at_most(KEPT),
            plans: StampedCache::at_most(KEPT),
            users: StampedCache::at_most(KEPT),
            rules: StampedCache::at_most(KEPT),
            settings: StampedCache::at_most(KEPT),
            agents: StampedCache::at_most(KEPT),
            prompts: StampedCache::at_most(KEPT),
            preferences: StampedCache::at_most(KEPT),
            lessons: Mutex::new(ByteCache::new(KEPT_LESSONS)),
            own_tools: Mutex::new(ByteCache::new(KEPT_OWN_TOOLS)),
            pieces: StampedCache::at_most(KEPT_KNOWLEDGE),
            unremembered: StampedCache::at_most(KEPT),
            no_entities: StampedCache::at_most(KEPT),
        }
    }

    /// Waits until no process can still trust a cached value that an earlier change has ended.
    pub(crate) async fn outlived(&self) {
        if let Some(span) = self.holds_for {
            // It never completes: this sleeps.
            drop(tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await);
        }
    }

    /// The stamp of this moment.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { turn: self.turn.load(Ordering::Acquire), at: Instant::now() }
    }

    /// The stamp of this moment for what is known of memories.
    pub(crate) fn stamp_of_memories(&self) -> Stamp {
        // Each of the two only grows, so their sum is new after every change of one of them.
        let turn = self.turn.load(Ordering::Acquire) + self.memories.load(Ordering::Acquire);
        Stamp { turn, at: Instant::now() }
    }

    /// Something has been remembered of somebody.
    pub(crate) fn remembered(&self) {
        self.memories.fetch_add(1, Ordering::AcqRel);
    }

    /// Invalidates everything but what is known of memories: a change was committed, or a notification may have been
    /// lost.
    pub(crate) fn changed(&self) {
        self.turn.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether what was read then holds now.
    fn holds(&self, then: Stamp, now: Stamp) -> bool {
        let fresh = |most: Millis| now.at.duration_since(then.at) < most.as_duration();
        then.turn == now.turn && self.holds_for.is_none_or(fresh)
    }

    /// What of a memory holds now.
    fn held<K: Hash + Eq, V: Clone>(&self, kept: &StampedCache<K, V>, key: &K, now: Stamp) -> Option<V> {
        kept.get(key).filter(|(then, _)| self.holds(*then, now)).map(|(_, value)| value)
    }

    /// What is known, or what is read and known from then on.
    pub(crate) async fn or_read<K: Hash + Eq, V, F: Future<Output = Result<V>>>(
        &self,
        kept: &StampedCache<K, Arc<V>>,
        key: K,
        read: impl FnOnce() -> F,
    ) -> Result<Arc<V>> {
        // Taken before reading, so what changes meanwhile does not fit it.
        let stamp = self.stamp();
        if let Some(value) = self.held(kept, &key, stamp) {
            return Ok(value);
        }
        // Boxed, so that who finds it known does not carry the reading along.
        let value = Arc::new(Box::pin(read()).await?);
        kept.keep(key, stamp, Arc::clone(&value));
        Ok(value)
    }

    /// The same of what may not be there, which is asked for again.
    pub(crate) async fn or_find<K: Hash + Eq, V: Clone, F: Future<Output = Result<Option<V>>>>(
        &self,
        kept: &StampedCache<K, V>,
        key: K,
        find: impl FnOnce() -> F,
    ) -> Result<Option<V>> {
        let stamp = self.stamp();
        if let Some(value) = self.held(kept, &key, stamp) {
            return Ok(Some(value));
        }
        let found = Box::pin(find()).await?;
        if let Some(value) = &found {
            kept.keep(key, stamp, value.clone());
        }
        Ok(found)
    }

    pub(crate) fn lessons(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Lessons>> {
        let kept = self.lessons.lock().unwrap_or_else(PoisonError::into_inner).get(&tenant);
        kept.filter(|(then, _)| self.holds(*then, now)).map(|(_, lessons)| lessons)
    }

    pub(crate) fn keep_lessons(&self, tenant: TenantId, then: Stamp, lessons: &Arc<Lessons>) {
        let words = usize::try_from(lessons.bytes()).unwrap_or(usize::MAX);
        let bytes = words.saturating_add(LESSON_OVERHEAD_BYTES.saturating_mul(lessons.count() + 1));
        let mut kept = self.lessons.lock().unwrap_or_else(PoisonError::into_inner);
        kept.keep(tenant, (then, Arc::clone(lessons)), bytes);
    }

    pub(crate) fn own_tools(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Vec<OwnTool>>> {
        let kept = self.own_tools.lock().unwrap_or_else(PoisonError::into_inner).get(&tenant);
        kept.filter(|(then, _)| self.holds(*then, now)).map(|(_, tools)| tools)
    }

    /// Answers the list that was kept before when it says the same: whoever has made something of it need not do so
    /// again.
    pub(crate) fn keep_own_tools(&self, tenant: TenantId, then: Stamp, read: Vec<OwnTool>) -> Arc<Vec<OwnTool>> {
        let mut kept = self.own_tools.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.get(&tenant).map(|(_, tools)| tools).filter(|tools| **tools == read);
        let tools = before.unwrap_or_else(|| Arc::new(read));
        let bytes = tools.iter().map(|tool| {
            OWN_TOOL_OVERHEAD_BYTES.saturating_add(tool.definition.bytes().saturating_mul(PARSED_JSON_FACTOR))
        });
        kept.keep(tenant, (then, Arc::clone(&tools)), bytes.fold(OWN_TOOL_OVERHEAD_BYTES, usize::saturating_add));
        tools
    }

    /// Whether it is known that nothing is remembered of somebody.
    pub(crate) fn is_unremembered(&self, subject: (TenantId, Subject), now: Stamp) -> bool {
        self.held(&self.unremembered, &subject, now).is_some()
    }

    pub(crate) fn keep_unremembered(&self, subject: (TenantId, Subject), then: Stamp) {
        self.unremembered.keep(subject, then, ());
    }

    /// Whether it is known that nothing is remembered of any record of a tenant.
    pub(crate) fn has_no_entities(&self, tenant: TenantId, now: Stamp) -> bool {
        self.held(&self.no_entities, &tenant, now).is_some()
    }

    pub(crate) fn keep_no_entities(&self, tenant: TenantId, then: Stamp) {
        self.no_entities.keep(tenant, then, ());
    }

    pub(crate) fn pieces(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Vec<PublishedPiece>>> {
        self.held(&self.pieces, &tenant, now).map(|(_, pieces)| pieces)
    }

    /// What was read before, whether it holds or not.
    pub(crate) fn earlier_pieces(&self, tenant: TenantId) -> Option<KnowledgePieces> {
        self.pieces.get(&tenant).map(|(_, pieces)| pieces)
    }

    pub(crate) fn keep_pieces(
        &self,
        tenant: TenantId,
        then: Stamp,
        revision: Revision,
        found: &Arc<Vec<PublishedPiece>>,
    ) {
        self.pieces.keep(tenant, then, (revision, Arc::clone(found)));
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::id::LessonId;
    use kybern_core::lesson::{Lesson, LessonSource, Teaching};
    use kybern_core::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn who_is_there_already_takes_no_others_place() {
        let known = StoreCache::new(None);
        let stamp = known.stamp();
        let tenants: Vec<TenantId> = (0..16).map(|n| TenantId::from_uuid(Uuid::from_u128(n))).collect();
        let pieces = Arc::new(Vec::new());
        // Twice, as if each were asked again after a change.
        for tenant in tenants.iter().chain(&tenants) {
            known.keep_pieces(*tenant, stamp, [0; 4], &pieces);
        }
        assert!(tenants.iter().all(|tenant| known.pieces(*tenant, stamp).is_some()));
        let newcomer = TenantId::from_uuid(Uuid::from_u128(99));
        known.keep_pieces(newcomer, stamp, [0; 4], &pieces);
        assert!(known.pieces(newcomer, stamp).is_some() && known.pieces(tenants[0], stamp).is_none());
    }

    #[test]
    fn what_tenants_have_learned_is_kept_up_to_so_many_bytes() {
        let known = StoreCache::new(None);
        let stamp = known.stamp();
        let lesson = |n: u128| {
            let teaching = Teaching::IntentExample { intent: "cars.sell".to_owned(), text: "w".repeat(1_000_000) };
            let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
            Lesson::suggested(LessonId::from_uuid(Uuid::from_u128(n)), teaching, source, Timestamp::from_millis(0))
        };
        let lessons = Arc::new(Lessons::at(1, (0..4).map(lesson).collect()));
        let tenants: Vec<TenantId> = (0..32).map(|n| TenantId::from_uuid(Uuid::from_u128(n))).collect();
        for tenant in &tenants {
            known.keep_lessons(*tenant, stamp, &lessons);
            assert!(known.lessons(*tenant, stamp).is_some());
        }
        let kept = tenants.iter().filter(|tenant| known.lessons(**tenant, stamp).is_some()).count();
        assert!((3..=8).contains(&kept), "four megabytes each, of thirty-two in all: {kept}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_others_may_have_changed_holds_for_a_moment_only() {
        let tenant = TenantId::DEFAULT;
        let plans = Arc::new(Vec::new());
        for (holds_for, later) in [(None, true), (Some(Millis(500)), false)] {
            let known = StoreCache::new(holds_for);
            known.plans.keep(tenant, known.stamp(), Arc::clone(&plans));
            tokio::time::advance(Millis(499).as_duration()).await;
            assert!(known.held(&known.plans, &tenant, known.stamp()).is_some());
            tokio::time::advance(Millis(1).as_duration()).await;
            assert_eq!(known.held(&known.plans, &tenant, known.stamp()).is_some(), later);
            known.plans.keep(tenant, known.stamp(), Arc::clone(&plans));
            known.changed();
            assert!(known.held(&known.plans, &tenant, known.stamp()).is_none());
        }
    }
}
