//! A brake on wrong keys, by the address that sends them.
//!
//! An address that has sent too many wrong keys within a minute gets 429 before its next key is looked up: guessing
//! costs the store nothing. Others may sit behind the same address: a right key that it sent since its first wrong one
//! is known here and passes, and now and then an unknown one is looked up after all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kybern_core::error::{Error, ErrorCode};
use kybern_core::time::{Millis, Timestamp};

use crate::peer::Network;

/// The time in which wrong keys are counted.
const WINDOW: Millis = Millis(60_000);
/// How often a braked address may have an unknown key looked up.
const TRICKLE: Millis = Millis(200);
/// Addresses that are remembered. Beyond it the one whose window is oldest is forgotten.
const MAX_ADDRESSES: usize = 4_096;
/// Right keys that are remembered of one address.
const MAX_KEYS: usize = 64;

/// The addresses that sent wrong keys within the last minute.
#[derive(Debug)]
pub(crate) struct Brake {
    most: u32,
    /// How many are remembered, so that nobody waits for the lock while nobody sends wrong keys.
    remembered: AtomicUsize,
    addresses: Mutex<HashMap<Network, Record>>,
}

#[derive(Debug)]
struct Record {
    since: Timestamp,
    wrong: u32,
    looked_up: Timestamp,
    right: Vec<blake3::Hash>,
}

impl Brake {
    /// A brake that grips after that many wrong keys in a minute; never when it is 0.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, remembered: AtomicUsize::new(0), addresses: Mutex::default() }
    }

    /// Whether any address has sent wrong keys.
    pub(crate) fn is_on(&self) -> bool {
        self.remembered.load(Ordering::Relaxed) > 0
    }

    /// Whether a key of that address may be looked up.
    ///
    /// # Errors
    /// `RATE_LIMITED` with the rest of the window.
    pub(crate) fn check(&self, address: IpAddr, key: &str, now: Timestamp) -> Result<(), Error> {
        let mut addresses = self.addresses();
        let Some(record) = addresses.get_mut(&Network::of(address)) else { return Ok(()) };
        let passed = now.since(record.since);
        if passed >= WINDOW || record.wrong < self.most || record.right.contains(&blake3::hash(key.as_bytes())) {
            return Ok(());
        }
        if now.since(record.looked_up) >= TRICKLE {
            record.looked_up = now;
            return Ok(());
        }
        let message = "too many wrong API keys came from this address; a valid key is let through after a few tries";
        Err(Error::new(ErrorCode::RateLimited, message).retry_after(Millis(WINDOW.0.saturating_sub(passed.0))))
    }

    /// Notes a wrong key.
    pub(crate) fn wrong(&self, address: IpAddr, now: Timestamp) {
        if self.most == 0 {
            return;
        }
        let mut addresses = self.addresses();
        if addresses.len() >= MAX_ADDRESSES && !addresses.contains_key(&Network::of(address)) {
            addresses.retain(|_, record| now.since(record.since) < WINDOW);
            let oldest = addresses.iter().min_by_key(|(_, record)| record.since).map(|(network, _)| *network);
            if let Some(oldest) = oldest.filter(|_| addresses.len() >= MAX_ADDRESSES) {
                addresses.remove(&oldest);
            }
        }
        let fresh = || Record { since: now, wrong: 0, looked_up: now, right: Vec::new() };
        let record = addresses.entry(Network::of(address)).or_insert_with(fresh);
        if now.since(record.since) >= WINDOW {
            *record = fresh();
        }
        record.wrong = record.wrong.saturating_add(1);
        if record.wrong == self.most {
            tracing::warn!(client.address = %address, wrong = record.wrong, "an address sends wrong API keys and is braked");
        }
        self.remembered.store(addresses.len(), Ordering::Relaxed);
    }

    /// Notes a right key of an address that has sent wrong ones.
    pub(crate) fn right(&self, address: IpAddr, key: &str, now: Timestamp) {
        let mut addresses = self.addresses();
        let network = Network::of(address);
        let Some(record) = addresses.get_mut(&network) else { return };
        if now.since(record.since) >= WINDOW {
            addresses.remove(&network);
            self.remembered.store(addresses.len(), Ordering::Relaxed);
            return;
        }
        let hash = blake3::hash(key.as_bytes());
        if record.right.len() < MAX_KEYS && !record.right.contains(&hash) {
            record.right.push(hash);
        }
    }

    fn addresses(&self) -> MutexGuard<'_, HashMap<Network, Record>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + ms)
    }

    fn address(n: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(0x0A00_0000 + n).into()
    }

    #[test]
    fn an_address_is_braked_until_its_minute_is_over_and_others_are_not() {
        let brake = Brake::new(3);
        (0..3).for_each(|_| brake.wrong(address(1), at(0)));
        let error = brake.check(address(1), "kyb_guess", at(100)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::RateLimited);
        assert_eq!(error.retry(), kybern_core::error::Retry::After(Millis(59_900)));
        assert!(brake.check(address(2), "kyb_guess", at(100)).is_ok());
        assert!(brake.check(address(1), "kyb_guess", at(60_000)).is_ok());
        brake.wrong(address(1), at(60_000));
        assert!(brake.check(address(1), "kyb_guess", at(60_001)).is_ok(), "it is counted anew");
    }

    #[test]
    fn who_shares_the_address_gets_through() {
        let brake = Brake::new(3);
        brake.wrong(address(1), at(0));
        brake.right(address(1), "kyb_colleague", at(10));
        (0..50).for_each(|_| brake.wrong(address(1), at(20)));
        assert!(brake.check(address(1), "kyb_colleague", at(30)).is_ok());
        assert!(brake.check(address(1), "kyb_newcomer", at(30)).is_err());
        // Unknown keys are looked up slowly, and a right one is known from then on.
        assert!(brake.check(address(1), "kyb_newcomer", at(250)).is_ok());
        assert!(brake.check(address(1), "kyb_guess", at(251)).is_err());
        brake.right(address(1), "kyb_newcomer", at(252));
        assert!(brake.check(address(1), "kyb_newcomer", at(253)).is_ok());
    }

    #[test]
    fn memory_is_bounded() {
        let brake = Brake::new(3);
        for n in 0..10_000 {
            brake.wrong(address(n), at(i64::from(n)));
            (0..100).for_each(|key| brake.right(address(n), &format!("kyb_{key}"), at(i64::from(n))));
        }
        let addresses = brake.addresses();
        assert_eq!(addresses.len(), MAX_ADDRESSES);
        assert!(addresses.values().all(|record| record.right.len() <= MAX_KEYS));
        assert!(addresses.contains_key(&Network::of(address(9_999))), "the newest are remembered");
    }

    #[test]
    fn a_brake_of_zero_never_grips() {
        let brake = Brake::new(0);
        (0..100).for_each(|_| brake.wrong(address(1), at(0)));
        assert!(brake.check(address(1), "kyb_guess", at(1)).is_ok());
    }
}
