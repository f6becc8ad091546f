//! Budgets and reservations.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{
    Amount, Budget, BudgetStanding, BudgetSubject, Limits, NewReservation, Period, Settlement, SpendKind, Spending,
    Unit, UsageFilter, Window,
};
use kybern_core::error::ErrorCode;
use kybern_core::id::{BudgetId, ReservationId, TaskId, UserId};
use kybern_core::model::TokenUsage;
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::ReserveRefused;
use kybern_core::task::WorkerId;
use kybern_core::time::Timestamp;

use super::fixture::{HOUR, SHORT, code};
use super::{Harness, Home, World};

fn amount(cost: i64, tokens: u64, calls: u64) -> Amount {
    Amount::new(NanoUsd(cost), Tokens(tokens), calls)
}

fn cost(limit: i64) -> Limits {
    Limits { cost: Some(NanoUsd(limit)), ..Limits::default() }
}

impl World {
    fn budget(&self, subject: BudgetSubject, period: Period, limits: Limits) -> Budget {
        let (id, at) = (BudgetId::from_uuid(self.id()), self.now());
        Budget { id, subject, period, limits, created_at: at, updated_at: at }
    }

    async fn limit(&self, home: &Home, subject: BudgetSubject, period: Period, limits: Limits) -> Budget {
        let budget = self.budget(subject, period, limits);
        self.store().put_budget(home.scope, &budget, self.event("budget.set")).await.unwrap();
        budget
    }

    fn reservation(&self, user: Option<UserId>, estimate: Amount) -> NewReservation {
        let at = self.now();
        NewReservation {
            id: ReservationId::from_uuid(self.id()),
            owner: WorkerId::new("w"),
            spending: Spending {
                kind: SpendKind::Model,
                name: "small".to_owned(),
                provider: "test".to_owned(),
                user,
                tree: None,
            },
            estimate,
            at,
            expires_at: at.plus(HOUR),
        }
    }

    async fn reserve(&self, home: &Home, new: &NewReservation) -> Result<(), ReserveRefused> {
        self.store().reserve(home.scope, new).await
    }

    fn settlement(&self, new: &NewReservation, actual: Amount) -> Settlement {
        let tokens = TokenUsage { input: actual.tokens().0, ..TokenUsage::default() };
        Settlement { id: new.id, actual, tokens, failed: false, refused: 0, at: self.now() }
    }

    /// Whether it was still open: then it is audited.
    async fn settle(&self, home: &Home, new: &NewReservation, actual: Amount) -> bool {
        let before = self.audited(home).await;
        self.ends(home, self.settlement(new, actual)).await;
        self.audited(home).await > before
    }

    async fn ends(&self, home: &Home, settlement: Settlement) {
        let settled = [(settlement, self.event("model.call"))];
        self.store().settle_and_reserve(home.scope, settled.into(), Arc::default()).await.unwrap();
    }

    async fn stands(&self, home: &Home, budget: &Budget) -> (Amount, Amount) {
        let BudgetStanding { used, reserved } =
            self.store().standing(home.scope, budget, self.now()).await.unwrap().expect("it has a standing");
        (used, reserved)
    }

    async fn audited(&self, home: &Home) -> i64 {
        self.store().audit_head(home.scope).await.unwrap().map_or(0, |(seq, _)| seq)
    }
}

