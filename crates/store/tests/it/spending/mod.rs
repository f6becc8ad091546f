//! Money under `kill -9`: a hundred calls at once spend against a budget for ten, round after round, each round on a
//! day of its own, while their processes are killed at random moments and others go on where they ended.
//!
//! `KYBERN_TEST_SEED` repeats the moments of a run as far as processes can repeat anything.

mod book;
mod child;

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use futures::future::join_all;
use kybern_core::budget::{
    Amount, Budget, BudgetSubject, Limits, NewReservation, Period, RateRule, SpendKind, Spending, UsageFilter, Window,
};
use kybern_core::id::{BudgetId, ReservationId, TaskId, UserId};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{IdSource as _, Store};
use kybern_core::task::WorkerId;
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::{SeededIds, SeededRandom, TestKeys};
use sqlx::Connection as _;

use self::book::Book;
use self::child::{Life, Order};
use crate::kill::open;
use crate::support::{self, Database};
use crate::two_processes::tenant;
use crate::work;

/// Rounds of a run.
const ROUNDS: i64 = 200;
/// Calls at once, all processes together.
const CALLS: u64 = 100;
/// What a call is estimated at.
const ESTIMATE: NanoUsd = NanoUsd(100);
/// What the tenant may spend in a round: ten calls, and a rest that is not enough for one.
const LIMIT: NanoUsd = NanoUsd(1_005);
/// What the user may spend in a round.
const USER_LIMIT: NanoUsd = NanoUsd(605);
/// Places under the rate, within its window.
const PLACES: u32 = 40;
const WINDOW: Millis = Millis(60_000);
/// Up to so many lines are heard of a process before it is killed; a round has about a hundred.
const MOST_LINES: u64 = 180;

/// When a round happens.
fn at(round: i64) -> Timestamp {
    Timestamp::from_millis(work::NOW.as_millis() + round * 86_400_000)
}

/// Processes are not all in the same round, so each round has a key of its own.
fn rate(round: i64) -> RateRule {
    RateRule { key: format!("round {round}"), most: PLACES, window: WINDOW }
}

/// What call `n` takes as the `link`th of its chain. In even rounds every call takes its whole estimate.
fn actual(round: i64, n: u64, link: u64) -> NanoUsd {
    if round % 2 == 0 { ESTIMATE } else { NanoUsd(i64::try_from((n * 37 + link * 11) % 101).unwrap()) }
}

/// Whether call `n` is given back instead of being made.
fn is_given_back(n: u64) -> bool {
    n % 8 == 7
}

fn reservation(ids: &SeededIds, owner: &str, round: i64, n: u64, user: UserId) -> NewReservation {
    let said = Limits { cost: Some(NanoUsd(305)), ..Limits::default() };
    let tree = TaskId::from_uuid(uuid::Uuid::from_u128(u128::from(round.unsigned_abs()) * 10 + u128::from(n % 3)));
    NewReservation {
        id: ReservationId::from_uuid(ids.next()),
        owner: WorkerId::new(owner),
        spending: Spending {
            kind: SpendKind::Model,
            name: "small".to_owned(),
            provider: "test".to_owned(),
            user: n.is_multiple_of(2).then_some(user),
            tree: n.is_multiple_of(5).then_some((tree, Some(said))),
        },
        estimate: Amount::new(ESTIMATE, Tokens(1), 1),
        at: at(round),
        // A process that is gone is noticed at once.
        expires_at: at(round).plus(Millis(1)),
    }
}

/// Whoever starts the processes, kills them, and looks what they have left.
struct Run {
    target: String,
    database: Option<Database>,
    /// How many processes there are at a time.
    processes: u64,
    tenant: Budget,
    user: Budget,
    book: Book,
    chance: SeededRandom,
    kills: usize,
}

