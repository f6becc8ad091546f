//! Reservations whose process is gone.

use kybern_core::error::Result;

use crate::parts::Inner;

/// How many are settled before the others get their turn.
const BATCH: u32 = 200;

impl Inner {
    /// Settles at their estimates what was reserved by processes that are gone.
    pub(crate) async fn settle_lost(&self) -> Result<()> {
        loop {
            let lost = self.store.lost_reservations(&self.worker, BATCH, self.clock.now()).await?;
            let more = lost.len() >= BATCH as usize;
            for reservation in lost {
                if self.store.settle_at_estimate(&reservation, self.clock.now()).await? {
                    let (id, tenant) = (reservation.id, reservation.tenant);
                    tracing::warn!(reservation.id = %id, tenant.id = %tenant, "a lost reservation is settled at its estimate");
                }
            }
            if !more || self.stopping.is_cancelled() {
                return Ok(());
            }
        }
    }
}
