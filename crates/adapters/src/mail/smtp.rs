//! Sending mail over SMTP, with an answer that is honest about what is known.
//!
//! The commands are spoken one by one, because the difference between [`SendFault::NotSent`] and
//! [`SendFault::Unknown`] is a place in the dialogue: until the dot after the message is written, the server must
//! discard what it has; from then on only its reply tells.

use std::fmt::Write as _;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;
use kybern_core::mail::{MAX_SEND, OutgoingFile, OutgoingMail, SendFault};
use kybern_core::ports::{MailSender, PreparedMail};
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, CertificateStore, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::{Address, Message};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::smtp_stream::SmtpStream;
use super::tls::{self, MailConfigError, MailTls};
use crate::http::tls::client_config;

/// How long connecting, or one command and its reply, may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long everything before the message itself may take: whatever ends in this time was surely not sent.
const READY_TIMEOUT: Duration = Duration::from_secs(90);
/// How long the message and the reply to its dot may take; servers look at content before they reply.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(120);
const _: () = assert!(READY_TIMEOUT.as_secs() + HAND_OVER_TIMEOUT.as_secs() < MAX_SEND.0 / 1000);
/// The most of a server's words that is shown.
const MAX_REASON_CHARS: usize = 300;
/// The most connections kept for the next message.
const MAX_IDLE: usize = 2;

/// Where and as whom mail is sent.
#[derive(Clone)]
pub struct SmtpConfig {
    /// The server's name, which its certificate must carry.
    pub host: String,
    /// Its port: 25, 465 (`tls`) or 587 (`starttls`).
    pub port: u16,
    /// How the connection is protected.
    pub tls: MailTls,
    /// The name to log in with; none sends without logging in.
    pub username: Option<String>,
    pub password: Option<String>,
    /// The sender, `Name <local@domain>` or `local@domain`.
    pub from: String,
    /// A PEM file with a private authority to trust besides the usual ones.
    pub ca_file: Option<PathBuf>,
}

impl std::fmt::Debug for SmtpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port, tls, username, from, .. } = self;
        write!(f, "SmtpConfig({host}:{port}, {tls:?}, username {username:?}, from {from:?}, …)")
    }
}

impl SmtpConfig {
    /// Everything for which [`Smtp::new`] refuses these settings, the file of certificates apart.
    #[must_use]
    pub fn faults(&self) -> Vec<MailConfigError> {
        let mut faults = Vec::new();
        if self.username.is_some() != self.password.is_some() {
            faults.push(MailConfigError::HalfLogin);
        } else if self.username.is_some() && self.tls == MailTls::None && !tls::is_loopback(&self.host) {
            faults.push(MailConfigError::ClearPassword { host: self.host.clone() });
        }
        if self.from.parse::<Mailbox>().is_err() {
            faults.push(MailConfigError::From { from: self.from.clone() });
        }
        if self.tls == MailTls::Tls {
            faults.extend(tls::server_name(&self.host).err());
        }
        faults
    }
}

/// Sends mail through one SMTP server.
pub struct Smtp {
    host: String,
    port: u16,
    mode: MailTls,
    /// For STARTTLS, which the library speaks.
    tls: TlsParameters,
    /// For a connection that is encrypted from its first byte.
    wrapped: Option<(TlsConnector, ServerName<'static>)>,
    login: Option<Credentials>,
    from: Mailbox,
    idle: Mutex<Vec<AsyncSmtpConnection>>,
}

impl std::fmt::Debug for Smtp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Smtp({}:{}, {:?})", self.host, self.port, self.mode)
    }
}

impl Smtp {
    /// A sender; connects when the first message is sent. Reads the file of certificates, if one is named.
    ///
    /// # Errors
    /// When the sender's address or the certificates cannot be read, only half of a login is given, or a password
    /// would cross the network in the clear.
    pub fn new(config: SmtpConfig) -> Result<Self, MailConfigError> {
        if let Some(fault) = config.faults().into_iter().next() {
            return Err(fault);
        }
        let login = config.username.zip(config.password).map(|(name, password)| Credentials::new(name, password));
        let from = config.from.parse().map_err(|_| MailConfigError::From { from: config.from })?;
        let mut tls = TlsParameters::builder(config.host.clone()).certificate_store(CertificateStore::WebpkiRoots);
        let roots = tls::extra_roots(config.ca_file.as_deref())?;
        let wrapped = match config.tls {
            MailTls::Tls => {
                let name = tls::server_name(&config.host)?;
                Some((TlsConnector::from(Arc::new(client_config(&roots)?)), name))
            }
            MailTls::None | MailTls::Starttls => None,
        };
        for root in roots {
            let root = Certificate::from_der(root.to_vec());
            tls = tls.add_root_certificate(root.map_err(|error| MailConfigError::Tls(error.to_string()))?);
        }
        let tls = tls.build_rustls().map_err(|error| MailConfigError::Tls(error.to_string()))?;
        let idle = Mutex::default();
        Ok(Self { host: config.host, port: config.port, mode: config.tls, tls, wrapped, login, from, idle })
    }

