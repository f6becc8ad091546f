//! How long what is over is kept.

use super::{Finding, State, finding};
use crate::config::Config;

/// The times of all, and below them the tenants that have others. A name that no tenant has stops every round of the
/// removal; `tenants` are the names and slugs that there are, where they are known.
pub(super) fn retention(config: &Config, tenants: Option<&[String]>) -> Finding {
    let (all, mut details) = config.retention.told();
    let unknown = tenants.map(|tenants| config.retention.strangers(tenants)).unwrap_or_default();
    if unknown.is_empty() {
        return Finding { details, ..finding("retention", State::Ok, all, "") };
    }
    details.extend(unknown.iter().map(|(key, name)| format!("{key} names {name:?}, and no tenant is called so")));
    let remedy =
        "correct the name in [retention]; kybern tenant list shows names and slugs. Nothing old is removed before that";
    Finding { details, ..finding("retention", State::Broken, all, remedy) }
}
