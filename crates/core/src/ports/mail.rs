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
    /// Sends one message. Ends within [`MAX_SEND`](crate::mail::MAX_SEND), and says then as well what is known.
    ///
    /// # Errors
    /// [`SendFault::NotSent`] or [`SendFault::Unknown`]: the difference decides whether it may be tried again.
    async fn send(&self, mail: &OutgoingMail) -> Result<(), SendFault>;
}
