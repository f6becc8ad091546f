//! A provider on loopback, whose answers are bytes by script.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use kybern_adapters::http::{Egress, EgressOptions};
use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::{Provider, ProviderConfig, Secret};
use kybern_core::model::{ModelMessage, ModelRequest, ModelTimeouts, Role};
use kybern_core::policy::EgressPolicy;
use kybern_core::time::Millis;

use super::format_of;
use crate::peer;

/// The key of every provider in these tests.
pub(super) const KEY: &str = "sk-example-0123456789abcdef";

/// What the server does once it has read a request.
pub(super) enum Act {
    Send(Vec<u8>),
    /// Sends this, byte by byte, with a pause after each.
    Trickle(Vec<u8>, Duration),
    /// Sends this again and again, so many times.
    Repeat(Vec<u8>, usize),
    /// Sends nothing, until the client has gone.
    Silence,
    /// Closes the connection.
    Close,
}

/// What a request was.
#[derive(Clone, Default, Debug)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

pub(super) struct Server {
    pub(super) address: SocketAddr,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    seen: Vec<Seen>,
    gone: usize,
}

impl Server {
    /// Answers every request so. A request's body is left unread when `reset`, so that closing resets the connection.
    pub(super) fn start(reset: bool, script: impl Fn() -> Vec<Act> + Send + Sync + 'static) -> Self {
        let state: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let shared = Arc::clone(&state);
        let address = peer::listen(move |_, mut tcp| {
            let Some(seen) = read(&mut tcp, reset) else { return };
            shared.0.lock().unwrap().seen.push(seen);
            for act in script() {
                if play(act, &mut tcp).is_err() {
                    break;
                }
            }
            if !reset {
                drop(tcp.shutdown(Shutdown::Write));
                let mut rest = [0; 1024];
                while matches!(tcp.read(&mut rest), Ok(1..)) {}
            }
            shared.0.lock().unwrap().gone += 1;
            shared.1.notify_all();
        });
        Self { address, state }
    }

    /// The requests so far.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.state.0.lock().unwrap().seen.clone()
    }

    /// Waits until so many clients have gone, on a thread of its own: the client needs this one to go.
    pub(super) async fn wait_until_gone(&self, count: usize) {
        let state = Arc::clone(&self.state);
        let waiting = tokio::task::spawn_blocking(move || {
            let (lock, changed) = &*state;
            let limit = Duration::from_secs(20);
            let waited = changed.wait_timeout_while(lock.lock().unwrap(), limit, |state| state.gone < count);
            waited.unwrap().1.timed_out()
        });
        assert!(!waiting.await.unwrap(), "the connection was not closed");
    }

    /// A provider of that kind which is here.
    pub(super) fn provider(&self, folder: &str) -> Provider {
        provider_at(folder, &format!("http://{}/v1", self.address), true)
    }
}

fn play(act: Act, tcp: &mut TcpStream) -> std::io::Result<()> {
    match act {
        Act::Send(bytes) => tcp.write_all(&bytes),
        Act::Trickle(bytes, pause) => bytes.iter().try_for_each(|byte| {
            tcp.write_all(&[*byte])?;
            std::thread::sleep(pause);
            Ok(())
        }),
        Act::Repeat(bytes, times) => (0..times).try_for_each(|_| tcp.write_all(&bytes)),
        Act::Silence => {
            let mut rest = [0; 1024];
            while tcp.read(&mut rest)? > 0 {}
            Ok(())
        }
        Act::Close => tcp.shutdown(Shutdown::Both),
    }
}

/// The next request; nothing when the client has gone.
pub(super) fn read(tcp: &mut TcpStream, head_only: bool) -> Option<Seen> {
    let mut seen = Seen::default();
    while let Some(line) = peer::read_line(tcp).filter(|line| !line.is_empty()) {
        seen.head += &line.to_ascii_lowercase();
        seen.head.push('\n');
    }
    let length = seen.head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    if !head_only {
        seen.body = vec![0; length.parse().unwrap()];
        tcp.read_exact(&mut seen.body).ok()?;
    }
    Some(seen)
}

/// A provider of that folder's kind.
pub(super) fn provider_at(folder: &str, base_url: &str, trusted: bool) -> Provider {
    let kind = if folder == "openai_responses" { ProviderKind::OpenAi } else { ProviderKind::parse(folder).unwrap() };
    let config = ProviderConfig {
        format: Some(format_of(folder)),
        base_url: Some(base_url.to_owned()),
        trusted,
        ..ProviderConfig::new(folder, kind, Some(Secret::new(KEY)))
    };
    Provider::new(config, egress(EgressOptions::default())).unwrap()
}

pub(super) fn egress(options: EgressOptions) -> Arc<Egress> {
    Arc::new(Egress::with_options(EgressPolicy::default(), options).unwrap())
}

/// An answer with these headers and all of this body.
pub(super) fn answer(status: u16, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

/// The beginning of an answer of that type that ends when its last chunk says so.
pub(super) fn head(content_type: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    .into_bytes()
}

/// A chunk of such an answer.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Its end.
pub(super) const LAST: &[u8] = b"0\r\n\r\n";

/// Something to ask.
pub(super) fn question() -> ModelRequest {
    let messages = vec![ModelMessage::text(Role::User, "When does the policy end?")];
    ModelRequest { model: "some-model".to_owned(), messages, ..ModelRequest::default() }
}

/// Times that no test comes near, unless it wants to.
pub(super) const LONG: ModelTimeouts =
    ModelTimeouts { connect: Millis(60_000), first: Millis(60_000), between: Millis(60_000), whole: Millis(60_000) };
