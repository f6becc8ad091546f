//! Retention: what is over is kept as long as the operator says, and then removed in the background.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::count::count;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TenantId;
use kybern_core::ports::{AuditStore, RetentionStore};
use kybern_core::retention::{LONGEST, OwnTimes, Purge, PurgePass, Purged, RetentionKind, SHORTEST};
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::check::{Check, PartState};
use crate::clock::TaskClock;

/// How often is looked for what has become old.
const ROUND: Millis = Millis::from_secs(60 * 60);
/// How long everybody else has the database to themselves between two removals.
const PAUSE: Millis = Millis(50);

const DAY: Millis = Millis::from_secs(24 * 60 * 60);

/// How long things are kept, by kind. What is not named is kept for ever.
pub type RetentionPeriods = BTreeMap<RetentionKind, Millis>;

/// How long what is over is kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    /// Of every tenant that has no times of its own.
    pub times: RetentionPeriods,
    /// Of tenants, by name or slug: all of their times.
    pub tenants: BTreeMap<String, RetentionPeriods>,
    /// The tenants, by name or slug, of which nothing is removed.
    pub holds: Vec<String>,
}

impl Retention {
    /// What it says, in words: for all, and then each tenant that differs and those of which nothing is removed.
    #[must_use]
    pub fn told(&self) -> (String, Vec<String>) {
        let say = |times: &RetentionPeriods, of: &dyn Fn(RetentionKind) -> bool| {
            let said = RetentionKind::ALL.into_iter().filter(|kept| of(*kept)).map(|kept| {
                let name = kept.as_str().replace('_', " ");
                match times.get(&kept) {
                    None => format!("{name} for ever"),
                    Some(time) => format!("{name} {}", count(time.0 / DAY.0, "day")),
                }
            });
            said.collect::<Vec<_>>().join(", ")
        };
        let own = self.tenants.iter().map(|(tenant, own)| {
            let differs = |kept: RetentionKind| own.get(&kept) != self.times.get(&kept);
            format!("{tenant}: {}", say(own, &differs))
        });
        let held = self.holds.iter().map(|tenant| format!("{tenant}: on hold, nothing is removed"));
        (say(&self.times, &|_| true), own.chain(held).collect())
    }

    #[must_use]
    pub fn names_tenants(&self) -> bool {
        !self.holds.is_empty() || !self.tenants.is_empty()
    }

    /// What of it names none of these names and slugs, in words. It stops every round of the removal.
    #[must_use]
    pub fn strangers(&self, known: &[String]) -> Vec<String> {
        let held = self.holds.iter().map(|name| ("retention.holds", name));
        let own = self.tenants.keys().map(|name| ("retention.tenants", name));
        let unknown = held.chain(own).filter(|(_, name)| !known.contains(name));
        unknown.map(|(key, name)| format!("{key} names {name:?}, and no tenant is called so")).collect()
    }
}

/// Removes what is over and has been kept as long as it is to be kept.
#[derive(Clone)]
pub struct Removal {
    pub(crate) store: Arc<dyn RetentionStore>,
    pub(crate) audit: Arc<dyn AuditStore>,
    pub(crate) settings: Retention,
    pub(crate) time: Arc<TaskClock>,
    pub(crate) stopping: CancellationToken,
}

impl Removal {
    pub(crate) async fn retention_loop(self) {
        while !self.stopping.is_cancelled() {
            self.purge_what_is_old().await;
            // Running out of time is the next round.
            let _ = tokio::time::timeout(ROUND.as_duration(), self.stopping.cancelled()).await;
        }
    }

    /// What is known of it: what it says, and what of it names no tenant. Names of tenants stand in the details.
    pub(crate) async fn check(&self) -> Check {
        let (message, mut details) = self.settings.told();
        let mut state = PartState::Ok;
        if self.settings.names_tenants() {
            match self.store.kept_tenants().await {
                Ok(tenants) => {
                    let known: Vec<String> = tenants.into_iter().flat_map(|one| [one.name, one.slug]).collect();
                    let strangers = self.settings.strangers(&known);
                    if !strangers.is_empty() {
                        state = PartState::Broken;
                        details.extend(strangers);
                    }
                }
                Err(error) => {
                    state = PartState::Warning;
                    details.push(format!("its tenants cannot be looked for: {error}"));
                }
            }
        }
        let message = match state {
            PartState::Broken => format!("nothing old is removed: [retention] names what is no tenant; {message}"),
            PartState::Ok | PartState::Off | PartState::Warning => message,
        };
        Check { details, ..Check::of("retention", state, message) }
    }

