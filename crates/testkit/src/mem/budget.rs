//! The ledger.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{
    Amount, Budget, BudgetStanding, BudgetSubject, CoveringBudget, LostReservation, NewReservation, Payer,
    RateExceeded, RateRule, Reservation, Settlement, Shortage, UsageFilter, UsageLine, Window,
};
use kybern_core::error::{Error, Result};
use kybern_core::id::{BudgetId, ReservationId};
use kybern_core::model::TokenUsage;
use kybern_core::ports::{LedgerStore, ReserveRefused};
use kybern_core::task::WorkerId;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::state::{MemState, OpenRow, conflict};

impl MemState {
    fn standing(&self, scope: TenantScope, payer: Payer, window: Window) -> BudgetStanding {
        let tenant = scope.tenant();
        let days = payer.day(window.first)..=payer.day(window.last);
        let label = payer.to_string();
        let used =
            self.accounts.iter().filter(|((of, whose, day), _)| *of == tenant && *whose == label && days.contains(day));
        let open = self.open.iter().filter(|((of, _), row)| *of == tenant && row.reservation.counts_for(payer, window));
        BudgetStanding {
            used: used.fold(Amount::ZERO, |sum, (_, amount)| sum.plus(*amount)),
            reserved: open.fold(Amount::ZERO, |sum, (_, row)| sum.plus(row.reservation.estimate)),
        }
    }

    fn count(&mut self, scope: TenantScope, taken: &Reservation, line: UsageLine, actual: Amount) {
        for payer in taken.payers() {
            let place = (scope.tenant(), payer.to_string(), payer.day(taken.day));
            let account = self.accounts.entry(place).or_default();
            *account = account.plus(actual);
        }
        let place = (scope.tenant(), line.day, line.kind, line.name.clone(), line.provider.clone(), line.user);
        match self.usage.get_mut(&place) {
            None => drop(self.usage.insert(place, line)),
            Some(known) => known.add(&line),
        }
    }

    fn reserve(&mut self, scope: TenantScope, new: &NewReservation) -> Result<(), Box<Shortage>> {
        if self.open.contains_key(&(scope.tenant(), new.id)) {
            return Ok(());
        }
        let own = self.budgets.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
        let budgets: Vec<Budget> = own.map(|(_, budget)| *budget).collect();
        for CoveringBudget { subject, period, limits, payer } in new.spending.covered_by(&budgets) {
            let standing = self.standing(scope, payer, period.window(new.at));
            if let Some(short) = Shortage::of((subject, period, &limits), &standing, &new.estimate, new.at) {
                return Err(Box::new(short));
            }
        }
        let row = OpenRow { reservation: new.row(), expires_at: new.expires_at };
        self.open.insert((scope.tenant(), new.id), row);
        Ok(())
    }

    fn settle(&mut self, scope: TenantScope, settlement: &Settlement, audit: AuditEvent) {
        let Some(taken) = self.take_open(scope, settlement.id) else { return };
        self.count(scope, &taken, taken.settled(settlement), settlement.actual);
        self.append_audit(scope.tenant(), settlement.at, audit);
    }

    fn standing_of(&self, scope: TenantScope, budget: &Budget, at: Timestamp) -> Option<BudgetStanding> {
        let payer = budget.subject.payer()?;
        Some(self.standing(scope, payer, budget.period.window(at)))
    }

    fn take_open(&mut self, scope: TenantScope, id: ReservationId) -> Option<Reservation> {
        self.open.remove(&(scope.tenant(), id)).map(|row| row.reservation)
    }
}

#[async_trait]
impl LedgerStore for MemStore {
    async fn budgets(&self, scope: TenantScope) -> Result<Vec<Budget>> {
        self.run(|state| {
            let own = state.budgets.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let mut found: Vec<Budget> = own.map(|(_, budget)| *budget).collect();
            found.sort_by_key(|budget| (budget.created_at, budget.id));
            Ok(found)
        })
    }

