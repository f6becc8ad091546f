//! A client by hand over one connection that stays open: it takes next to nothing from the server's processor.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// A connection with a key.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    key: String,
}

impl Client {
    /// Connects; `None` while nobody listens.
    pub(crate) fn open(url: &str, key: &str) -> Option<Self> {
        let stream = TcpStream::connect(url.strip_prefix("http://")?).ok()?;
        // On a port of its own machine where nobody listens yet, a connection can happen to meet itself.
        if stream.local_addr().ok()? == stream.peer_addr().ok()? {
            return None;
        }
        stream.set_nodelay(true).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        Some(Self { stream: BufReader::new(stream), key: key.to_owned() })
    }

    /// Sends a request and reads the whole answer; `None` when the connection breaks.
    pub(crate) fn ask(&mut self, method: &str, path: &str, content_type: &str, body: &[u8]) -> Option<Answer> {
        let (key, length) = (&self.key, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        // In one write, so that it leaves as one.
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat()).ok()?;
        let status = self.line()?.split_whitespace().nth(1)?.parse().ok()?;
        let mut length = 0;
        loop {
            let header = self.line()?;
            match header.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok()?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    }

    /// Reads JSON from a server that is well.
    pub(crate) fn get(&mut self, path: &str) -> Value {
        self.well("GET", path, "application/json", b"")
    }

    /// Posts JSON to a server that is well.
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Value {
        self.well("POST", path, "application/json", body.to_string().as_bytes())
    }

    /// Posts a mail to a server that is well; the id of its task.
    pub(crate) fn mail(&mut self, mail: &str) -> String {
        let taken = self.well("POST", "/api/inbound/email", "message/rfc822", mail.as_bytes());
        taken["taskId"].as_str().unwrap().to_owned()
    }

    fn well(&mut self, method: &str, path: &str, content_type: &str, body: &[u8]) -> Value {
        let answer = self.ask(method, path, content_type, body).unwrap();
        assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }
}
