//! What is known of the server's own health, each part by name.

use kybern_core::actor::Actor;
use kybern_core::error::Result;
use kybern_core::id::RecordId;
use kybern_core::outbox::OutboxMessage;
use kybern_core::ports::Page;
use kybern_core::record::Record;
use kybern_core::task::TaskStatus;
use kybern_core::tenant::TenantScope;
use serde::Serialize;

use crate::Engine;

/// One part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Whether it is well.
    pub ok: bool,
    /// Whether the server cannot take work without it.
    pub required: bool,
    /// What is known of it.
    pub message: String,
}

/// All parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// The parts.
    pub checks: Vec<Check>,
}

impl Readiness {
    /// Whether the server can take work.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.checks.iter().all(|check| check.ok || !check.required)
    }
}

/// What a process holds of single tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// Tasks that are run.
    pub runs: usize,
    /// Tasks that somebody waits for or follows.
    pub watched: usize,
    /// Replies that are being written or read along.
    pub replies: usize,
    /// Slots that tasks and jobs hold.
    pub slots: u32,
}

impl Engine {
    /// Looks at every part.
    pub async fn readiness(&self) -> Readiness {
        let check = |name: &str, ok: bool, required: bool, message: String| Check {
            name: name.to_owned(),
            ok,
            required,
            message,
        };
        let inner = &self.inner;
        let counted = inner.store.count_by_status().await;
        let database = match &counted {
            Ok(_) => check("database", true, true, "answers".to_owned()),
            Err(error) => check("database", false, true, error.to_string()),
        };
        // The store opens only after every migration has been applied.
        let migrations = check("migrations", counted.is_ok(), true, "applied at start".to_owned());
        let quarantined = inner.catalog.in_quarantine();
        let bundled = self.registry().plans().count();
        let message = match quarantined.as_slice() {
            [] => format!("{bundled} bundled plans, none in quarantine"),
            // Whose they are, and what is wrong with them, is told to their tenants in the list of plans.
            some => format!("{} stored plans are in quarantine, see `kybern plan list`", some.len()),
        };
        let plans = check("plans", quarantined.is_empty(), false, message);
        let dead = inner.store.dead_jobs().await.unwrap_or(-1);
        let jobs = check("jobs", dead == 0, false, format!("{dead} dead jobs"));
        let workflows: Vec<&str> = inner.settings.workflows.keys().map(String::as_str).collect();
        let named = if workflows.is_empty() { "none configured".to_owned() } else { workflows.join(", ") };
        let workflows = check("workflows", true, false, named);
        let mail = if inner.mail_sender.is_some() {
            "SMTP is configured; `kybern doctor` tries to reach it"
        } else {
            "no SMTP, mail stays in the outbox"
        };
        let mail = check("mail", true, false, mail.to_owned());
        let model = check("model", true, false, "offline rules: intents and extraction, no prose".to_owned());
        Readiness { checks: vec![database, migrations, plans, jobs, workflows, mail, model] }
    }

    /// How many tasks are in each status.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn counts(&self) -> Result<Vec<(TaskStatus, i64)>> {
        self.inner.store.count_by_status().await
    }

    /// How many tasks this process holds right now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.inner.active.count()
    }

    /// What this process holds in memory of single tasks right now. When nothing runs and nobody waits, it is nothing.
    #[must_use]
    pub fn held(&self) -> Held {
        Held {
            runs: self.inner.active.count(),
            watched: self.inner.watchers.count(),
            replies: self.inner.lives.count(),
            slots: self.inner.slots.held() + self.inner.job_slots.held(),
        }
    }

    /// A page of a kind's records.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn records(
        &self,
        scope: TenantScope,
        kind: &str,
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>> {
        self.inner.store.records(scope, kind, after, limit).await
    }

    /// The kinds of which the tenant has records.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record_kinds(&self, scope: TenantScope) -> Result<Vec<(String, i64)>> {
        self.inner.store.record_kinds(scope).await
    }

    /// A record.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn record(&self, scope: TenantScope, id: RecordId) -> Result<Record> {
        let record = self.inner.store.record_by_id(scope, id).await?;
        record.ok_or_else(|| kybern_core::error::Error::not_found("record", id))
    }

    /// A page of the outbox, newest first: what the actor may see of it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn outbox(
        &self,
        actor: &Actor,
        before: Option<kybern_core::id::OutboxId>,
        limit: u32,
    ) -> Result<Page<OutboxMessage>> {
        self.inner.store.outbox(actor.scope(), actor.sees_talks_of(), before, limit).await
    }
}
