//! How long what is over is kept.

use super::{Finding, State, finding};
use crate::config::Config;

/// The times of all, and below them the tenants that have others.
pub(super) fn retention(config: &Config) -> Finding {
    let (all, details) = config.retention.told();
    Finding { details, ..finding("retention", State::Ok, all, "") }
}
