//! What this server notes at the messages of a mailbox, where people and the next process find it.
//!
//! A message is marked before it is taken apart. If it takes the process down, the mark is what is left: the message
//! gets one more try, because a power cut is nobody's fault, and is refused after that.

use super::ImapError;
use super::connection::Connection;

/// The keyword of a message that is being taken in.
pub(super) const BEGUN: &str = "KybernBegun";
/// The keyword of a message that is being taken in although a process died over it.
pub(super) const BEGUN_AGAIN: &str = "KybernBegunAgain";
/// The keyword of a message that is never fetched again. Whoever removes it has it tried once more.
pub(super) const REFUSED: &str = "KybernRefused";

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageMark {
    /// It is about to be taken in.
    Begun,
    /// It is about to be taken in once more, after a process died over it.
    BegunAgain,
    /// It cannot be taken in now; nothing is held against it.
    Later,
    /// It was taken in, and is marked as read for the people who look into the mailbox.
    Taken,
    /// It cannot be taken in: flagged for people, and not fetched again.
    Refused,
}

impl MessageMark {
    /// What is added, and what is removed.
    fn flags(self) -> [Option<String>; 2] {
        let begun = Some(format!("-FLAGS.SILENT ({BEGUN} {BEGUN_AGAIN})"));
        match self {
            Self::Begun => [Some(format!("+FLAGS.SILENT ({BEGUN})")), None],
            Self::BegunAgain => [Some(format!("+FLAGS.SILENT ({BEGUN_AGAIN})")), None],
            Self::Later => [begun, None],
            Self::Taken => [Some("+FLAGS.SILENT (\\Seen)".to_owned()), begun],
            Self::Refused => [Some(format!("+FLAGS.SILENT (\\Flagged {REFUSED})")), begun],
        }
    }
}

/// Writes a mark. Where the server takes no keywords, only the flags that every server has are written.
pub(super) async fn store(connection: &mut Connection, uid: u32, mark: MessageMark) -> Result<(), ImapError> {
    for flags in mark.flags().into_iter().flatten() {
        match connection.run("UID STORE", &format!("{uid} {flags}"), 0, |_| ()).await {
            Err(refused @ ImapError::Refused { .. }) => match mark {
                MessageMark::Taken if flags.starts_with('+') => return Err(refused),
                MessageMark::Refused if flags.starts_with('+') => {
                    connection.run("UID STORE", &format!("{uid} +FLAGS.SILENT (\\Flagged)"), 0, |_| ()).await?;
                }
                MessageMark::Begun
                | MessageMark::BegunAgain
                | MessageMark::Later
                | MessageMark::Taken
                | MessageMark::Refused => {
                    tracing::debug!(%refused, "the mail server takes no keywords");
                }
            },
            done => done?,
        }
    }
    Ok(())
}
