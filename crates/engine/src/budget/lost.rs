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
