//! How long what is over is kept.

use super::{Finding, PartState, finding};
use crate::config::Config;
use crate::output::kybern;

pub(super) const PART: &str = "retention";
/// What to do about a name of nobody.
pub(super) fn correct() -> String {
    let list = format!("{} tenant list", kybern());
    format!("correct the name in [retention]; {list} shows names and slugs. Nothing old is removed before that")
}

/// The names of nobody in settings with which the server beside them was not started: a start with them would remove
/// nothing. `None` when there are none, or when nobody knows the tenants.
pub(super) fn misnamed(config: &Config, tenants: Option<&[String]>) -> Option<Finding> {
    let details = config.retention.settings().strangers(tenants?);
    let message = "the server keeps what it was started with; these settings name what is no tenant";
    (!details.is_empty()).then(|| Finding { details, ..finding(PART, PartState::Broken, message, correct()) })
}

/// The times of all, and below them the tenants that have others. A name that no tenant has stops every round of the
/// removal; `tenants` are the names and slugs that there are, where they are known.
pub(super) fn retention(config: &Config, tenants: Option<&[String]>) -> Finding {
    let said = config.retention.settings();
    let (all, mut details) = said.told();
    let Some(tenants) = tenants else {
        let found = match said.names_tenants() {
            true => {
                let remedy =
                    "look again where the database is: whether there are tenants called so cannot be seen here";
                finding(PART, PartState::Warning, all, remedy)
            }
            false => finding(PART, PartState::Ok, all, ""),
        };
        return Finding { details, ..found };
    };
    let unknown = said.strangers(tenants);
    let (state, remedy) =
        if unknown.is_empty() { (PartState::Ok, String::new()) } else { (PartState::Broken, correct()) };
    details.extend(unknown);
    Finding { details, ..finding(PART, state, all, remedy) }
}
