//! The ledger: budgets, reservations and what was used.
//!
//! A reservation is a row for as long as its call runs. What is reserved is the sum of those rows, so there is no
//! second number that could disagree with them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{
    Amount, Budget, BudgetSubject, Cover, LostReservation, NewReservation, Payer, Period, RateRule, Reservation,
    Settlement, Shortage, SpendKind, Standing, UsageFilter, UsageLine, Window,
};
use kybern_core::error::Result as PortResult;
use kybern_core::id::{BudgetId, ReservationId, TaskId, TenantId, UserId};
use kybern_core::model::TokenUsage;
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{LedgerStore, ReserveRefused};
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use crate::db::{Arg, Row, Tx, args, count, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, identity, rates, standings};

statements! {
    LIST = shared "budget_list";
    HOLD = split "budget_hold";
    GET = shared "budget_get";
    INSERT = shared "budget_insert";
    UPDATE = shared "budget_update";
    DELETE = shared "budget_delete";
    ADD = shared "account_add";
    OF_TENANT = shared "standing_of_tenant";
    OF_USER = shared "standing_of_user";
    OF_TREE = shared "standing_of_tree";
    RESERVE = shared "reservation_insert";
    KNOWN = shared "reservation_known";
    TAKE = shared "reservation_take";
    LOST = shared "reservation_lost";
    USAGE_ADD = shared "usage_add";
    USAGE_LIST = shared "usage_list";
}

pub(crate) fn budget(row: &mut Row) -> Result<Budget> {
    let id = BudgetId::from_uuid(row.uuid()?);
    limited(id, row)
}

