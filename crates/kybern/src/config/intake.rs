//! `[intake]`: which addresses are this server's.

use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// How a message finds its tenant.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IntakeOptions {
    /// The domain of the tenants' intake addresses: mail to `SLUG@DOMAIN` is that tenant's. Without it every message
    /// belongs to the mailbox's, or the caller's, tenant.
    pub(crate) domain: Option<String>,
    /// The mail server of one's own whose `Authentication-Results` are believed, by the name that it writes there.
    pub(crate) trusted_authserv: Option<String>,
}

impl IntakeOptions {
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
    }
}
