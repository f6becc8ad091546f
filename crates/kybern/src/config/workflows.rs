//! `[workflows.NAME]`: outside engines that plans hand steps to.

use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::error::{Fault, Faults};
use super::secret::Secret;
use super::webhooks::check_name;

/// One engine's entry point. It comes from the configuration, so its address may be private.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkflowOptions {
    /// Where the delegation is posted to.
    pub(crate) url: String,
    /// The environment variable that holds the secret with which the delegation is signed.
    pub(crate) secret_env: Option<String>,
    /// How long its answer may take, in milliseconds; `limits.delegation_deadline_ms` when not stated.
    pub(crate) deadline_ms: Option<Millis>,
    /// The secret itself, as the environment had it.
    #[serde(skip_deserializing)]
    pub(crate) secret: Option<Secret>,
}

impl WorkflowOptions {
    pub(super) fn check(&mut self, name: &str, env: &Environment, faults: &mut Faults) {
        check_name("workflows", name, faults);
        faults.web(&format!("workflows.{name}.url"), Some(&self.url));
        if self.deadline_ms == Some(Millis(0)) {
            faults.add(Fault::bad(&format!("workflows.{name}.deadline_ms"), &0, "is not at least 1 ms"));
        }
        if let Some(variable) = &self.secret_env {
            self.secret = env.secret(&format!("workflows.{name}.secret_env"), variable, faults);
        }
    }
}
