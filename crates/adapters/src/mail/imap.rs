//! A mailbox that is polled over IMAP.
//!
//! The caller keeps the position of the last message it has taken in, in its own transaction, and asks for what came
//! after. Nothing is remembered here but a connection, so a crash, a lost connection or a second poller costs at most
//! a message seen twice, which the caller finds by its `Message-ID`. Messages are fetched without marking them read.

mod connection;
mod mark;
mod nesting;

use std::path::PathBuf;
use std::sync::Arc;

use async_imap::imap_proto::{AttributeValue, MailboxDatum, Response};
use bytes::Bytes;
use kybern_core::time::Millis;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use self::connection::Connection;
pub use self::mark::MessageMark;
use super::tls::{self, MailConfigError, MailTls};
use crate::http::tls::client_config;

/// The most messages of one call.
pub const MAX_BATCH: usize = 20;
/// The most bytes of the messages of one call, reached by the last of them.
pub const MAX_BATCH_BYTES: u64 = 64 * 1024 * 1024;
/// What an answer may hold besides the message it was asked for.
const OVERHEAD_BYTES: u64 = 4 * 1024 * 1024;

/// Which mailbox is polled, and as whom.
#[derive(Clone)]
pub struct ImapConfig {
    /// The server's name, which its certificate must carry.
    pub host: String,
    /// Its port: 993 (`tls`) or 143 (`starttls`).
    pub port: u16,
    /// How the connection is protected; `none` only for this machine.
    pub tls: MailTls,
    /// The name to log in with.
    pub username: String,
    pub password: String,
    /// The folder, usually `INBOX`.
    pub folder: String,
    /// How long the caller waits between two polls.
    pub poll_ms: Millis,
    /// The largest message that is fetched.
    pub max_message_bytes: u64,
    /// A PEM file with a private authority to trust besides the usual ones.
    pub ca_file: Option<PathBuf>,
}

impl ImapConfig {
    /// Everything for which [`Mailbox::new`] refuses these settings, the file of certificates apart.
    #[must_use]
    pub fn faults(&self) -> Vec<MailConfigError> {
        let mut faults = Vec::new();
        if self.tls == MailTls::None && !tls::is_loopback(&self.host) {
            faults.push(MailConfigError::ClearPassword { host: self.host.clone() });
        }
        faults.extend(tls::server_name(&self.host).err());
        faults
    }
}

impl std::fmt::Debug for ImapConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port, tls, username, folder, poll_ms, .. } = self;
        write!(f, "ImapConfig({host}:{port}, {tls:?}, username {username:?}, folder {folder:?}, every {poll_ms}, …)")
    }
}

/// A message's place in a folder. A folder that was made anew has another validity, and its uids begin again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ImapPosition {
    /// Which folder of that name it is.
    pub uid_validity: u32,
    /// The message's number, growing.
    pub uid: u32,
}

/// A message, or why it is not here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fetched {
    /// The raw message.
    Message {
        raw: Bytes,
        /// Whether somebody died over it before: it was marked [`MessageMark::Begun`] and nothing else since.
        interrupted: bool,
    },
    /// It is larger than [`ImapConfig::max_message_bytes`] and was not fetched.
    TooLarge {
        /// Its size in bytes, as the server says.
        bytes: u64,
    },
    /// Two processes died over it, so it was not fetched again: it was marked [`MessageMark::BegunAgain`] and nothing else
    /// since.
    Deadly,
}

/// What is known of a message before it is fetched.
#[derive(Clone, Copy)]
struct UnfetchedMessage {
    uid: u32,
    bytes: u64,
    begun: bool,
    begun_again: bool,
}

