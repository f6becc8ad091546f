//! What was read before and still holds: who holds which key, the plans of a tenant, what a user may let tools do, what
//! a tenant says about tools, its agents, active prompts and published knowledge, and what a user wants to be answered like.
//!
//! Every submission asks for the first two, every call of a tool for the next two, and every turn of an agent for the
//! others. The one process of a SQLite file sees every change of them, so it need not read them again before one is
//! committed. On PostgreSQL others write too: they say so when they commit, and because such
//! a message may get lost, nothing is believed for longer than a moment.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kybern_core::agent::OwnAgent;
use kybern_core::id::{TenantId, UserId};
use kybern_core::identity::KeyHolder;
use kybern_core::knowledge::PublishedPiece;
use kybern_core::plan::Plan;
use kybern_core::ports::UserRules;
use kybern_core::preference::Preferences;
use kybern_core::prompt::Prompt;
use kybern_core::time::Millis;
use kybern_core::tool::ToolSetting;
use tokio::time::Instant;

/// Keys, users, and tenants' lists that are kept of each; beyond it the memory is emptied.
const KEPT: usize = 4_096;

/// Tenants whose knowledge is kept: it is large.
const KEPT_KNOWLEDGE: usize = 16;

/// The moment at which something was read, to be taken before reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    turn: u64,
    /// Of the clock that nobody sets.
    at: Instant,
}

type Stamped<T> = (Stamp, T);

/// A tenant's active prompts.
type Prompts = Arc<Vec<Arc<Prompt>>>;

/// What tells whether the published documents of a tenant have changed: how many there are, and sums over them.
pub(crate) type Revision = [i64; 4];

/// The published pieces of a tenant, as of a revision.
type Pieces = (Revision, Arc<Vec<PublishedPiece>>);

/// A user of a tenant.
type OfTenant = (TenantId, UserId);

/// What was read, with its stamp.
pub(crate) struct Known {
    /// For how long something holds of which no change is heard; `None` means for ever.
    holds_for: Option<Millis>,
    turn: AtomicU64,
    holders: Mutex<HashMap<String, Stamped<KeyHolder>>>,
    plans: Mutex<HashMap<TenantId, Stamped<Arc<Vec<Plan>>>>>,
    rules: Mutex<HashMap<OfTenant, Stamped<Arc<UserRules>>>>,
    settings: Mutex<HashMap<TenantId, Stamped<Arc<Vec<ToolSetting>>>>>,
    agents: Mutex<HashMap<TenantId, Stamped<Arc<Vec<OwnAgent>>>>>,
    prompts: Mutex<HashMap<TenantId, Stamped<Prompts>>>,
    preferences: Mutex<HashMap<OfTenant, Stamped<Arc<Preferences>>>>,
    pieces: Mutex<HashMap<TenantId, Stamped<Pieces>>>,
}

impl Known {
    pub(crate) fn new(holds_for: Option<Millis>) -> Self {
        Self {
            holds_for,
            turn: AtomicU64::new(0),
            holders: Mutex::default(),
            plans: Mutex::default(),
            rules: Mutex::default(),
            settings: Mutex::default(),
            agents: Mutex::default(),
            prompts: Mutex::default(),
            preferences: Mutex::default(),
            pieces: Mutex::default(),
        }
    }

    /// Waits until no process can take for good any more what a change before this has ended.
    pub(crate) async fn outlived(&self) {
        if let Some(span) = self.holds_for {
            // The end of the time is what is waited for.
            drop(tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await);
        }
    }

