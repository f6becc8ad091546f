//! What mail servers say: the whole dialogue is there when the connection begins, so nothing waits for anything.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use kybern_adapters::mail::imap::{Fetched, ImapError, MAX_BATCH, Mailbox, MessageMark};
use kybern_adapters::mail::smtp::{Smtp, SmtpConfig};
use kybern_core::mail::SendFault;
use kybern_core::ports::MailSender as _;
use kybern_testkit::fuzz::{Chance, Target};
use tokio::runtime::Runtime;

use crate::mail::{imap_config, mail, smtp_config};
use crate::peer;

/// The largest message that is fetched.
const MAX_MESSAGE: u64 = 100_000;
/// The most of a server's words that is shown, with what is said about them.
const MAX_SAID: usize = 400;

/// A server that says one thing to whoever connects, hangs up, and tells what it heard.
struct Server {
    address: SocketAddr,
    says: Arc<Mutex<Vec<u8>>>,
    heard: Mutex<Receiver<Vec<u8>>>,
}

impl Server {
    fn start() -> Self {
        let says: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (tell, heard) = channel();
        let script = Arc::clone(&says);
        let address = peer::listen(move |_, mut tcp| {
            let script = script.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let mut heard = Vec::new();
            // A client that has enough hangs up first.
            drop(tcp.write_all(&script).and_then(|()| tcp.shutdown(Shutdown::Write)));
            drop(tcp.read_to_end(&mut heard));
            drop(tell.send(heard));
        });
        Self { address, says, heard: Mutex::new(heard) }
    }

    /// What is said to the next who connects.
    fn says(&self, script: &[u8]) {
        *self.says.lock().unwrap_or_else(PoisonError::into_inner) = script.to_vec();
    }

    /// What the last connection said, when it is closed.
    fn heard(&self) -> Vec<u8> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).recv().unwrap_or_default()
    }
}

/// Polls once and marks what came.
async fn poll(server: &Server) -> Result<(), String> {
    let mailbox =
        Mailbox::new(imap_config(&server.address.to_string(), "user", "secret")).map_err(|e| e.to_string())?;
    let polled = mailbox.fetch_new(None).await;
    let batch = match polled {
        Ok(batch) => batch,
        Err(ImapError::TimedOut { command, .. }) => return Err(format!("{command} waits for a server that hung up")),
        Err(error) => return shown(&error.to_string()),
    };
    if batch.len() > MAX_BATCH || !batch.is_sorted_by(|(one, _), (next, _)| one < next) {
        return Err(format!("{} messages, or not in order", batch.len()));
    }
    for (_, fetched) in &batch {
        match fetched {
            Fetched::TooLarge { bytes } if *bytes <= MAX_MESSAGE => return Err(format!("{bytes} bytes are too many")),
            Fetched::Message { .. } | Fetched::TooLarge { .. } | Fetched::Deadly => {}
        }
    }
    match batch.first() {
        Some((position, _)) => {
            mailbox.mark(*position, MessageMark::Taken).await.or_else(|error| shown(&error.to_string()))
        }
        None => Ok(()),
    }
}

/// Sends one mail: what counts as sent, the server has heard to its end.
async fn send(server: &Server, login: bool) -> Result<(), String> {
    let login = login.then(|| "user".to_owned());
    let config = SmtpConfig { username: login.clone(), password: login, ..smtp_config(&server.address.to_string()) };
    let smtp = Smtp::new(config).map_err(|error| error.to_string())?;
    let sent = smtp.send(&mail("a@b.test", "1@kybern.test")).await;
    drop(smtp);
    let is_whole = server.heard().ends_with(b"\r\n.\r\n");
    match sent {
        Ok(()) | Err(SendFault::Unknown { .. }) if !is_whole => Err(format!("{sent:?}, but nothing was handed over")),
        Ok(()) => Ok(()),
        Err(fault) => shown(&fault.to_string()),
    }
}

fn shown(text: &str) -> Result<(), String> {
    let length = text.chars().count();
    if length > MAX_SAID { Err(format!("{length} characters of a server are shown")) } else { Ok(()) }
}

const IMAP_WORDS: &[&str] = &[
    "\r\n",
    "* ",
    "A0001 OK done\r\n",
    "A0003 OK done\r\n",
    "A0004 OK done\r\n",
    "A0005 NO [SERVERBUG] sorry\r\n",
    "A0003 BAD \r\n",
    "* OK [UIDVALIDITY 5] ok\r\n",
    "* OK [UIDVALIDITY 4294967296] ok\r\n",
    "* SEARCH 7 8 9\r\n",
    "* SEARCH",
    "* 1 FETCH (UID 7 FLAGS (KybernBegun) RFC822.SIZE 30)\r\n",
    "* 1 FETCH (UID 7 BODY[] {3}\r\nabc)\r\n",
    "{4294967295}\r\n",
    "{99999999999999999999}\r\n",
    "{0}\r\n",
    "NIL",
    "(((((((((((((((((((((((((((((((((",
    "BODYSTRUCTURE (",
    "ENVELOPE (",
    "* BYE\r\n",
    "+ go on\r\n",
    "\"\\\"",
    "* ESEARCH (TAG \"A0003\") UID ALL 1:4294967295\r\n",
    "* VANISHED (EARLIER) 1:9\r\n",
    "* CAPABILITY IMAP4rev1\r\n",
    "* QUOTA \"\" (STORAGE 1 2)\r\n",
    "* METADATA \"\" (/a NIL)\r\n",
];
const SMTP_WORDS: &[&str] = &[
    "\r\n",
    "220 ",
    "250-",
    "250 ",
    "250-AUTH PLAIN LOGIN XOAUTH2\r\n",
    "250-SIZE 99999999999999999999\r\n",
    "250-8BITMIME\r\n",
    "250 SMTPUTF8\r\n",
    "334 VXNlcm5hbWU6\r\n",
    "235 welcome\r\n",
    "354 go on\r\n",
    "354-\r\n",
    "421 busy\r\n",
    "451-4.7.1 ",
    "554 spam\r\n",
    "999 ",
    "25",
    "\n",
];