pub async fn a_budget_is_stored_changed_and_removed(h: Harness) {
    let (w, home) = World::new(h).await;
    let before = w.audited(&home).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(5)).await;
    assert_eq!(w.store().budgets(home.scope).await.unwrap(), [budget]);
    let all = Limits { cost: None, tokens: Some(Tokens(7)), calls: Some(8) };
    let changed = Budget { limits: all, updated_at: w.now(), ..budget };
    w.store().put_budget(home.scope, &changed, w.event("budget.set")).await.unwrap();
    assert_eq!(w.store().budgets(home.scope).await.unwrap(), [changed]);
    let same = w.budget(BudgetSubject::Tenant, Period::Day, cost(1));
    let refused = w.store().put_budget(home.scope, &same, w.event("budget.set")).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    let unknown = w.budget(BudgetSubject::User(UserId::from_uuid(w.id())), Period::Day, cost(1));
    let refused = w.store().put_budget(home.scope, &unknown, w.event("budget.set")).await;
    assert_eq!(code(refused), ErrorCode::NotFound);
    for there in [true, false] {
        let deleted = w.store().delete_budget(home.scope, budget.id, w.now(), w.event("budget.delete")).await;
        assert_eq!(deleted.unwrap(), there);
    }
    assert_eq!(w.audited(&home).await, before + 3, "what was refused, or was not there, is no act");
}

pub async fn what_is_reserved_is_promised_until_it_is_settled_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(100)).await;
    let (a, b) = (w.reservation(None, amount(60, 6, 1)), w.reservation(Some(home.user), amount(40, 4, 1)));
    w.reserve(&home, &a).await.unwrap();
    w.reserve(&home, &b).await.unwrap();
    assert_eq!(w.stands(&home, &budget).await, (Amount::ZERO, amount(100, 10, 2)));
    let refused = w.reserve(&home, &w.reservation(None, amount(1, 0, 1))).await.unwrap_err();
    let ReserveRefused::Short(short) = refused else { panic!("{refused:?}") };
    assert_eq!((short.unit, short.used, short.reserved, short.limit, short.asked), (Unit::CostNanos, 0, 100, 100, 1));
    assert_eq!(short.resets_at, Period::Day.window(w.now()).ends());
    let before = w.audited(&home).await;
    assert!(w.settle(&home, &a, amount(10, 1, 1)).await);
    assert!(!w.settle(&home, &a, amount(10, 1, 1)).await, "a second settlement counts nothing");
    assert_eq!(w.audited(&home).await, before + 1);
    assert_eq!(w.stands(&home, &budget).await, (amount(10, 1, 1), amount(40, 4, 1)));
    assert!(w.store().release(home.scope, b.id).await.unwrap());
    assert!(!w.store().release(home.scope, b.id).await.unwrap());
    assert!(!w.settle(&home, &b, amount(40, 4, 1)).await, "what was given back is not spent");
    assert_eq!(w.stands(&home, &budget).await, (amount(10, 1, 1), Amount::ZERO));
    w.reserve(&home, &w.reservation(None, amount(90, 0, 1))).await.unwrap();
}

pub async fn a_hundred_calls_at_once_never_pass_a_budget_for_ten(h: Harness) {
    let (w, home) = World::new(h).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(1_005)).await;
    w.limit(&home, BudgetSubject::EachUser, Period::Month, Limits { calls: Some(1_000), ..Limits::default() }).await;
    for round in 1..=3 {
        let all: Vec<NewReservation> = (0..100).map(|_| w.reservation(Some(home.user), amount(100, 1, 1))).collect();
        let answers = join_all(all.iter().map(|new| w.reserve(&home, new))).await;
        let taken: Vec<&NewReservation> =
            all.iter().zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(new, _)| new).collect();
        assert_eq!(taken.len(), 10, "round {round}");
        for refused in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            assert!(matches!(refused, ReserveRefused::Short(_)), "{refused:?}");
        }
        // Half is settled to nothing, half is given back: all of it is free again.
        let ends = join_all(taken.iter().enumerate().map(async |(n, new)| {
            if n % 2 == 0 {
                w.settle(&home, new, amount(0, 0, 1)).await
            } else {
                w.store().release(home.scope, new.id).await.unwrap()
            }
        }))
        .await;
        assert!(ends.into_iter().all(|ended| ended));
        assert_eq!(w.stands(&home, &budget).await, (amount(0, 0, 5 * round), Amount::ZERO));
    }
}