fn limited(id: BudgetId, row: &mut Row) -> Result<Budget> {
    Ok(Budget {
        id,
        subject: row.named(BudgetSubject::parse)?,
        period: row.named(Period::parse)?,
        limits: kybern_core::budget::Limits {
            cost: row.opt_i64()?.map(NanoUsd),
            tokens: row.opt_i64()?.map(|tokens| Tokens(tokens.max(0).unsigned_abs())),
            calls: row.opt_i64()?.map(|calls| calls.max(0).unsigned_abs()),
        },
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

fn budgets(rows: Vec<Row>) -> Result<Vec<Budget>> {
    rows.into_iter().map(|mut row| budget(&mut row)).collect()
}

pub(crate) fn amount(row: &mut Row) -> Result<Amount> {
    let (cost, tokens, calls) = (row.i64()?, row.i64()?, row.i64()?);
    Ok(Amount::new(NanoUsd(cost), Tokens(tokens.max(0).unsigned_abs()), calls.max(0).unsigned_abs()))
}

fn amounts(amount: &Amount) -> (i64, i64, i64) {
    (amount.cost().0, count(amount.tokens().0), count(amount.calls()))
}

fn limits(budget: &Budget) -> [Arg<'static>; 3] {
    let Budget { limits, .. } = budget;
    let counted = |limit: Option<u64>| Arg::from(limit.map(count));
    [Arg::from(limits.cost.map(|cost| cost.0)), counted(limits.tokens.map(|tokens| tokens.0)), counted(limits.calls)]
}

async fn all(tx: &mut Tx, scope: TenantScope) -> Result<Vec<Budget>> {
    budgets(tx.fetch_all(&LIST, args![scope]).await?)
}

async fn put(tx: &mut Tx, (scope, budget, event): &(TenantScope, Budget, AuditEvent)) -> Result<()> {
    hold(tx, *scope, None).await?;
    let [cost, tokens, calls] = limits(budget);
    let id = budget.id.as_uuid();
    if tx.fetch_optional(&GET, args![*scope, id]).await?.is_some() {
        tx.execute(&UPDATE, &[(*scope).into(), id.into(), cost, tokens, calls, budget.updated_at.into()]).await?;
    } else {
        if let BudgetSubject::User(user) = budget.subject {
            identity::must_know(tx, *scope, user).await?;
        }
        let known = all(tx, *scope).await?;
        if known.iter().any(|other| other.subject == budget.subject && other.period == budget.period) {
            let (subject, period) = (budget.subject, budget.period.as_str());
            return Err(StoreError::Conflict(format!("{subject} has a budget of the period {period} already")));
        }
        let (subject, period) = (budget.subject.to_string(), budget.period.as_str());
        let (made, changed) = (budget.created_at.into(), budget.updated_at.into());
        let row = &[(*scope).into(), id.into(), subject.into(), period.into(), cost, tokens, calls, made, changed];
        tx.execute(&INSERT, row).await?;
    }
    audit::append(tx, *scope, budget.updated_at, event).await
}

async fn delete(tx: &mut Tx, (scope, id, at, event): &(TenantScope, BudgetId, Timestamp, AuditEvent)) -> Result<bool> {
    hold(tx, *scope, None).await?;
    let there = tx.execute(&DELETE, args![*scope, id.as_uuid()]).await? > 0;
    if there {
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

/// What a payer has used and reserved within a window: one statement, so that a settlement moves an amount from the one
/// to the other and is never seen half-way.
async fn standing(tx: &mut Tx, scope: TenantScope, payer: Payer, window: Window) -> Result<Standing> {
    let (first, last) = (payer.day(window.first), payer.day(window.last));
    let label = payer.to_string();
    let row = match payer {
        Payer::Tenant => tx.fetch_optional(&OF_TENANT, args![scope, label, first, last]).await?,
        Payer::User(user) => tx.fetch_optional(&OF_USER, args![scope, label, first, last, user.as_uuid()]).await?,
        Payer::Tree(task) => tx.fetch_optional(&OF_TREE, args![scope, label, first, last, task.as_uuid()]).await?,
    };
    row.map_or(Ok(Standing::default()), |mut row| Ok(Standing { used: amount(&mut row)?, reserved: amount(&mut row)? }))
}

/// Why a unit reserved nothing although the store works.
enum Reserved {
    Yes,
    Short(Box<Shortage>),
}

/// The budgets that may cover a user's call. On PostgreSQL the head of the tenant's audit is held from here on, before
/// anything else is: whoever spends, settles or sets a budget waits for it, and every act that is audited takes it, so
/// that all take their locks in one order.
async fn hold(tx: &mut Tx, scope: TenantScope, user: Option<UserId>) -> Result<Vec<Budget>> {
    let own = user.map(|user| BudgetSubject::User(user).to_string()).unwrap_or_default();
    let mut known = Vec::new();
    for mut row in tx.fetch_all(&HOLD, args![scope, own]).await? {
        // A tenant without budgets answers a row that has none.
        if let Some(id) = row.opt_uuid()? {
            known.push(limited(BudgetId::from_uuid(id), &mut row)?);
        }
    }
    Ok(known)
}

async fn reserve(tx: &mut Tx, scope: TenantScope, new: &NewReservation, known: &[Budget]) -> Result<Reserved> {
    for Cover { subject, period, limits, payer } in new.spending.covered_by(known) {
        let standing = standing(tx, scope, payer, period.window(new.at)).await?;
        if let Some(short) = Shortage::of((subject, period, &limits), &standing, &new.estimate, new.at) {
            // One that is there already, because its answer was lost, counts among what is reserved.
            let known = tx.fetch_optional(&KNOWN, args![scope, new.id.as_uuid()]).await?.is_some();
            return Ok(if known { Reserved::Yes } else { Reserved::Short(Box::new(short)) });
        }
    }
    let row = new.row();
    let (cost, tokens, calls) = amounts(&row.estimate);
    let args = args![
        scope,
        row.id.as_uuid(),
        new.owner.as_str(),
        row.kind.as_str(),
        row.name.as_str(),
        row.provider.as_str(),
        row.user.map(UserId::as_uuid),
        row.tree.map(TaskId::as_uuid),
        cost,
        tokens,
        calls,
        row.day,
        new.at,
        new.expires_at.since(new.at),
    ];
    tx.execute(&RESERVE, args).await?;
    Ok(Reserved::Yes)
}

/// Takes an open reservation away.
async fn take(tx: &mut Tx, scope: TenantScope, id: ReservationId) -> Result<Option<Reservation>> {
    let Some(mut row) = tx.write_row(&TAKE, args![scope, id.as_uuid()]).await? else { return Ok(None) };
    Ok(Some(Reservation {
        id,
        kind: row.named(SpendKind::parse)?,
        name: row.text()?,
        provider: row.text()?,
        user: row.opt_uuid()?.map(UserId::from_uuid),
        tree: row.opt_uuid()?.map(TaskId::from_uuid),
        estimate: amount(&mut row)?,
        day: row.i64()?,
    }))
}

/// What several calls took, added up: one row is written for each account and each line.
#[derive(Default)]
struct Counted {
    accounts: BTreeMap<(String, i64), Amount>,
    lines: Vec<UsageLine>,
}

impl Counted {
    fn add(&mut self, taken: &Reservation, line: UsageLine, actual: Amount) {
        for payer in taken.payers() {
            let account = self.accounts.entry((payer.to_string(), payer.day(taken.day))).or_default();
            *account = account.plus(actual);
        }
        match self.lines.iter_mut().find(|known| known.is_with(&line)) {
            Some(known) => known.add(&line),
            None => self.lines.push(line),
        }
    }

    async fn write(&self, tx: &mut Tx, scope: TenantScope) -> Result<()> {
        for ((payer, day), actual) in &self.accounts {
            let (cost, tokens, calls) = amounts(actual);
            tx.execute(&ADD, args![scope, payer.as_str(), *day, cost, tokens, calls]).await?;
        }
        for line in &self.lines {
            let user = line.user.map(|user| user.to_string()).unwrap_or_default();
            let args = args![
                scope,
                line.day,
                line.kind.as_str(),
                line.name.as_str(),
                line.provider.as_str(),
                user,
                count(line.calls),
                count(line.failed),
                count(line.estimated),
                count(line.input_tokens),
                count(line.cached_tokens),
                count(line.output_tokens),
                line.cost.0,
            ];
            tx.execute(&USAGE_ADD, args).await?;
        }
        Ok(())
    }
}

type SettlingAll = (TenantScope, Vec<(Settlement, AuditEvent)>, Option<NewReservation>);

async fn reserve_alone(tx: &mut Tx, scope: TenantScope, new: &NewReservation) -> Result<Reserved> {
    let known = hold(tx, scope, new.spending.user).await?;
    reserve(tx, scope, new, &known).await
}

async fn settle_and_reserve(tx: &mut Tx, (scope, settled, new): &SettlingAll) -> Result<Reserved> {
    let known = hold(tx, *scope, new.as_ref().and_then(|new| new.spending.user)).await?;
    let (mut counted, mut events) = (Counted::default(), Vec::with_capacity(settled.len()));
    for (settlement, event) in settled {
        let Some(taken) = take(tx, *scope, settlement.id).await? else { continue };
        counted.add(&taken, taken.settled(settlement), settlement.actual);
        events.push((settlement.at, event));
    }
    counted.write(tx, *scope).await?;
    audit::append_all(tx, *scope, &events).await?;
    match new {
        Some(new) => reserve(tx, *scope, new, &known).await,
        None => Ok(Reserved::Yes),
    }
}

async fn settle_at_estimate(tx: &mut Tx, (lost, at): &(LostReservation, Timestamp)) -> Result<bool> {
    let scope = lost.scope();
    hold(tx, scope, None).await?;
    let Some(taken) = take(tx, scope, lost.id).await? else { return Ok(false) };
    let tokens = TokenUsage { estimated: true, ..TokenUsage::default() };
    let mut counted = Counted::default();
    counted.add(&taken, taken.line(&taken.estimate, tokens, true), taken.estimate);
    counted.write(tx, scope).await?;
    audit::append(tx, scope, *at, &taken.lost_event()).await?;
    Ok(true)
}

async fn lost(tx: &mut Tx, (owner, limit, now): &(WorkerId, u32, Timestamp)) -> Result<Vec<LostReservation>> {
    let alone = !tx.is_postgres();
    let rows = tx.fetch_all(&LOST, args![*now, owner.as_str(), alone, *limit]).await?;
    let lost = |mut row: Row| {
        let tenant = TenantId::from_uuid(row.uuid()?);
        Ok(LostReservation { tenant, id: ReservationId::from_uuid(row.uuid()?) })
    };
    rows.into_iter().map(lost).collect()
}

async fn usage(tx: &mut Tx, (scope, filter): &(TenantScope, UsageFilter)) -> Result<Vec<UsageLine>> {
    let rows = tx.fetch_all(&USAGE_LIST, args![*scope, filter.from, filter.to]).await?;
    let line = |mut row: Row| -> Result<UsageLine> {
        let (day, kind, name, provider, user) =
            (row.i64()?, row.named(SpendKind::parse)?, row.text()?, row.text()?, row.text()?);
        let mut number = || row.i64().map(|number| number.max(0).unsigned_abs());
        Ok(UsageLine {
            day,
            kind,
            name,
            provider,
            user: user.parse().ok(),
            calls: number()?,
            failed: number()?,
            estimated: number()?,
            input_tokens: number()?,
            cached_tokens: number()?,
            output_tokens: number()?,
            cost: NanoUsd(row.i64()?),
        })
    };
    let lines = rows.into_iter().map(line).collect::<Result<Vec<UsageLine>>>()?;
    Ok(lines.into_iter().filter(|line| filter.user.is_none_or(|user| line.user == Some(user))).collect())
}

#[async_trait]
impl<D: 'static> LedgerStore for SqlStore<D> {
    async fn budgets(&self, scope: TenantScope) -> PortResult<Vec<Budget>> {
        Ok(self.read_few(scope, scope, |tx, scope| Box::pin(all(tx, *scope))).await?)
    }

    async fn put_budget(&self, scope: TenantScope, budget: &Budget, audit: AuditEvent) -> PortResult<()> {
        Ok(self.write(scope, (scope, *budget, audit), |tx, args| Box::pin(put(tx, args))).await?)
    }

    async fn delete_budget(
        &self,
        scope: TenantScope,
        id: BudgetId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<bool> {
        Ok(self.write(scope, (scope, id, at, audit), |tx, args| Box::pin(delete(tx, args))).await?)
    }

    async fn reserve(&self, scope: TenantScope, new: &NewReservation) -> Result<(), ReserveRefused> {
        let args = (scope, new.clone());
        let run = self.write(scope, args, |tx, (scope, new)| Box::pin(reserve_alone(tx, *scope, new)));
        match run.await.map_err(kybern_core::error::Error::from)? {
            Reserved::Yes => Ok(()),
            Reserved::Short(short) => Err(ReserveRefused::Short(short)),
        }
    }

    async fn settle_and_reserve(
        &self,
        scope: TenantScope,
        settled: &[(Settlement, AuditEvent)],
        new: Option<&NewReservation>,
    ) -> Result<(), ReserveRefused> {
        let args = (scope, settled.to_vec(), new.cloned());
        let run = self.write(scope, args, |tx, args| Box::pin(settle_and_reserve(tx, args)));
        match run.await.map_err(kybern_core::error::Error::from)? {
            Reserved::Yes => Ok(()),
            Reserved::Short(short) => Err(ReserveRefused::Short(short)),
        }
    }

    async fn release(&self, scope: TenantScope, id: ReservationId) -> PortResult<bool> {
        let run = self.write(scope, (scope, id), |tx, (scope, id)| Box::pin(take(tx, *scope, *id)));
        Ok(run.await?.is_some())
    }

    async fn lost_reservations(
        &self,
        owner: &WorkerId,
        limit: u32,
        now: Timestamp,
    ) -> PortResult<Vec<LostReservation>> {
        Ok(self.read_all((owner.clone(), limit, now), |tx, args| Box::pin(lost(tx, args))).await?)
    }

    async fn settle_at_estimate(&self, lost: &LostReservation, at: Timestamp) -> PortResult<bool> {
        Ok(self.write(lost.scope(), (*lost, at), |tx, args| Box::pin(settle_at_estimate(tx, args))).await?)
    }

    async fn standing(&self, scope: TenantScope, budget: &Budget, at: Timestamp) -> PortResult<Option<Standing>> {
        let Some(payer) = budget.subject.payer() else { return Ok(None) };
        let args = (scope, payer, budget.period.window(at));
        let run = self.read(scope, args, |tx, (scope, payer, window)| Box::pin(standing(tx, *scope, *payer, *window)));
        Ok(Some(run.await?))
    }

    async fn standings(
        &self,
        scope: TenantScope,
        after: Option<BudgetId>,
        limit: u32,
        at: Timestamp,
    ) -> PortResult<Vec<(Budget, Option<Standing>)>> {
        let page = standings::Page { scope, after, limit, at };
        Ok(self.read(scope, page, |tx, page| Box::pin(standings::page(tx, page))).await?)
    }

    async fn usage(&self, scope: TenantScope, filter: &UsageFilter) -> PortResult<Vec<UsageLine>> {
        Ok(self.read(scope, (scope, *filter), |tx, args| Box::pin(usage(tx, args))).await?)
    }

    async fn take_rate(&self, scope: TenantScope, rules: &[RateRule], at: Timestamp) -> Result<(), ReserveRefused> {
        let run = self.write(scope, (scope, rules.to_vec(), at), |tx, args| Box::pin(rates::take(tx, args)));
        match run.await.map_err(kybern_core::error::Error::from)? {
            None => Ok(()),
            Some(exceeded) => Err(ReserveRefused::Rate(Box::new(exceeded))),
        }
    }
}
