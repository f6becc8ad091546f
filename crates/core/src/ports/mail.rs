//! Taking mail apart, and sending it.

use async_trait::async_trait;

use crate::mail::{MailFault, OutgoingMail, ParsedMail, SendFault};

/// Takes messages apart.
pub trait MailParser: Send + Sync {
    /// Takes one message apart.
    ///
    /// # Errors
    /// When it is no message, or over a limit.
    fn parse(&self, raw: &[u8]) -> Result<ParsedMail, MailFault>;
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
