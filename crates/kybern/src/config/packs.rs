//! `[packs]`: which domains this server works in.

use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};
use crate::packs::{DOMAINS, USUAL};

/// Which domains there are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PackOptions {
    /// The domains whose records, tools, plans and intents the server has. The words of every domain's intents are
    /// weighed against all others, so each one that is not needed makes messages harder to tell apart.
    pub(crate) domains: Vec<String>,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self { domains: USUAL.iter().map(|&name| name.to_owned()).collect() }
    }
}

impl PackOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        for (n, domain) in self.domains.iter().enumerate() {
            if !DOMAINS.contains(&domain.as_str()) {
                let known = format!("is none of {}", DOMAINS.join(", "));
                faults.add(Fault::bad("packs.domains", domain, &known));
            } else if self.domains.iter().take(n).any(|other| other == domain) {
                faults.add(Fault::bad("packs.domains", domain, "is named twice"));
            }
        }
    }
}
