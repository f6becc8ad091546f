//! The poller between a scripted IMAP server and a store that is away for a while.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::Egress;
use kybern_adapters::mail::imap::ImapConfig;
use kybern_adapters::models::offline::RulesModel;
use kybern_core::id::TenantId;
use kybern_core::pack::PackRegistry;
use kybern_core::policy::EgressPolicy;
use kybern_core::ports::{Clock as _, TaskFilter, TaskStore as _};
use kybern_core::task::WorkerId;
use kybern_core::time::{Millis, Timestamp};
use kybern_engine::{EngineParts, Settings};
use kybern_testkit::{Fault, FaultyStore, MemStore, TestKeys};

use super::*;

/// How long the poller pauses.
const POLL: Millis = Millis(40);
/// The largest message that is taken, in bytes.
const MAX_MESSAGE: u64 = 1_000;

/// What was said, and when.
type Line = (Timestamp, String);

/// The flags of messages, by number.
type Flags = Arc<Mutex<BTreeMap<usize, BTreeSet<String>>>>;

/// A mailbox with the messages 7, 8, … of these sizes; what is padded is the text.
struct Post {
    address: SocketAddr,
    lines: Arc<Mutex<Vec<Line>>>,
    flags: Flags,
}

impl Post {
    fn with(sizes: &[usize]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let lines: Arc<Mutex<Vec<Line>>> = Arc::default();
        let flags = Flags::default();
        let (heard, kept) = (Arc::clone(&lines), Arc::clone(&flags));
        let messages: Vec<(usize, String)> =
            (7..).zip(sizes.iter().copied()).map(|(n, size)| (n, message(n, size))).collect();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &messages, &heard, &kept);
            }
        });
        Self { address, lines, flags }
    }

    /// When what was said that contains this, and what.
    fn heard(&self, part: &str) -> Vec<Line> {
        self.lines.lock().unwrap().iter().filter(|(_, line)| line.contains(part)).cloned().collect()
    }

    /// The messages that were marked as read, in order.
    fn seen(&self) -> Vec<String> {
        self.heard("\\Seen").iter().map(|(_, line)| line.split(' ').nth(3).unwrap().to_owned()).collect()
    }

    fn flag(&self, n: usize, flag: &str) {
        self.flags.lock().unwrap().entry(n).or_default().insert(flag.to_owned());
    }

    fn flags_of(&self, n: usize) -> Vec<String> {
        self.flags.lock().unwrap().get(&n).into_iter().flatten().cloned().collect()
    }
}

fn message(n: usize, size: usize) -> String {
    let head = format!("Message-ID: <{n}@client.example>\r\nTo: desk@agency.example\r\nSubject: Request {n}\r\n\r\n");
    let text = "x".repeat(size.saturating_sub(head.len() + 2));
    format!("{head}{text}\r\n")
}

fn serve(mut stream: TcpStream, messages: &[(usize, String)], heard: &Mutex<Vec<Line>>, flags: &Flags) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    stream.write_all(b"* OK ready\r\n").unwrap();
    for line in lines.map_while(Result::ok) {
        heard.lock().unwrap().push((SystemClock.now(), line.clone()));
        let (tag, command) = line.split_once(' ').unwrap();
        let numbers = |from: usize| messages.iter().filter(move |(n, _)| *n >= from);
        let untagged: String = match command.split(' ').collect::<Vec<_>>()[..] {
            ["SELECT", ..] => format!("* {} EXISTS\r\n* OK [UIDVALIDITY 5] ok\r\n", messages.len()),
            ["UID", "SEARCH", "UNKEYWORD", without, "UID", range] => {
                let from = range.strip_suffix(":*").unwrap().parse().unwrap();
                let has = |n: &usize| flags.lock().unwrap().get(n).is_some_and(|flags| flags.contains(without));
                let found = numbers(from).filter(|(n, _)| !has(n)).map(|(n, _)| format!(" {n}"));
                format!("* SEARCH{}\r\n", found.collect::<String>())
            }
            ["UID", "STORE", n, change, ..] => {
                let mut flags = flags.lock().unwrap();
                let kept = flags.entry(n.parse().unwrap()).or_default();
                for flag in command.split_once('(').unwrap().1.trim_end_matches(')').split(' ') {
                    match change.starts_with('+') {
                        true => kept.insert(flag.to_owned()),
                        false => kept.remove(flag),
                    };
                }
                String::new()
            }
            ["UID", "FETCH", set, .., "RFC822.SIZE)"] => {
                let wanted = |n: &usize| set.split(',').any(|one| *one == n.to_string());
                let flags = flags.lock().unwrap();
                let line = |(n, raw): &(usize, String)| {
                    let flags: Vec<&str> = flags.get(n).into_iter().flatten().map(String::as_str).collect();
                    format!("* 1 FETCH (UID {n} FLAGS ({}) RFC822.SIZE {})\r\n", flags.join(" "), raw.len())
                };
                numbers(0).filter(|(n, _)| wanted(n)).map(line).collect()
            }
            ["UID", "FETCH", n, _, "BODY.PEEK[])"] => {
                let (n, raw) = numbers(0).find(|(known, _)| known.to_string() == n).unwrap();
                format!("* 1 FETCH (UID {n} BODY[] {{{}}}\r\n{raw})\r\n", raw.len())
            }
            _ => String::new(),
        };
        if stream.write_all(format!("{untagged}{tag} OK done\r\n").as_bytes()).is_err() {
            return;
        }
    }
}

