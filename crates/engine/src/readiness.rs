//! What is known of the server's own health, each part by name.

use std::sync::Arc;

use kybern_core::count::count;
use kybern_core::error::Result;
use kybern_core::ports::MailSender;
use kybern_core::task::TaskStatus;
use kybern_core::time::{Millis, Timestamp};
use serde::Serialize;

pub use crate::check::{Check, PartState};
use crate::executor::Kernel;
use crate::jobs::{JobWorker, Receiver, Receivers};
use crate::meter::{Figures, Meter};
use crate::models::{ModelService, ProviderHealth};
use crate::plans::catalogue::PlanCatalogue;
use crate::retention::Removal;

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
        self.checks.iter().all(|check| !check.required || check.state != PartState::Broken)
    }
}

/// Below so much room somebody should look, and below so much nothing may be left for the next large file.
const LITTLE_ROOM: u64 = 1024 * 1024 * 1024;
/// See [`LITTLE_ROOM`].
const NO_ROOM: u64 = 64 * 1024 * 1024;

/// What a process holds of single tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeldInMemory {
    /// Tasks that are run.
    pub runs: usize,
    /// Tasks that somebody waits for or follows.
    pub watched: usize,
    /// Replies that are being written or read along.
    pub replies: usize,
    /// Slots that tasks and jobs hold.
    pub slots: u32,
}

/// Looks after the health of this process.
pub struct Health {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) jobs: JobWorker,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) mail_sender: Option<Arc<dyn MailSender>>,
    pub(crate) plan_catalogue: Arc<PlanCatalogue>,
    pub(crate) models: ModelService,
    pub(crate) removal: Removal,
}

impl Health {
    /// Looks at every part.
    pub async fn readiness(&self) -> Readiness {
        let counted = self.kernel.store.count_by_status().await;
        // A server for one reading verb writes nothing.
        let written =
            if self.kernel.settings.work { self.kernel.store.probe(self.kernel.clock.now()).await } else { Ok(()) };
        let database = match (&counted, &written) {
            (Err(error), _) => Check::required("database", false, error.to_string()),
            (_, Err(error)) => Check::required("database", false, format!("answers, and takes no writes: {error}")),
            (Ok(_), Ok(())) => Check::required("database", true, "answers and takes writes"),
        };
        // The store opens only after every migration has been applied.
        let migrations = Check::required("migrations", counted.is_ok(), "applied at start");
        let mut checks = vec![database, migrations, self.disk().await, self.claims()];
        let quarantined = self.plan_catalogue.in_quarantine();
        let bundled = self.plan_catalogue.registry().plans().count();
        checks.push(match quarantined.as_slice() {
            [] => Check::of("plans", PartState::Ok, format!("{bundled} bundled plans, none in quarantine")),
            // Whose they are, and what is wrong with them, is told to their tenants in the list of plans.
            some => {
                let are = if some.len() == 1 { "is" } else { "are" };
                let plans = count(some.len(), "stored plan");
                let message = format!("{plans} {are} in quarantine, see `kybern plan list`");
                Check::of("plans", PartState::Warning, message)
            }
        });
        checks.push(match self.kernel.store.dead_jobs().await {
            Ok(dead) if dead.is_empty() => Check::of("jobs", PartState::Ok, "none is dead"),
            Ok(dead) => {
                let kinds: Vec<String> = dead.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
                let message = format!(
                    "dead, refused or after all their tries: {}; the log has their last errors",
                    kinds.join(", ")
                );
                Check::of("jobs", PartState::Warning, message)
            }
            Err(error) => Check::of("jobs", PartState::Warning, format!("cannot be counted: {error}")),
        });
        checks.extend(self.ways_out());
        let providers = self.models.providers();
        checks.push(Check::of(
            "model",
            PartState::Ok,
            match providers.as_slice() {
                [] => "offline rules: intents and extraction, no prose".to_owned(),
                some => format!("offline rules for intents and extraction, language models of {}", some.join(", ")),
            },
        ));
        for ProviderHealth { provider, breaker, last } in self.models.health() {
            let last = last.map(|(at, what)| format!(", at {at} with {what}")).unwrap_or_default();
            let (state, message) = match breaker {
                "closed" => (PartState::Ok, "nothing has failed".to_owned()),
                "failing" => (PartState::Warning, format!("has failed{last}")),
                _open => (PartState::Broken, format!("circuit breaker open after repeated failures{last}")),
            };
            checks.push(Check::of(&format!("provider:{provider}"), state, message));
        }
        checks.push(self.removal.check().await);
        checks.extend(self.kernel.settings.parts.iter().cloned());
        Readiness { checks }
    }

    async fn disk(&self) -> Check {
        let Some(room) = self.kernel.store.room().await else {
            return Check::of("disk", PartState::Off, "the server of the database watches its own disk");
        };
        let (free, percent) = (room.free / (1024 * 1024), room.free.saturating_mul(100) / room.total.max(1));
        let message = format!("{free} MiB free, {percent} % of the disk");
        let state = match room.free {
            free if free < NO_ROOM && percent < 10 => PartState::Broken,
            free if free < LITTLE_ROOM && percent < 5 => PartState::Warning,
            _enough => PartState::Ok,
        };
        // Without room nothing can be written soon, so that others should take the work.
        Check { required: true, ..Check::of("disk", state, message) }
    }

