//! Reservations, and what comes of them: what is held for calls that run, and what calls have taken.
//!
//! A reservation is a row for as long as its call runs. What is reserved is the sum of those rows, so there is no
//! second number that could disagree with them.
//!
//! Many calls of a tenant are settled and reserved in one unit: budgets and accounts are read once for all of them, and
//! written once for all that count alike.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::budget::{
    Amount, Budget, BudgetStanding, BudgetSubject, CoveringBudget, LostReservation, NewReservation, Payer, Reservation,
    Settlement, Shortage, SpendKind, UsageLine, Window,
};
use kybern_core::id::{ReservationId, TaskId, TenantId, UserId};
use kybern_core::model::TokenUsage;
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::audit;
use crate::budgets::{amount, amounts, budget};
use crate::db::{Row, Tx, args, count, scope_of_row, statements};
use crate::error::Result;

statements! {
    HOLD = split "budget_hold";
    ADD = shared "account_add";
    OF_TENANT = shared "standing_of_tenant";
    OF_USER = shared "standing_of_user";
    OF_TREE = shared "standing_of_tree";
    KNOWN = shared "reservation_known";
    RESERVE = shared "reservation_insert";
    TAKE = shared "reservation_take";
    LOST = shared "reservation_lost";
    USAGE_ADD = shared "usage_add";
}

/// What a payer has used and reserved within a window: one statement, so that a settlement moves an amount from the one
/// to the other and is never seen half-way.
pub(crate) async fn standing(tx: &mut Tx, scope: TenantScope, payer: Payer, window: Window) -> Result<BudgetStanding> {
    let (first, last) = (payer.day(window.first), payer.day(window.last));
    let label = payer.to_string();
    let read = |row: &mut Row| Ok(BudgetStanding { used: amount(row)?, reserved: amount(row)? });
    let found = match payer {
        Payer::Tenant => tx.find(&OF_TENANT, args![scope, label, first, last], read).await?,
        Payer::User(user) => tx.find(&OF_USER, args![scope, label, first, last, user.as_uuid()], read).await?,
        Payer::Tree(task) => tx.find(&OF_TREE, args![scope, label, first, last, task.as_uuid()], read).await?,
    };
    Ok(found.unwrap_or_default())
}

/// Locks the tenant, see [`lock_budgets`]: what is compared afterwards stays until this transaction ends.
pub(crate) async fn lock_tenant(tx: &mut Tx, scope: TenantScope) -> Result<()> {
    lock_budgets(tx, scope, &[]).await.map(drop)
}

/// The budgets that may cover the calls. On PostgreSQL the head of the tenant's audit is held from here on, before
/// anything else is: whoever spends, settles or sets a budget waits for it, and every act that is audited takes it, so
/// that all take their locks in one order.
pub(crate) async fn lock_budgets(tx: &mut Tx, scope: TenantScope, new: &[NewReservation]) -> Result<Vec<Budget>> {
    if tx.is_postgres() {
        // By itself: whoever waited here reads what the one before has written, budgets too.
        audit::hold(tx, scope).await?;
    }
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let own: BTreeSet<String> =
        new.iter().filter_map(|new| new.spending.user).map(|user| BudgetSubject::User(user).to_string()).collect();
    tx.list(&HOLD, args![scope, json!(own).to_string()], budget).await
}

/// Reservations on their way to be judged and written, one after the other.
struct ReservationJudge<'a> {
    scope: TenantScope,
    budgets: &'a [Budget],
    /// How the accounts stand that were asked for, with what was reserved since.
    standings: Vec<(Payer, Window, BudgetStanding)>,
}