/// A poller of that mailbox over a store that cannot take the first `fails` calls of that name.
fn poller(post: &Post, call: &'static str, fails: usize, domain: Option<&str>) -> (Poller, Arc<MemStore>) {
    let left = AtomicUsize::new(fails);
    let hook = move |point: kybern_testkit::FaultPoint| {
        let fails = point.call == call
            && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if fails { Fault::Unavailable } else { Fault::None }
    };
    let store = Arc::new(MemStore::new(Arc::new(SystemClock), Arc::new(UuidV7Ids), Arc::new(TestKeys::new())));
    let model = Arc::new(RulesModel);
    let engine = Engine::new(EngineParts {
        tool_sources: Vec::new(),
        store: Arc::new(FaultyStore::new(store.clone(), Arc::new(SystemClock), hook)),
        wake_ups: store.clone(),
        job_wake_ups: store.clone(),
        registry: PackRegistry::default(),
        keys: Arc::new(TestKeys::new()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidV7Ids),
        random: Arc::new(ThreadRandom),
        http: Arc::new(Egress::new(EgressPolicy::new(&Vec::<String>::new()).unwrap()).unwrap()),
        mail_parser: Arc::new(Reader::new()),
        mail_sender: None,
        documents: Arc::new(Reader::new()),
        intents: model.clone(),
        extractor: model,
        decisions: None,
        models: Default::default(),
        worker: WorkerId::new("test"),
        // Messages are stored, nobody works on them.
        settings: Settings { work: false, intake_domain: domain.map(str::to_owned), ..Settings::default() },
    });
    let mailbox = Mailbox::new(ImapConfig {
        host: post.address.ip().to_string(),
        port: post.address.port(),
        tls: kybern_adapters::mail::tls::MailTls::None,
        username: "user".to_owned(),
        password: "secret".to_owned(),
        folder: "INBOX".to_owned(),
        poll_ms: POLL,
        max_message_bytes: MAX_MESSAGE,
        ca_file: None,
    });
    (Poller { mailbox: mailbox.unwrap(), tenant: TenantId::DEFAULT, engine: engine.unwrap() }, store)
}

async fn poll_until(poller: Poller, so: impl Fn() -> bool) {
    let stop = CancellationToken::new();
    let watch = async {
        for _ in 0..1_000 {
            if so() {
                return stop.cancel();
            }
            let _ = tokio::time::timeout(Duration::from_millis(10), std::future::pending::<()>()).await;
        }
        panic!("it never came");
    };
    tokio::join!(poller.run(stop.clone()), watch);
}

/// What the tasks say, oldest first.
async fn subjects(store: &MemStore) -> Vec<String> {
    let all = TaskFilter { limit: 100, ..TaskFilter::default() };
    let scope = kybern_testkit::actors::scope(TenantId::DEFAULT);
    let mut tasks = store.tasks(scope, &all).await.unwrap().items;
    tasks.sort_by_key(|task| task.id);
    let mut subjects = Vec::new();
    for task in tasks {
        let task = store.task(scope, task.id).await.unwrap().unwrap();
        subjects.push(task.payload["subject"].as_str().unwrap().to_owned());
    }
    subjects
}

