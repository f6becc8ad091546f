//! How connections to mail servers are protected, and when they need not be.

use std::net::IpAddr;
use std::path::Path;

use rustls::pki_types::{CertificateDer, ServerName};
use serde::Deserialize;

use crate::http::tls::{self, TlsError};

/// How a connection to a mail server is protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// Not at all.
    None,
    /// In the clear first, then encrypted or not used.
    Starttls,
    /// From the first byte.
    Tls,
}

/// Why the settings for a mail server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MailConfigError {
    /// A name without a password, or the other way round.
    #[error("username and password go together, set both or neither")]
    HalfLogin,
    /// A password would be sent unencrypted.
    #[error("the password for {host} would cross the network unencrypted, set tls = \"starttls\" or \"tls\"")]
    ClearPassword {
        /// The server.
        host: String,
    },
    /// The sender's address.
    #[error("{from:?} is no sender, expected local@domain or Name <local@domain>")]
    From {
        /// What was given.
        from: String,
    },
    /// The server's name.
    #[error("{host:?} is no name of a server")]
    Host {
        /// What was given.
        host: String,
    },
    /// The file of certificates.
    #[error(transparent)]
    Roots(#[from] TlsError),
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// Whether a host is this machine, so that nothing crosses a network.
pub(super) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.trim_matches(['[', ']']).parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// A server's name as its certificate has it.
pub(super) fn server_name(host: &str) -> Result<ServerName<'static>, MailConfigError> {
    let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
    name.map_err(|_| MailConfigError::Host { host: host.to_owned() })
}

/// The certificates of a private authority, when one is named.
pub(super) fn extra_roots(file: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    file.map_or_else(|| Ok(Vec::new()), tls::read_roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example.com", "10.0.0.1", "mail", "0.0.0.0", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
