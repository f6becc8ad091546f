//! `[egress]`: which private addresses tools may reach.

use kybern_core::policy::EgressPolicy;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// What is open besides the public internet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EgressOptions {
    /// `host:port` pairs. Each opens exactly that pair.
    pub(crate) allow: Vec<String>,
}

impl EgressOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        for entry in &self.allow {
            if let Err(problem) = EgressPolicy::new(std::slice::from_ref(entry)) {
                let problem = problem.strip_prefix(&format!("{entry:?} ")).unwrap_or(&problem).to_owned();
                faults.add(Fault::bad("egress.allow", entry, problem));
            }
        }
    }
}