pub async fn a_page_of_budgets_stands_as_each_of_them_does(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let calls = Limits { calls: Some(100), ..Limits::default() };
    let mut all = Vec::new();
    for period in Period::ALL {
        for subject in [BudgetSubject::Tenant, BudgetSubject::User(home.user), BudgetSubject::EachUser] {
            all.push(w.limit(&home, subject, period, calls).await);
        }
    }
    all.push(w.limit(&home, BudgetSubject::EachTask, Period::Whole, calls).await);
    w.limit(&other, BudgetSubject::Tenant, Period::Day, calls).await;
    all.sort_by_key(|budget| budget.id);
    // Used and reserved, by the user and by nobody, today and on another day of another month.
    let now = w.now();
    for (user, days) in [(Some(home.user), 0), (None, 0), (Some(home.user), 40), (None, 40)] {
        let at = Timestamp::from_millis(now.as_millis() - days * 86_400_000);
        let of = |estimate| NewReservation { at, ..w.reservation(user, estimate) };
        let (spent, open) = (of(amount(7, 5, 1)), of(amount(11, 3, 1)));
        w.reserve(&home, &spent).await.unwrap();
        w.reserve(&home, &open).await.unwrap();
        assert!(w.settle(&home, &spent, amount(6, 4, 1)).await);
    }
    let mut seen: Vec<(Budget, Option<BudgetStanding>)> = Vec::new();
    loop {
        let after = seen.last().map(|(budget, _)| budget.id);
        let page = w.store().standings(home.scope, after, 3, now).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 3);
        seen.extend(page);
    }
    assert_eq!(seen.iter().map(|(budget, _)| *budget).collect::<Vec<_>>(), all);
    for (budget, standing) in &seen {
        assert_eq!(*standing, w.store().standing(home.scope, budget, now).await.unwrap(), "{budget:?}");
    }
    let whole =
        seen.iter().find(|(budget, _)| budget.subject == BudgetSubject::Tenant && budget.period == Period::Whole);
    let standing = whole.and_then(|(_, standing)| *standing).unwrap();
    assert_eq!((standing.used, standing.reserved), (amount(24, 16, 4), amount(44, 12, 4)));
}

pub async fn a_reservation_whose_answer_was_lost_is_made_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(100)).await;
    let new = w.reservation(Some(home.user), amount(60, 6, 1));
    for _ in 0..2 {
        w.reserve(&home, &new).await.unwrap();
        w.store().settle_and_reserve(home.scope, Arc::default(), Arc::new([new.clone()])).await.unwrap();
        assert_eq!(w.stands(&home, &budget).await, (Amount::ZERO, amount(60, 6, 1)));
    }
    w.reserve(&home, &w.reservation(None, amount(41, 0, 1))).await.unwrap_err();
}

pub async fn refused_calls_are_counted_as_failed_and_cost_nothing(h: Harness) {
    let (w, home) = World::new(h).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(100)).await;
    let (given_up, answered) = (w.reservation(None, amount(50, 5, 1)), w.reservation(None, amount(50, 5, 1)));
    for new in [&given_up, &answered] {
        w.reserve(&home, new).await.unwrap();
    }
    w.ends(&home, Settlement { refused: 3, ..w.settlement(&given_up, Amount::ZERO) }).await;
    w.ends(&home, Settlement { refused: 1, ..w.settlement(&answered, amount(20, 4, 1)) }).await;
    assert_eq!(w.stands(&home, &budget).await, (amount(20, 4, 1), Amount::ZERO));
    let day = Window::day_of(w.now());
    let lines = w.store().usage(home.scope, &UsageFilter { from: day, to: day, user: None }).await.unwrap();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((line.calls, line.failed, line.input_tokens, line.cost), (5, 4, 4, NanoUsd(20)));
}

