//! Scripted peers on loopback, each connection on a thread of its own.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::{ServerConnection, StreamOwned};

use crate::tls;

/// Both directions of a connection, plain or encrypted.
pub(crate) trait Duplex: Read + Write + Send {}
impl<T: Read + Write + Send> Duplex for T {}

/// What a peer does after a line.
pub(crate) enum Reply {
    Say(String),
    /// Waits for the next line.
    Quiet,
    HangUp,
    /// Says this, then speaks TLS.
    Encrypt(String),
}

/// Says one line.
pub(crate) fn say(text: impl Into<String>) -> Reply {
    Reply::Say(text.into() + "\r\n")
}

/// A peer that answers lines.
pub(crate) struct LinePeer {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    lines: Arc<Mutex<Vec<String>>>,
}

impl LinePeer {
    /// Greets, and answers each line by `script`, which is told the number of the connection, from 0.
    pub(crate) fn start(
        encrypted: bool,
        greeting: &'static str,
        script: impl FnMut(usize, &str) -> Reply + Send + 'static,
    ) -> Self {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let (heard, script) = (Arc::clone(&lines), Arc::new(Mutex::new(script)));
        let address = listen(move |number, tcp| {
            let raw = tcp.try_clone().unwrap();
            let mut stream: Box<dyn Duplex> = if encrypted { Box::new(encrypt(tcp)) } else { Box::new(tcp) };
            let mut waiting = stream.write_all(greeting.as_bytes()).is_ok();
            while waiting && let Some(line) = read_line(&mut stream) {
                heard.lock().unwrap().push(line.clone());
                let reply = (script.lock().unwrap())(number, &line);
                match reply {
                    Reply::Say(text) => waiting = stream.write_all(text.as_bytes()).is_ok(),
                    Reply::Quiet => {}
                    Reply::HangUp => waiting = false,
                    Reply::Encrypt(text) => {
                        stream.write_all(text.as_bytes()).unwrap();
                        stream = Box::new(encrypt(raw.try_clone().unwrap()));
                    }
                }
            }
            drop(raw.shutdown(Shutdown::Both));
        });
        Self { address, lines }
    }

    /// What was said to it so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// Accepts on a free port for as long as the test runs.
pub(crate) fn listen(serve: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for (number, tcp) in listener.incoming().flatten().enumerate() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(number, tcp));
        }
    });
    address
}

/// A port on which nobody listens.
pub(crate) fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The server's side of TLS.
pub(crate) fn encrypt(tcp: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    StreamOwned::new(ServerConnection::new(tls::server_config()).unwrap(), tcp)
}

/// A line without its end, byte by byte, so that nothing is read ahead.
pub(crate) fn read_line(stream: &mut dyn Duplex) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(1) if byte == *b"\n" => break,
            Ok(1) => line.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())
}
