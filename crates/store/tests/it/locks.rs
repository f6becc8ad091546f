//! What several processes on one PostgreSQL hold for how long: money is read after it is held, all locks are taken in
//! one order, and the window of a rate slides in one time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use kybern_core::budget::{
    Amount, Budget, BudgetStanding, BudgetSubject, Limits, NewReservation, Period, RateRule, Settlement, SpendKind,
    Spending, Window,
};
use kybern_core::id::{BudgetId, ReservationId, TaskId, UserId};
use kybern_core::identity::User;
use kybern_core::model::TokenUsage;
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{AuditStore as _, IdSource as _, IdentityStore as _, LedgerStore as _, ReserveRefused};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use kybern_store::PostgresStore;
use kybern_testkit::{SeededIds, SeededRandom, SimClock};
use sqlx::{Connection as _, PgConnection};

use crate::support::{self, Database};
use crate::two_processes::tenant;
use crate::work;

const HELD: &str = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted \
                    AND datname = current_database()";
const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                      AND backend_type = 'client backend' AND pid <> pg_backend_pid()";

async fn three(database: &Database) -> Vec<PostgresStore> {
    let clock = Arc::new(SimClock::new());
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(database.store(clock.clone()).await);
    }
    stores
}

async fn number(conn: &mut PgConnection, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(conn).await.unwrap()
}

fn cost(limit: i64) -> Limits {
    Limits { cost: Some(NanoUsd(limit)), ..Limits::default() }
}

async fn limit(store: &PostgresStore, ids: &SeededIds, subject: BudgetSubject, limits: Limits) -> Budget {
    let period = if subject == BudgetSubject::EachTask { Period::Whole } else { Period::Day };
    let id = BudgetId::from_uuid(ids.next());
    let budget = Budget { id, subject, period, limits, created_at: work::NOW, updated_at: work::NOW };
    store.put_budget(work::home(), &budget, work::event("budget.set")).await.unwrap();
    budget
}

fn reservation(ids: &SeededIds, user: Option<UserId>, tree: Option<TaskId>) -> NewReservation {
    NewReservation {
        id: ReservationId::from_uuid(ids.next()),
        owner: WorkerId::new("w"),
        spending: Spending {
            kind: SpendKind::Model,
            name: "small".to_owned(),
            provider: "test".to_owned(),
            user,
            tree: tree.map(|tree| (tree, Some(cost(1_000_000)))),
        },
        estimate: Amount::new(NanoUsd(10), Tokens(1), 1),
        at: work::NOW,
        expires_at: work::NOW.plus(Millis(600_000)),
    }
}