pub async fn users_trees_and_tenants_pay_for_themselves(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let second = UserId::from_uuid(w.id());
    w.limit(&home, BudgetSubject::EachUser, Period::Day, cost(10)).await;
    w.limit(&home, BudgetSubject::EachTask, Period::Whole, cost(20)).await;
    let full = |user| w.reservation(user, amount(10, 0, 1));
    w.reserve(&home, &full(Some(home.user))).await.unwrap();
    assert!(w.reserve(&home, &full(Some(home.user))).await.is_err());
    w.reserve(&home, &full(Some(second))).await.unwrap();
    w.reserve(&home, &full(None)).await.unwrap();
    for _ in 0..3 {
        w.reserve(&other, &full(Some(other.user))).await.unwrap();
    }
    let (one, two) = (TaskId::from_uuid(w.id()), TaskId::from_uuid(w.id()));
    let of = |task, said| {
        let new = w.reservation(None, amount(12, 0, 1));
        NewReservation { spending: Spending { tree: Some((task, said)), ..new.spending.clone() }, ..new }
    };
    let first = of(one, None);
    w.reserve(&home, &first).await.unwrap();
    w.settle(&home, &first, amount(12, 0, 1)).await;
    assert!(w.reserve(&home, &of(one, None)).await.is_err(), "a tree is counted as a whole");
    w.reserve(&home, &of(two, None)).await.unwrap();
    w.reserve(&home, &of(one, Some(cost(24)))).await.unwrap();
    assert!(w.reserve(&home, &of(two, Some(cost(23)))).await.is_err(), "the task's own word holds");
}

pub async fn a_months_budget_counts_its_days_and_a_day_begins_anew(h: Harness) {
    let (w, home) = World::new(h).await;
    let day = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(10)).await;
    let month = w.limit(&home, BudgetSubject::Tenant, Period::Month, cost(15)).await;
    // Both days lie in one month, whatever today is.
    let first = Period::Month.window(w.now()).first;
    let on = |n: i64, estimate| {
        let at = Timestamp::from_millis((first + n) * 86_400_000 + 1);
        NewReservation { at, expires_at: at.plus(HOUR), ..w.reservation(None, estimate) }
    };
    let today = on(3, amount(10, 0, 1));
    w.reserve(&home, &today).await.unwrap();
    assert!(w.settle(&home, &today, amount(9, 0, 1)).await);
    let short = |refused| match refused {
        Err(ReserveRefused::Short(short)) => (short.period, short.used),
        other => panic!("{other:?}"),
    };
    assert_eq!(short(w.reserve(&home, &on(3, amount(2, 0, 1))).await), (Period::Day, 9));
    assert_eq!(short(w.reserve(&home, &on(4, amount(7, 0, 1))).await), (Period::Month, 9));
    w.reserve(&home, &on(4, amount(6, 0, 1))).await.unwrap();
    let next = on(35, amount(10, 0, 1));
    w.reserve(&home, &next).await.unwrap();
    let standing = |budget, n| w.store().standing(home.scope, budget, on(n, Amount::ZERO).at);
    let of_month = standing(&month, 4).await.unwrap().unwrap();
    assert_eq!((of_month.used, of_month.reserved), (amount(9, 0, 1), amount(6, 0, 1)));
    let of_day = standing(&day, 4).await.unwrap().unwrap();
    assert_eq!((of_day.used, of_day.reserved), (Amount::ZERO, amount(6, 0, 1)));
}

