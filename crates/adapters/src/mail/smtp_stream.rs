//! A connection to an SMTP server whose replies are bounded in bytes as they come. The library counts a line when it has
//! ended, which a line without an end never does.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of the replies to what was written last: sixty lines of the longest that RFC 5321 has, and enough for the
/// certificates with which a server answers STARTTLS. The library reads a reply anew for each line of it, so this bounds
/// the work too.
const MAX_REPLY: usize = 32 * 1024;

trait Transport: AsyncRead + AsyncWrite + Unpin + Send + Sync {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Transport for T {}

/// A connection, and how much may still come before something is written again.
pub(super) struct SmtpStream {
    inner: Box<dyn Transport>,
    peer: SocketAddr,
    left: usize,
}

impl SmtpStream {
    pub(super) fn new(inner: impl AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static, peer: SocketAddr) -> Self {
        Self { inner: Box::new(inner), peer, left: MAX_REPLY }
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
        match self.left.checked_sub(buf.filled().len() - before) {
            Some(left) => {
                self.left = left;
                read
            }
            None => {
                let reason = format!("the server's reply is longer than {MAX_REPLY} bytes");
                Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, reason)))
            }
        }
    }
}

impl AsyncWrite for SmtpStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.left = MAX_REPLY;
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