    /// The stamp of this moment.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { turn: self.turn.load(Ordering::Acquire), at: Instant::now() }
    }

    /// A change of keys, users or plans has been committed, or one may have gone unheard.
    pub(crate) fn changed(&self) {
        self.turn.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether what was read then holds now.
    fn holds(&self, then: Stamp, now: Stamp) -> bool {
        let fresh = |most: Millis| now.at.duration_since(then.at) < most.as_duration();
        then.turn == now.turn && self.holds_for.is_none_or(fresh)
    }

    pub(crate) fn holder(&self, key_hash: &str, now: Stamp) -> Option<KeyHolder> {
        let holders = lock(&self.holders);
        holders.get(key_hash).filter(|(then, _)| self.holds(*then, now)).map(|(_, holder)| holder.clone())
    }

    pub(crate) fn keep_holder(&self, key_hash: &str, then: Stamp, holder: KeyHolder) {
        keep(&mut lock(&self.holders), key_hash.to_owned(), (then, holder));
    }

    pub(crate) fn plans(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Vec<Plan>>> {
        let plans = lock(&self.plans);
        plans.get(&tenant).filter(|(then, _)| self.holds(*then, now)).map(|(_, plans)| Arc::clone(plans))
    }

    pub(crate) fn keep_plans(&self, tenant: TenantId, then: Stamp, plans: &Arc<Vec<Plan>>) {
        keep(&mut lock(&self.plans), tenant, (then, Arc::clone(plans)));
    }

    pub(crate) fn rules(&self, user: OfTenant, now: Stamp) -> Option<Arc<UserRules>> {
        let rules = lock(&self.rules);
        rules.get(&user).filter(|(then, _)| self.holds(*then, now)).map(|(_, rules)| Arc::clone(rules))
    }

    pub(crate) fn keep_rules(&self, user: OfTenant, then: Stamp, rules: &Arc<UserRules>) {
        keep(&mut lock(&self.rules), user, (then, Arc::clone(rules)));
    }

    pub(crate) fn settings(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Vec<ToolSetting>>> {
        let settings = lock(&self.settings);
        settings.get(&tenant).filter(|(then, _)| self.holds(*then, now)).map(|(_, settings)| Arc::clone(settings))
    }

    pub(crate) fn keep_settings(&self, tenant: TenantId, then: Stamp, settings: &Arc<Vec<ToolSetting>>) {
        keep(&mut lock(&self.settings), tenant, (then, Arc::clone(settings)));
    }

    pub(crate) fn agents(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Vec<OwnAgent>>> {
        let agents = lock(&self.agents);
        agents.get(&tenant).filter(|(then, _)| self.holds(*then, now)).map(|(_, agents)| Arc::clone(agents))
    }

    pub(crate) fn keep_agents(&self, tenant: TenantId, then: Stamp, agents: &Arc<Vec<OwnAgent>>) {
        keep(&mut lock(&self.agents), tenant, (then, Arc::clone(agents)));
    }

    pub(crate) fn prompts(&self, tenant: TenantId, now: Stamp) -> Option<Prompts> {
        let prompts = lock(&self.prompts);
        prompts.get(&tenant).filter(|(then, _)| self.holds(*then, now)).map(|(_, prompts)| Arc::clone(prompts))
    }

    pub(crate) fn keep_prompts(&self, tenant: TenantId, then: Stamp, prompts: &Prompts) {
        keep(&mut lock(&self.prompts), tenant, (then, Arc::clone(prompts)));
    }

    pub(crate) fn preferences(&self, user: OfTenant, now: Stamp) -> Option<Arc<Preferences>> {
        let preferences = lock(&self.preferences);
        preferences.get(&user).filter(|(then, _)| self.holds(*then, now)).map(|(_, said)| Arc::clone(said))
    }

    pub(crate) fn keep_preferences(&self, user: OfTenant, then: Stamp, said: &Arc<Preferences>) {
        keep(&mut lock(&self.preferences), user, (then, Arc::clone(said)));
    }

    pub(crate) fn pieces(&self, tenant: TenantId, now: Stamp) -> Option<Arc<Vec<PublishedPiece>>> {
        let pieces = lock(&self.pieces);
        pieces.get(&tenant).filter(|(then, _)| self.holds(*then, now)).map(|(_, (_, pieces))| Arc::clone(pieces))
    }

    /// What was read before, whether it holds or not.
    pub(crate) fn earlier_pieces(&self, tenant: TenantId) -> Option<Pieces> {
        lock(&self.pieces).get(&tenant).map(|(_, pieces)| pieces.clone())
    }

    pub(crate) fn keep_pieces(
        &self,
        tenant: TenantId,
        then: Stamp,
        revision: Revision,
        found: &Arc<Vec<PublishedPiece>>,
    ) {
        let mut pieces = lock(&self.pieces);
        if pieces.len() >= KEPT_KNOWLEDGE {
            pieces.clear();
        }
        pieces.insert(tenant, (then, (revision, Arc::clone(found))));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_others_may_have_changed_holds_for_a_moment_only() {
        let tenant = TenantId::DEFAULT;
        let plans = Arc::new(Vec::new());
        for (holds_for, later) in [(None, true), (Some(Millis(500)), false)] {
            let known = Known::new(holds_for);
            known.keep_plans(tenant, known.stamp(), &plans);
            tokio::time::advance(Millis(499).as_duration()).await;
            assert!(known.plans(tenant, known.stamp()).is_some());
            tokio::time::advance(Millis(1).as_duration()).await;
            assert_eq!(known.plans(tenant, known.stamp()).is_some(), later);
            known.keep_plans(tenant, known.stamp(), &plans);
            known.changed();
            assert!(known.plans(tenant, known.stamp()).is_none());
        }
    }
}
