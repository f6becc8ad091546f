//! Limits, the windows in which they hold, and the judgement whether an amount still fits.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Amount, Payer};
use crate::count::count;
use crate::error::{Detail, Error, ErrorCode};
use crate::id::{BudgetId, UserId};
use crate::money::{NanoUsd, Tokens};
use crate::time::Timestamp;

/// One day in milliseconds.
const DAY: i64 = 86_400_000;

/// Whose spending a budget limits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type", content = "id")]
pub enum BudgetSubject {
    /// Everything that the tenant spends.
    Tenant,
    /// What one user spends.
    User(UserId),
    /// What each user spends who has no budget of the same period of their own.
    EachUser,
    /// What each task spends together with its children, unless the task says how much.
    EachTask,
}

impl fmt::Display for BudgetSubject {
    /// `tenant`, `user:ID`, `each_user` or `each_task`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant => f.write_str("tenant"),
            Self::User(user) => write!(f, "user:{user}"),
            Self::EachUser => f.write_str("each_user"),
            Self::EachTask => f.write_str("each_task"),
        }
    }
}

impl BudgetSubject {
    /// On whose one account it is; of each user or each task there is no one account.
    #[must_use]
    pub const fn payer(self) -> Option<Payer> {
        match self {
            Self::Tenant => Some(Payer::Tenant),
            Self::User(user) => Some(Payer::User(user)),
            Self::EachUser | Self::EachTask => None,
        }
    }

    /// The subject that [`Display`](fmt::Display) writes so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "tenant" => Some(Self::Tenant),
            "each_user" => Some(Self::EachUser),
            "each_task" => Some(Self::EachTask),
            other => other.strip_prefix("user:")?.parse().ok().map(Self::User),
        }
    }
}

words! {
    /// How long a limit counts: from midnight to midnight UTC; `whole` for budgets of `each_task`.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = BudgetPeriod))]
    pub enum Period {
        /// From midnight to midnight, UTC.
        Day = "day",
        /// From the first to the last of a month, UTC.
        Month = "month",
        /// For ever: of a task and its children.
        Whole = "whole",
    }
}

impl Period {
    /// The days of the window around `at`.
    #[must_use]
    pub fn window(self, at: Timestamp) -> Window {
        let today = at.as_millis().div_euclid(DAY);
        match self {
            Self::Day => Window { first: today, last: today },
            Self::Month => month_of(today),
            Self::Whole => Window { first: 0, last: i64::MAX },
        }
    }
}

/// Days, counted from 1970-01-01 UTC, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub first: i64,
    /// The last; the largest number when it never ends.
    pub last: i64,
}

impl Window {
    /// The day of a moment.
    #[must_use]
    pub const fn day_of(at: Timestamp) -> i64 {
        at.as_millis().div_euclid(DAY)
    }

    #[must_use]
    pub const fn holds(&self, day: i64) -> bool {
        self.first <= day && day <= self.last
    }

    /// When it ends and the next one begins; `None` when it never does.
    #[must_use]
    pub fn ends(&self) -> Option<Timestamp> {
        self.last.checked_add(1)?.checked_mul(DAY).map(Timestamp::from_millis)
    }
}

fn month_of(day: i64) -> Window {
    let date =
        jiff::Timestamp::from_millisecond(day.saturating_mul(DAY)).map(|at| at.to_zoned(jiff::tz::TimeZone::UTC));
    // Outside of jiff's years there is no month; the day stands for it.
    let alone = Window { first: day, last: day };
    date.map_or(alone, |date| {
        let first = day - i64::from(date.day()) + 1;
        Window { first, last: first + i64::from(date.days_in_month()) - 1 }
    })
}

/// What may be spent in a window. What is `None` is not limited.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Money.
    #[serde(rename = "costNanos")]
    pub cost: Option<NanoUsd>,
    /// Tokens, read and written.
    pub tokens: Option<Tokens>,
    /// Calls of models, and of tools that have a price.
    pub calls: Option<u64>,
}

/// The unit of which there is not enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nano-dollars.
    CostNanos,
    Tokens,
    Calls,
}

impl Unit {
    const fn of(self, amount: &Amount) -> u64 {
        match self {
            Self::CostNanos => amount.cost().0.unsigned_abs(),
            Self::Tokens => amount.tokens().0,
            Self::Calls => amount.calls(),
        }
    }
}

/// What has been spent and what is promised.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetStanding {
    /// Spent.
    pub used: Amount,
    /// Promised to calls that have not ended.
    pub reserved: Amount,
}

