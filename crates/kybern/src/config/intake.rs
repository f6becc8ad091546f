//! `[intake]`: which addresses are this server's, and who finds out what messages want.

use kybern_engine::understanding::ModelUse;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// How a message finds its tenant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IntakeOptions {
    /// The domain of the tenants' intake addresses: mail to `SLUG@DOMAIN` is that tenant's. Without it every message
    /// belongs to the mailbox's, or the caller's, tenant.
    pub(crate) domain: Option<String>,
    /// The mail server of one's own whose `Authentication-Results` are believed, by the name that it writes there.
    pub(crate) trusted_authserv: Option<String>,
    /// When a language model is asked what messages want and what documents say, where one is configured.
    pub(crate) language_model: String,
}

impl Default for IntakeOptions {
    fn default() -> Self {
        Self { domain: None, trusted_authserv: None, language_model: "unsure".to_owned() }
    }
}

impl IntakeOptions {
    /// When a language model is asked.
    pub(crate) fn understanding(&self) -> ModelUse {
        ModelUse::parse(&self.language_model).unwrap_or_default()
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        if let Some(domain) = &self.domain
            && (domain.is_empty() || domain.contains(['@', '/', ' ', ':']))
        {
            faults.add(Fault::bad("intake.domain", domain, "is not a domain name"));
        }
        if let Some(server) = &self.trusted_authserv
            && (server.is_empty() || server.contains([';', ' ', '(', ')']))
        {
            faults.add(Fault::bad("intake.trusted_authserv", server, "is not the name of a server"));
        }
        if ModelUse::parse(&self.language_model).is_none() {
            let known = "is none of \"off\", \"unsure\" and \"always\"";
            faults.add(Fault::bad("intake.language_model", &self.language_model, known));
        }
    }
}
