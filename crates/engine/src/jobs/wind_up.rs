//! The honest end of what a dead job leaves behind.

use kybern_core::job::ClaimedJob;
use kybern_core::outbox::{OutboxChannel, OutboxStatus};

use super::JobFailure;
use super::outbox::{OutboxSender, outbox_id};

impl OutboxSender {
    /// A mail that may have been handed over becomes `uncertain`, and so does a dispatch whose workflow may be under way:
    /// its step goes on waiting for the callback. Everything else that is on its way has failed. A receiver of a webhook
    /// drops repeats, so nothing is lost by saying that it failed when it may have arrived.
    pub(super) async fn wind_up_outbox(&self, job: &ClaimedJob, reason: &str) -> Result<bool, JobFailure> {
        let Some(id) = outbox_id(job) else { return Ok(false) };
        let Some(message) = self.kernel.store.outbox_message(job.scope(), id).await? else { return Ok(false) };
        let channel = message.message.channel;
        let end = match (message.status, channel) {
            (OutboxStatus::Sent | OutboxStatus::Kept, _) => return Ok(true),
            (OutboxStatus::Failed | OutboxStatus::Uncertain, _) => return Ok(false),
            (OutboxStatus::Sending, OutboxChannel::Email | OutboxChannel::Workflow) => OutboxStatus::Uncertain,
            (OutboxStatus::Pending | OutboxStatus::Sending, _) => OutboxStatus::Failed,
        };
        // Before the message has its end: afterwards nobody would come back to tell the step.
        if channel == OutboxChannel::Workflow && end == OutboxStatus::Failed {
            self.dispatch_failed(job, &message, reason).await?;
        }
        self.move_status(job, &message, message.status, end, Some(reason)).await?;
        Ok(false)
    }
}