    async fn put_budget(&self, scope: TenantScope, budget: &Budget, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            let tenant = scope.tenant();
            if let Some(known) = state.budgets.get_mut(&(tenant, budget.id)) {
                (known.limits, known.updated_at) = (budget.limits, budget.updated_at);
            } else {
                if let BudgetSubject::User(user) = budget.subject
                    && !state.users.contains_key(&(tenant, user))
                {
                    return Err(Error::not_found("user", user));
                }
                let same = |((of, _), other): (&(_, _), &Budget)| {
                    *of == tenant && other.subject == budget.subject && other.period == budget.period
                };
                if state.budgets.iter().any(same) {
                    return Err(conflict("there is a budget of that subject and period already".to_owned()));
                }
                state.budgets.insert((tenant, budget.id), *budget);
            }
            state.append_audit(tenant, budget.updated_at, audit);
            Ok(())
        })
    }

    async fn delete_budget(&self, scope: TenantScope, id: BudgetId, at: Timestamp, audit: AuditEvent) -> Result<bool> {
        self.run(|state| {
            let there = state.budgets.remove(&(scope.tenant(), id)).is_some();
            if there {
                state.append_audit(scope.tenant(), at, audit);
            }
            Ok(there)
        })
    }

    async fn reserve(&self, scope: TenantScope, new: &NewReservation) -> Result<(), ReserveRefused> {
        self.run(|state| state.reserve(scope, new).map_err(ReserveRefused::Short))
    }

    async fn settle_and_reserve(
        &self,
        scope: TenantScope,
        settled: Arc<[(Settlement, AuditEvent)]>,
        new: Arc<[NewReservation]>,
    ) -> Result<Vec<Result<(), Box<Shortage>>>> {
        self.run(|state| {
            for (settlement, event) in settled.iter() {
                state.settle(scope, settlement, event.clone());
            }
            Ok(new.iter().map(|new| state.reserve(scope, new)).collect())
        })
    }

    async fn release(&self, scope: TenantScope, id: ReservationId) -> Result<bool> {
        self.run(|state| Ok(state.take_open(scope, id).is_some()))
    }

    async fn lost_reservations(&self, _: &WorkerId, limit: u32, now: Timestamp) -> Result<Vec<LostReservation>> {
        self.run(|state| {
            let mut lost: Vec<_> = state.open.iter().filter(|(_, row)| row.expires_at <= now).collect();
            lost.sort_by_key(|(_, row)| row.expires_at);
            let lost = lost
                .into_iter()
                .map(|((tenant, id), _)| LostReservation { scope: crate::actors::scope(*tenant), id: *id });
            Ok(lost.take(limit as usize).collect())
        })
    }

    async fn settle_at_estimate(&self, lost: &LostReservation, at: Timestamp) -> Result<bool> {
        self.run(|state| {
            let Some(taken) = state.take_open(lost.scope, lost.id) else { return Ok(false) };
            let tokens = TokenUsage { estimated: true, ..TokenUsage::default() };
            let line = taken.line(&taken.estimate, tokens, true);
            state.count(lost.scope, &taken, line, taken.estimate);
            state.append_audit(lost.scope.tenant(), at, taken.lost_event());
            Ok(true)
        })
    }

    async fn standing(&self, scope: TenantScope, budget: &Budget, at: Timestamp) -> Result<Option<BudgetStanding>> {
        self.run(|state| Ok(state.standing_of(scope, budget, at)))
    }

    async fn standings(
        &self,
        scope: TenantScope,
        after: Option<BudgetId>,
        limit: u32,
        at: Timestamp,
    ) -> Result<Vec<(Budget, Option<BudgetStanding>)>> {
        self.run(|state| {
            let own = state
                .budgets
                .iter()
                .filter(|((tenant, id), _)| *tenant == scope.tenant() && after.is_none_or(|after| *id > after));
            let page = own.take(limit as usize).map(|(_, budget)| (*budget, state.standing_of(scope, budget, at)));
            Ok(page.collect())
        })
    }

    async fn usage(&self, scope: TenantScope, filter: &UsageFilter) -> Result<Vec<UsageLine>> {
        self.run(|state| {
            let own = state.usage.iter().filter(|((tenant, ..), line)| {
                *tenant == scope.tenant()
                    && (filter.from..=filter.to).contains(&line.day)
                    && filter.user.is_none_or(|user| line.user == Some(user))
            });
            Ok(own.map(|(_, line)| line.clone()).collect())
        })
    }

    async fn take_rate(&self, scope: TenantScope, rules: &[RateRule], at: Timestamp) -> Result<(), ReserveRefused> {
        self.run(|state| {
            let mut worst: Option<RateExceeded> = None;
            for rule in rules {
                let (last, times) = state.rates.entry((scope.tenant(), rule.key.clone())).or_default();
                let at = rule.judged_at(at, *last);
                *last = at;
                times.retain(|time| rule.counts(*time, at));
                if let Err(exceeded) = rule.judge(times, at)
                    && worst.as_ref().is_none_or(|known| known.free_at < exceeded.free_at)
                {
                    worst = Some(exceeded);
                }
            }
            if let Some(exceeded) = worst {
                return Err(ReserveRefused::Rate(Box::new(exceeded)));
            }
            for rule in rules {
                let (last, times) = state.rates.entry((scope.tenant(), rule.key.clone())).or_default();
                times.push(*last);
            }
            Ok(())
        })
    }
}
