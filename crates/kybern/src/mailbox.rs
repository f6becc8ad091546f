//! Polls a mailbox and hands its messages to the intake: each to the tenant whose intake address it was sent to
//! (`slug@` the intake domain), otherwise to the tenant of the mailbox.
//!
//! The place in the mailbox is kept in memory only: after a restart every message is looked at again, and the
//! intake's dedupe by `Message-ID` makes the second look harmless.

use std::sync::Arc;

use kybern_adapters::mail::imap::{Fetched, ImapConfig, ImapPosition, Mailbox};
use kybern_core::id::{RequestId, TenantId};
use kybern_engine::Engine;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ImapOptions};
use crate::wiring::{mail_tls, tenant_named};

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
    pub(crate) async fn of(config: &Config, engine: &Engine) -> anyhow::Result<Option<Self>> {
        let Some(imap) = &config.imap else { return Ok(None) };
        let tenant = tenant_named(engine.store().as_ref(), &imap.tenant).await?;
        let mailbox = Mailbox::new(mailbox(imap, config.server.max_mail_bytes))?;
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
        let raw = match message {
            Fetched::Message(raw) => raw,
            Fetched::TooLarge { bytes } => {
                tracing::error!(uid = position.uid, bytes, "a message is over the limit and stays in the mailbox");
                return true;
            }
        };
        let request = RequestId::from_uuid(self.engine.ids().next());
        let tenant = match self.engine.tenant_of_mail(&raw).await {
            Ok(tenant) => tenant.unwrap_or(self.tenant),
            Err(error) => {
                tracing::warn!(%error, "a message cannot be taken in now");
                return false;
            }
        };
        let actor = self.engine.channel_actor(tenant, "imap", request);
        match self.engine.receive_email(&actor, raw, None).await {
            Ok(received) => {
                tracing::info!(task.id = %received.task_id, duplicate = received.duplicate, "message taken in");
            }
            Err(error) if error.code() == kybern_core::error::ErrorCode::Unavailable => {
                tracing::warn!(%error, "a message cannot be taken in now");
                return false;
            }
            Err(error) => {
                tracing::error!(uid = position.uid, %error, "a message cannot be taken in and stays in the mailbox");
                return true;
            }
        }
        if let Err(error) = self.mailbox.mark_seen(position).await {
            tracing::warn!(%error, "a message could not be marked as seen");
        }
        true
    }
}

fn mailbox(imap: &ImapOptions, max_message_bytes: u64) -> ImapConfig {
    ImapConfig {
        host: imap.host.clone(),
        port: imap.port,
        tls: mail_tls(imap.tls),
        username: imap.username.clone(),
        password: imap.password.as_ref().map(|secret| secret.expose().to_owned()).unwrap_or_default(),
        folder: imap.folder.clone(),
        poll_ms: imap.poll_ms,
        max_message_bytes,
        ca_file: None,
    }
}

#[cfg(test)]
mod tests;