fn settlement(new: &NewReservation) -> (Settlement, kybern_core::audit::AuditEvent) {
    let (actual, tokens) = (new.estimate, TokenUsage::default());
    let settlement = Settlement { id: new.id, actual, tokens, failed: false, refused: 0, at: work::NOW };
    (settlement, work::event("model.call"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_settle_while_a_call_waits_for_its_turn_is_counted() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let store = database.store(Arc::new(SimClock::new())).await;
    let ids = work::ids(51);
    tenant(&store, &ids).await;
    limit(&store, &ids, BudgetSubject::Tenant, cost(105)).await;
    // Another process is in the middle of a settlement.
    let mut other = database.connect().await;
    let mut settling = other.begin().await.unwrap();
    sqlx::query("SELECT seq FROM audit_head WHERE tenant_id = $1 FOR UPDATE")
        .bind(work::home().tenant().as_uuid())
        .execute(&mut *settling)
        .await
        .unwrap();
    let new = NewReservation { estimate: Amount::new(NanoUsd(100), Tokens(1), 1), ..reservation(&ids, None, None) };
    let over = AtomicBool::new(false);
    let reserving = async {
        let answer = store.reserve(work::home(), &new).await;
        over.store(true, Ordering::SeqCst);
        answer
    };
    let settles = async {
        let mut looking = database.connect().await;
        while number(&mut looking, HELD).await == 0 {
            assert!(!over.load(Ordering::SeqCst), "it waited for nobody");
            tokio::task::yield_now().await;
        }
        sqlx::query(
            "INSERT INTO account (tenant_id, payer, day, used_cost, used_tokens, used_calls) VALUES ($1, 'tenant', $2, 50, 1, 1)",
        )
        .bind(work::home().tenant().as_uuid())
        .bind(Window::day_of(work::NOW))
        .execute(&mut *settling)
        .await
        .unwrap();
        settling.commit().await.unwrap();
    };
    let (refused, ()) = tokio::join!(reserving, settles);
    let Err(ReserveRefused::Short(short)) = refused else { panic!("{refused:?}") };
    assert_eq!((short.used, short.reserved, short.asked), (50, 0, 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_another_process_lowers_while_a_call_waits_holds_for_that_call() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let stores = three(&database).await;
    let ids = work::ids(55);
    tenant(&stores[0], &ids).await;
    let budget = limit(&stores[0], &ids, BudgetSubject::Tenant, cost(105)).await;
    let mut other = database.connect().await;
    let mut acting = other.begin().await.unwrap();
    sqlx::query("SELECT seq FROM audit_head WHERE tenant_id = $1 FOR UPDATE")
        .bind(work::home().tenant().as_uuid())
        .execute(&mut *acting)
        .await
        .unwrap();
    let new = NewReservation { estimate: Amount::new(NanoUsd(100), Tokens(1), 1), ..reservation(&ids, None, None) };
    let reserving = stores[0].reserve(work::home(), &new);
    let lowers = async {
        let mut looking = database.connect().await;
        while number(&mut looking, HELD).await == 0 {
            tokio::task::yield_now().await;
        }
        sqlx::query("UPDATE budget SET limit_cost = 60 WHERE id = $1")
            .bind(budget.id.as_uuid())
            .execute(&mut *acting)
            .await
            .unwrap();
        acting.commit().await.unwrap();
    };
    let (refused, ()) = tokio::join!(reserving, lowers);
    let Err(ReserveRefused::Short(short)) = refused else { panic!("{refused:?}") };
    assert_eq!((short.limit, short.asked), (60, 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standing_that_is_read_during_settlements_shows_neither_less_nor_more() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let stores = three(&database).await;
    let ids = work::ids(52);
    tenant(&stores[0], &ids).await;
    let budget = limit(&stores[0], &ids, BudgetSubject::Tenant, cost(1_000_000)).await;
    let mut promised = 0;
    for _ in 0..15 {
        let all: Vec<NewReservation> = (0..20).map(|_| reservation(&ids, None, None)).collect();
        for reserved in join_all(all.iter().map(|new| stores[0].reserve(work::home(), new))).await {
            reserved.unwrap();
        }
        promised += 200;
        let settles = join_all(all.iter().enumerate().map(async |(n, new)| {
            stores[n % 2].settle_and_reserve(work::home(), [settlement(new)].into(), [].into()).await.unwrap();
        }));
        let reads = join_all((0..40).map(async |n| {
            let store = &stores[1 + n % 2];
            let alone = store.standing(work::home(), &budget, work::NOW).await.unwrap();
            let paged = store.standings(work::home(), None, 10, work::NOW).await.unwrap();
            [alone, paged.first().and_then(|(_, standing)| *standing)]
        }));
        let (_, read) = tokio::join!(settles, reads);
        for BudgetStanding { used, reserved } in read.into_iter().flatten().flatten() {
            assert_eq!(used.plus(reserved).cost(), NanoUsd(promised), "{used:?} and {reserved:?}");
        }
        let standing = stores[2].standing(work::home(), &budget, work::NOW).await.unwrap().unwrap();
        assert_eq!((standing.used.cost(), standing.reserved), (NanoUsd(promised), Amount::ZERO));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tenants_users_and_trees_that_cross_never_wait_for_each_other_in_a_circle() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let stores = three(&database).await;
    let ids = work::ids(53);
    let (admin, _) = tenant(&stores[0], &ids).await;
    let second = User { id: UserId::from_uuid(ids.next()), email: "second@example.com".to_owned(), ..admin.clone() };
    stores[0].create_user(work::home(), &second, work::event("user.create")).await.unwrap();
    let users = [Some(admin.id), Some(second.id), None];
    let trees = [None, Some(TaskId::from_uuid(ids.next())), Some(TaskId::from_uuid(ids.next()))];
    // Budgets of two users and none of the tenant: there is no one row that all of them need.
    let mut budgets = Vec::new();
    for user in [admin.id, second.id] {
        budgets.push(limit(&stores[0], &ids, BudgetSubject::User(user), cost(1_000_000)).await);
    }
    let chance = SeededRandom::new(53);
    for _ in 0..12 {
        let plans: Vec<(usize, u64, NewReservation, NewReservation)> = (0..90)
            .map(|n| {
                let new = || {
                    let user = users[usize::try_from(chance.below(3)).unwrap()];
                    reservation(&ids, user, trees[usize::try_from(chance.below(3)).unwrap()])
                };
                (n % 3, chance.below(10), new(), new())
            })
            .collect();
        join_all(plans.iter().map(async |(at, what, first, then)| {
            let (store, budget) = (&stores[*at], &budgets[at % 2]);
            store.reserve(work::home(), first).await.unwrap();
            match what {
                0 => drop(store.release(work::home(), first.id).await.unwrap()),
                1 => store.put_budget(work::home(), budget, work::event("budget.set")).await.unwrap(),
                // Places under several rates, in whatever order they are named.
                4 | 5 => {
                    let rule = |key: &str| RateRule { key: key.to_owned(), most: 100_000, window: Millis(60_000) };
                    let mut rules = ["a", "b", "c"].map(rule);
                    rules.rotate_left(at + usize::from(*what == 5));
                    store.take_rate(work::home(), &rules, work::NOW).await.unwrap();
                }
                2 => store.append_audit(work::home(), work::NOW, work::event("test")).await.unwrap(),
                3 => drop(store.settle_and_reserve(work::home(), [settlement(first)].into(), [].into()).await.unwrap()),
                _ => {
                    let both =
                        store.settle_and_reserve(work::home(), [settlement(first)].into(), [then.clone()].into());
                    both.await.unwrap().into_iter().for_each(Result::unwrap);
                }
            }
        }))
        .await;
    }
    drop(stores);
    // A connection reports its deadlocks at its end at the latest.
    let mut conn = database.connect().await;
    while number(&mut conn, OTHERS).await > 0 {
        tokio::task::yield_now().await;
    }
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(number(&mut conn, deadlocks).await, 0);
    conn.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_of_three_processes_at_the_edge_never_fill_a_window_twice() {
    const MOST: u64 = 50;
    const WINDOW: i64 = 60_000;
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let stores = three(&database).await;
    tenant(&stores[0], &work::ids(54)).await;
    let rules = [RateRule { key: "edge".to_owned(), most: 50, window: Millis(60_000) }];
    let chance = SeededRandom::new(54);
    let mut looking = database.connect().await;
    let (mut hits, mut taken) = (BTreeMap::new(), 0_u64);
    // Waves of calls around each end of the window, by clocks that are up to two seconds apart.
    for wave in 0..40_u64 {
        let edge = work::NOW.plus(Millis(wave * 15_000));
        let asked = (0..25_usize).map(async |n| {
            let at = edge.plus(Millis(1_000)).minus(Millis(chance.below(2_000)));
            match stores[n % 3].take_rate(work::home(), &rules, at).await {
                Ok(()) => 1,
                Err(ReserveRefused::Rate(_)) => 0,
                Err(other) => panic!("{other:?}"),
            }
        });
        taken += join_all(asked).await.into_iter().sum::<u64>();
        let rows: Vec<(i64, i64)> =
            sqlx::query_as("SELECT at, hits FROM rate_hit WHERE key = 'edge'").fetch_all(&mut looking).await.unwrap();
        // A row grows while its moment is the last one, and is forgotten a window later: none is missed.
        hits.extend(rows);
    }
    assert_eq!(hits.values().sum::<i64>(), i64::try_from(taken).unwrap());
    for first in hits.keys() {
        let inside: i64 = hits.range(first..&(first + WINDOW)).map(|(_, hits)| hits).sum();
        assert!(inside <= i64::try_from(MOST).unwrap(), "{inside} from {first} on");
    }
    // No more than ten windows fit between the first moment and the last. A call is refused only while its
    // own wave and the four before it hold the whole rate, and a wave without refusals takes 25: any six
    // waves in a row take at least as many as a window has, in whatever order their calls arrive.
    assert!((6 * MOST..=10 * MOST).contains(&taken), "{taken}");
    let later = work::NOW.plus(Millis(3_600_000));
    let free = join_all((0..60_usize).map(|n| stores[n % 3].take_rate(work::home(), &rules, later))).await;
    assert_eq!(free.into_iter().filter(Result::is_ok).count() as u64, MOST, "no place is stuck");
    looking.close().await.unwrap();
}
