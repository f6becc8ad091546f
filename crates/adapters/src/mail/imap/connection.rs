//! A connection to an IMAP server that is logged in, and that cannot be made to read without end.
//!
//! Commands are run here and not by the library's methods: those take the end of the connection, and a refusal of
//! SEARCH, FETCH or STORE, for an empty answer, so that a message would be passed over for good.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_imap::error::Error;
use async_imap::imap_proto::{Response, ResponseCode, Status};
use async_imap::{Client, Session};
use kybern_core::time::Millis;
use tokio::io::{AsyncRead, AsyncWrite, BufWriter, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::super::tls::MailTls;
use super::nesting::Nesting;
use super::{ImapConfig, ImapError, OVERHEAD_BYTES};

/// How long connecting, or one command and its answer, may take.
const LIMIT: Millis = Millis::from_secs(30);
/// The most of a server's words that is shown.
const MAX_REASON_CHARS: usize = 200;

/// What bytes travel over.
trait Transport: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Transport for T {}

/// A logged-in session.
pub(super) struct Connection {
    session: Session<MeteredStream>,
}

impl Connection {
    /// Connects, encrypts and logs in.
    pub(super) async fn open(
        config: &ImapConfig,
        server: &ServerName<'static>,
        connector: &TlsConnector,
    ) -> Result<Self, ImapError> {
        let opening = async {
            let tcp = TcpStream::connect((config.host.trim_matches(['[', ']']), config.port)).await?;
            tcp.set_nodelay(true)?;
            match config.tls {
                MailTls::None => greeted(MeteredStream::new(tcp)).await,
                MailTls::Tls => greeted(MeteredStream::new(connector.connect(server.clone(), tcp).await?)).await,
                MailTls::Starttls => {
                    let mut client = greeted(MeteredStream::new(tcp)).await?;
                    client.run_command_and_check_ok("STARTTLS", None).await?;
                    // What was read ahead in the clear goes with the client and is never taken for encrypted.
                    let encrypted = connector.connect(server.clone(), client.into_inner().inner).await?;
                    Ok(Client::new(MeteredStream::new(encrypted)))
                }
            }
        };
        let client = within("the connection", opening).await.map_err(|error| match error {
            ImapError::Lost(reason) => ImapError::Connect(reason),
            other => other,
        })?;
        let login = client.login(&config.username, &config.password);
        let session = within("LOGIN", async { login.await.map_err(|(error, _)| error) }).await;
        let session = session.map_err(|error| match error {
            ImapError::Refused { reason, .. } => ImapError::Login(reason),
            other => other,
        })?;
        Ok(Self { session })
    }

    /// Opens a folder and returns its uid validity.
    pub(super) async fn select(&mut self, folder: &str) -> Result<u32, ImapError> {
        let mut validity = None;
        self.run("SELECT", &quote(folder)?, 0, |response| {
            if let Response::Data { code: Some(ResponseCode::UidValidity(number)), .. } = response {
                validity = Some(*number);
            }
        })
        .await?;
        validity.ok_or_else(|| ImapError::Refused {
            command: "SELECT",
            reason: "the folder has no UIDVALIDITY, so a position in it means nothing".to_owned(),
        })
    }

    /// Runs one command and shows `each` line of its answer, which may be `max_bytes` longer than an answer usually
    /// is. Succeeds only when the server says that the command did.
    pub(super) async fn run(
        &mut self,
        command: &'static str,
        arguments: &str,
        max_bytes: u64,
        mut each: impl FnMut(&Response<'_>),
    ) -> Result<(), ImapError> {
        self.session.get_mut().left = max_bytes.saturating_add(OVERHEAD_BYTES);
        let exchange = async {
            let id = self.session.run_command(format!("{command} {arguments}")).await?;
            loop {
                let response = self.session.read_response().await?.ok_or(Error::ConnectionLost)?;
                let Response::Done { tag, status, information, .. } = response.parsed() else {
                    each(response.parsed());
                    continue;
                };
                let words = || information.as_deref().unwrap_or_default().to_owned();
                match status {
                    _ if *tag != id => {}
                    Status::Ok => return Ok(()),
                    Status::No => return Err(Error::No(words())),
                    _ => return Err(Error::Bad(words())),
                }
            }
        };
        within(command, exchange).await
    }
}

fn quote(text: &str) -> Result<String, ImapError> {
    if text.contains(['\r', '\n', '\0']) {
        return Err(ImapError::Refused {
            command: "SELECT",
            reason: "the folder's name holds a line break".to_owned(),
        });
    }
    Ok(format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")))
}

async fn greeted(stream: MeteredStream) -> Result<Client<MeteredStream>, Error> {
    let mut client = Client::new(stream);
    match client.read_response().await? {
        Some(_) => Ok(client),
        None => Err(Error::ConnectionLost),
    }
}

/// One command, in its time.
async fn within<T>(command: &'static str, exchange: impl Future<Output = Result<T, Error>>) -> Result<T, ImapError> {
    match tokio::time::timeout(LIMIT.as_duration(), exchange).await {
        Ok(answer) => answer.map_err(|error| fault(command, &error)),
        Err(_) => Err(ImapError::TimedOut { command, limit: LIMIT }),
    }
}

/// The library's errors repeat what the server sent, mail included; only a refusal's own words are kept, and few.
fn fault(command: &'static str, error: &Error) -> ImapError {
    match error {
        Error::No(reason) | Error::Bad(reason) => {
            ImapError::Refused { command, reason: reason.chars().take(MAX_REASON_CHARS).collect() }
        }
        Error::Validate(error) => ImapError::Refused { command, reason: error.to_string() },
        Error::Io(error) if error.kind() == io::ErrorKind::Other => {
            ImapError::Lost(format!("its answer to {command} cannot be read"))
        }
        Error::Io(error) => ImapError::Lost(error.to_string()),
        _ => ImapError::Lost(format!("no whole answer to {command}")),
    }
}

/// A stream that ends in an error when the other side sends more than it may, or something that nobody can parse safely.
struct MeteredStream {
    inner: Box<dyn Transport>,
    left: u64,
    nesting: Nesting,
}

impl MeteredStream {
    fn new(inner: impl Transport + 'static) -> Self {
        // The library writes a command in pieces and flushes at its end.
        Self { inner: Box::new(BufWriter::new(inner)), left: OVERHEAD_BYTES, nesting: Nesting::default() }
    }
}

impl fmt::Debug for MeteredStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metered({} bytes left)", self.left)
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let came = u64::try_from(buf.filled().len() - before).unwrap_or(u64::MAX);
        match self.left.checked_sub(came) {
            Some(left) => {
                self.left = left;
                let bytes = buf.filled().get(before..).unwrap_or_default();
                self.nesting.take(bytes, left.saturating_add(came))?;
                read
            }
            None => Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, "it sends more than it announced"))),
        }
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
