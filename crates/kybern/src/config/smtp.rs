//! `[smtp]`: by which server mail leaves the house. Without it notices stay in the outbox.

use kybern_adapters::mail::smtp::SmtpConfig;
use kybern_adapters::mail::tls::{MailConfigError, MailTls};
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
    #[serde(default = "default_port")]
    pub(crate) port: u16,
    /// How the connection is protected.
    #[serde(default = "default_tls")]
    pub(crate) tls: TlsMode,
    /// The account, where it asks for one.
    pub(crate) username: Option<String>,
    /// The account's password. Better in an environment variable, see `password_env`.
    pub(crate) password: Option<Secret>,
    /// The environment variable that holds the password.
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

impl TlsMode {
    /// The same for a connection.
    pub(super) const fn of_connection(self) -> MailTls {
        match self {
            Self::None => MailTls::None,
            Self::Starttls => MailTls::Starttls,
            Self::Tls => MailTls::Tls,
        }
    }
}

impl SmtpOptions {
    /// How mail is sent.
    pub(crate) fn connection(&self) -> SmtpConfig {
        SmtpConfig {
            host: self.host.clone(),
            port: self.port,
            tls: self.tls.of_connection(),
            username: self.username.clone(),
            password: self.password.as_ref().map(|secret| secret.expose().to_owned()),
            from: self.from.clone(),
            ca_file: None,
        }
    }

    pub(super) fn check(&mut self, env: &Environment, faults: &mut Faults) {
        if self.host.trim().is_empty() {
            faults.add(Fault::bad("smtp.host", &self.host, "is empty"));
        }
        env.secret_beside("smtp.password", &mut self.password, self.password_env.as_deref(), faults);
        if self.username.is_some() && self.password.is_none() && self.password_env.is_none() {
            faults.add(Fault::missing("smtp.password_env", "smtp.username is set and there is no password for it"));
        }
        if self.username.is_none() && self.password.is_some() {
            faults.add(Fault::missing("smtp.username", "there is a password, and no name to log in with"));
        }
        connection_faults("smtp", &self.connection().faults(), faults);
    }
}

/// The faults of a connection that settings do not show one by one.
pub(super) fn connection_faults(section: &str, found: &[MailConfigError], faults: &mut Faults) {
    for fault in found {
        match fault {
            MailConfigError::ClearPassword { host } => {
                let problem = format!("would send the password to {host} unencrypted");
                let remedy = "write \"tls\" or \"starttls\"; \"none\" is for a server on this machine".to_owned();
                faults.add(Fault { remedy, ..Fault::bad(&format!("{section}.tls"), "none", problem) });
            }
            MailConfigError::From { from } => faults.add(Fault::bad("smtp.from", from, "is not an e-mail address")),
            MailConfigError::Host { host } if host.trim().is_empty() => {}
            MailConfigError::Host { host } => {
                faults.add(Fault::bad(&format!("{section}.host"), host, "is no name of a server"));
            }
            // Which half is missing is told by its own key.
            MailConfigError::HalfLogin | MailConfigError::Roots(_) | MailConfigError::Tls(_) => {}
        }
    }
}
