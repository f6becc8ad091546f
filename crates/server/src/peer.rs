//! Who is at the other end: the address of a connection, or the one that a trusted proxy says it speaks for.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::http::HeaderMap;
use ipnet::IpNet;

/// The header in which proxies say whom they speak for; each adds the address it was asked by at the end.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address at the other end of a request's connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Proxies whose word counts, by their networks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl Default for TrustedProxies {
    /// This machine.
    fn default() -> Self {
        let loopback =
            [IpNet::new_assert([127, 0, 0, 0].into(), 8), IpNet::new_assert(Ipv6Addr::LOCALHOST.into(), 128)];
        Self(Arc::new(loopback))
    }
}

impl TrustedProxies {
    /// Reads addresses (`192.0.2.7`) and networks (`10.0.0.0/8`).
    ///
    /// # Errors
    /// The first that is neither.
    pub fn new(networks: &[String]) -> Result<Self, String> {
        let read = |text: &String| {
            let network = text.trim().parse::<IpNet>().or_else(|_| text.trim().parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| text.clone())
        };
        networks.iter().map(read).collect::<Result<Vec<_>, _>>().map(|networks| Self(networks.into()))
    }

    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Who asks: the peer itself or, when that is a trusted proxy, the last address that no trusted proxy wrote about
    /// itself. What stands before it anybody could have written.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let values = headers.get_all(FORWARDED_FOR).into_iter().collect::<Vec<_>>();
        let named = values.iter().rev().filter_map(|value| value.to_str().ok()).flat_map(|value| value.rsplit(','));
        for name in named {
            if !self.trusts(client) {
                break;
            }
            match address(name.trim()) {
                Some(address) => client = address,
                None => break,
            }
        }
        client
    }
}

/// An address, perhaps with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').split(']').next().unwrap_or_default();
    let address = bare.parse().ok().or_else(|| text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// What counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that its owner cannot choose freely.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Network(IpAddr);

impl Network {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn client(peer: &str, forwarded: &[&'static str]) -> String {
        let proxies = TrustedProxies::new(&["10.0.0.0/8".to_owned(), "2001:db8::1".to_owned()]).unwrap();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(client("192.0.2.1", &["198.51.100.1"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.1:1234"]), "198.51.100.1");
        assert_eq!(client("2001:db8::1", &["[2001:db8::9]:443"]), "2001:db8::9");
    }

    #[test]
    fn what_a_client_writes_itself_does_not_count() {
        assert_eq!(client("10.0.0.1", &["203.0.113.5, 198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.5", "198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.5, unknown"]), "10.0.0.1");
    }

    #[test]
    fn what_is_no_network_is_named() {
        assert_eq!(TrustedProxies::new(&["10.0.0.0/33".to_owned()]).unwrap_err(), "10.0.0.0/33");
        assert!(TrustedProxies::default().trusts("127.0.0.9".parse().unwrap()));
        assert!(TrustedProxies::default().trusts("::1".parse().unwrap()));
        assert!(!TrustedProxies::default().trusts("10.0.0.1".parse().unwrap()));
    }
}
