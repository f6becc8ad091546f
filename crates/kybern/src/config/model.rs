//! `[model]`: how sure the model has to be.

use kybern_core::task::limits;
use serde::{Deserialize, Serialize};

use super::error::Faults;

/// Thresholds of the built-in rules model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelOptions {
    /// Below this confidence in the intent, from 0 to 1, a person is asked. A task may state its own.
    pub(crate) confidence_threshold: f64,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { confidence_threshold: limits::DEFAULT_CONFIDENCE_THRESHOLD }
    }
}

impl ModelOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        faults.between("model.confidence_threshold", self.confidence_threshold, 0.0..=1.0);
    }
}
