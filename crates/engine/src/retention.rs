//! Retention: what is over is kept as long as the operator says, and then removed in the background.

use std::sync::Arc;

use kybern_core::retention::{Kept, Purge};
use kybern_core::time::Millis;

use crate::Engine;

/// How often is looked for what has become old.
const ROUND: Millis = Millis::from_secs(60 * 60);

/// How long things are kept. What is not said is kept for ever.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    /// Jobs, after their end.
    pub jobs: Option<Millis>,
    /// Messages of the outbox that have their end, after they were made.
    pub messages: Option<Millis>,
    /// The tenants, by name or slug, of which nothing is removed.
    pub holds: Vec<String>,
}

impl Retention {
    const fn of(&self, kept: Kept) -> Option<Millis> {
        match kept {
            Kept::Jobs => self.jobs,
            Kept::Messages => self.messages,
        }
    }
}

impl Engine {
    pub(crate) async fn retention_loop(self) {
        let inner = Arc::clone(&self.inner);
        while !inner.stopping.is_cancelled() {
            tokio::select! {
                () = inner.stopping.cancelled() => return,
                () = self.purge_what_is_old() => {}
            }
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
            let purge = Purge { kept, before: now.minus(time), holds: retention.holds.clone() };
            match inner.store.purge(&purge, now).await {
                Ok(purged) => {
                    for gone in purged {
                        tracing::info!(tenant.id = %gone.tenant, kind = kept.as_str(), count = gone.count, "old rows removed");
                    }
                }
                Err(error) => {
                    tracing::error!(%error, kind = kept.as_str(), "old rows were not removed, see [retention]")
                }
            }
        }
    }
}