/// Why the mailbox could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImapError {
    /// The server cannot be reached.
    #[error("cannot connect to the mail server: {0}")]
    Connect(String),
    /// It does not accept the name or the password.
    #[error("the mail server refuses the login: {0}")]
    Login(String),
    /// It refuses a command, for instance because there is no such folder.
    #[error("the mail server refuses {command}: {reason}")]
    Refused {
        command: &'static str,
        /// What the server said.
        reason: String,
    },
    /// The connection ended in the middle.
    #[error("the connection to the mail server was lost: {0}")]
    Lost(String),
    /// It took too long.
    #[error("the mail server did not answer {command} within {limit}")]
    TimedOut {
        command: &'static str,
        /// How long it had.
        limit: Millis,
    },
    /// The position belongs to a folder that was made anew since.
    #[error("the folder was made anew, uid validity {expected} is now {found}")]
    FolderChanged {
        /// The validity of the position.
        expected: u32,
        /// The validity now.
        found: u32,
    },
}

impl ImapError {
    /// Whether the next poll may succeed without anybody changing the settings.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Lost(_) | Self::TimedOut { .. } => true,
            Self::Login(_) | Self::Refused { .. } | Self::FolderChanged { .. } => false,
        }
    }
}

/// One polled folder. Calls wait for one another: there is one connection.
pub struct Mailbox {
    config: ImapConfig,
    server: ServerName<'static>,
    connector: TlsConnector,
    connection: Mutex<Option<Connection>>,
}

impl std::fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Mailbox").field(&self.config).finish()
    }
}

impl Mailbox {
    /// A mailbox; connects when it is first read. Reads the file of certificates, if one is named.
    ///
    /// # Errors
    /// When the server's name or the certificates cannot be read, or the password would cross the network in the
    /// clear.
    pub fn new(config: ImapConfig) -> Result<Self, MailConfigError> {
        if let Some(fault) = config.faults().into_iter().next() {
            return Err(fault);
        }
        let server = tls::server_name(&config.host)?;
        let roots = tls::extra_roots(config.ca_file.as_deref())?;
        let connector = TlsConnector::from(Arc::new(client_config(&roots)?));
        Ok(Self { config, server, connector, connection: Mutex::default() })
    }

    /// How long to wait between two polls.
    #[must_use]
    pub fn poll_interval(&self) -> Millis {
        self.config.poll_ms
    }

    /// The oldest messages after `after`, oldest first, or the oldest of all: at most [`MAX_BATCH`] of them and about
    /// [`MAX_BATCH_BYTES`]; those marked [`MessageMark::Refused`] are not among them. An empty answer means that there are no
    /// more now. When the folder was made anew since `after`, it begins at the first message again.
    ///
    /// # Errors
    /// When the mailbox cannot be read; nothing was changed.
    ///
    /// # Cancel safety
    /// Dropping the future loses the connection and nothing else.
    pub async fn fetch_new(&self, after: Option<ImapPosition>) -> Result<Vec<(ImapPosition, Fetched)>, ImapError> {
        let mut slot = self.connection.lock().await;
        let (mut connection, uid_validity) = self.select(slot.take()).await?;
        let after = after.filter(|position| position.uid_validity == uid_validity).map_or(0, |position| position.uid);
        let mut batch = Vec::new();
        let mut total = 0;
        for UnfetchedMessage { uid, bytes, begun, begun_again } in known_after(&mut connection, after).await? {
            let position = ImapPosition { uid_validity, uid };
            if bytes > self.config.max_message_bytes {
                batch.push((position, Fetched::TooLarge { bytes }));
            } else if begun_again {
                batch.push((position, Fetched::Deadly));
            } else if let Some(raw) = message(&mut connection, uid, bytes).await? {
                total += bytes;
                batch.push((position, Fetched::Message { raw, interrupted: begun }));
            }
            if total >= MAX_BATCH_BYTES {
                break;
            }
        }
        *slot = Some(connection);
        Ok(batch)
    }

    /// Marks a message.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses, or the folder was made anew. Doing it again is harmless.
    pub async fn mark(&self, position: ImapPosition, mark: MessageMark) -> Result<(), ImapError> {
        let mut slot = self.connection.lock().await;
        let (mut connection, found) = self.select(slot.take()).await?;
        let expected = position.uid_validity;
        let marked = match found == expected {
            true => mark::store(&mut connection, position.uid, mark).await,
            false => Err(ImapError::FolderChanged { expected, found }),
        };
        if !matches!(&marked, Err(error) if error.is_transient()) {
            *slot = Some(connection);
        }
        marked
    }