/// A dialogue that ends well, piece by piece.
fn imap_dialogue() -> Vec<String> {
    let raw = "Message-ID: <1@kybern.test>\r\n\r\nhello\r\n";
    let size = raw.len();
    [
        "* OK fake ready\r\n".to_owned(),
        "A0001 OK done\r\n".to_owned(),
        "* 1 EXISTS\r\n* OK [UIDVALIDITY 5] ok\r\nA0002 OK done\r\n".to_owned(),
        "* SEARCH 7 9\r\nA0003 OK done\r\n".to_owned(),
        format!("* 1 FETCH (UID 7 FLAGS (\\Seen) RFC822.SIZE {size})\r\n* 2 FETCH (UID 9 RFC822.SIZE 100001)\r\n"),
        "A0004 OK done\r\n".to_owned(),
        format!("* 1 FETCH (UID 7 BODY[] {{{size}}}\r\n{raw})\r\nA0005 OK done\r\n"),
        "* OK [UIDVALIDITY 5] ok\r\nA0006 OK done\r\n".to_owned(),
        "A0007 OK done\r\nA0008 OK done\r\n".to_owned(),
    ]
    .into()
}

fn smtp_dialogue(login: bool) -> Vec<String> {
    let mut dialogue =
        vec!["220 fake ready\r\n", "250-fake\r\n250-8BITMIME\r\n250-AUTH PLAIN LOGIN\r\n250 SMTPUTF8\r\n"];
    if login {
        dialogue.push("235 welcome\r\n");
    }
    dialogue.extend(["250 fine\r\n", "250 fine\r\n", "354 go on\r\n", "250-queued\r\n250 fine\r\n"]);
    dialogue.into_iter().map(str::to_owned).collect()
}

/// A dialogue of which something is said twice, not at all, or in other words.
fn make(dialogue: &[String], words: &'static [&'static str], chance: &Chance) -> Vec<u8> {
    let mut made = Vec::new();
    for piece in dialogue {
        match chance.below(16) {
            0 => {}
            1 => made.extend(piece.repeat(1 << chance.below(6)).bytes()),
            2 => made.extend(chance.one(words).bytes()),
            3 => made.extend(piece.bytes().chain(chance.bytes(40))),
            4 => made.extend(piece.bytes().flat_map(|byte| if byte == b' ' { vec![b' '; 9] } else { vec![byte] })),
            _ => made.extend(piece.bytes()),
        }
    }
    made
}

/// Lines and nesting without end.
fn hostile() -> Vec<Vec<u8>> {
    let begun = imap_dialogue()[..3].concat();
    [
        "(".repeat(60_000),
        format!("{begun}* 1 FETCH (BODYSTRUCTURE {}", "(".repeat(30_000)),
        format!("{begun}* 1 FETCH (BODYSTRUCTURE {}\r\n", "(\"a\" ".repeat(10_000)),
        format!("{begun}* SEARCH{}\r\nA0003 OK done\r\n", " 4294967295".repeat(5_000)),
        format!("{begun}{}A0003 OK done\r\n", "* SEARCH 1\r\n".repeat(5_000)),
        format!("{begun}* LIST {}", "\"\\\\\"".repeat(10_000)),
        format!("{begun}* OK [{}", "A".repeat(60_000)),
        "* OK\r\n".repeat(10_000),
        "220-\r\n".repeat(10_000),
        format!("220 {}", "x".repeat(60_000)),
    ]
    .map(String::into_bytes)
    .into()
}

#[test]
fn imap_servers() {
    let (runtime, server) = (Runtime::new().unwrap(), Server::start());
    let run = move |input: &[u8]| {
        server.says(input);
        runtime.block_on(poll(&server))
    };
    let target =
        Target::new("imap-servers", 1_500, run).seeds([imap_dialogue().concat().into_bytes()]).seeds(hostile());
    target.words(IMAP_WORDS).made_by(|chance| make(&imap_dialogue(), IMAP_WORDS, chance)).play();
}

#[test]
fn smtp_servers() {
    let (runtime, server) = (Runtime::new().unwrap(), Server::start());
    let run = move |input: &[u8]| {
        let Some((login, script)) = input.split_first() else { return Ok(()) };
        server.says(script);
        runtime.block_on(send(&server, login % 2 == 1))
    };
    let whole = [false, true].map(|login| [vec![u8::from(login)], smtp_dialogue(login).concat().into_bytes()].concat());
    let made = |chance: &Chance| {
        let login = chance.percent(50);
        [vec![u8::from(login)], make(&smtp_dialogue(login), SMTP_WORDS, chance)].concat()
    };
    let target = Target::new("smtp-servers", 1_500, run).seeds(whole).seeds(hostile());
    target.words(SMTP_WORDS).made_by(made).play();
}
