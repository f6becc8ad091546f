//! How a whole page of budgets stands: two queries, however many budgets the page has.

use std::collections::BTreeMap;

use kybern_core::budget::{Amount, Budget, BudgetStanding, Payer, Period};
use kybern_core::id::{BudgetId, UserId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use uuid::Uuid;

use crate::budgets::{amount, budget};
use crate::db::{Tx, args, statements};
use crate::error::Result;

statements! {
    PAGE = shared "budget_page";
    STANDING = shared "budget_page_standing";
}

/// Which budgets, and when.
pub(crate) struct Page {
    pub(crate) scope: TenantScope,
    pub(crate) after: Option<BudgetId>,
    pub(crate) limit: u32,
    pub(crate) at: Timestamp,
}

/// The open reservations of one user, or of nobody, on one day.
struct OpenReserved {
    user: Option<UserId>,
    day: i64,
    amount: Amount,
}

impl OpenReserved {
    fn is_of(&self, payer: Payer) -> bool {
        match payer {
            Payer::Tenant => true,
            Payer::User(user) => self.user == Some(user),
            Payer::Tree(_) => false,
        }
    }
}

/// The budgets of a page, in the order of their ids.
pub(crate) async fn page(tx: &mut Tx, page: &Page) -> Result<Vec<(Budget, Option<BudgetStanding>)>> {
    let (scope, after) = (page.scope, page.after.map_or(Uuid::nil(), BudgetId::as_uuid));
    let budgets = tx.list(&PAGE, args![scope, after, page.limit], budget).await?;
    let Some(last) = budgets.last().map(|budget| budget.id.as_uuid()) else { return Ok(Vec::new()) };
    let Amounts { used, reserved } = amounts(tx, page, after, last).await?;
    let standing = |budget: &Budget| {
        let payer = budget.subject.payer()?;
        let window = budget.period.window(page.at);
        let open = reserved.iter().filter(|open| open.is_of(payer) && window.holds(open.day));
        let used = used.get(&budget.id).copied().unwrap_or_default();
        Some(BudgetStanding { used, reserved: open.fold(Amount::ZERO, |sum, open| sum.plus(open.amount)) })
    };
    Ok(budgets.iter().map(|budget| (*budget, standing(budget))).collect())
}

/// What each budget of the page has used, and all that is reserved.
#[derive(Default)]
struct Amounts {
    used: BTreeMap<BudgetId, Amount>,
    reserved: Vec<OpenReserved>,
}

/// One statement, so that a settlement is never seen half-way.
async fn amounts(tx: &mut Tx, page: &Page, after: Uuid, last: Uuid) -> Result<Amounts> {
    let (day, month) = (Period::Day.window(page.at).first, Period::Month.window(page.at));
    let args = args![page.scope, after, last, day, month.first, month.last];
    let mut amounts = Amounts::default();
    for mut row in tx.fetch_all(&STANDING, args).await? {
        let (budget, user, day) = (row.opt_uuid()?, row.opt_uuid()?, row.i64()?);
        let amount = amount(&mut row)?;
        match budget {
            Some(budget) => drop(amounts.used.insert(BudgetId::from_uuid(budget), amount)),
            None => amounts.reserved.push(OpenReserved { user: user.map(UserId::from_uuid), day, amount }),
        }
    }
    Ok(amounts)
}