    /// Opens the folder, on the connection at hand or, if that is lost, on a new one; returns its validity.
    async fn select(&self, at_hand: Option<Connection>) -> Result<(Connection, u32), ImapError> {
        if let Some(mut connection) = at_hand {
            match connection.select(&self.config.folder).await {
                Ok(validity) => return Ok((connection, validity)),
                Err(refused @ ImapError::Refused { .. }) => return Err(refused),
                Err(error) => tracing::debug!(%error, "the mail connection is gone, connecting anew"),
            }
        }
        let mut connection = Connection::open(&self.config, &self.server, &self.connector).await?;
        let validity = connection.select(&self.config.folder).await?;
        Ok((connection, validity))
    }
}

/// The next messages with their sizes and marks, in order.
async fn known_after(connection: &mut Connection, after: u32) -> Result<Vec<UnfetchedMessage>, ImapError> {
    let Some(first) = after.checked_add(1) else { return Ok(Vec::new()) };
    let mut uids = Vec::new();
    connection
        .run("UID SEARCH", &format!("UNKEYWORD {} UID {first}:*", mark::REFUSED), 0, |response| {
            if let Response::MailboxData(MailboxDatum::Search(found)) = response {
                // `N:*` names the last message even when its number is below N.
                uids.extend(found.iter().filter(|uid| **uid >= first));
            }
        })
        .await?;
    uids.sort_unstable();
    uids.dedup();
    uids.truncate(MAX_BATCH);
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let set = uids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut known: Vec<UnfetchedMessage> = Vec::new();
    fetch(connection, &format!("{set} (UID FLAGS RFC822.SIZE)"), 0, |uid, attributes| {
        let bytes = attributes.iter().find_map(|attribute| match attribute {
            AttributeValue::Rfc822Size(bytes) => Some(u64::from(*bytes)),
            _ => None,
        });
        let has = |name: &str| {
            attributes.iter().any(|attribute| {
                matches!(attribute, AttributeValue::Flags(flags) if flags.iter().any(|flag| flag.eq_ignore_ascii_case(name)))
            })
        };
        if let Some(bytes) = bytes.filter(|_| uids.contains(&uid)) {
            known.push(UnfetchedMessage { uid, bytes, begun: has(mark::BEGUN), begun_again: has(mark::BEGUN_AGAIN) });
        }
    })
    .await?;
    known.sort_unstable_by_key(|known| known.uid);
    known.dedup_by_key(|known| known.uid);
    Ok(known)
}

/// One message, unless it was removed in the meantime. A server that sends more than it announced is cut off.
async fn message(connection: &mut Connection, wanted: u32, bytes: u64) -> Result<Option<Bytes>, ImapError> {
    let mut message = None;
    fetch(connection, &format!("{wanted} (UID BODY.PEEK[])"), bytes, |uid, attributes| {
        for attribute in attributes.iter().filter(|_| uid == wanted) {
            if let AttributeValue::BodySection { section: None, data: Some(data), .. } = attribute {
                message = Some(Bytes::copy_from_slice(data));
            }
        }
    })
    .await?;
    Ok(message)
}

/// Fetches, and shows the attributes of each message with its number.
async fn fetch(
    connection: &mut Connection,
    arguments: &str,
    max_bytes: u64,
    mut each: impl FnMut(u32, &[AttributeValue<'_>]),
) -> Result<(), ImapError> {
    connection
        .run("UID FETCH", arguments, max_bytes, |response| {
            let Response::Fetch(_, attributes) = response else { return };
            let uid = attributes.iter().find_map(|attribute| match attribute {
                AttributeValue::Uid(uid) => Some(*uid),
                _ => None,
            });
            if let Some(uid) = uid {
                each(uid, attributes);
            }
        })
        .await
}
