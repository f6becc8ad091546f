//! `[imap]`: a mailbox that is polled, each message of which becomes a task.

use kybern_adapters::mail::imap::ImapConfig;
use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::error::{Fault, Faults};
use super::secret::Secret;
use super::smtp::{TlsMode, connection_faults};

/// The mailbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImapOptions {
    /// The server's name or address.
    pub(crate) host: String,
    #[serde(default = "default_port")]
    pub(crate) port: u16,
    /// How the connection is protected.
    #[serde(default = "default_tls")]
    pub(crate) tls: TlsMode,
    /// The account.
    pub(crate) username: String,
    /// The account's password. Better in an environment variable, see `password_env`.
    pub(crate) password: Option<Secret>,
    /// The environment variable that holds the password.
    pub(crate) password_env: Option<String>,
    /// The folder that is read.
    #[serde(default = "default_folder")]
    pub(crate) folder: String,
    /// How often it is looked at, in milliseconds.
    #[serde(default = "default_poll")]
    pub(crate) poll_ms: Millis,
    /// The tenant that gets mail which names no intake address.
    #[serde(default = "default_tenant")]
    pub(crate) tenant: String,
}

const fn default_port() -> u16 {
    993
}

const fn default_tls() -> TlsMode {
    TlsMode::Tls
}

fn default_folder() -> String {
    "INBOX".to_owned()
}

const fn default_poll() -> Millis {
    Millis(30_000)
}

fn default_tenant() -> String {
    "default".to_owned()
}

impl ImapOptions {
    /// How the mailbox is read.
    pub(crate) fn connection(&self, max_message_bytes: u64) -> ImapConfig {
        ImapConfig {
            host: self.host.clone(),
            port: self.port,
            tls: self.tls.of_connection(),
            username: self.username.clone(),
            password: self.password.as_ref().map(|secret| secret.expose().to_owned()).unwrap_or_default(),
            folder: self.folder.clone(),
            poll_ms: self.poll_ms,
            max_message_bytes,
            ca_file: None,
        }
    }

    pub(super) fn check(&mut self, env: &Environment, faults: &mut Faults) {
        for (key, value) in [
            ("imap.host", &self.host),
            ("imap.username", &self.username),
            ("imap.folder", &self.folder),
            ("imap.tenant", &self.tenant),
        ] {
            if value.trim().is_empty() {
                faults.add(Fault::bad(key, value, "is empty"));
            }
        }
        if !(1000..=86_400_000).contains(&self.poll_ms.0) {
            faults.add(Fault::bad("imap.poll_ms", &self.poll_ms.0, "is not between one second and one day"));
        }
        env.secret_beside("imap.password", &mut self.password, self.password_env.as_deref(), faults);
        if self.password.is_none() && self.password_env.is_none() {
            faults.add(Fault::missing("imap.password_env", "there is no password for the mailbox"));
        }
        connection_faults("imap", &self.connection(0).faults(), faults);
    }
}