impl ReservationJudge<'_> {
    async fn standing(&mut self, tx: &mut Tx, payer: Payer, window: Window) -> Result<BudgetStanding> {
        let known = self.standings.iter().find(|(whose, when, _)| *whose == payer && *when == window);
        if let Some((_, _, known)) = known {
            return Ok(*known);
        }
        let standing = standing(tx, self.scope, payer, window).await?;
        self.standings.push((payer, window, standing));
        Ok(standing)
    }

    /// Reserves, or says which budget does not cover it.
    async fn reserve(&mut self, tx: &mut Tx, new: &NewReservation) -> Result<Result<(), Box<Shortage>>> {
        for CoveringBudget { subject, period, limits, payer } in new.spending.covered_by(self.budgets) {
            let standing = self.standing(tx, payer, period.window(new.at)).await?;
            if let Some(short) = Shortage::of((subject, period, &limits), &standing, &new.estimate, new.at) {
                // One that is there already, because its answer was lost, counts among what is reserved.
                let known = tx.fetch_optional(&KNOWN, args![self.scope, new.id.as_uuid()]).await?.is_some();
                return Ok(if known { Ok(()) } else { Err(Box::new(short)) });
            }
        }
        let row = new.row();
        let (cost, tokens, calls) = amounts(&row.estimate);
        let args = args![
            self.scope,
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
        for (_, _, standing) in self.standings.iter_mut().filter(|(payer, window, _)| row.counts_for(*payer, *window)) {
            standing.reserved = standing.reserved.plus(row.estimate);
        }
        Ok(Ok(()))
    }
}

/// Takes an open reservation away.
pub(crate) async fn take(tx: &mut Tx, scope: TenantScope, id: ReservationId) -> Result<Option<Reservation>> {
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
struct SettledTotals {
    accounts: BTreeMap<(String, i64), Amount>,
    lines: Vec<UsageLine>,
}

impl SettledTotals {
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

/// What is settled first, and what is reserved then.
pub(crate) type SettleAndReserve = (TenantScope, Arc<[(Settlement, AuditEvent)]>, Arc<[NewReservation]>);

/// Settles and reserves; the answers to what was to be reserved, in order.
pub(crate) async fn settle_and_reserve(
    tx: &mut Tx,
    (scope, settled, new): &SettleAndReserve,
) -> Result<Vec<Result<(), Box<Shortage>>>> {
    let budgets = lock_budgets(tx, *scope, new).await?;
    let (mut counted, mut events) = (SettledTotals::default(), Vec::with_capacity(settled.len()));
    for (settlement, event) in settled.iter() {
        let Some(taken) = take(tx, *scope, settlement.id).await? else { continue };
        counted.add(&taken, taken.settled(settlement), settlement.actual);
        events.push((settlement.at, event));
    }
    counted.write(tx, *scope).await?;
    audit::append_all(tx, *scope, &events).await?;
    let mut judge = ReservationJudge { scope: *scope, budgets: &budgets, standings: Vec::new() };
    let mut answers = Vec::with_capacity(new.len());
    for new in new.iter() {
        answers.push(judge.reserve(tx, new).await?);
    }
    Ok(answers)
}

pub(crate) async fn settle_at_estimate(tx: &mut Tx, (lost, at): &(LostReservation, Timestamp)) -> Result<bool> {
    let scope = lost.scope;
    lock_budgets(tx, scope, &[]).await?;
    let Some(taken) = take(tx, scope, lost.id).await? else { return Ok(false) };
    let tokens = TokenUsage { estimated: true, ..TokenUsage::default() };
    let mut counted = SettledTotals::default();
    counted.add(&taken, taken.line(&taken.estimate, tokens, true), taken.estimate);
    counted.write(tx, scope).await?;
    audit::append(tx, scope, *at, &taken.lost_event()).await?;
    Ok(true)
}

pub(crate) async fn lost(
    tx: &mut Tx,
    (owner, limit, now): &(WorkerId, u32, Timestamp),
) -> Result<Vec<LostReservation>> {
    let alone = !tx.is_postgres();
    let lost = |row: &mut Row| {
        let scope = scope_of_row(TenantId::from_uuid(row.uuid()?));
        Ok(LostReservation { scope, id: ReservationId::from_uuid(row.uuid()?) })
    };
    tx.list(&LOST, args![*now, owner.as_str(), alone, *limit], lost).await
}
