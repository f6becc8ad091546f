//! Reservations: an amount that is promised to one call.

use std::fmt;

use serde_json::json;

use super::{Amount, Budget, BudgetSubject, Limits, Period, UsageLine, Window};
use crate::audit::AuditEvent;
use crate::id::{ReservationId, TaskId, UserId};
use crate::model::TokenUsage;
use crate::task::WorkerId;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

words! {
    /// What kind of call spends.
    #[derive(PartialOrd, Ord)]
    pub enum SpendKind {
        /// A language model.
        Model = "model",
        /// An embedding model.
        Embedding = "embedding",
        /// A tool.
        Tool = "tool",
    }
}

/// On whose account something is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Payer {
    /// The tenant's.
    Tenant,
    /// A user's.
    User(UserId),
    /// That of a task and all its children, by the id of the first of them.
    Tree(TaskId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spending {
    /// The kind of call.
    pub kind: SpendKind,
    /// The model or the tool.
    pub name: String,
    /// The provider; empty for tools.
    pub provider: String,
    pub user: Option<UserId>,
    /// The first task of its tree, with what the task itself says it may spend.
    pub tree: Option<(TaskId, Option<Limits>)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewReservation {
    pub id: ReservationId,
    /// Who holds it: when this process is gone, it is settled at its estimate.
    pub owner: WorkerId,
    pub spending: Spending,
    /// The most that the call can take.
    pub estimate: Amount,
    /// Now.
    pub at: Timestamp,
    /// When nobody can still be at it.
    pub expires_at: Timestamp,
}

/// An open reservation as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reservation {
    pub id: ReservationId,
    /// The kind of call.
    pub kind: SpendKind,
    /// The model or the tool.
    pub name: String,
    /// The provider; empty for tools.
    pub provider: String,
    pub user: Option<UserId>,
    /// The first task of its tree.
    pub tree: Option<TaskId>,
    /// The most that the call can take.
    pub estimate: Amount,
    /// The day on whose account it is.
    pub day: i64,
}

/// A budget that covers a call, and on whose account it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoveringBudget {
    pub subject: BudgetSubject,
    /// For how long.
    pub period: Period,
    /// How much.
    pub limits: Limits,
    /// Whose account.
    pub payer: Payer,
}

impl Spending {
    /// Which of the tenant's budgets cover it. A user's own budget takes the place of that of each user, and what the
    /// task itself says the place of that of each task.
    #[must_use]
    pub fn covered_by(&self, budgets: &[Budget]) -> Vec<CoveringBudget> {
        let own = |period: Period| {
            let subject = self.user.map(BudgetSubject::User);
            budgets.iter().any(|budget| Some(budget.subject) == subject && budget.period == period)
        };
        let payer = |budget: &Budget| match budget.subject {
            BudgetSubject::Tenant => Some(Payer::Tenant),
            BudgetSubject::User(user) => (self.user == Some(user)).then_some(Payer::User(user)),
            BudgetSubject::EachUser => self.user.filter(|_| !own(budget.period)).map(Payer::User),
            BudgetSubject::EachTask => self.tree.filter(|(_, said)| said.is_none()).map(|(task, _)| Payer::Tree(task)),
        };
        let cover = |budget: &Budget| {
            let Budget { subject, period, limits, .. } = *budget;
            payer(budget).map(|payer| CoveringBudget { subject, period, limits, payer })
        };
        let said = self.tree.and_then(|(task, said)| {
            let (subject, period, payer) = (BudgetSubject::EachTask, Period::Whole, Payer::Tree(task));
            said.map(|limits| CoveringBudget { subject, period, limits, payer })
        });
        said.into_iter().chain(budgets.iter().filter_map(cover)).collect()
    }
}

impl NewReservation {
    /// The row that is stored of it.
    #[must_use]
    pub fn row(&self) -> Reservation {
        let Spending { kind, name, provider, user, tree } = &self.spending;
        Reservation {
            id: self.id,
            kind: *kind,
            name: name.clone(),
            provider: provider.clone(),
            user: *user,
            tree: tree.map(|(task, _)| task),
            estimate: self.estimate,
            day: Window::day_of(self.at),
        }
    }
}

impl Reservation {
    /// On whose accounts it is.
    pub fn payers(&self) -> impl Iterator<Item = Payer> + use<> {
        [Some(Payer::Tenant), self.user.map(Payer::User), self.tree.map(Payer::Tree)].into_iter().flatten()
    }

    /// What it adds to the record of usage when it ends so. Calls that the provider refused count as calls that
    /// failed, and as nothing else.
    #[must_use]
    pub fn settled(&self, end: &Settlement) -> UsageLine {
        let refused = u64::from(end.refused);
        let line = self.line(&end.actual, end.tokens, end.failed);
        UsageLine { calls: line.calls.saturating_add(refused), failed: line.failed.saturating_add(refused), ..line }
    }

    /// Whether it counts in that window of that account.
    #[must_use]
    pub fn counts_for(&self, payer: Payer, window: Window) -> bool {
        self.payers().any(|of| of == payer)
            && (payer.day(window.first)..=payer.day(window.last)).contains(&payer.day(self.day))
    }

