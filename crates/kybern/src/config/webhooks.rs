//! `[webhooks.NAME]`: who may send webhooks, and by what they are known. The source `sms` is the SMS gateway.

use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::error::{Fault, Faults};
use super::secret::Secret;

/// One source.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WebhookOptions {
    /// The environment variable that holds the signing secret (Standard Webhooks, `whsec_…`). With it, an unsigned
    /// or wrongly signed delivery is refused; without it, the sender needs an API key. Of `sms` it is the gateway's token.
    pub(crate) secret_env: Option<String>,
    /// The tenant that gets its signed deliveries; `default` when not stated.
    pub(crate) tenant: Option<String>,
    /// The secret itself, as the environment had it.
    #[serde(skip_deserializing)]
    pub(crate) secret: Option<Secret>,
}

impl WebhookOptions {
    pub(super) fn check(&mut self, name: &str, env: &Environment, faults: &mut Faults) {
        check_name("webhooks", name, faults);
        if let Some(variable) = &self.secret_env {
            self.secret = env.secret(&format!("webhooks.{name}.secret_env"), variable, faults);
        }
        if self.tenant.is_some() && self.secret_env.is_none() {
            let problem = "without a secret the sender's API key names the tenant, so this would have no effect";
            let tenant = self.tenant.clone().unwrap_or_default();
            faults.add(Fault::bad(&format!("webhooks.{name}.tenant"), &tenant, problem));
        }
    }
}

/// A name stands in a URL and in idempotency keys, so it is plain.
pub(super) fn check_name(section: &str, name: &str, faults: &mut Faults) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-' || c == '.';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        let problem = "is not a name of 1 to 64 lower-case letters, digits, dots, dashes and underscores";
        faults.add(Fault::bad(section, name, problem));
    }
}
