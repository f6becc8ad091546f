//! The ledger: budgets, and what was used. What is held for calls that run is in [`crate::reservations`].

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{
    Amount, Budget, BudgetStanding, BudgetSubject, LostReservation, NewReservation, Period, RateRule, Settlement,
    Shortage, SpendKind, UsageFilter, UsageLine,
};
use kybern_core::error::Result as PortResult;
use kybern_core::id::{BudgetId, ReservationId};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{LedgerStore, ReserveRefused};
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use crate::db::{Arg, Row, Tx, args, count, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, identity, rates, reservations, standings};

statements! {
    LIST = shared "budget_list";
    GET = shared "budget_get";
    INSERT = shared "budget_insert";
    UPDATE = shared "budget_update";
    DELETE = shared "budget_delete";
    USAGE_LIST = shared "usage_list";
}

pub(crate) fn budget(row: &mut Row) -> Result<Budget> {
    Ok(Budget {
        id: BudgetId::from_uuid(row.uuid()?),
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

pub(crate) fn amount(row: &mut Row) -> Result<Amount> {
    let (cost, tokens, calls) = (row.i64()?, row.i64()?, row.i64()?);
    Ok(Amount::new(NanoUsd(cost), Tokens(tokens.max(0).unsigned_abs()), calls.max(0).unsigned_abs()))
}

pub(crate) fn amounts(amount: &Amount) -> (i64, i64, i64) {
    (amount.cost().0, count(amount.tokens().0), count(amount.calls()))
}

fn limits(budget: &Budget) -> [Arg<'static>; 3] {
    let Budget { limits, .. } = budget;
    let counted = |limit: Option<u64>| Arg::from(limit.map(count));
    [Arg::from(limits.cost.map(|cost| cost.0)), counted(limits.tokens.map(|tokens| tokens.0)), counted(limits.calls)]
}

async fn all(tx: &mut Tx, scope: TenantScope) -> Result<Vec<Budget>> {
    tx.list(&LIST, args![scope], budget).await
}

async fn put(tx: &mut Tx, (scope, budget, event): &(TenantScope, Budget, AuditEvent)) -> Result<()> {
    reservations::lock_tenant(tx, *scope).await?;
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
    reservations::lock_tenant(tx, *scope).await?;
    let there = tx.execute(&DELETE, args![*scope, id.as_uuid()]).await? > 0;
    if there {
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

async fn usage(tx: &mut Tx, (scope, filter): &(TenantScope, UsageFilter)) -> Result<Vec<UsageLine>> {
    let line = |row: &mut Row| {
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
    let lines = tx.list(&USAGE_LIST, args![*scope, filter.from, filter.to], line).await?;
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
        let answers = self.settle_and_reserve(scope, Arc::default(), Arc::new([new.clone()])).await?;
        answers.into_iter().try_for_each(|answer| answer.map_err(ReserveRefused::Short))
    }

    async fn settle_and_reserve(
        &self,
        scope: TenantScope,
        settled: Arc<[(Settlement, AuditEvent)]>,
        new: Arc<[NewReservation]>,
    ) -> PortResult<Vec<Result<(), Box<Shortage>>>> {
        let args = (scope, settled, new);
        Ok(self.write(scope, args, |tx, args| Box::pin(reservations::settle_and_reserve(tx, args))).await?)
    }

    async fn release(&self, scope: TenantScope, id: ReservationId) -> PortResult<bool> {
        let take = self.write(scope, (scope, id), |tx, (scope, id)| Box::pin(reservations::take(tx, *scope, *id)));
        Ok(take.await?.is_some())
    }

    async fn lost_reservations(
        &self,
        owner: &WorkerId,
        limit: u32,
        now: Timestamp,
    ) -> PortResult<Vec<LostReservation>> {
        Ok(self.read_all((owner.clone(), limit, now), |tx, args| Box::pin(reservations::lost(tx, args))).await?)
    }

    async fn settle_at_estimate(&self, lost: &LostReservation, at: Timestamp) -> PortResult<bool> {
        Ok(self.write(lost.scope, (*lost, at), |tx, args| Box::pin(reservations::settle_at_estimate(tx, args))).await?)
    }

    async fn standing(&self, scope: TenantScope, budget: &Budget, at: Timestamp) -> PortResult<Option<BudgetStanding>> {
        let Some(payer) = budget.subject.payer() else { return Ok(None) };
        let args = (scope, payer, budget.period.window(at));
        let run = self.read(scope, args, |tx, (scope, payer, window)| {
            Box::pin(reservations::standing(tx, *scope, *payer, *window))
        });
        Ok(Some(run.await?))
    }

    async fn standings(
        &self,
        scope: TenantScope,
        after: Option<BudgetId>,
        limit: u32,
        at: Timestamp,
    ) -> PortResult<Vec<(Budget, Option<BudgetStanding>)>> {
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
