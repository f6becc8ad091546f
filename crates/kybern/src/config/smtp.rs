//! `[smtp]`: by which server mail leaves the house. Without it notices stay in the outbox.

use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::error::{Fault, Faults};
use super::secret::Secret;

/// How a connection to a mail server is protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TlsMode {
    /// From the first byte.
    Tls,
    /// After a plain greeting.
    Starttls,
    /// Not at all: only for a server on the same machine.
    None,
}

/// The outgoing mail server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SmtpOptions {
    /// Its name or address.
    pub(crate) host: String,
    /// Its port.
    #[serde(default = "default_port")]
    pub(crate) port: u16,
    /// How the connection is protected.
    #[serde(default = "default_tls")]
    pub(crate) tls: TlsMode,
    /// The account, where it asks for one.
    #[serde(default)]
    pub(crate) username: Option<String>,
    /// The account's password. Better in an environment variable, see `password_env`.
    #[serde(default)]
    pub(crate) password: Option<Secret>,
    /// The environment variable that holds the password.
    #[serde(default)]
    pub(crate) password_env: Option<String>,
    /// The sender of what Kybern sends.
    pub(crate) from: String,
}

const fn default_port() -> u16 {
    587
}

const fn default_tls() -> TlsMode {
    TlsMode::Starttls
}

impl SmtpOptions {
    pub(super) fn check(&mut self, env: &Environment, faults: &mut Faults) {
        if self.host.trim().is_empty() {
            faults.add(Fault::bad("smtp.host", &self.host, "is empty"));
        }
        if !self.from.contains('@') {
            faults.add(Fault::bad("smtp.from", &self.from, "is not an e-mail address"));
        }
        password("smtp", &mut self.password, self.password_env.as_deref(), env, faults);
        if self.username.is_some() && self.password.is_none() && self.password_env.is_none() {
            faults.add(Fault::missing("smtp.password_env", "smtp.username is set and there is no password for it"));
        }
    }
}

/// Takes a password from the environment variable that is named for it.
pub(super) fn password(
    section: &str,
    password: &mut Option<Secret>,
    variable: Option<&str>,
    env: &Environment,
    faults: &mut Faults,
) {
    let Some(variable) = variable else { return };
    let key = format!("{section}.password_env");
    if password.is_some() {
        faults.add(Fault::bad(&key, variable, format!("stands beside {section}.password; keep one of them")));
        return;
    }
    *password = env.secret(&key, variable, faults);
}
