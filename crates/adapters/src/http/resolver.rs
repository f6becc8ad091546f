//! Names to addresses, judged where the connection is made.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::policy::EgressPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Turns a name into addresses.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// Every address of `host`.
    ///
    /// # Errors
    /// When the name cannot be resolved.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Every address of a name is closed. It travels through the HTTP library's error and is found again in its chain.
#[derive(Debug, thiserror::Error)]
#[error("it does not lead to a public address")]
pub(super) struct ClosedAddress {
    /// The first of them.
    pub(super) address: IpAddr,
}

/// A name has no addresses, or nobody knows. It travels like [`ClosedAddress`].
#[derive(Debug, thiserror::Error)]
#[error("the name cannot be resolved")]
pub(super) struct UnresolvedName(#[source] io::Error);

/// What the HTTP library asks when it makes a connection.
pub(super) struct Resolver {
    lookup: Arc<dyn Lookup>,
    judged: bool,
}

impl Resolver {
    /// Hands on every address, or, when `judged`, those that are open to everybody. Hosts that the policy opens by
    /// name never come here judged: the resolver is not told the port.
    pub(super) fn new(lookup: Arc<dyn Lookup>, judged: bool) -> Self {
        Self { lookup, judged }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, judged) = (Arc::clone(&self.lookup), self.judged);
        Box::pin(async move {
            let found = lookup.lookup(name.as_str()).await.map_err(UnresolvedName)?;
            let addresses = if judged { keep_open(name.as_str(), found)? } else { found };
            // Port 0 stands for the port of the URL.
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// The addresses that are open to everybody; an error when there are some, and none of them is.
pub(super) fn keep_open(host: &str, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, ClosedAddress> {
    let nothing_opened = EgressPolicy::default();
    let is_open = |address: &IpAddr| nothing_opened.judge(host, 0, *address).is_ok();
    let (open, closed): (Vec<_>, Vec<_>) = found.into_iter().partition(is_open);
    match closed.first() {
        Some(&address) if open.is_empty() => Err(ClosedAddress { address }),
        _ => Ok(open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_open_addresses_are_handed_on() {
        let public: IpAddr = "8.8.8.8".parse().unwrap();
        let private: IpAddr = "10.0.0.1".parse().unwrap();
        assert_eq!(keep_open("a.test", vec![private, public]).unwrap(), [public]);
        assert_eq!(keep_open("a.test", vec![private]).unwrap_err().address, private);
        assert_eq!(keep_open("a.test", vec![]).unwrap(), [] as [IpAddr; 0]);
    }
}