#[tokio::test]
async fn while_the_store_is_away_a_message_is_neither_marked_nor_passed_over() {
    const FAILS: usize = 3;
    for (call, domain) in [("submit", None), ("put_blob", None), ("tenant_by_slug", Some("agency.example"))] {
        let post = Post::with(&[200, 200]);
        let (poller, store) = poller(&post, call, FAILS, domain);
        poll_until(poller, || post.seen().len() >= 2).await;
        assert_eq!(post.seen(), ["7", "8"], "{call}");
        assert_eq!(subjects(&store).await, ["Request 7", "Request 8"], "{call}");
        // Each failure ended its poll, and the next one began where that had begun, after a pause.
        let polls = post.heard("UID SEARCH");
        let asked: Vec<&str> = polls.iter().filter_map(|(_, line)| line.rsplit(' ').next()).collect();
        assert_eq!(asked[..=FAILS], ["1:*"; FAILS + 1], "{call}");
        assert!(asked[FAILS + 1..].iter().all(|range| *range == "9:*"), "{call} {asked:?}");
        let pauses = polls[..=FAILS].windows(2).map(|pair| pair[1].0.since(pair[0].0));
        assert!(pauses.min().unwrap() >= POLL, "{call}");
        let before_the_first_mark = post.heard("").into_iter().take_while(|(_, line)| !line.contains("\\Seen"));
        assert_eq!(before_the_first_mark.filter(|(_, line)| line.contains("UID SEARCH")).count(), FAILS + 1, "{call}");
    }
}

#[tokio::test]
async fn a_message_that_can_never_be_taken_in_is_flagged_once_and_does_not_stop_the_next() {
    let post = Post::with(&[200, 2_000, 200]);
    let (first, store) = poller(&post, "none", 0, None);
    poll_until(first, || post.seen().len() >= 2).await;
    assert_eq!(post.seen(), ["7", "9"]);
    assert_eq!(subjects(&store).await, ["Request 7", "Request 9"]);
    assert_eq!(post.flags_of(8), ["KybernRefused", "\\Flagged"]);
    // Another process looks at what it has taken in again, and not at what it has refused.
    let asked_before = post.heard("RFC822.SIZE").len();
    let (next, _store) = poller(&post, "none", 0, None);
    poll_until(next, || post.seen().len() >= 4).await;
    let asked = post.heard("RFC822.SIZE").split_off(asked_before);
    assert!(asked.iter().all(|(_, line)| line.contains(" 7,9 ")), "{asked:?}");
}

#[tokio::test]
async fn a_message_over_which_two_processes_died_is_refused_unopened() {
    let post = Post::with(&[200, 200, 200]);
    post.flag(7, "KybernBegun");
    post.flag(8, "KybernBegun");
    post.flag(8, "KybernBegunAgain");
    let (poller, store) = poller(&post, "none", 0, None);
    poll_until(poller, || post.seen().len() >= 2).await;
    assert_eq!(subjects(&store).await, ["Request 7", "Request 9"]);
    assert_eq!((post.flags_of(7), post.flags_of(9)), (vec!["\\Seen".to_owned()], vec!["\\Seen".to_owned()]));
    assert_eq!(post.flags_of(8), ["KybernRefused", "\\Flagged"]);
    assert!(post.heard("UID FETCH 8 (UID BODY").is_empty());
    // Before it was handed over, the one that got its second try was marked as that.
    assert!(
        post.heard("STORE 7 +FLAGS.SILENT (KybernBegunAgain)")[0].0 < post.heard("STORE 7 +FLAGS.SILENT (\\Seen)")[0].0
    );
}

#[tokio::test]
async fn a_message_that_comes_at_a_bad_time_is_not_held_against_it() {
    let post = Post::with(&[200]);
    let (poller, _store) = poller(&post, "submit", 3, None);
    poll_until(poller, || post.seen().len() == 1).await;
    assert!(post.heard("KybernBegunAgain)").iter().all(|(_, line)| line.contains("-FLAGS")));
    assert_eq!(post.heard("+FLAGS.SILENT (KybernBegun)").len(), 4);
}