pub async fn what_its_owner_left_behind_is_settled_at_its_estimate(h: Harness) {
    let (w, home) = World::new(h).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(100)).await;
    let lasting = w.reservation(None, amount(30, 3, 1));
    let mut lost = w.reservation(Some(home.user), amount(50, 5, 1));
    lost.expires_at = lost.at.plus(SHORT);
    w.reserve(&home, &lasting).await.unwrap();
    w.reserve(&home, &lost).await.unwrap();
    let owner = WorkerId::new("w");
    let found = w
        .harness
        .after(SHORT, async || {
            let found = w.store().lost_reservations(&owner, 10, w.now()).await.unwrap();
            found.into_iter().find(|found| found.id == lost.id)
        })
        .await;
    assert_eq!((found.scope, found.id), (home.scope, lost.id));
    let before = w.audited(&home).await;
    assert!(w.store().settle_at_estimate(&found, w.now()).await.unwrap());
    assert!(!w.store().settle_at_estimate(&found, w.now()).await.unwrap());
    assert!(!w.settle(&home, &lost, amount(1, 1, 1)).await, "too late");
    assert_eq!(w.audited(&home).await, before + 1);
    assert_eq!(w.stands(&home, &budget).await, (amount(50, 5, 1), amount(30, 3, 1)));
    assert!(w.store().lost_reservations(&owner, 10, w.now()).await.unwrap().is_empty());
}

pub async fn usage_is_added_up_by_day_model_and_user(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let today = Window::day_of(w.now());
    for (user, failed) in [(Some(home.user), false), (Some(home.user), true), (None, false)] {
        let new = w.reservation(user, amount(10, 9, 1));
        w.reserve(&home, &new).await.unwrap();
        let tokens = TokenUsage { input: 5, cached_input: 2, output: 3, estimated: failed, ..TokenUsage::default() };
        let settlement = Settlement { tokens, failed, ..w.settlement(&new, amount(7, 8, 1)) };
        w.ends(&home, settlement).await;
    }
    let filter = UsageFilter { from: today - 1, to: today + 1, user: None };
    let mut lines = w.store().usage(home.scope, &filter).await.unwrap();
    lines.sort_by_key(|line| line.user);
    let [nobody, user] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((nobody.user, nobody.calls, nobody.cost), (None, 1, NanoUsd(7)));
    assert_eq!((user.user, user.calls, user.failed, user.estimated), (Some(home.user), 2, 1, 1));
    assert_eq!((user.input_tokens, user.cached_tokens, user.output_tokens, user.cost), (10, 4, 6, NanoUsd(14)));
    assert_eq!((user.kind, user.name.as_str(), user.provider.as_str()), (SpendKind::Model, "small", "test"));
    let of_user = UsageFilter { user: Some(home.user), ..filter };
    assert_eq!(w.store().usage(home.scope, &of_user).await.unwrap().len(), 1);
    let earlier = UsageFilter { from: today - 9, to: today - 2, user: None };
    assert!(w.store().usage(home.scope, &earlier).await.unwrap().is_empty());
    assert!(w.store().usage(other.scope, &filter).await.unwrap().is_empty());
    assert!(!w.store().release(other.scope, ReservationId::from_uuid(w.id())).await.unwrap());
}

pub async fn another_tenant_neither_settles_nor_sees_a_reservation(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(100)).await;
    let new = w.reservation(None, amount(60, 6, 1));
    w.reserve(&home, &new).await.unwrap();
    assert!(!w.settle(&other, &new, amount(1, 1, 1)).await);
    assert!(!w.store().release(other.scope, new.id).await.unwrap());
    assert!(w.store().budgets(other.scope).await.unwrap().is_empty());
    let deleted = w.store().delete_budget(other.scope, budget.id, w.now(), w.event("budget.delete")).await;
    assert!(!deleted.unwrap());
    assert_eq!(w.stands(&home, &budget).await, (Amount::ZERO, amount(60, 6, 1)));
}

