//! Polls a mailbox and hands its messages to the intake: each to the tenant whose intake address it was sent to
//! (`slug@` the intake domain), otherwise to the tenant of the mailbox.
//!
//! The place in the mailbox is kept in memory only: after a restart every message is looked at again, and the
//! intake's dedupe by `Message-ID` makes the second look harmless. What was refused is marked in the mailbox itself, and
//! so is what was being taken in when a process died.

use std::sync::Arc;

use bytes::Bytes;
use kybern_adapters::mail::imap::{Fetched, ImapPosition, Mailbox, MessageMark};
use kybern_core::error::{ErrorCode, Result};
use kybern_core::id::{RequestId, TenantId};
use kybern_engine::Engine;
use kybern_engine::intake::DeliveryOutcome;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::wiring::NamedTenants;

/// A mailbox that is polled until the server stops.
pub(crate) struct Poller {
    mailbox: Mailbox,
    tenant: TenantId,
    engine: Engine,
}

impl Poller {
    /// The mailbox of the settings; `None` when there is none.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub(crate) fn of(config: &Config, tenants: &NamedTenants, engine: &Engine) -> anyhow::Result<Option<Self>> {
        let (Some(imap), Some(tenant)) = (&config.imap, tenants.mailbox) else { return Ok(None) };
        let mailbox = Mailbox::new(imap.connection(config.server.max_mail_bytes))?;
        Ok(Some(Self { mailbox, tenant, engine: engine.clone() }))
    }

    /// Polls until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let this = Arc::new(self);
        let mut after: Option<ImapPosition> = None;
        loop {
            match this.mailbox.fetch_new(after).await {
                Ok(messages) => {
                    let mut more = !messages.is_empty();
                    for (position, message) in messages {
                        if stop.is_cancelled() {
                            return;
                        }
                        if !this.take_in(position, message).await {
                            more = false;
                            break;
                        }
                        after = Some(position);
                    }
                    if more && !stop.is_cancelled() {
                        continue;
                    }
                }
                Err(error) => tracing::warn!(%error, "the mailbox cannot be read, it is tried again"),
            }
            let pause = tokio::time::timeout(this.mailbox.poll_interval().as_duration(), stop.cancelled());
            if pause.await.is_ok() {
                return;
            }
        }
    }

    /// Hands one message over; `false` when the server cannot take it now, so that it is fetched again.
    async fn take_in(&self, position: ImapPosition, message: Fetched) -> bool {
        let (raw, begun) = match message {
            Fetched::Message { raw, interrupted: false } => (raw, MessageMark::Begun),
            Fetched::Message { raw, interrupted: true } => (raw, MessageMark::BegunAgain),
            Fetched::TooLarge { bytes } => return self.refuse(position, &format!("it has {bytes} bytes")).await,
            Fetched::Deadly => return self.refuse(position, "the server went down twice while it took it in").await,
        };
        // Before anybody looks into it: what takes this process down must not take the next one down for ever.
        if let Err(error) = self.mailbox.mark(position, begun).await {
            tracing::warn!(%error, "a message could not be marked as begun, it is fetched again");
            return false;
        }
        match self.hand_over(raw).await {
            Ok(received) => {
                tracing::info!(task.id = %received.task_id, duplicate = received.duplicate, "message taken in");
                self.mark(position, MessageMark::Taken).await;
                true
            }
            Err(error) => match error.code() {
                ErrorCode::Unavailable => {
                    tracing::warn!(%error, "a message cannot be taken in now");
                    self.mark(position, MessageMark::Later).await;
                    false
                }
                ErrorCode::Validation | ErrorCode::PayloadTooLarge | ErrorCode::Unprocessable => {
                    self.refuse(position, &error.to_string()).await
                }
                _ => {
                    let uid = position.uid;
                    tracing::error!(uid, %error, "a message cannot be taken in, it is tried again after a restart");
                    self.mark(position, MessageMark::Later).await;
                    true
                }
            },
        }
    }

    async fn hand_over(&self, raw: Bytes) -> Result<DeliveryOutcome> {
        let request = RequestId::from_uuid(self.engine.ids().next());
        let tenant = self.engine.intake().tenant_of_mail(self.tenant, &raw).await?;
        let actor = self.engine.identity().channel_actor(tenant, "imap", request);
        self.engine.intake().receive_email(&actor, raw, None).await
    }

    /// Leaves a message in the mailbox for good, flagged for the people who look into it; those behind it come next.
    async fn refuse(&self, position: ImapPosition, why: &str) -> bool {
        tracing::error!(
            uid = position.uid,
            why,
            "a message is refused and stays in the mailbox, flagged KybernRefused"
        );
        self.mark(position, MessageMark::Refused).await;
        true
    }

    async fn mark(&self, position: ImapPosition, mark: MessageMark) {
        if let Err(error) = self.mailbox.mark(position, mark).await {
            tracing::warn!(uid = position.uid, ?mark, %error, "a message could not be marked");
        }
    }
}

#[cfg(test)]
mod tests;
