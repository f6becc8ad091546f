//! A connection to an SMTP server whose replies are bounded in bytes and lines as they come. The library counts a line
//! when it has ended, which a line without an end never does.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of the replies to what was written last: sixty lines of the longest that RFC 5321 has, and enough for the
/// certificates with which a server answers STARTTLS.
const MAX_REPLY: usize = 32 * 1024;
/// Lines of them; no server has as many features. The library reads a reply anew for each line of it, so this bounds the
/// work too. What is encrypted counts as well, and has an end of a line in every 256 bytes.
const MAX_LINES: usize = 512;

trait Transport: AsyncRead + AsyncWrite + Unpin + Send + Sync {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Transport for T {}

/// A connection, and how much may still come before something is written again.
pub(super) struct SmtpStream {
    inner: Box<dyn Transport>,
    peer: SocketAddr,
    left: usize,
    lines_left: usize,
}

impl SmtpStream {
    pub(super) fn new(inner: impl AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static, peer: SocketAddr) -> Self {
        Self { inner: Box::new(inner), peer, left: MAX_REPLY, lines_left: MAX_LINES }
    }
}

impl fmt::Debug for SmtpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SmtpStream({})", self.peer)
    }
}

impl AsyncTokioStream for SmtpStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl AsyncRead for SmtpStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let came = buf.filled().get(before..).unwrap_or_default();
        let lines = came.iter().filter(|byte| **byte == b'\n').count();
        let reason = match (self.left.checked_sub(came.len()), self.lines_left.checked_sub(lines)) {
            (Some(left), Some(lines_left)) => {
                (self.left, self.lines_left) = (left, lines_left);
                return read;
            }
            (None, _) => format!("the server's reply is longer than {MAX_REPLY} bytes"),
            (Some(_), None) => format!("the server's reply has more than {MAX_LINES} lines"),
        };
        Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, reason)))
    }
}

impl AsyncWrite for SmtpStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        (self.left, self.lines_left) = (MAX_REPLY, MAX_LINES);
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
