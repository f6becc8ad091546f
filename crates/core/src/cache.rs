//! Caches that are bounded in bytes, and among tenants.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, of which those that nobody has asked for lately go first. It holds two generations: what is asked for
/// moves to the younger one, and when that is full the older one is dropped. So it is never empty after it was full, and
/// one tenant's flood does not drop what another one uses meanwhile.
#[derive(Debug)]
pub struct ByteCache<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_bytes: usize,
    /// Bytes of one generation.
    most: usize,
}

impl<K: Eq + Hash, V: Clone> ByteCache<K, V> {
    /// An empty cache that keeps at most that many bytes, by what its user says of each value.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_bytes: 0, most: bytes / 2 }
    }

    /// The value of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = self.old.remove_entry(key)?;
        self.keep(key, value.clone(), bytes);
        Some(value)
    }

    /// Keeps a value of about that many bytes. One that is larger than half of the cache is not kept.
    pub fn keep(&mut self, key: K, value: V, bytes: usize) {
        if bytes > self.most {
            return;
        }
        if self.young_bytes + bytes > self.most {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        if let Some((_, before)) = self.young.insert(key, (value, bytes)) {
            self.young_bytes -= before;
        }
    }

    /// How many bytes it keeps.
    pub fn bytes(&self) -> usize {
        self.young.values().chain(self.old.values()).map(|(_, bytes)| bytes).sum()
    }
}

/// Values of several owners. Each keeps at most its share, and what one keeps never displaces what another does, as
/// long as all of them together have room; then whoever has asked for nothing the longest loses all of theirs.
#[derive(Debug)]
pub struct SharedCache<O, K, V> {
    of: HashMap<O, (ByteCache<K, V>, u64)>,
    share: usize,
    most: usize,
    /// How often somebody has asked: the newest tells who asked last.
    asked: u64,
}

impl<O: Copy + Eq + Hash, K: Eq + Hash, V: Clone> SharedCache<O, K, V> {
    /// An empty cache that keeps at most `most` bytes, and `share` of one owner.
    #[must_use]
    pub fn new(share: usize, most: usize) -> Self {
        Self { of: HashMap::new(), share, most, asked: 0 }
    }

    /// The value of an owner's key.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, owner: O, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.asked += 1;
        let (own, asked) = self.of.get_mut(&owner)?;
        *asked = self.asked;
        own.get(key)
    }

    /// Keeps a value of about that many bytes for its owner. One that is larger than half of a share is not kept.
    pub fn keep(&mut self, owner: O, key: K, value: V, bytes: usize) {
        self.asked += 1;
        let (own, asked) = self.of.entry(owner).or_insert_with(|| (ByteCache::new(self.share), 0));
        *asked = self.asked;
        own.keep(key, value, bytes);
        while self.bytes() > self.most {
            let others = self.of.iter().filter(|(other, _)| **other != owner);
            let Some(oldest) = others.min_by_key(|(_, (_, asked))| *asked).map(|(other, _)| *other) else { break };
            self.of.remove(&oldest);
        }
    }

    /// How many bytes it keeps.
    pub fn bytes(&self) -> usize {
        self.of.values().map(|(own, _)| own.bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_no_more_than_its_bytes_and_keeps_what_is_asked_for() {
        let mut cache = ByteCache::new(1_000);
        cache.keep(0, 7, 10);
        for n in 1..500 {
            cache.keep(n, n, 1 + n % 90);
            assert_eq!(cache.get(&0), Some(7), "{n}");
            assert!(cache.bytes() <= 1_000, "{n}: {}", cache.bytes());
            assert_eq!(cache.young_bytes, cache.young.values().map(|(_, bytes)| bytes).sum::<usize>());
        }
        assert_eq!((cache.get(&1), cache.get(&499)), (None, Some(499)));
        cache.keep(600, 1, 501);
        assert_eq!((cache.get(&600), cache.get(&0)), (None, Some(7)), "what is too large displaces nothing");
        cache.keep(0, 8, 20);
        assert_eq!(cache.get(&0), Some(8));
    }

    #[test]
    fn an_owner_that_floods_displaces_nobody_elses() {
        let mut cache = SharedCache::new(100, 1_000);
        cache.keep("calm", 0, 7, 40);
        for n in 0..500 {
            cache.keep("flood", n, n, 30);
        }
        assert_eq!((cache.get("calm", &0), cache.get("flood", &499)), (Some(7), Some(499)));
        assert_eq!(cache.get("flood", &0), None);
        assert_eq!(cache.get("third", &0), None);
        assert!(cache.bytes() <= 140);
    }

    #[test]
    fn owners_that_ask_for_nothing_make_room() {
        let mut cache = SharedCache::new(100, 200);
        for owner in 0..50 {
            cache.keep(owner, 0, owner, 40);
            assert_eq!(cache.get(0, &0), Some(0), "{owner}");
            assert!(cache.bytes() <= 200);
        }
        assert_eq!((cache.get(1, &0), cache.get(49, &0)), (None, Some(49)));
    }
}
