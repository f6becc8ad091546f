//! Where a secret may be sent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Hosts of one secret.
pub const MAX_HOSTS: usize = 20;
/// Characters of a host (RFC 1035, 2.3.4).
const MAX_HOST: usize = 253;

/// Where a request goes, as its URL says: scheme, host and port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// `http` or `https`.
    pub scheme: String,
    /// The host in small letters; an IPv6 address in brackets.
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

/// Where a value may be sent: `api.example.com`, `*.example.com`, either with a port, and over TLS unless it begins
/// with `http://`.
///
/// | written | covers |
/// |---|---|
/// | `api.example.com` | `https` to that host, port 443 |
/// | `api.example.com:8443` | `https` to that port |
/// | `*.example.com` | `https` to every host below, not to `example.com` itself |
/// | `http://10.0.0.7:8080` | plain HTTP to that port |
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    written: String,
    plain: bool,
    below: bool,
    host: String,
    port: u16,
}

impl HostRule {
    /// How one is written, as a regular expression for schemas. It also fits a few that are refused, such as a port above
    /// 65,535.
    pub const PATTERN: &'static str = concat!(
        r"^([Hh][Tt][Tt][Pp][Ss]?://)?(\*\.)?(\[[0-9A-Fa-f:.]+\]|",
        r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*)",
        r"(:[1-9][0-9]{0,4})?$"
    );
    /// Characters of one: a scheme, a star, a host and a port.
    pub const MAX: usize = "https://*.".len() + MAX_HOST + ":65535".len();

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a value may be sent there.
    #[must_use]
    pub fn covers(&self, to: &Destination) -> bool {
        let scheme = if self.plain { "http" } else { "https" };
        let host = if self.below {
            to.host.strip_suffix(&self.host).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            to.host == self.host
        };
        to.scheme == scheme && to.port == self.port && host
    }
}

impl FromStr for HostRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown: String = text.chars().take(80).collect();
        let wrong = |why: &str| format!("{shown:?} {why}; write api.example.com, *.example.com or host:port");
        let lower = text.to_ascii_lowercase();
        let (plain, rest) = match lower.strip_prefix("http://") {
            Some(rest) => (true, rest),
            None => (false, lower.strip_prefix("https://").unwrap_or(&lower)),
        };
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (host, port) = split_port(rest);
        let port = match port {
            None if plain => 80,
            None => 443,
            Some(digits) => {
                let canonical = digits.parse::<u16>().ok().filter(|port| *port > 0 && port.to_string() == digits);
                canonical.ok_or_else(|| wrong("has a port that is none"))?
            }
        };
        if !is_host(host) {
            return Err(wrong("is no host"));
        }
        if below && (!host.contains('.') || is_address(host)) {
            return Err(wrong("would cover too much: two names at least follow the star"));
        }
        let default = if plain { 80 } else { 443 };
        let scheme = if plain { "http://" } else { "" };
        let star = if below { "*." } else { "" };
        let shown_port = if port == default { String::new() } else { format!(":{port}") };
        let written = format!("{scheme}{star}{host}{shown_port}");
        Ok(Self { written, plain, below, host: host.to_owned(), port })
    }
}

/// Host and port; the colons of an IPv6 address stand in brackets.
fn split_port(text: &str) -> (&str, Option<&str>) {
    let after_address = text.rfind(']').map_or(0, |at| at + 1);
    match text.get(after_address..).and_then(|rest| rest.rfind(':')) {
        Some(at) => (text.get(..after_address + at).unwrap_or(text), text.get(after_address + at + 1..)),
        None => (text, None),
    }
}

/// A name in the letters that DNS has, an IPv4 address, or an IPv6 address in brackets.
fn is_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<std::net::Ipv6Addr>().ok());
        // Only as URLs write it, or no request would ever match.
        return address.is_some_and(|address| format!("[{address}]") == host);
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= MAX_HOST && host.split('.').all(label)
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

impl TryFrom<String> for HostRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.written
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(scheme: &str, host: &str, port: u16) -> Destination {
        Destination { scheme: scheme.to_owned(), host: host.to_owned(), port }
    }

    fn rule(text: &str) -> HostRule {
        text.parse().unwrap()
    }

    #[test]
    fn a_host_covers_itself_over_tls() {
        let one = rule("API.example.com");
        assert_eq!(one.as_str(), "api.example.com");
        assert!(one.covers(&to("https", "api.example.com", 443)));
        for other in [
            to("http", "api.example.com", 80),
            to("https", "api.example.com", 8443),
            to("https", "example.com", 443),
            to("https", "api.example.com.", 443),
            to("https", "evil-api.example.com", 443),
            to("https", "api.example.com.evil.test", 443),
        ] {
            assert!(!one.covers(&other), "{other}");
        }
        assert!(rule("https://api.example.com:8443").covers(&to("https", "api.example.com", 8443)));
        assert!(rule("http://127.0.0.1:8080").covers(&to("http", "127.0.0.1", 8080)));
        assert!(!rule("http://127.0.0.1:8080").covers(&to("https", "127.0.0.1", 8080)));
        assert!(rule("http://[::1]:8080").covers(&to("http", "[::1]", 8080)));
    }

    #[test]
    fn a_star_covers_what_is_below_and_no_more() {
        let below = rule("*.example.com");
        for host in ["api.example.com", "a.b.example.com"] {
            assert!(below.covers(&to("https", host, 443)), "{host}");
        }
        for host in ["example.com", ".example.com", "notexample.com", "example.com.evil.test"] {
            assert!(!below.covers(&to("https", host, 443)), "{host}");
        }
    }

    #[test]
    fn the_pattern_lets_through_what_is_taken() {
        let pattern = regex::Regex::new(HostRule::PATTERN).unwrap();
        for good in [
            "API.example.com",
            "HTTPS://api.example.com:8443",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "*.example.com",
            "https://*.a-b.example_c.com:1",
            "localhost",
        ] {
            assert!(pattern.is_match(good) && good.parse::<HostRule>().is_ok(), "{good}");
        }
        for bad in
            ["", "*", "*.*.example.com", "a b", "a/b", "user@host", "host:", "host:0", "ftp://host", "-a.example"]
        {
            assert!(!pattern.is_match(bad) && bad.parse::<HostRule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused_with_the_remedy() {
        for bad in [
            "",
            "*",
            "*.com",
            "*.*.example.com",
            "api.*.com",
            "a b",
            "a/b",
            "user@host",
            "host:0",
            "host:99999",
            "host:",
            "host:08",
            "ftp://host",
            "*.127.0.0.1",
            "[::1",
            "[0:0::1]",
            "-a.example",
            "a..b",
            "müller.example",
            "a\n",
        ] {
            let error = bad.parse::<HostRule>().unwrap_err();
            assert!(error.contains("api.example.com"), "{bad:?}: {error}");
        }
    }
}