    /// A connection that answers: one that waits, or a new one.
    async fn connection(&self) -> Result<AsyncSmtpConnection, SendFault> {
        while let Some(mut waiting) = self.take_idle() {
            // RSET asks whether the server is still there and leaves nothing of the message before.
            if within(waiting.command(Rset)).await.is_ok() {
                return Ok(waiting);
            }
        }
        self.connect().await
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, SendFault> {
        let hello = ClientId::Domain(self.from.email.domain().to_owned());
        let stream = match tokio::time::timeout(COMMAND_TIMEOUT, self.open()).await {
            Ok(opened) => opened.map_err(|error| ExchangeFailure::Unopened(error).before())?,
            Err(_elapsed) => return Err(ExchangeFailure::TimedOut(COMMAND_TIMEOUT).before()),
        };
        let greeted = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &hello);
        let mut connection = within(greeted).await.map_err(ExchangeFailure::before)?;
        if self.mode == MailTls::Starttls {
            within(connection.starttls(self.tls.clone(), &hello)).await.map_err(ExchangeFailure::before)?;
        }
        if let Some(login) = &self.login {
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            within(connection.auth(&mechanisms, login)).await.map_err(ExchangeFailure::before)?;
        }
        Ok(connection)
    }

    async fn open(&self) -> io::Result<SmtpStream> {
        let tcp = TcpStream::connect((self.host.trim_matches(['[', ']']), self.port)).await?;
        let peer = tcp.peer_addr()?;
        Ok(match &self.wrapped {
            Some((connector, name)) => SmtpStream::new(connector.connect(name.clone(), tcp).await?, peer),
            None => SmtpStream::new(tcp, peer),
        })
    }

    fn take_idle(&self) -> Option<AsyncSmtpConnection> {
        self.idle.lock().ok()?.pop()
    }

    fn put_idle(&self, connection: AsyncSmtpConnection) {
        if let Ok(mut idle) = self.idle.lock()
            && idle.len() < MAX_IDLE
        {
            idle.push(connection);
        }
    }
}

#[async_trait]
impl MailSender for Smtp {
    async fn prepare(&self, mail: &OutgoingMail) -> Result<Box<dyn PreparedMail + '_>, SendFault> {
        let message = compose(&self.from, mail)?;
        let ready = async {
            let mut connection = self.connection().await?;
            announce(&mut connection, &message).await?;
            Ok(connection)
        };
        let ready = tokio::time::timeout(READY_TIMEOUT, ready).await;
        let connection = ready.unwrap_or_else(|_elapsed| Err(ExchangeFailure::TimedOut(READY_TIMEOUT).before()))?;
        Ok(Box::new(AwaitedMail { smtp: self, connection, message }))
    }
}

/// A message for which the server waits: it has said so to DATA.
struct AwaitedMail<'a> {
    smtp: &'a Smtp,
    connection: AsyncSmtpConnection,
    message: Message,
}

#[async_trait]
impl PreparedMail for AwaitedMail<'_> {
    async fn hand_over(self: Box<Self>) -> Result<(), SendFault> {
        let Self { smtp, mut connection, message } = *self;
        hand_over(&mut connection, &message).await?;
        smtp.put_idle(connection);
        Ok(())
    }
}

/// The message as it goes out.
fn compose(from: &Mailbox, mail: &OutgoingMail) -> Result<Message, SendFault> {
    let refused = |message: String| SendFault::NotSent { message, retryable: false };
    let is_token = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '<' | '>');
    let is_id = |id: &&String| !id.is_empty() && id.chars().all(is_token);
    if let Some(id) = std::iter::once(&mail.message_id).chain(&mail.references).find(|id| !is_id(id)) {
        return Err(refused(format!("{id:?} is no Message-ID")));
    }
    if mail.subject.contains(|letter: char| letter.is_control() && letter != '\t') {
        return Err(refused("the subject holds a line break or another control character".to_owned()));
    }
    let to: Address = mail.to.parse().map_err(|_| refused(format!("{:?} is no e-mail address", mail.to)))?;
    let mut head = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(&mail.subject)
        .message_id(Some(format!("<{}>", mail.message_id)));
    if let Some(last) = mail.references.last() {
        let thread: Vec<String> = mail.references.iter().map(|id| format!("<{id}>")).collect();
        head = head.in_reply_to(format!("<{last}>")).references(thread.join(" "));
    }
    let text = SinglePart::plain(mail.body.clone());
    let written = if mail.files.is_empty() {
        head.singlepart(text)
    } else {
        let files = mail.files.iter().filter_map(attachment);
        head.multipart(files.fold(MultiPart::mixed().singlepart(text), MultiPart::singlepart))
    };
    written.map_err(|error| refused(format!("the message cannot be written: {error}")))
}