    fn claims(&self) -> Check {
        let (tasks, jobs) = (self.kernel.claims.told(), self.jobs.claims.told());
        match tasks.or(jobs) {
            None if !self.kernel.settings.work => Check::of("worker", PartState::Off, "this process works on nothing"),
            None => Check::required("worker", true, "takes tasks and jobs"),
            Some((since, what)) => Check::required("worker", false, format!("takes no work since {since}: {what}")),
        }
    }

    /// Mail, and the engines of workflows.
    fn ways_out(&self) -> Vec<Check> {
        let silent = self.receivers.silent();
        let mail = match (&self.mail_sender, silent.iter().find(|(_, at, _)| *at == Receiver::Mail)) {
            (None, _) => Check::of("mail", PartState::Off, "no SMTP, mail stays in the outbox"),
            (Some(_), None) => Check::of("mail", PartState::Ok, "SMTP is configured, and no try has failed since"),
            (Some(_), Some((name, _, breaker))) if breaker.is_tripped() => {
                Check::of("mail", PartState::Broken, format!("{name} is not answering: circuit breaker open"))
            }
            (Some(_), Some((name, ..))) => Check::of("mail", PartState::Warning, format!("{name} has not answered")),
        };
        let engines = &self.kernel.settings.workflows;
        let names: Vec<&str> = engines.keys().map(String::as_str).collect();
        let is_silent = |url: &str| silent.iter().any(|(_, receiver, _)| receiver.is_at(url));
        let away: Vec<&str> =
            engines.iter().filter(|(_, endpoint)| is_silent(&endpoint.url)).map(|(name, _)| name.as_str()).collect();
        let workflows = match (names.as_slice(), away.as_slice()) {
            ([], _) => Check::of("workflows", PartState::Off, "none configured"),
            (names, []) => Check::of("workflows", PartState::Ok, names.join(", ")),
            (_, away) => Check::of("workflows", PartState::Broken, format!("no answer from {}", away.join(", "))),
        };
        vec![workflows, mail]
    }

    /// Which of the configured ways out answered when they were last asked.
    fn answering(&self) -> Vec<(String, bool)> {
        let silent = self.receivers.silent();
        let mail = self.mail_sender.as_ref().map(|_| {
            let is_silent = silent.iter().any(|(_, receiver, _)| *receiver == Receiver::Mail);
            ("mail".to_owned(), !is_silent)
        });
        let engines = self.kernel.settings.workflows.iter().map(|(name, endpoint)| {
            let is_silent = silent.iter().any(|(_, receiver, _)| receiver.is_at(&endpoint.url));
            (name.clone(), !is_silent)
        });
        mail.into_iter().chain(engines).collect()
    }

    /// How many tasks are in each status.
    pub async fn counts(&self) -> Result<Vec<(TaskStatus, i64)>> {
        self.kernel.store.count_by_status().await
    }

    /// How many tasks this process holds right now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.kernel.active.count()
    }

    /// What this process holds in memory of single tasks right now. When nothing runs and nobody waits, it is nothing.
    #[must_use]
    pub fn held(&self) -> HeldInMemory {
        HeldInMemory {
            runs: self.kernel.active.count(),
            watched: self.kernel.watchers.count(),
            replies: self.kernel.lives.count(),
            slots: self.kernel.slots.held() + self.jobs.slots.held(),
        }
    }

    /// What this process counts.
    #[must_use]
    pub fn meter(&self) -> &Arc<Meter> {
        &self.kernel.meter
    }

    /// What is open right now.
    pub async fn figures(&self) -> Result<Figures> {
        let (tasks, open) = (self.kernel.store.count_by_status().await?, self.kernel.store.open_work().await?);
        let now = self.kernel.time.now();
        let oldest = self.kernel.store.oldest_work(now).await?;
        let age = |since: Option<Timestamp>| since.map_or(Millis(0), |since| now.since(since));
        let of = |name, slots: &crate::slots::Slots| (name, slots.held(), slots.total());
        let providers = self.models.health().into_iter();
        Ok(Figures {
            tasks,
            open,
            oldest: [
                ("tasks", age(oldest.task)),
                ("approvals", age(oldest.approval)),
                ("delegations", age(oldest.delegation)),
                ("jobs", age(oldest.job)),
                ("messages", age(oldest.message)),
            ],
            slots: [of("tasks", &self.kernel.slots), of("jobs", &self.jobs.slots)],
            room: self.kernel.store.room().await,
            providers: providers.map(|one| (one.provider, matches!(one.breaker, "closed" | "failing"))).collect(),
            receivers: self.answering(),
            claims: self.kernel.claims.told().is_none() && self.jobs.claims.told().is_none(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_required_and_broken_makes_a_server_unready() {
        let ready = |required, state| {
            let disk = Check { required, ..Check::of("disk", state, "") };
            Readiness { checks: vec![Check::required("database", true, ""), disk] }.is_ready()
        };
        assert!(ready(true, PartState::Ok) && ready(true, PartState::Warning) && ready(false, PartState::Broken));
        assert!(!ready(true, PartState::Broken));
    }
}