    async fn purge_what_is_old(&self) {
        for kept in RetentionKind::ALL {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                purged = self.purge_round(kept) => match purged {
                    Ok(purged) => tell(kept, &purged),
                    // The names are those of every kind: what is wrong with one is said once.
                    Err(error) if error.code() == ErrorCode::NotFound => {
                        return tracing::error!(%error, "nothing old is removed, [retention] names what is no tenant");
                    }
                    Err(error) => {
                        tracing::error!(%error, kind = kept.as_str(), "old rows were not removed, see [retention]");
                    }
                },
            }
        }
    }

    /// Removes one kind of all tenants, each in turn, with pauses. What cannot be removed of one tenant keeps nobody
    /// else's.
    async fn purge_round(&self, kept: RetentionKind) -> Result<Vec<Purged>> {
        let (now, Retention { times, tenants, holds }) = (self.time.now(), &self.settings);
        let before = |times: &RetentionPeriods| times.get(&kept).map(|time| now.minus(*time));
        let own: OwnTimes = tenants.iter().map(|(name, times)| (name.clone(), before(times))).collect();
        if before(times).is_none() && own.values().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let purge = Purge { kept, before: now, holds: holds.clone(), dry_run: false };
        let mut round = PurgePass::begin_with(&*self.store, purge, &own, before(times), now).await?;
        loop {
            match round.step(&*self.store).await {
                Ok(None) => return Ok(round.purged()),
                Ok(Some(0)) => {}
                Ok(Some(_)) => {
                    // Running out of time is the end of the pause; whoever stops the engine drops all of this.
                    let _ = tokio::time::timeout(PAUSE.as_duration(), std::future::pending::<()>()).await;
                }
                Err(error) => tracing::error!(%error, kind = kept.as_str(), "retention failed for a tenant"),
            }
        }
    }

    /// Removes what is over and older than `age` of the caller's tenant, now, and answers how much of each kind. Whoever
    /// stops waiting for it stops it after the transaction that runs.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` when `age` is not between [`SHORTEST`] and [`LONGEST`]; `CONFLICT` when everything of the tenant is on hold, or a hold
    /// names no tenant.
    pub async fn purge(
        &self,
        actor: &Actor,
        kinds: &[RetentionKind],
        age: Millis,
        dry_run: bool,
    ) -> Result<Vec<(RetentionKind, u64)>> {
        let tenant = actor.scope().tenant();
        let now = self.time.now();
        let before = before(now, age)?;
        if !dry_run {
            let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            let detail = json!({"kinds": names, "before": before});
            let event = AuditEvent::by(actor, "retention.ask", format!("tenant:{tenant}"), detail);
            self.audit.append_audit(actor.scope(), now, event).await?;
        }
        let mut removed = Vec::new();
        for kept in RetentionKind::ALL.into_iter().filter(|kept| kinds.contains(kept)) {
            let purge = Purge { kept, before, holds: self.settings.holds.clone(), dry_run };
            let mut round = self.round_of(tenant, purge).await?;
            let mut count = 0;
            while let Some(some) = round.step(&*self.store).await? {
                count += some;
            }
            removed.push((kept, count));
        }
        Ok(removed)
    }

    /// A removal of one tenant.
    async fn round_of(&self, tenant: TenantId, purge: Purge) -> Result<PurgePass> {
        let held = |problem: String| Error::new(ErrorCode::Conflict, format!("nothing is removed: {problem}"));
        let round = PurgePass::begin(&*self.store, purge, self.time.now()).await;
        let round = round.map_err(|error| match error.code() {
            ErrorCode::NotFound => {
                held(format!("[retention] holds names no tenant, correct it in the server's settings: {error}"))
            }
            _ => error,
        })?;
        let round = round.of(tenant);
        if round.is_over() {
            return Err(held("everything of this organisation is on hold, see [retention] holds".to_owned()));
        }
        Ok(round)
    }

    /// Whether everything of a tenant is on hold, or a hold names no tenant.
    pub(crate) async fn is_on_hold(&self, tenant: TenantId) -> Result<bool> {
        if self.settings.holds.is_empty() {
            return Ok(false);
        }
        match self.not_on_hold(tenant).await {
            Ok(()) => Ok(false),
            Err(error) if error.code() == ErrorCode::Conflict => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// `CONFLICT` when everything of a tenant is on hold, or a hold names no tenant.
    pub(crate) async fn not_on_hold(&self, tenant: TenantId) -> Result<()> {
        let holds = self.settings.holds.clone();
        let purge = Purge { kept: RetentionKind::Jobs, before: self.time.now(), holds, dry_run: true };
        self.round_of(tenant, purge).await.map(|_| ())
    }
}

/// The moment before which an admin may have something removed.
pub(crate) fn before(now: Timestamp, age: Millis) -> Result<Timestamp> {
    if (SHORTEST..=LONGEST).contains(&age) {
        return Ok(now.minus(age));
    }
    let problem = "must be between 7 and 36500: what is younger may be needed to drop a repeat";
    Err(Error::invalid("/olderThanDays", problem))
}

fn tell(kept: RetentionKind, purged: &[Purged]) {
    for gone in purged {
        tracing::info!(tenant.id = %gone.tenant, kind = kept.as_str(), count = gone.count, "old rows removed");
    }
}
