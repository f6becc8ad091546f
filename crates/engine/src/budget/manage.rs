//! Budgets and usage, as people set and see them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{
    Budget, BudgetStanding, BudgetSubject, Limits, Period, SpendKind, UsageBy, UsageFilter, UsageLine, Window,
};
use kybern_core::error::{Error, Result};
use kybern_core::id::BudgetId;
use kybern_core::ports::{Clock, IdSource, IdentityStore, LedgerStore};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::command::{id_for, once};

/// A budget with how it stands now.
#[derive(Clone, Copy, Debug)]
pub struct BudgetView {
    pub budget: Budget,
    /// What is used and reserved in its present window; `None` for budgets of each user or task, which have no one
    /// standing.
    pub standing: Option<BudgetStanding>,
    /// When its window ends; `None` when it never does.
    pub resets_at: Option<Timestamp>,
}

/// A line of a usage report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageSum {
    /// The day, the model, the tool or the user.
    pub name: String,
    /// What was used, added up.
    pub line: UsageLine,
}

/// Budgets and usage, as people set and see them.
#[derive(Clone)]
pub struct Budgets {
    pub(crate) store: Arc<dyn LedgerStore>,
    pub(crate) users: Arc<dyn IdentityStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Budgets {
    /// A page of the tenant's budgets with how they stand, oldest first, behind `after`.
    pub async fn list(&self, scope: TenantScope, after: Option<BudgetId>, limit: u32) -> Result<Vec<BudgetView>> {
        let now = self.clock.now();
        let page = self.store.standings(scope, after, limit, now).await?;
        let view = |(budget, standing): (Budget, Option<BudgetStanding>)| BudgetView {
            budget,
            standing,
            resets_at: budget.period.window(now).ends(),
        };
        Ok(page.into_iter().map(view).collect())
    }

    /// One of them.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, id: BudgetId) -> Result<BudgetView> {
        let budget = self.known_budget(scope, id).await?;
        self.budget_view(scope, budget).await
    }

    async fn known_budget(&self, scope: TenantScope, id: BudgetId) -> Result<Budget> {
        let all = self.store.budgets(scope).await?;
        all.into_iter().find(|budget| budget.id == id).ok_or_else(|| Error::not_found("budget", id))
    }

    async fn budget_view(&self, scope: TenantScope, budget: Budget) -> Result<BudgetView> {
        let now = self.clock.now();
        let standing = self.store.standing(scope, &budget, now).await?;
        Ok(BudgetView { budget, standing, resets_at: budget.period.window(now).ends() })
    }

    /// Sets a budget. It holds from the next call on, and counts what its window has used already.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`; `NOT_FOUND` for an unknown user; `CONFLICT` when the subject has a budget of that period.
    pub async fn create(
        &self,
        actor: &Actor,
        subject: BudgetSubject,
        period: Period,
        limits: Limits,
    ) -> Result<BudgetView> {
        let at = self.clock.now();
        let id = BudgetId::from_uuid(id_for(self.ids.as_ref(), actor, "budget"));
        let budget = Budget { id, subject, period, limits, created_at: at, updated_at: at };
        if let BudgetSubject::User(user) = subject {
            self.users.user_to_keep(actor.scope(), user, actor.user()).await?;
        }
        let find = || async {
            let known = self.store.budgets(actor.scope()).await?.into_iter().find(|known| known.id == id);
            match known {
                None => Ok(None),
                Some(known) => self.budget_view(actor.scope(), known).await.map(Some),
            }
        };
        once(actor, find, self.put_budget(actor, budget, "budget.create")).await
    }

    /// Gives a budget new limits.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`; `NOT_FOUND`.
    pub async fn change(&self, actor: &Actor, id: BudgetId, limits: Limits) -> Result<BudgetView> {
        let known = self.known_budget(actor.scope(), id).await?;
        let budget = Budget { limits, updated_at: self.clock.now(), ..known };
        self.put_budget(actor, budget, "budget.change").await
    }

    async fn put_budget(&self, actor: &Actor, budget: Budget, action: &str) -> Result<BudgetView> {
        budget.check()?;
        let audit = about_budget(actor, action, &budget);
        self.store.put_budget(actor.scope(), &budget, audit).await?;
        self.budget_view(actor.scope(), budget).await
    }

    /// Removes a budget: what it limited is not limited by it any more.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn delete(&self, actor: &Actor, id: BudgetId) -> Result<()> {
        let audit = about_budget(actor, "budget.delete", &self.known_budget(actor.scope(), id).await?);
        let deleted = self.store.delete_budget(actor.scope(), id, self.clock.now(), audit).await?;
        if deleted { Ok(()) } else { Err(Error::not_found("budget", id)) }
    }

    /// What was used, added up by day, model, tool or user; the dearest first, days in their order.
    pub async fn usage(&self, scope: TenantScope, by: UsageBy, filter: &UsageFilter) -> Result<Vec<UsageSum>> {
        let lines = self.store.usage(scope, filter).await?;
        let mut sums: BTreeMap<String, UsageLine> = BTreeMap::new();
        for line in lines {
            let Some(name) = group(by, &line) else { continue };
            match sums.get_mut(&name) {
                None => drop(sums.insert(name, line)),
                Some(sum) => sum.add(&line),
            }
        }
        let mut sums: Vec<UsageSum> = sums.into_iter().map(|(name, line)| UsageSum { name, line }).collect();
        if by != UsageBy::Day {
            sums.sort_by_key(|sum| std::cmp::Reverse((sum.line.cost, sum.line.calls)));
        }
        Ok(sums)
    }

    /// The day that it is now, in UTC, counted as usage counts days.
    #[must_use]
    pub fn today(&self) -> i64 {
        Window::day_of(self.clock.now())
    }
}

/// The audit of an act on a budget.
fn about_budget(actor: &Actor, action: &str, budget: &Budget) -> AuditEvent {
    let detail = json!({"subject": budget.subject.to_string(), "period": budget.period, "limits": budget.limits});
    AuditEvent::by(actor, action, format!("budget:{}", budget.id), detail)
}

/// Under which name a line is counted; `None` when it is of another kind.
fn group(by: UsageBy, line: &UsageLine) -> Option<String> {
    match (by, line.kind) {
        (UsageBy::Day, _) => Some(day(line.day)),
        (UsageBy::User, _) => Some(line.user.map_or_else(|| "nobody".to_owned(), |user| user.to_string())),
        (UsageBy::Model, SpendKind::Model | SpendKind::Embedding) => Some(format!("{}/{}", line.provider, line.name)),
        (UsageBy::Tool, SpendKind::Tool) => Some(line.name.clone()),
        (UsageBy::Model, SpendKind::Tool) | (UsageBy::Tool, SpendKind::Model | SpendKind::Embedding) => None,
    }
}

/// A day as `YYYY-MM-DD`.
fn day(day: i64) -> String {
    let text = Timestamp::from_millis(day.saturating_mul(86_400_000)).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}
