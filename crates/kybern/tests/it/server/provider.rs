//! A provider of language models that kills whoever asks it, at a moment of the exchange that the test chooses. What came
//! and what was sent is exact: each moment is told by the connection, none by a clock.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::receiver::Seen;
use super::{PATIENCE, Server, Site};

/// What becomes of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    Answered,
    /// The server dies when the question has come.
    DiesAsking,
    /// The server dies when half of the answer was sent.
    DiesReading,
    /// The server dies when it has read the whole answer and its database takes no row of a journal.
    DiesWriting,
    /// The server dies when the whole answer was sent.
    DiesAnswered,
}

/// Says what becomes of a question and what the answer is.
pub(crate) type Script = Arc<dyn Fn(&Seen) -> (Turn, Value) + Send + Sync>;

/// The process that is killed next. Who has to kill waits until there is one.
#[derive(Default)]
struct Victim {
    pid: Mutex<Option<u32>>,
    named: Condvar,
}

impl Victim {
    fn kill(&self) {
        let pid = self.pid.lock().unwrap();
        let (mut pid, waited) = self.named.wait_timeout_while(pid, PATIENCE, |pid| pid.is_none()).unwrap();
        assert!(!waited.timed_out(), "nobody is there to be killed");
        kill(Pid::from_raw(pid.take().unwrap().cast_signed()), Signal::SIGKILL).unwrap();
    }
}

/// A running provider; it ends with the test's process.
pub(crate) struct Provider {
    listener: TcpListener,
    address: SocketAddr,
    seen: Arc<Mutex<Vec<(Seen, Turn)>>>,
    victim: Arc<Victim>,
}

impl Provider {
    /// A provider that takes connections; it answers from [`Provider::serve`] on.
    pub(crate) fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address, seen: Arc::default(), victim: Arc::default() }
    }

    /// Its URL, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers the server of a place as the script says.
    pub(crate) fn serve(&self, place: Arc<Site>, script: Script) {
        let (listener, seen, victim) =
            (self.listener.try_clone().unwrap(), Arc::clone(&self.seen), Arc::clone(&self.victim));
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (place, script) = (Arc::clone(&place), Arc::clone(&script));
                let (seen, victim) = (Arc::clone(&seen), Arc::clone(&victim));
                std::thread::spawn(move || exchange(&connection.unwrap(), &place, &script, &seen, &victim));
            }
        });
    }

    /// Names the server that is killed next.
    pub(crate) fn aim(&self, server: &Server) {
        *self.victim.pid.lock().unwrap() = Some(server.pid());
        self.victim.named.notify_all();
    }

    /// Every question that came, and what became of it.
    pub(crate) fn seen(&self) -> Vec<(Seen, Turn)> {
        self.seen.lock().unwrap().clone()
    }
}

/// One question on a connection of its own; nothing where whoever connected asked nothing.
fn exchange(mut tcp: &TcpStream, place: &Site, script: &Script, seen: &Mutex<Vec<(Seen, Turn)>>, victim: &Victim) {
    let Some(question) = question(tcp) else { return };
    let (turn, answer) = {
        let mut seen = seen.lock().unwrap();
        let (turn, answer) = script(&question);
        seen.push((question, turn));
        (turn, answer.to_string())
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    let locked = (turn == Turn::DiesWriting).then(|| place.locked());
    let sent = match turn {
        Turn::DiesAsking => String::new(),
        Turn::DiesReading => format!("{head}{}", answer.get(..answer.len() / 2).unwrap()),
        Turn::Answered | Turn::DiesWriting | Turn::DiesAnswered => format!("{head}{answer}"),
    };
    tcp.write_all(sent.as_bytes()).unwrap();
    if turn == Turn::DiesWriting {
        // Whoever has read an answer to its end hangs up.
        tcp.shutdown(Shutdown::Write).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(tcp.read(&mut [0]).unwrap(), 0);
    }
    if turn != Turn::Answered {
        victim.kill();
    }
    drop(locked);
}

fn question(tcp: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(tcp);
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let first = lines.next()?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())))
        .collect();
    let mut seen = Seen { method, path, headers, body: Vec::new() };
    let mut body = vec![0; seen.header("content-length").parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    seen.body = body;
    Some(seen)
}
