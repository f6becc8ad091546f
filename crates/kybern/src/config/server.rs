//! `[server]`: where the server listens and what one request may cost.

use std::net::SocketAddr;

use kybern_core::time::Millis;
use kybern_server::TrustedProxies;
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// The HTTP edge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerOptions {
    /// Address and port that are listened on.
    pub(crate) listen: SocketAddr,
    /// The URL under which workflow engines and the SMS gateway reach this server; made from `listen` when not stated.
    pub(crate) public_url: Option<String>,
    /// The largest body of a request, in bytes.
    pub(crate) max_body_bytes: u64,
    /// The largest message of the e-mail intake, in bytes.
    pub(crate) max_mail_bytes: u64,
    /// The largest body that is read before its sender has proven anything, in bytes.
    pub(crate) max_unproven_body_bytes: u64,
    /// The most bytes of bodies that are read or worked on at the same time.
    pub(crate) max_bodies_bytes: u64,
    /// The most bytes of answers that wait to be taken at the same time.
    pub(crate) max_answers_bytes: u64,
    /// How long the head of a request may take, in milliseconds.
    pub(crate) header_timeout_ms: Millis,
    /// How long a connection is kept between two requests, in milliseconds.
    pub(crate) idle_timeout_ms: Millis,
    /// The most connections; one more is answered with 503.
    pub(crate) max_connections: usize,
    /// The most connections of one address that is no trusted proxy.
    pub(crate) max_connections_per_address: usize,
    /// Addresses and networks of reverse proxies, whose `X-Forwarded-For` counts.
    pub(crate) trusted_proxies: Vec<String>,
    /// Wrong API keys of one address in a minute, after which it gets 429; 0 for no brake.
    pub(crate) wrong_keys_per_minute: u32,
    /// Whether `/metrics` is shown without a key.
    pub(crate) public_metrics: bool,
    /// How long running steps and open requests may take to end at shutdown, in milliseconds.
    pub(crate) shutdown_grace_ms: Millis,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7171)),
            public_url: None,
            max_body_bytes: 10 * 1024 * 1024,
            max_mail_bytes: 25 * 1024 * 1024,
            max_unproven_body_bytes: 1024 * 1024,
            max_bodies_bytes: 256 * 1024 * 1024,
            max_answers_bytes: 512 * 1024 * 1024,
            header_timeout_ms: Millis(15_000),
            idle_timeout_ms: Millis(75_000),
            max_connections: 10_000,
            max_connections_per_address: 1_000,
            trusted_proxies: vec!["127.0.0.0/8".to_owned(), "::1".to_owned()],
            wrong_keys_per_minute: 60,
            public_metrics: false,
            shutdown_grace_ms: Millis(10_000),
        }
    }
}

/// The URL by which a program on this machine reaches a server that listens there.
pub(crate) fn reachable(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{address}")
}

impl ServerOptions {
    /// The URL by which a program on this machine reaches the server.
    pub(crate) fn local_url(&self) -> String {
        reachable(self.listen)
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        faults.web("server.public_url", self.public_url.as_ref());
        for (key, bytes) in [
            ("server.max_body_bytes", self.max_body_bytes),
            ("server.max_mail_bytes", self.max_mail_bytes),
            ("server.max_unproven_body_bytes", self.max_unproven_body_bytes),
        ] {
            if !(1024..=1024 * 1024 * 1024).contains(&bytes) {
                faults.add(Fault::bad(key, &bytes, "is not between 1024 bytes and 1 GiB"));
            }
        }
        // One caller gets half of its pool, and the pools are three quarters and one quarter.
        let largest = self.max_body_bytes.max(self.max_mail_bytes);
        let least = largest.saturating_mul(3).max(self.max_unproven_body_bytes.saturating_mul(8));
        if self.max_bodies_bytes < least {
            let why = "is less than three times the largest body or mail, or eight times max_unproven_body_bytes, so that \
                       none would fit";
            faults.add(Fault::bad("server.max_bodies_bytes", &self.max_bodies_bytes, why));
        }
        if self.max_answers_bytes < largest.saturating_mul(2) {
            let why = "is less than twice the largest body or mail, so that it could not be downloaded again";
            faults.add(Fault::bad("server.max_answers_bytes", &self.max_answers_bytes, why));
        }
        for (key, span) in
            [("server.header_timeout_ms", self.header_timeout_ms), ("server.idle_timeout_ms", self.idle_timeout_ms)]
        {
            if !(1_000..=3_600_000).contains(&span.0) {
                faults.add(Fault::bad(key, &span.0, "is not between 1000 ms and one hour"));
            }
        }
        faults.between("server.max_connections", self.max_connections, 1..=1_000_000);
        faults.between("server.max_connections_per_address", self.max_connections_per_address, 1..=1_000_000);
        if let Err(wrong) = TrustedProxies::new(&self.trusted_proxies) {
            faults.add(Fault::bad("server.trusted_proxies", &wrong, "is no address and no network such as 10.0.0.0/8"));
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