impl Limits {
    /// Whether nothing is limited.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.cost.is_none() && self.tokens.is_none() && self.calls.is_none()
    }

    /// The first unit in which `asked` does not fit any more, with its limit.
    #[must_use]
    pub fn short_of(&self, standing: &BudgetStanding, asked: &Amount) -> Option<(Unit, u64)> {
        let limits = [
            (Unit::CostNanos, self.cost.map(|limit| limit.0.max(0).unsigned_abs())),
            (Unit::Tokens, self.tokens.map(|limit| limit.0)),
            (Unit::Calls, self.calls),
        ];
        let total = standing.used.plus(standing.reserved).plus(*asked);
        limits.into_iter().find_map(|(unit, limit)| {
            // What asks for nothing of a unit does not make it worse.
            let limit = limit.filter(|limit| unit.of(asked) > 0 && unit.of(&total) > *limit)?;
            Some((unit, limit))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    pub id: BudgetId,
    pub subject: BudgetSubject,
    /// For how long.
    pub period: Period,
    /// How much.
    #[serde(flatten)]
    pub limits: Limits,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Budget {
    /// Checks that subject, period and limits fit together.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the field and the remedy.
    pub fn check(&self) -> Result<(), Error> {
        let of_tasks = self.subject == BudgetSubject::EachTask;
        if of_tasks != (self.period == Period::Whole) {
            let message = if of_tasks {
                "a budget of each task counts the whole task: use the period whole"
            } else {
                "use the period day or month; whole is for budgets of each_task"
            };
            return Err(Error::invalid("/period", message));
        }
        if self.limits.is_empty() {
            return Err(Error::invalid("", "a budget limits something: set costNanos, tokens or calls"));
        }
        if self.limits.cost.is_some_and(|limit| limit.0 < 0) {
            return Err(Error::invalid("/costNanos", "the limit cannot be negative"));
        }
        Ok(())
    }
}

/// Why an amount was not reserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shortage {
    pub subject: BudgetSubject,
    pub period: Period,
    pub unit: Unit,
    /// How much is spent.
    pub used: u64,
    /// How much is promised to calls that run.
    pub reserved: u64,
    /// How much there may be.
    pub limit: u64,
    /// How much was asked for.
    pub asked: u64,
    /// When the window ends; `None` when it never does.
    pub resets_at: Option<Timestamp>,
}

impl Shortage {
    /// The shortage of a budget, when there is one.
    #[must_use]
    pub fn of(
        (subject, period, limits): (BudgetSubject, Period, &Limits),
        standing: &BudgetStanding,
        asked: &Amount,
        at: Timestamp,
    ) -> Option<Self> {
        let (unit, limit) = limits.short_of(standing, asked)?;
        Some(Self {
            subject,
            period,
            unit,
            used: unit.of(&standing.used),
            reserved: unit.of(&standing.reserved),
            limit,
            asked: unit.of(asked),
            resets_at: period.window(at).ends(),
        })
    }

    fn says(&self, amount: u64) -> String {
        match self.unit {
            Unit::CostNanos => NanoUsd(i64::try_from(amount).unwrap_or(i64::MAX)).to_string(),
            Unit::Tokens => count(amount, "token"),
            Unit::Calls => count(amount, "call"),
        }
    }
}

impl From<Shortage> for Error {
    fn from(short: Shortage) -> Self {
        let whose = match (short.subject, short.period) {
            (BudgetSubject::Tenant, Period::Month) => "the tenant's budget of this month",
            (BudgetSubject::Tenant, Period::Day | Period::Whole) => "the tenant's budget of today",
            (BudgetSubject::User(_) | BudgetSubject::EachUser, Period::Month) => "the user's budget of this month",
            (BudgetSubject::User(_) | BudgetSubject::EachUser, Period::Day | Period::Whole) => {
                "the user's budget of today"
            }
            (BudgetSubject::EachTask, Period::Day | Period::Month | Period::Whole) => "the task's budget",
        };
        let [used, reserved, limit, asked] =
            [short.used, short.reserved, short.limit, short.asked].map(|amount| short.says(amount));
        let resets = short.resets_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        let message = format!(
            "{whose} does not cover this call: {used} used and {reserved} reserved of {limit}, {asked} needed; it \
             resets: {resets}"
        );
        let details = [
            ("/used", short.used.to_string()),
            ("/reserved", short.reserved.to_string()),
            ("/limit", short.limit.to_string()),
            ("/needed", short.asked.to_string()),
            ("/resetsAt", resets),
        ];
        let details = details.into_iter().map(|(path, message)| Detail::new(path, message)).collect();
        Self::new(ErrorCode::BudgetExceeded, message).with_details(details)
    }
}

#[cfg(test)]
mod tests;