pub async fn settlements_ride_with_the_next_reservation_and_stand_when_it_is_refused(h: Harness) {
    let (w, home) = World::new(h).await;
    let budget = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(100)).await;
    let first: Vec<NewReservation> = (0..2).map(|_| w.reservation(Some(home.user), amount(50, 5, 1))).collect();
    for new in &first {
        w.reserve(&home, new).await.unwrap();
    }
    let unknown = w.reservation(None, amount(1, 1, 1));
    let settled: Vec<_> = first
        .iter()
        .chain([&unknown])
        .map(|new| (w.settlement(new, amount(10, 1, 1)), w.event("model.call")))
        .collect();
    let before = w.audited(&home).await;
    let next = w.reservation(None, amount(80, 8, 1));
    let together = async |settled: &[(Settlement, AuditEvent)], new: &[NewReservation]| {
        w.store().settle_and_reserve(home.scope, settled.into(), new.into()).await.unwrap()
    };
    assert_eq!(together(&settled, std::slice::from_ref(&next)).await, [Ok(())]);
    assert_eq!(w.audited(&home).await, before + 2, "one event each, none for what was not open");
    assert_eq!(w.stands(&home, &budget).await, (amount(20, 2, 2), amount(80, 8, 1)));
    let settled = [(w.settlement(&next, amount(70, 7, 1)), w.event("model.call"))];
    let refused = together(&settled, &[w.reservation(None, amount(11, 0, 1))]).await;
    assert!(matches!(refused.as_slice(), [Err(_)]), "{refused:?}");
    assert_eq!(w.stands(&home, &budget).await, (amount(90, 9, 3), Amount::ZERO));
    assert_eq!(together(&settled, &[]).await, []);
    assert_eq!(w.stands(&home, &budget).await, (amount(90, 9, 3), Amount::ZERO));
    let key = w.harness.keys.audit_key(home.scope.tenant());
    let report = kybern_core::audit::verify(w.store(), home.scope, key).await.unwrap();
    assert!(report.valid, "{report:?}");
    let day = Window::day_of(w.now());
    let lines = w.store().usage(home.scope, &UsageFilter { from: day, to: day, user: None }).await.unwrap();
    assert_eq!(lines.iter().map(|line| line.calls).sum::<u64>(), 3);
}

pub async fn calls_that_are_reserved_together_are_judged_one_after_the_other(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = UserId::from_uuid(w.id());
    let tenants = w.limit(&home, BudgetSubject::Tenant, Period::Day, cost(120)).await;
    w.limit(&home, BudgetSubject::EachUser, Period::Month, cost(45)).await;
    let own = w.limit(&home, BudgetSubject::User(home.user), Period::Month, cost(70)).await;
    let of = |user, nanos| w.reservation(user, amount(nanos, 1, 1));
    let new = [
        of(Some(home.user), 40),
        of(Some(other), 50),
        of(Some(other), 30),
        of(Some(home.user), 40),
        of(Some(home.user), 20),
        of(None, 31),
        of(None, 30),
    ];
    let answers = w.store().settle_and_reserve(home.scope, Arc::default(), new.as_slice().into()).await.unwrap();
    let short: Vec<Option<(BudgetSubject, Period)>> =
        answers.iter().map(|answer| answer.as_ref().err().map(|short| (short.subject, short.period))).collect();
    let users = Some((BudgetSubject::EachUser, Period::Month));
    let of_own = Some((BudgetSubject::User(home.user), Period::Month));
    let of_all = Some((BudgetSubject::Tenant, Period::Day));
    assert_eq!(short, [None, users, None, of_own, None, of_all, None]);
    assert_eq!(w.stands(&home, &tenants).await, (Amount::ZERO, amount(120, 4, 4)));
    assert_eq!(w.stands(&home, &own).await, (Amount::ZERO, amount(60, 2, 2)));
    // What they took counts on the same accounts.
    let settled = [&new[0], &new[2]].map(|new| (w.settlement(new, amount(5, 1, 1)), w.event("model.call")));
    let more = [of(Some(home.user), 45), of(Some(home.user), 40)];
    let answers = w.store().settle_and_reserve(home.scope, Arc::new(settled), more.as_slice().into()).await.unwrap();
    assert!(matches!(answers.as_slice(), [Ok(()), Err(_)]), "{answers:?}");
    assert_eq!(w.stands(&home, &own).await, (amount(5, 1, 1), amount(65, 2, 2)));
}