/// A file as a part of a message, byte for byte. Whoever made it says of what type it is: what would be read as parts of
/// the message is not said.
fn attachment(file: &OutgoingFile) -> Option<SinglePart> {
    let claimed = file.content_type.to_ascii_lowercase();
    let claimed = if claimed.starts_with("multipart/") || claimed.starts_with("message/") { "" } else { &claimed };
    let kind = ContentType::parse(claimed).or_else(|_| ContentType::parse("application/octet-stream")).ok()?;
    let name: String = file.filename.chars().filter(|letter| !letter.is_control()).collect();
    let body = Body::new_with_encoding(file.bytes.to_vec(), ContentTransferEncoding::Base64).ok()?;
    Some(Attachment::new(name).body(body, kind))
}

/// Walks the dialogue from MAIL to the server's wish to read the message.
async fn announce(connection: &mut AsyncSmtpConnection, message: &Message) -> Result<(), SendFault> {
    let (envelope, bytes) = (message.envelope(), message.formatted());
    let mut options = Vec::new();
    let is_ascii = |address: &Address| address.to_string().is_ascii();
    if !envelope.to().iter().chain(envelope.from()).all(is_ascii) {
        options.push((Extension::SmtpUtfEight, MailParameter::SmtpUtfEight));
    }
    if !bytes.is_ascii() {
        options.push((Extension::EightBitMime, MailParameter::Body(MailBodyParameter::EightBitMime)));
    }
    if let Some((missing, _)) = options.iter().find(|(needed, _)| !connection.server_info().supports_feature(*needed)) {
        return Err(SendFault::NotSent { message: format!("the server does not know {missing}"), retryable: false });
    }
    let options = options.into_iter().map(|(_, option)| option).collect();
    within(connection.command(Mail::new(envelope.from().cloned(), options))).await.map_err(ExchangeFailure::before)?;
    for to in envelope.to() {
        within(connection.command(Rcpt::new(to.clone(), Vec::new()))).await.map_err(ExchangeFailure::before)?;
    }
    within(connection.command(Data)).await.map(drop).map_err(ExchangeFailure::before)
}

/// Writes the message and reads the reply after the dot.
async fn hand_over(connection: &mut AsyncSmtpConnection, message: &Message) -> Result<(), SendFault> {
    // The library asks for the next piece when the one before is written, and writes the dot when there is none.
    let (mut pieces, mut handed_over) = (Some(message.formatted()).into_iter(), false);
    let pieces = std::iter::from_fn(|| {
        let piece = pieces.next();
        handed_over = piece.is_none();
        piece
    });
    let reply = within_time(HAND_OVER_TIMEOUT, connection.message_iter(pieces)).await;
    reply.map(drop).map_err(|broken| if handed_over { broken.after() } else { broken.before() })
}

/// How one exchange with the server failed.
enum ExchangeFailure {
    /// No reply in time.
    TimedOut(Duration),
    /// No connection.
    Unopened(io::Error),
    /// A refusal, or a connection that was lost.
    Failed(lettre::transport::smtp::Error),
    /// A reply that nobody can read.
    Unreadable,
}

impl ExchangeFailure {
    /// The fault while the message is surely not sent.
    fn before(self) -> SendFault {
        let message = self.to_string();
        match &self {
            // A name or password that the server refuses, or a feature it lacks, stays so until somebody acts.
            Self::Failed(error) if error.is_permanent() || error.is_client() => {
                SendFault::NotSent { message, retryable: false }
            }
            Self::Failed(error) if error.is_transient() => SendFault::NotSent { message, retryable: true },
            Self::Failed(_) | Self::Unopened(_) | Self::TimedOut(_) | Self::Unreadable => {
                SendFault::Unreachable { message }
            }
        }
    }

    /// The fault after the dot: only a refusal is certain.
    fn after(self) -> SendFault {
        match &self {
            Self::Failed(error) if error.is_permanent() || error.is_transient() => self.before(),
            Self::Failed(_) | Self::Unopened(_) | Self::TimedOut(_) | Self::Unreadable => {
                SendFault::Unknown { message: self.to_string() }
            }
        }
    }
}

impl std::fmt::Display for ExchangeFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TimedOut(limit) => write!(f, "no reply within {} s", limit.as_secs()),
            Self::Unopened(error) => write!(f, "connection error: {error}"),
            Self::Unreadable => f.write_str("the server's reply cannot be read"),
            // What a server says ends in tables and logs.
            Self::Failed(error) => {
                error.to_string().chars().take(MAX_REASON_CHARS).try_for_each(|letter| f.write_char(letter))
            }
        }
    }
}

async fn within<T>(
    exchange: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
) -> Result<T, ExchangeFailure> {
    within_time(COMMAND_TIMEOUT, exchange).await
}

async fn within_time<T>(
    limit: Duration,
    exchange: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
) -> Result<T, ExchangeFailure> {
    // The library panics over a feature that a server announces without a name.
    match tokio::time::timeout(limit, AssertUnwindSafe(exchange).catch_unwind()).await {
        Ok(Ok(reply)) => reply.map_err(ExchangeFailure::Failed),
        Ok(Err(_panic)) => Err(ExchangeFailure::Unreadable),
        Err(_) => Err(ExchangeFailure::TimedOut(limit)),
    }
}
