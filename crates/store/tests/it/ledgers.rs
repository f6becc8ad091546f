//! The ledger where a store's own queue does not help: several processes on one PostgreSQL, and a SQLite file that a
//! new process has taken over.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::budget::{
    Amount, Budget, BudgetSubject, Limits, NewReservation, Period, RateRule, Settlement, SpendKind, Spending,
};
use kybern_core::id::{BudgetId, ReservationId, TaskId};
use kybern_core::model::TokenUsage;
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{IdSource as _, LedgerStore, ReserveRefused, Store};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use kybern_testkit::{SeededIds, SimClock};

use crate::support::{self, Database};
use crate::two_processes::tenant;
use crate::work;

fn reservation(ids: &SeededIds, owner: &str, tree: Option<TaskId>) -> NewReservation {
    let said = Limits { cost: Some(NanoUsd(100)), ..Limits::default() };
    NewReservation {
        id: ReservationId::from_uuid(ids.next()),
        owner: WorkerId::new(owner),
        spending: Spending {
            kind: SpendKind::Model,
            name: "small".to_owned(),
            provider: "test".to_owned(),
            user: None,
            tree: tree.map(|task| (task, Some(said))),
        },
        estimate: Amount::new(NanoUsd(10), Tokens(1), 1),
        at: work::NOW,
        expires_at: work::NOW.plus(Millis(600_000)),
    }
}

async fn limit(store: &dyn Store, ids: &SeededIds) -> Budget {
    let budget = Budget {
        id: BudgetId::from_uuid(ids.next()),
        subject: BudgetSubject::Tenant,
        period: Period::Day,
        limits: Limits { cost: Some(NanoUsd(105)), ..Limits::default() },
        created_at: work::NOW,
        updated_at: work::NOW,
    };
    store.put_budget(work::home(), &budget, work::event("budget.set")).await.unwrap();
    budget
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_processes_together_never_pass_a_budget_or_a_rate() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let ids = work::ids(31);
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(database.store(clock.clone()).await);
    }
    tenant(&stores[0], &ids).await;
    let budget = limit(&stores[0], &ids).await;
    let rules = [RateRule { key: "k".to_owned(), most: 10, window: Millis(60_000) }];
    for round in 0..20 {
        let all: Vec<NewReservation> = (0..60).map(|_| reservation(&ids, "w", None)).collect();
        let reserved = join_all(all.iter().enumerate().map(async |(n, new)| {
            let answer = stores[n % 3].reserve(work::home(), new).await;
            assert!(matches!(answer, Ok(()) | Err(ReserveRefused::Short(_))), "{answer:?}");
            answer.is_ok().then_some(new)
        }));
        let taken: Vec<&NewReservation> = reserved.await.into_iter().flatten().collect();
        assert_eq!(taken.len(), 10, "round {round}");
        for new in taken {
            let (actual, tokens) = (Amount::ZERO, TokenUsage::default());
            let settlement = Settlement { id: new.id, actual, tokens, failed: false, refused: 0, at: work::NOW };
            let settled = [(settlement, work::event("model.call"))];
            stores[round % 3].settle_and_reserve(work::home(), settled.into(), [].into()).await.unwrap();
        }
        let at = work::NOW.plus(Millis(u64::try_from(round).unwrap() * 60_000));
        let places =
            join_all((0..60).map(async |n: usize| stores[n % 3].take_rate(work::home(), &rules, at).await.is_ok()));
        assert_eq!(places.await.into_iter().filter(|taken| *taken).count(), 10, "round {round}");
    }
    let standing = stores[1].standing(work::home(), &budget, work::NOW).await.unwrap().unwrap();
    assert!(standing.used.is_zero() && standing.reserved.is_zero(), "{standing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_processes_together_never_pass_what_a_task_may_spend() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let ids = work::ids(32);
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(database.store(clock.clone()).await);
    }
    tenant(&stores[0], &ids).await;
    for round in 0..20 {
        let tree = work::lease(&stores[0], &ids).await.task();
        let all: Vec<NewReservation> = (0..60).map(|_| reservation(&ids, "w", Some(tree))).collect();
        let reserved = join_all(
            all.iter().enumerate().map(async |(n, new)| stores[n % 3].reserve(work::home(), new).await.is_ok()),
        );
        assert_eq!(reserved.await.into_iter().filter(|taken| *taken).count(), 10, "round {round}");
    }
}

#[tokio::test]
async fn a_new_process_finds_what_the_last_one_had_reserved_in_its_file() {
    let clock = Arc::new(SimClock::new());
    let (store, _folder) = support::sqlite(clock).await;
    let ids = work::ids(33);
    tenant(&store, &ids).await;
    let budget = limit(&store, &ids).await;
    let (gone, own) = (reservation(&ids, "before", None), reservation(&ids, "now", None));
    for new in [&gone, &own] {
        store.reserve(work::home(), new).await.unwrap();
    }
    let lost = store.lost_reservations(&WorkerId::new("now"), 10, work::NOW).await.unwrap();
    assert_eq!(lost.iter().map(|lost| lost.id).collect::<Vec<_>>(), [gone.id]);
    assert!(store.settle_at_estimate(&lost[0], work::NOW).await.unwrap());
    let standing = store.standing(work::home(), &budget, work::NOW).await.unwrap().unwrap();
    assert_eq!((standing.used, standing.reserved), (gone.estimate, own.estimate));
}