    /// What it adds to the record of usage when it took `actual`.
    #[must_use]
    pub fn line(&self, actual: &Amount, tokens: TokenUsage, failed: bool) -> UsageLine {
        UsageLine {
            day: self.day,
            kind: self.kind,
            name: self.name.clone(),
            provider: self.provider.clone(),
            user: self.user,
            calls: actual.calls(),
            failed: u64::from(failed),
            estimated: u64::from(tokens.estimated),
            // Where nothing is known about the kinds, all tokens count as read.
            input_tokens: if tokens.is_zero() { actual.tokens().0 } else { tokens.input },
            cached_tokens: tokens.cached_input,
            output_tokens: tokens.output,
            cost: actual.cost(),
        }
    }

    /// The audit event of one whose owner is gone.
    #[must_use]
    pub fn lost_event(&self) -> AuditEvent {
        let detail = json!({
            "kind": self.kind,
            "name": self.name,
            "costNanos": self.estimate.cost(),
            "tokens": self.estimate.tokens(),
            "estimated": true,
        });
        AuditEvent::by_executor("budget.settle_lost", format!("reservation:{}", self.id), detail)
    }
}

/// An open reservation whose owner is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostReservation {
    pub scope: TenantScope,
    pub id: ReservationId,
}

impl fmt::Display for Payer {
    /// `tenant`, `user:ID` or `tree:ID`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant => f.write_str("tenant"),
            Self::User(user) => write!(f, "user:{user}"),
            Self::Tree(task) => write!(f, "tree:{task}"),
        }
    }
}

impl Payer {
    /// The day under which it is counted: a tree is counted as a whole.
    #[must_use]
    pub const fn day(&self, day: i64) -> i64 {
        match self {
            Self::Tenant | Self::User(_) => day,
            Self::Tree(_) => 0,
        }
    }
}

/// How a reservation ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settlement {
    pub id: ReservationId,
    /// What the call really took.
    pub actual: Amount,
    /// The tokens by kind, for the record of usage.
    pub tokens: TokenUsage,
    /// Whether the call failed.
    pub failed: bool,
    /// How many calls were refused on the way, or never reached the provider: they cost nothing.
    pub refused: u32,
    /// Now.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::BudgetId;
    use crate::money::NanoUsd;
    use crate::time::Timestamp;
    use uuid::Uuid;

    fn budget(subject: BudgetSubject, period: Period) -> Budget {
        let (id, at) = (BudgetId::from_uuid(Uuid::nil()), Timestamp::default());
        let limits = Limits { cost: Some(NanoUsd(5)), ..Limits::default() };
        Budget { id, subject, period, limits, created_at: at, updated_at: at }
    }

    #[test]
    fn the_nearer_word_takes_the_place_of_the_general_one() {
        let (user, task) = (UserId::from_uuid(Uuid::from_u128(1)), TaskId::from_uuid(Uuid::from_u128(2)));
        let other = UserId::from_uuid(Uuid::from_u128(3));
        let budgets = [
            budget(BudgetSubject::Tenant, Period::Month),
            budget(BudgetSubject::EachUser, Period::Day),
            budget(BudgetSubject::EachUser, Period::Month),
            budget(BudgetSubject::User(user), Period::Day),
            budget(BudgetSubject::User(other), Period::Month),
            budget(BudgetSubject::EachTask, Period::Whole),
        ];
        let spending = |user, tree| Spending {
            kind: SpendKind::Model,
            name: "m".to_owned(),
            provider: "p".to_owned(),
            user,
            tree,
        };
        let covers = |spending: &Spending| -> Vec<String> {
            let covers = spending.covered_by(&budgets);
            covers.iter().map(|cover| format!("{} {} {}", cover.subject, cover.period.as_str(), cover.payer)).collect()
        };
        assert_eq!(covers(&spending(None, None)), ["tenant month tenant"]);
        let own = format!("user:{user} day user:{user}");
        let each = format!("each_user month user:{user}");
        assert_eq!(covers(&spending(Some(user), None)), ["tenant month tenant", each.as_str(), own.as_str()]);
        let tree = format!("each_task whole tree:{task}");
        assert_eq!(covers(&spending(None, Some((task, None)))), ["tenant month tenant", tree.as_str()]);
        let said = Limits { calls: Some(1), ..Limits::default() };
        assert_eq!(covers(&spending(None, Some((task, Some(said))))), [tree.as_str(), "tenant month tenant"]);
    }

    #[test]
    fn a_subject_is_read_as_it_is_written() {
        let user = UserId::from_uuid(Uuid::from_u128(7));
        for subject in
            [BudgetSubject::Tenant, BudgetSubject::User(user), BudgetSubject::EachUser, BudgetSubject::EachTask]
        {
            assert_eq!(BudgetSubject::parse(&subject.to_string()), Some(subject));
        }
        assert_eq!(BudgetSubject::parse("user:x"), None);
    }
}
