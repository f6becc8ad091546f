//! Retention: what is over is kept as long as the operator says, and then removed in the background.

use std::sync::Arc;

use kybern_core::error::Result;
use kybern_core::retention::{Kept, Purge, Purged, Round};
use kybern_core::time::Millis;

use crate::Engine;

/// How often is looked for what has become old.
const ROUND: Millis = Millis::from_secs(60 * 60);
/// How long everybody else has the database to themselves between two removals.
const PAUSE: Millis = Millis(50);

/// How long things are kept. What is not said is kept for ever.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    /// Files that nothing names, after they were stored last.
    pub files: Option<Millis>,
    /// Conversations, after what was said last.
    pub chats: Option<Millis>,
    /// Tasks, after the end of the last one of their tree.
    pub tasks: Option<Millis>,
    /// Messages of the outbox that have their end, after they were made.
    pub messages: Option<Millis>,
    /// Jobs, after their end.
    pub jobs: Option<Millis>,
    /// Answers to idempotency keys, after they expired.
    pub idempotency_keys: Option<Millis>,
    /// The tenants, by name or slug, of which nothing is removed.
    pub holds: Vec<String>,
}

impl Retention {
    const fn of(&self, kept: Kept) -> Option<Millis> {
        match kept {
            Kept::Files => self.files,
            Kept::Chats => self.chats,
            Kept::Tasks => self.tasks,
            Kept::Messages => self.messages,
            Kept::Jobs => self.jobs,
            Kept::IdempotencyKeys => self.idempotency_keys,
        }
    }
}

impl Engine {
    pub(crate) async fn retention_loop(self) {
        let inner = Arc::clone(&self.inner);
        while !inner.stopping.is_cancelled() {
            self.purge_what_is_old().await;
            // Running out of time is the next round.
            let _ = tokio::time::timeout(ROUND.as_duration(), inner.stopping.cancelled()).await;
        }
    }

    async fn purge_what_is_old(&self) {
        let inner = &self.inner;
        let retention = &inner.settings.retention;
        for kept in Kept::ALL {
            let Some(time) = retention.of(kept) else { continue };
            let now = inner.clock.now();
            let purge = Purge { kept, before: now.minus(time), holds: retention.holds.clone(), dry_run: false };
            tokio::select! {
                () = inner.stopping.cancelled() => return,
                purged = self.purge_round(purge) => match purged {
                    Ok(purged) => tell(kept, &purged),
                    Err(error) => {
                        tracing::error!(%error, kind = kept.as_str(), "old rows were not removed, see [retention]");
                    }
                },
            }
        }
    }

    /// Removes one kind of all tenants, each in turn, with pauses. What cannot be removed of one tenant keeps nobody
    /// else's.
    async fn purge_round(&self, purge: Purge) -> Result<Vec<Purged>> {
        let inner = &self.inner;
        let kept = purge.kept;
        let mut round = Round::begin(&*inner.store, purge, inner.clock.now()).await?;
        loop {
            match round.step(&*inner.store).await {
                Ok(None) => return Ok(round.purged()),
                Ok(Some(0)) => {}
                Ok(Some(_)) => {
                    // Running out of time is the end of the pause; whoever stops the engine drops all of this.
                    let _ = tokio::time::timeout(PAUSE.as_duration(), std::future::pending::<()>()).await;
                }
                Err(error) => tracing::error!(%error, kind = kept.as_str(), "old rows of a tenant were not removed"),
            }
        }
    }
}

fn tell(kept: Kept, purged: &[Purged]) {
    for gone in purged {
        tracing::info!(tenant.id = %gone.tenant, kind = kept.as_str(), count = gone.count, "old rows removed");
    }
}
