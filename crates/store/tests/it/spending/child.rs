//! The processes that spend and are killed. They say a line for everything that was acknowledged.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use futures::future::join_all;
use kybern_core::budget::{Amount, Settlement};
use kybern_core::id::UserId;
use kybern_core::model::TokenUsage;
use kybern_core::money::Tokens;
use kybern_core::ports::{ReserveRefused, Store};
use kybern_core::time::Millis;
use kybern_testkit::SeededIds;

use super::{CALLS, ROUNDS, actual, at, is_given_back, rate, reservation, store_of};
use crate::work;

const CHILD: &str = "KYBERN_TEST_SPENDING_CHILD";
/// Before everything that a child says; the test runner's own words have none.
const MARK: &str = "| ";
/// Calls of one chain: each is reserved together with the settlement of the one before.
const LINKS: u64 = 3;

/// What a process has to do.
pub(super) struct Order {
    pub(super) target: String,
    pub(super) first: i64,
    /// Which part of the calls is its own, of how many.
    pub(super) part: u64,
    pub(super) parts: u64,
    pub(super) user: UserId,
}

impl Order {
    fn write(&self) -> String {
        format!("{} {} {} {} {}", self.first, self.part, self.parts, self.user, self.target)
    }

    fn read(text: &str) -> Self {
        let words: Vec<&str> = text.splitn(5, ' ').collect();
        let [first, part, parts, user, target] = words.as_slice() else { panic!("{text:?} is no order") };
        Self {
            target: (*target).to_owned(),
            first: first.parse().unwrap(),
            part: part.parse().unwrap(),
            parts: parts.parse().unwrap(),
            user: user.parse().unwrap(),
        }
    }
}

fn say(words: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{words}").unwrap();
    out.flush().unwrap();
}

/// Not a test of its own: the process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_child_that_spends() {
    let Ok(order) = std::env::var(CHILD) else { return };
    let order = Order::read(&order);
    let store = store_of(&order).await;
    let ids = work::ids(u64::from(std::process::id()) * 1_000 + order.first.unsigned_abs());
    let owner = format!("w{}", std::process::id());
    for round in order.first..ROUNDS {
        say(format_args!("round {round}"));
        let own = (0..CALLS).filter(|n| n % order.parts == order.part);
        join_all(own.map(|n| call(&*store, &ids, (round, n), &owner, order.user))).await;
    }
}

/// One of the calls at once: a place under the rate, and a chain of reservations and settlements.
async fn call(store: &dyn Store, ids: &SeededIds, (round, n): (i64, u64), owner: &str, user: UserId) {
    match store.take_rate(work::home(), &[rate(round)], at(round).plus(Millis(n))).await {
        Ok(()) => say(format_args!("placed {round}")),
        Err(ReserveRefused::Rate(_)) => {}
        Err(other) => panic!("{other:?}"),
    }
    let mut new = reservation(ids, owner, round, n, user);
    match store.reserve(work::home(), &new).await {
        Ok(()) => {}
        Err(ReserveRefused::Short(_)) => return,
        Err(other) => panic!("{other:?}"),
    }
    for link in 0..LINKS {
        say(format_args!("reserved {round} {} {n} {link}", new.id));
        tokio::task::yield_now().await;
        if is_given_back(n) {
            assert!(store.release(work::home(), new.id).await.unwrap());
            return;
        }
        let cost = Amount::new(actual(round, n, link), Tokens(1), 1);
        let settlement = Settlement {
            id: new.id,
            actual: cost,
            tokens: TokenUsage::default(),
            failed: false,
            refused: 0,
            at: at(round),
        };
        let settled = [(settlement, work::event("model.call"))];
        let next = (round % 2 == 1 && link + 1 < LINKS).then(|| reservation(ids, owner, round, n, user));
        let answers = store.settle_and_reserve(work::home(), settled.into(), next.clone().into_iter().collect()).await;
        let reserved = answers.unwrap().into_iter().all(|answer| answer.is_ok());
        say(format_args!("settled {round} {}", new.id));
        match next.filter(|_| reserved) {
            Some(next) => new = next,
            None => return,
        }
    }
}

/// A process at work.
pub(super) struct Life {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    said: Vec<String>,
}

impl Life {
    pub(super) fn begin(order: &Order) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "spending::child::the_child_that_spends", "--nocapture"])
            .env(CHILD, order.write())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, said: Vec::new() }
    }

    /// Kills it with SIGKILL once it has said so many lines; answers whether it was alive until then.
    pub(super) fn end_after(&mut self, lines: u64) -> bool {
        while (self.said.len() as u64) < lines {
            if !self.hear() {
                assert!(self.child.wait().unwrap().success(), "a process failed by itself: {:?}", self.said.last());
                return false;
            }
        }
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // What was in the pipe had been acknowledged before the kill.
        while self.hear() {}
        true
    }

    /// What it said, without marks.
    pub(super) fn said(&self) -> &[String] {
        &self.said
    }

    /// Hears one more line; `false` at the end. A line is written at once, so none is cut off.
    fn hear(&mut self) -> bool {
        let Some(Ok(line)) = self.lines.next() else { return false };
        if let Some((_, words)) = line.split_once(MARK) {
            self.said.push(words.to_owned());
        }
        true
    }
}