impl Run {
    async fn begin(target: String, database: Option<Database>, processes: u64) -> Self {
        let store = open(&target).await;
        let ids = work::ids(41);
        let (admin, _) = tenant(&*store, &ids).await;
        let mut budgets = Vec::new();
        for (subject, limit) in [(BudgetSubject::Tenant, LIMIT), (BudgetSubject::User(admin.id), USER_LIMIT)] {
            let limits = Limits { cost: Some(limit), ..Limits::default() };
            let (id, period) = (BudgetId::from_uuid(ids.next()), Period::Day);
            let budget = Budget { id, subject, period, limits, created_at: work::NOW, updated_at: work::NOW };
            store.put_budget(work::home(), &budget, work::event("budget.set")).await.unwrap();
            budgets.push(budget);
        }
        let given = std::env::var("KYBERN_TEST_SEED").ok().map(|seed| seed.parse().unwrap());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0));
        println!("KYBERN_TEST_SEED={seed}");
        let chance = SeededRandom::new(seed);
        let (tenant, user, book) = (budgets[0], budgets[1], Book::default());
        Self { target, database, processes, tenant, user, book, chance, kills: 0 }
    }

    async fn all(mut self) {
        let mut first = 0;
        while first < ROUNDS {
            let end = self.life(first);
            self.dead().await;
            self.judge(first..end).await;
            first = end;
        }
        self.close().await;
        println!("{} kills in {ROUNDS} rounds", self.kills);
        // On average a process lives for less than two rounds.
        assert!(self.kills >= 40, "only {} kills", self.kills);
    }

    /// Processes that begin with a round and live until they are killed, or until the last round is over. Answers the
    /// round after the last that any of them has begun.
    fn life(&mut self, first: i64) -> i64 {
        let BudgetSubject::User(user) = self.user.subject else { panic!("{:?}", self.user) };
        let orders = (0..self.processes).map(|part| Order {
            target: self.target.clone(),
            first,
            part,
            parts: self.processes,
            user,
        });
        let lives: Vec<Life> = orders.map(|order| Life::begin(&order)).collect();
        for mut life in lives {
            let lines = self.chance.below(MOST_LINES);
            self.kills += usize::from(life.end_after(lines));
            self.book.read(life.said());
        }
        self.book.last().map_or(first, |last| last.max(first - 1) + 1)
    }

    /// Waits until nothing of the killed processes is at work in the database any more.
    async fn dead(&self) {
        let Some(database) = &self.database else { return };
        let mut conn = database.connect().await;
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                      AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
        while sqlx::query_scalar::<_, i64>(others).fetch_one(&mut conn).await.unwrap() > 0 {
            tokio::task::yield_now().await;
        }
        conn.close().await.unwrap();
    }

    /// What must hold of those rounds whatever has died in the middle.
    async fn judge(&mut self, rounds: std::ops::Range<i64>) {
        let store = open(&self.target).await;
        for round in rounds.clone() {
            self.never_over(&*store, round).await;
        }
        let lost = self.sweep(&*store, &rounds).await;
        let mut used = NanoUsd(0);
        for round in rounds.clone() {
            let standing = store.standing(work::home(), &self.tenant, at(round)).await.unwrap().unwrap();
            assert!(standing.reserved.is_zero(), "round {round}: {standing:?}");
            let told = self.book.round(round);
            assert!(told.settled.len() as u64 <= standing.used.calls(), "round {round}: an answer was lost");
            if round % 2 == 0 {
                let calls = i64::try_from(standing.used.calls()).unwrap();
                assert_eq!(standing.used.cost().0, calls * ESTIMATE.0, "round {round}");
                assert!(calls <= 10, "round {round}: {calls} calls");
            }
            used.0 += standing.used.cost().0;
            self.never_over(&*store, round).await;
        }
        // To the nano-dollar: whatever was lost at its estimate, all else at what it took.
        assert_eq!(used, self.book.expected(&rounds, &lost), "rounds {rounds:?}");
        if let Some(last) = rounds.last() {
            self.rate_is_kept(&*store, last).await;
        }
    }

    async fn never_over(&self, store: &dyn Store, round: i64) {
        for (budget, limit) in [(&self.tenant, LIMIT), (&self.user, USER_LIMIT)] {
            let standing = store.standing(work::home(), budget, at(round)).await.unwrap().unwrap();
            let sum = standing.used.plus(standing.reserved).cost();
            assert!(sum <= limit, "round {round}: {standing:?} of {limit:?}");
        }
    }

    /// Settles what the dead have left, as the next process does.
    async fn sweep(&self, store: &dyn Store, rounds: &std::ops::Range<i64>) -> BTreeSet<ReservationId> {
        let mut swept = BTreeSet::new();
        let next = WorkerId::new("next");
        loop {
            for lost in store.lost_reservations(&next, 1_000, at(rounds.start)).await.unwrap() {
                assert!(store.settle_at_estimate(&lost, at(rounds.start)).await.unwrap());
                swept.insert(lost.id);
            }
            let mut open = false;
            for round in rounds.clone() {
                let standing = store.standing(work::home(), &self.tenant, at(round)).await.unwrap().unwrap();
                open |= !standing.reserved.is_zero();
            }
            if !open {
                return swept;
            }
        }
    }

    /// Of the places of a round none is given twice, and none stays taken after its window.
    async fn rate_is_kept(&self, store: &dyn Store, round: i64) {
        let rules = [rate(round)];
        let free = async |at: Timestamp| {
            let asked = (0..=PLACES).map(|_| store.take_rate(work::home(), &rules, at));
            join_all(asked).await.into_iter().filter(Result::is_ok).count() as u64
        };
        let placed = self.book.round(round).placed;
        let now = at(round).plus(Millis(CALLS));
        let more = free(now).await;
        assert!(placed + more <= u64::from(PLACES), "round {round}: {placed} and {more}");
        assert_eq!(free(now.plus(WINDOW)).await, u64::from(PLACES), "round {round}: a place is stuck");
    }

    /// Accounts, usage and audit say the same in the end.
    async fn close(&self) {
        let store = open(&self.target).await;
        let (first, last) = (Window::day_of(at(0)), Window::day_of(at(ROUNDS)));
        let lines = store.usage(work::home(), &UsageFilter { from: first, to: last, user: None }).await.unwrap();
        let (mut cost, mut calls) = (NanoUsd(0), 0);
        for round in 0..ROUNDS {
            let used = store.standing(work::home(), &self.tenant, at(round)).await.unwrap().unwrap().used;
            (cost.0, calls) = (cost.0 + used.cost().0, calls + used.calls());
        }
        assert_eq!(lines.iter().map(|line| line.cost.0).sum::<i64>(), cost.0);
        assert_eq!(lines.iter().map(|line| line.calls).sum::<u64>(), calls);
        let (mut after, mut audited) = (0, 0);
        loop {
            let events = store.audit_events(work::home(), after, 500).await.unwrap();
            let Some(newest) = events.last() else { break };
            after = newest.seq;
            let is_call = |action: &str| action == "model.call" || action == "budget.settle_lost";
            audited += events.iter().filter(|event| is_call(&event.event.action)).count() as u64;
        }
        assert_eq!(audited, calls, "each call is audited once");
        let key = kybern_core::ports::Keys::audit_key(&TestKeys::new(), work::home().tenant());
        let report = kybern_core::audit::verify(&*store, work::home(), key).await.unwrap();
        assert!(report.valid, "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_kill_makes_a_hundred_calls_pass_a_budget_for_ten_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("kybern.db").to_str().unwrap().to_owned();
    Run::begin(target, None, 1).await.all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_kill_makes_a_hundred_calls_of_two_processes_pass_a_budget_for_ten_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    Run::begin(database.url(), Some(database), 2).await.all().await;
}

/// The store of a child.
async fn store_of(order: &Order) -> Arc<dyn Store> {
    open(&order.target).await
}
