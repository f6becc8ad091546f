//! Taking mail apart, and sending it.

use async_trait::async_trait;
use bytes::Bytes;

use crate::id::TenantId;
use crate::mail::{MailFault, OutgoingMail, ParsedMail, SendFault};

/// Takes messages apart. Strangers write them, so nothing that they hold may keep others waiting.
#[async_trait]
pub trait MailParser: Send + Sync {
    /// Takes one message apart for a tenant, of which no one takes all places.
    ///
    /// # Errors
    /// When it is no message, over a limit of size or time, or too much is read already.
    async fn parse(&self, tenant: TenantId, raw: Bytes) -> Result<ParsedMail, MailFault>;
}

/// Sends messages.
#[async_trait]
pub trait MailSender: Send + Sync {
    /// Gets so far with a message that only its words are still to be handed over. Until then it surely is not sent,
    /// whatever ends meanwhile: this future, or the process. Together with handing it over this ends within
    /// [`MAX_SEND`](crate::mail::MAX_SEND).
    ///
    /// # Errors
    /// [`SendFault::NotSent`] or [`SendFault::Unreachable`].
    async fn prepare(&self, mail: &OutgoingMail) -> Result<Box<dyn PreparedMail + '_>, SendFault>;

    /// Sends one message, and says what is known when that fails.
    ///
    /// # Errors
    /// See [`MailSender::prepare`] and [`PreparedMail::hand_over`].
    async fn send(&self, mail: &OutgoingMail) -> Result<(), SendFault> {
        self.prepare(mail).await?.hand_over().await
    }
}

/// A message for which a mail server waits. Dropped, it is not sent.
#[async_trait]
pub trait PreparedMail: Send {
    /// Hands it over.
    ///
    /// # Errors
    /// Any [`SendFault`]: the difference decides whether it may be tried again.
    ///
    /// # Cancel safety
    /// Dropping the future is like losing the connection: whether the message was sent, nobody knows.
    async fn hand_over(self: Box<Self>) -> Result<(), SendFault>;
}
