//! How many connections are open, in all and by address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::peer::{Network, TrustedProxies};

/// Places for connections.
#[derive(Clone)]
pub(super) struct Places(Arc<PlacesInner>);

struct PlacesInner {
    most: usize,
    most_by_address: usize,
    proxies: TrustedProxies,
    taken: Mutex<TakenPlaces>,
}

#[derive(Default)]
struct TakenPlaces {
    all: usize,
    by_address: HashMap<Network, usize>,
}

/// Why a connection gets no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoPlace {
    /// Everybody together has taken all of them.
    InAll,
    /// That address has taken all that one may have.
    ByAddress,
}

/// A place, given back when it is dropped.
pub(super) struct ConnectionPlace {
    places: Places,
    network: Option<Network>,
}

impl Places {
    pub(super) fn new(most: usize, most_by_address: usize, proxies: TrustedProxies) -> Self {
        Self(Arc::new(PlacesInner { most, most_by_address, proxies, taken: Mutex::default() }))
    }

    /// Takes a place. A trusted proxy speaks for many, so its connections count in all only.
    pub(super) fn take(&self, address: IpAddr) -> Result<ConnectionPlace, NoPlace> {
        let network = (!self.0.proxies.trusts(address)).then(|| Network::of(address));
        let mut taken = self.taken();
        if taken.all >= self.0.most {
            return Err(NoPlace::InAll);
        }
        if let Some(network) = network {
            let of_address = taken.by_address.entry(network).or_default();
            if *of_address >= self.0.most_by_address {
                return Err(NoPlace::ByAddress);
            }
            *of_address += 1;
        }
        taken.all += 1;
        Ok(ConnectionPlace { places: self.clone(), network })
    }

    fn taken(&self) -> MutexGuard<'_, TakenPlaces> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all = taken.all.saturating_sub(1);
        if let Some(network) = self.network
            && let Some(of_address) = taken.by_address.get_mut(&network)
        {
            *of_address -= 1;
            if *of_address == 0 {
                taken.by_address.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places::new(5, 2, TrustedProxies::new(&["10.0.0.0/8".to_owned()]).unwrap())
    }

    #[test]
    fn an_address_gets_its_share_and_no_more_until_it_gives_one_back() {
        let (places, address) = (places(), "192.0.2.1".parse().unwrap());
        let first = places.take(address).ok().unwrap();
        let _second = places.take(address).ok().unwrap();
        assert_eq!(places.take(address).err(), Some(NoPlace::ByAddress));
        assert!(places.take("192.0.2.2".parse().unwrap()).is_ok());
        drop(first);
        assert!(places.take(address).is_ok());
    }

    #[test]
    fn addresses_of_one_ipv6_network_share() {
        let places = places();
        let _held = ["2001:db8::1", "2001:db8::2"].map(|address| places.take(address.parse().unwrap()).ok().unwrap());
        assert_eq!(places.take("2001:db8::ffff".parse().unwrap()).err(), Some(NoPlace::ByAddress));
        assert!(places.take("2001:db8:0:1::1".parse().unwrap()).is_ok());
    }

    #[test]
    fn a_trusted_proxy_may_take_all_and_nobody_more() {
        let places = places();
        let held: Vec<ConnectionPlace> =
            (0..5).map(|_| places.take("10.1.2.3".parse().unwrap()).ok().unwrap()).collect();
        assert_eq!(places.take("10.1.2.3".parse().unwrap()).err(), Some(NoPlace::InAll));
        assert_eq!(places.take("192.0.2.1".parse().unwrap()).err(), Some(NoPlace::InAll));
        drop(held);
        assert!(places.take("192.0.2.1".parse().unwrap()).is_ok());
        assert!(places.taken().by_address.is_empty(), "nothing is kept of who has left");
    }
}
