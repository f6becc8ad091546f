use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn amount(cost: i64, tokens: u64, calls: u64) -> Amount {
    Amount::new(NanoUsd(cost), Tokens(tokens), calls)
}

#[test]
fn a_day_and_a_month_end_at_midnight_in_utc() {
    for (moment, day, month) in [
        ("2026-11-22T23:59:59.999Z", "2026-11-23T00:00:00Z", "2026-12-01T00:00:00Z"),
        ("2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z", "2028-03-01T00:00:00Z"),
        ("1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
    ] {
        assert_eq!(Period::Day.window(at(moment)).ends(), Some(at(day)), "{moment}");
        assert_eq!(Period::Month.window(at(moment)).ends(), Some(at(month)), "{moment}");
        assert_eq!(Period::Whole.window(at(moment)).ends(), None);
    }
    let month = Period::Month.window(at("2026-11-22T12:00:00Z"));
    assert_eq!(month.last - month.first, 29);
    assert!(month.holds(Window::day_of(at("2026-11-01T00:00:00Z"))));
    assert!(!month.holds(Window::day_of(at("2026-10-31T23:59:59Z"))));
}

#[test]
fn what_is_used_and_reserved_and_asked_together_must_fit_in_every_unit() {
    let limits = Limits { cost: Some(NanoUsd(100)), tokens: Some(Tokens(10)), calls: Some(2) };
    let standing = BudgetStanding { used: amount(60, 4, 0), reserved: amount(30, 4, 1) };
    assert_eq!(limits.short_of(&standing, &amount(10, 2, 1)), None, "to the last of it");
    assert_eq!(limits.short_of(&standing, &amount(11, 2, 1)), Some((Unit::CostNanos, 100)));
    assert_eq!(limits.short_of(&standing, &amount(10, 3, 1)), Some((Unit::Tokens, 10)));
    assert_eq!(limits.short_of(&standing, &amount(10, 2, 2)), Some((Unit::Calls, 2)));
    assert_eq!(Limits::default().short_of(&standing, &amount(i64::MAX, u64::MAX, u64::MAX)), None);
}

#[test]
fn what_costs_nothing_goes_on_under_a_budget_that_is_used_up() {
    let limits = Limits { cost: Some(NanoUsd(10)), ..Limits::default() };
    let over = BudgetStanding { used: amount(50, 0, 0), reserved: Amount::ZERO };
    assert_eq!(limits.short_of(&over, &amount(0, 5, 1)), None);
    assert_eq!(limits.short_of(&over, &amount(1, 0, 1)), Some((Unit::CostNanos, 10)));
}

#[test]
fn sums_at_the_edge_of_their_numbers_do_not_wrap_into_room() {
    let limits = Limits { cost: Some(NanoUsd(i64::MAX - 1)), tokens: Some(Tokens(u64::MAX - 1)), calls: None };
    let standing = BudgetStanding { used: amount(i64::MAX, 0, 0), reserved: amount(i64::MAX, u64::MAX, 0) };
    assert_eq!(limits.short_of(&standing, &amount(1, 0, 0)), Some((Unit::CostNanos, i64::MAX.unsigned_abs() - 1)));
    assert_eq!(limits.short_of(&standing, &amount(0, 1, 0)), Some((Unit::Tokens, u64::MAX - 1)));
}

#[test]
fn a_shortage_says_used_reserved_limit_needed_and_when_it_resets() {
    let limits = Limits { cost: Some(NanoUsd(1_500_000_000)), ..Limits::default() };
    let standing = BudgetStanding { used: amount(1_200_000_000, 0, 0), reserved: amount(250_000_000, 0, 0) };
    let now = at("2026-11-22T12:00:00Z");
    let asked = amount(100_000_000, 0, 1);
    let short = Shortage::of((BudgetSubject::Tenant, Period::Day, &limits), &standing, &asked, now).unwrap();
    let error = Error::from(short);
    assert_eq!(error.code(), ErrorCode::BudgetExceeded);
    assert_eq!(
        error.to_string(),
        "the tenant's budget of today does not cover this call: $1.2 used and $0.25 reserved of $1.5, $0.1 needed; it \
         resets: 2026-11-23T00:00:00.000Z"
    );
    let told: Vec<&str> = error.details().iter().map(|detail| detail.path.as_str()).collect();
    assert_eq!(told, ["/used", "/reserved", "/limit", "/needed", "/resetsAt"]);
}

#[test]
fn subject_period_and_limits_have_to_fit_together() {
    let id = BudgetId::from_uuid(uuid::Uuid::from_u128(1));
    let now = at("2026-11-22T12:00:00Z");
    let limits = Limits { calls: Some(1), ..Limits::default() };
    let budget =
        Budget { id, subject: BudgetSubject::Tenant, period: Period::Day, limits, created_at: now, updated_at: now };
    assert!(budget.check().is_ok());
    assert!(Budget { subject: BudgetSubject::EachTask, period: Period::Whole, ..budget }.check().is_ok());
    for wrong in [
        Budget { period: Period::Whole, ..budget },
        Budget { subject: BudgetSubject::EachTask, ..budget },
        Budget { limits: Limits::default(), ..budget },
        Budget { limits: Limits { cost: Some(NanoUsd(-1)), ..limits }, ..budget },
    ] {
        assert_eq!(wrong.check().unwrap_err().code(), ErrorCode::Validation, "{wrong:?}");
    }
}
