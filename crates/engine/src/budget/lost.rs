//! Reservations whose process is gone.

use std::sync::Arc;

use kybern_core::error::Result;
use kybern_core::ports::{Clock, LedgerStore};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use tokio_util::sync::CancellationToken;

/// How many are settled before the others get their turn.
const BATCH: u32 = 200;
/// How often what other processes left reserved is looked for.
const REST: Millis = Millis::from_secs(30);

/// Settles at their estimates the reservations of processes that are gone.
pub(crate) struct LostReservations {
    pub(crate) store: Arc<dyn LedgerStore>,
    pub(crate) worker: WorkerId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stopping: CancellationToken,
}

impl LostReservations {
    /// Settles them: at the start, and again and again.
    pub(crate) async fn settle_until_stopped(self) {
        while !self.stopping.is_cancelled() {
            if let Err(error) = self.settle().await {
                tracing::error!(%error, "lost reservations could not be settled");
            }
            let _ = tokio::time::timeout(REST.as_duration(), self.stopping.cancelled()).await;
        }
    }

    async fn settle(&self) -> Result<()> {
        loop {
            let lost = self.store.lost_reservations(&self.worker, BATCH, self.clock.now()).await?;
            let more = lost.len() >= BATCH as usize;
            let mut settled = 0;
            for reservation in lost {
                let (id, tenant) = (reservation.id, reservation.scope.tenant());
                match self.store.settle_at_estimate(&reservation, self.clock.now()).await {
                    Ok(false) => {}
                    Ok(true) => {
                        settled += 1;
                        tracing::warn!(reservation.id = %id, tenant.id = %tenant, "a lost reservation is settled at its estimate");
                    }
                    // One that cannot be settled does not keep the others from it.
                    Err(error) => {
                        tracing::error!(reservation.id = %id, tenant.id = %tenant, %error, "a lost reservation stays open");
                    }
                }
            }
            if settled == 0 || !more || self.stopping.is_cancelled() {
                return Ok(());
            }
        }
    }
}
