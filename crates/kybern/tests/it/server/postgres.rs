//! A database of its own on the PostgreSQL server of the tests. All SQL libraries are the store's, so the few bytes of
//! the protocol that this takes are written here.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use url::Url;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database; dropped with this value.
pub(crate) struct Database {
    server: Url,
    name: String,
}

impl Database {
    /// An empty database; `None`, said aloud, when there is no server, which is a failure in CI.
    pub(crate) fn create() -> Option<Self> {
        let Some(url) = std::env::var("KYBERN_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty()) else {
            let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!ci, "KYBERN_TEST_POSTGRES_URL is not set: run the tests through `cargo xtask test`");
            eprintln!("skipped: KYBERN_TEST_POSTGRES_URL is not set");
            return None;
        };
        Some(Self::on(Url::parse(&url).unwrap()))
    }

    /// An empty database on that server.
    pub(crate) fn on(server: Url) -> Self {
        let name = format!("kybern_it_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let database = Self { server, name };
        let mut wire = Wire::open(&database.server);
        wire.run(&format!("drop database if exists {} with (force)", database.name));
        wire.run(&format!("create database {}", database.name));
        database
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        let mut url = self.server.clone();
        url.set_path(&self.name);
        url.into()
    }

    /// What a statement finds, each value as text; no value is an empty text.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<String>> {
        Wire::open(&Url::parse(&self.url()).unwrap()).run(statement)
    }

    /// Runs a statement in a transaction that stays open.
    pub(crate) fn begin(&self, statement: &str) -> Transaction {
        let mut wire = Wire::open(&Url::parse(&self.url()).unwrap());
        wire.run(&format!("BEGIN; {statement}"));
        Transaction(wire)
    }
}

/// A transaction of its own connection; rolled back when it is dropped.
pub(crate) struct Transaction(#[expect(dead_code, reason = "held until it is dropped")] Wire);

impl Drop for Database {
    fn drop(&mut self) {
        let (server, statement) = (self.server.clone(), format!("drop database if exists {} with (force)", self.name));
        // In a thread, so that it also works, or fails in peace, while the test fails.
        drop(std::thread::spawn(move || drop(Wire::open(&server).run(&statement))).join());
    }
}

/// A connection.
pub(crate) struct Wire(TcpStream);

impl Wire {
    fn open(server: &Url) -> Self {
        let (host, port) = (server.host_str().unwrap(), server.port().unwrap_or(5432));
        let mut wire = Self(TcpStream::connect((host, port)).unwrap());
        let user = if server.username().is_empty() { "postgres" } else { server.username() };
        let database = match server.path().trim_start_matches('/') {
            "" => user,
            name => name,
        };
        let mut startup = 196_608_u32.to_be_bytes().to_vec();
        startup.extend(format!("user\0{user}\0database\0{database}\0\0").into_bytes());
        wire.write(None, &startup);
        wire.authenticate(server.password().unwrap_or_default());
        wire.until_ready();
        wire
    }

    fn run(&mut self, statement: &str) -> Vec<Vec<String>> {
        self.write(Some(b'Q'), format!("{statement}\0").as_bytes());
        self.until_ready()
    }

    fn authenticate(&mut self, password: &str) {
        loop {
            let (_, body) = self.read();
            match u32::from_be_bytes(body[..4].try_into().unwrap()) {
                0 => return,
                3 => self.write(Some(b'p'), format!("{password}\0").as_bytes()),
                10 => self.scram(password),
                12 => {}
                other => panic!("PostgreSQL asks for authentication {other}, which the tests do not know"),
            }
        }
    }

    /// RFC 7677, as far as a client that trusts its server needs it.
    fn scram(&mut self, password: &str) {
        let first = format!("n=,r={}", "kybern-test-nonce");
        let hello = format!("n,,{first}");
        let mut body = b"SCRAM-SHA-256\0".to_vec();
        body.extend(u32::try_from(hello.len()).unwrap().to_be_bytes());
        body.extend(hello.as_bytes());
        self.write(Some(b'p'), &body);
        let (_, body) = self.read();
        let challenge = String::from_utf8(body[4..].to_vec()).unwrap();
        let part = |name: &str| challenge.split(',').find_map(|part| part.strip_prefix(name)).unwrap().to_owned();
        let salt = STANDARD.decode(part("s=")).unwrap();
        let mut round = mac(password.as_bytes(), &[&salt, &[0, 0, 0, 1]]);
        let mut salted = round;
        for _ in 1..part("i=").parse::<u32>().unwrap() {
            round = mac(password.as_bytes(), &[&round]);
            salted.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
        }
        let key = mac(&salted, &[b"Client Key"]);
        let last = format!("c=biws,r={}", part("r="));
        let signature = mac(&Sha256::digest(key), &[format!("{first},{challenge},{last}").as_bytes()]);
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, byte)| key ^ byte).collect();
        self.write(Some(b'p'), format!("{last},p={}", STANDARD.encode(proof)).as_bytes());
        let (_, body) = self.read();
        assert_eq!(body[..4], 12_u32.to_be_bytes());
    }

    fn until_ready(&mut self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        loop {
            match self.read() {
                (b'Z', _) => return rows,
                (b'D', body) => rows.push(values(&body)),
                _ => {}
            }
        }
    }

    fn read(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 5];
        self.0.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes(head[1..].try_into().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap() - 4];
        self.0.read_exact(&mut body).unwrap();
        assert_ne!(head[0], b'E', "{}", String::from_utf8_lossy(&body));
        (head[0], body)
    }

    fn write(&mut self, kind: Option<u8>, body: &[u8]) {
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
        message.extend(body);
        self.0.write_all(&message).unwrap();
    }
}

/// The values of a row: how many, then the length and the bytes of each.
fn values(body: &[u8]) -> Vec<String> {
    let (count, mut rest) = body.split_at(2);
    let take = |_| {
        let (length, after) = rest.split_at(4);
        // A length below zero stands for no value.
        let length = usize::try_from(i32::from_be_bytes(length.try_into().unwrap())).unwrap_or(0);
        let (value, after) = after.split_at(length);
        rest = after;
        String::from_utf8_lossy(value).into_owned()
    };
    (0..u16::from_be_bytes(count.try_into().unwrap())).map(take).collect()
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
