//! `[server]`: where the server listens and what one request may cost.

use std::net::SocketAddr;

use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// The HTTP edge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerOptions {
    /// Address and port that are listened on.
    pub(crate) listen: SocketAddr,
    /// The URL under which workflow engines and mail readers reach this server; made from `listen` when not stated.
    pub(crate) public_url: Option<String>,
    /// The largest body of a request, in bytes.
    pub(crate) max_body_bytes: u64,
    /// The largest message of the e-mail intake, in bytes.
    pub(crate) max_mail_bytes: u64,
    /// How long running steps may take to end at shutdown, in milliseconds.
    pub(crate) shutdown_grace_ms: Millis,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7171)),
            public_url: None,
            max_body_bytes: 10 * 1024 * 1024,
            max_mail_bytes: 25 * 1024 * 1024,
            shutdown_grace_ms: Millis(10_000),
        }
    }
}

impl ServerOptions {
    /// The URL by which a program on this machine reaches the server.
    pub(crate) fn local_url(&self) -> String {
        let mut address = self.listen;
        if address.ip().is_unspecified() {
            let loopback: std::net::IpAddr = match address.ip() {
                std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            address.set_ip(loopback);
        }
        format!("http://{address}")
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        if let Some(url) = &self.public_url
            && !(url.starts_with("http://") || url.starts_with("https://"))
        {
            faults.add(Fault::bad("server.public_url", url, "is not an http or https URL"));
        }
        for (key, bytes) in
            [("server.max_body_bytes", self.max_body_bytes), ("server.max_mail_bytes", self.max_mail_bytes)]
        {
            if !(1024..=1024 * 1024 * 1024).contains(&bytes) {
                faults.add(Fault::bad(key, &bytes, "is not between 1024 bytes and 1 GiB"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_all_interfaces_is_reached_over_loopback() {
        let at = |listen: &str| ServerOptions { listen: listen.parse().unwrap(), ..ServerOptions::default() };
        assert_eq!(at("0.0.0.0:80").local_url(), "http://127.0.0.1:80");
        assert_eq!(at("[::]:80").local_url(), "http://[::1]:80");
        assert_eq!(at("10.0.0.1:80").local_url(), "http://10.0.0.1:80");
    }
}
