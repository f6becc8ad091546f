//! The egress policy: closed to private addresses unless an address is opened by name.
//!
//! Pure: it judges addresses that somebody else resolved. The HTTP client resolves a name, asks about every address,
//! connects to one that passed, and asks again at each redirect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Headers that go along to another origin. Not only `Authorization` and `Cookie` are secret: keys travel in headers
/// of any name.
pub const TRAVELLING_HEADERS: &[&str] = crate::list!(
    "accept, accept-encoding, accept-language, cache-control, if-modified-since, if-none-match, range, traceparent, \
     tracestate, user-agent, x-request-id"
);

/// What may be connected to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EgressPolicy {
    /// `host:port` pairs that are open although they are private.
    allow: Vec<(String, u16)>,
}

/// Why a connection was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EgressDenied {
    /// Only `http` and `https`.
    #[error("scheme {0:?} is not allowed, use http or https")]
    Scheme(String),
    /// A name and a password in a URL.
    #[error("credentials in a URL are not allowed, use a header")]
    Credentials,
    #[error("the URL names no host")]
    NoHost,
    /// The caller may reach some hosts only, and this is none of them.
    #[error("{0:?} is not among the hosts that this call may reach")]
    Host(String),
    /// The host is, or resolves to, an address that is closed.
    #[error(
        "{host}:{port} does not lead to a public address, an operator may open it with [egress] allow = [\"{host}:{port}\"]"
    )]
    Address {
        /// The host as written.
        host: String,
        port: u16,
        /// The address that was refused. For the log: in a message it would map the inner network.
        address: IpAddr,
    },
}

impl EgressPolicy {
    /// A policy that opens exactly these `host:port` pairs.
    ///
    /// # Errors
    /// A sentence about the first entry that is not `host:port`.
    pub fn new<S: AsRef<str>>(allow: &[S]) -> Result<Self, String> {
        let parse = |entry: &S| {
            let entry = entry.as_ref();
            let (host, port) = entry.rsplit_once(':').ok_or_else(|| format!("{entry:?} is not host:port"))?;
            let port = port.parse().map_err(|_| format!("{entry:?} has no port number after the colon"))?;
            Ok((host.trim_matches(['[', ']']).to_ascii_lowercase(), port))
        };
        Ok(Self { allow: allow.iter().map(parse).collect::<Result<_, String>>()? })
    }

    /// Whether `host:port` is opened by name, whatever it resolves to.
    #[must_use]
    pub fn is_opened(&self, host: &str, port: u16) -> bool {
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        self.allow.iter().any(|(name, number)| *name == host && *number == port)
    }

    /// Judges one resolved address of `host:port`.
    ///
    /// # Errors
    /// When the address is closed and the pair is not opened.
    pub fn judge(&self, host: &str, port: u16, address: IpAddr) -> Result<(), EgressDenied> {
        if self.is_opened(host, port) || is_public(address) {
            return Ok(());
        }
        Err(EgressDenied::Address { host: host.to_owned(), port, address })
    }
}

/// Whether an address is on the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4_is_public(v4),
        IpAddr::V6(v6) => v6_is_public(v6),
    }
}

/// Where Azure's hosts answer the machines that run on them: a public address that is not public there.
const AZURE_HOST: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// After the registry of special-purpose addresses that IANA keeps (RFC 6890).
fn v4_is_public(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let closed = v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_unspecified()
        || v4.is_broadcast()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
        // Relays of 6to4, which nobody runs any more.
        || (a == 192 && b == 88 && c == 99)
        || v4 == AZURE_HOST;
    !closed
}

fn v6_is_public(v6: Ipv6Addr) -> bool {
    let s = v6.segments();
    let [.., a, b, c, d] = v6.octets();
    let carried = Ipv4Addr::new(a, b, c, d);
    // What carries an IPv4 address inside leads there: judge that.
    match s {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x0064, 0xff9b, 0, 0, 0, 0, ..] => return v4_is_public(carried),
        [0x2002, ..] => {
            let [_, _, a, b, c, d, ..] = v6.octets();
            return v4_is_public(Ipv4Addr::new(a, b, c, d));
        }
        [_, _, _, _, 0 | 0x0200, 0x5efe, ..] if !v4_is_public(carried) => return false,
        _ => {}
    }
    // Only 2000::/3 is given out; in it are closed: protocols with addresses of their own (Teredo among them),
    // and documentation, twice.
    let is_given_out = (s[0] & 0xe000) == 0x2000;
    let closed = (s[0] == 0x2001 && (s[1] < 0x0200 || s[1] == 0x0db8)) || (s[0] == 0x3fff && s[1] < 0x1000);
    is_given_out && !closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_closed_in_every_spelling() {
        let closed = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "::ffff:127.0.0.1",
            "fe80::1",
            "fd00::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "255.255.255.255",
            "::ffff:10.0.0.1",
            "::8.8.8.8",
            "::ffff:0:8.8.8.8",
            "64:ff9b:1::8.8.8.8",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "4000::1",
            "100::1",
            "5f00::1",
            "2600::5efe:10.0.0.1",
            "2600::200:5efe:127.0.0.1",
            "168.63.129.16",
            "192.88.99.1",
        ];
        for address in closed {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        assert!(is_public("8.8.8.8".parse().unwrap()));
        for address in
            ["2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8", "2600::5efe:8.8.8.8"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_opened_pair_opens_nothing_else() {
        let policy = EgressPolicy::new(&["127.0.0.1:8080"]).unwrap();
        let local = "127.0.0.1".parse().unwrap();
        assert!(policy.judge("127.0.0.1", 8080, local).is_ok());
        assert!(policy.judge("127.0.0.1", 8081, local).is_err());
        assert!(policy.judge("localhost", 8080, local).is_err());
    }
}
