//! What was made last of something, kept as long as it was made of the same: every message asks for some of it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shared value that equals only itself, however alike another is.
#[derive(Clone)]
pub(crate) struct ByIdentity<T>(pub(crate) Arc<T>);

impl<T> PartialEq for ByIdentity<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What was made last for each key, with what it was made of. It holds `MOST` keys, and is emptied when one more comes.
pub(crate) struct LastMade<K, S, V, const MOST: usize = 1_024>(Mutex<HashMap<K, (S, V)>>);

impl<K, S, V, const MOST: usize> Default for LastMade<K, S, V, MOST> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, S: PartialEq, V: Clone, const MOST: usize> LastMade<K, S, V, MOST> {
    /// What was made of exactly this.
    pub(crate) fn get(&self, key: &K, of: &S) -> Option<V> {
        self.lock().get(key).filter(|(was, _)| was == of).map(|(_, made)| made.clone())
    }

    /// Keeps what was made of this, in the place of what was made for the key before.
    pub(crate) fn keep(&self, key: K, of: S, made: V) -> V {
        let mut all = self.lock();
        // What is made again takes no other's place.
        if all.len() >= MOST && !all.contains_key(&key) {
            all.clear();
        }
        all.insert(key, (of, made.clone()));
        made
    }

    /// What was made of exactly this, made now if it must be.
    pub(crate) fn get_or_make(&self, key: K, of: S, make: impl FnOnce() -> V) -> V {
        self.get(&key, &of).unwrap_or_else(|| self.keep(key, of, make()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, (S, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_the_same_is_made_once() {
        let known = LastMade::<u32, ByIdentity<u32>, u32>::default();
        let (one, alike) = (Arc::new(1), Arc::new(1));
        assert_eq!(known.get_or_make(7, ByIdentity(one.clone()), || 10), 10);
        assert_eq!(known.get_or_make(7, ByIdentity(one), || 20), 10);
        assert_eq!(known.get_or_make(7, ByIdentity(alike), || 30), 30);
    }

    #[test]
    fn what_is_made_again_takes_no_others_place() {
        let known = LastMade::<u32, u32, u32, 2>::default();
        for (key, of) in [(1, 0), (2, 0), (1, 1)] {
            known.keep(key, of, of);
        }
        assert_eq!((known.get(&1, &1), known.get(&2, &0)), (Some(1), Some(0)));
        known.keep(3, 0, 0);
        assert_eq!((known.get(&1, &1), known.get(&3, &0)), (None, Some(0)));
    }
}
