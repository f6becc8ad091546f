//! A small HTTP/1.1 server that answers by script, and names that resolve by script.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kybern_adapters::http::Lookup;

use crate::peer::{self, Duplex};

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) line: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// How the server answers: writes bytes, and keeps the connection or not.
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    pub(super) then: Then,
}

/// What follows the bytes.
#[derive(PartialEq)]
pub(super) enum Then {
    Keep,
    Close,
    Stall,
}

/// A whole page.
pub(super) fn page(status: u16, body: &str) -> Answer {
    with_headers(status, &[], body.as_bytes())
}

pub(super) fn redirect(status: u16, location: &str) -> Answer {
    with_headers(status, &[("Location", location)], b"")
}

/// A whole page with headers.
pub(super) fn with_headers(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut head = format!("HTTP/1.1 {status} X\r\nX-Site: Yes\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    Answer { bytes: [head.as_bytes(), b"\r\n", body].concat(), then: Then::Keep }
}

/// The server.
pub(super) struct Site {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Site {
    pub(super) fn start(script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::listen(false, script)
    }

    pub(super) fn start_encrypted(script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::listen(true, script)
    }

    fn listen(encrypted: bool, script: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let (seen, connections) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::<AtomicUsize>::default());
        let (list, count) = (Arc::clone(&seen), Arc::clone(&connections));
        let address = peer::listen(move |_, tcp| {
            count.fetch_add(1, Ordering::SeqCst);
            let mut stream: Box<dyn Duplex> = if encrypted { Box::new(peer::encrypt(tcp)) } else { Box::new(tcp) };
            while let Some(request) = read_request(&mut stream) {
                list.lock().unwrap().push(request.clone());
                let answer = script(&request);
                if stream.write_all(&answer.bytes).and_then(|()| stream.flush()).is_err() {
                    return;
                }
                match answer.then {
                    Then::Keep => {}
                    Then::Close => return,
                    // Waits until the client gives up.
                    Then::Stall => drop(stream.read(&mut [0])),
                }
            }
        });
        Self { address, seen, connections }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same server under another name.
    pub(super) fn url_as(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port())
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn read_request(stream: &mut dyn Duplex) -> Option<Seen> {
    let line = peer::read_line(stream)?;
    let mut headers = Vec::new();
    loop {
        let line = peer::read_line(stream)?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    Some(Seen { line, headers, body })
}

/// Names and what they lead to, answer by answer.
#[derive(Clone, Default)]
pub(super) struct Names(Arc<Book>);

#[derive(Default)]
struct Book {
    next: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    always: Mutex<HashMap<String, Vec<IpAddr>>>,
    otherwise: Mutex<Option<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Names {
    /// Adds an answer that is given once; the last one added is given for ever.
    pub(super) fn answer(&self, name: &str, addresses: &[&str]) {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.0.next.lock().unwrap().entry(name.to_owned()).or_default().push_back(addresses.clone());
        self.0.always.lock().unwrap().insert(name.to_owned(), addresses);
    }

    /// Gives the same answer for ever.
    pub(super) fn always(&self, name: &str, addresses: &[&str]) {
        self.answer(name, addresses);
    }

    /// What every other name leads to.
    pub(super) fn otherwise(&self, addresses: &[&str]) {
        *self.0.otherwise.lock().unwrap() = Some(addresses.iter().map(|address| address.parse().unwrap()).collect());
    }

    pub(super) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    pub(super) fn lookup(&self) -> Arc<dyn Lookup> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl Lookup for Names {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        let next = self.0.next.lock().unwrap().get_mut(host).and_then(VecDeque::pop_front);
        let found = next.or_else(|| self.0.always.lock().unwrap().get(host).cloned());
        let found = found.or_else(|| self.0.otherwise.lock().unwrap().clone());
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such name"))
    }
}
