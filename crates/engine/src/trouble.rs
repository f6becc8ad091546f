//! What a part of this process fails at right now, for whoever asks how it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use kybern_core::error::Error;
use kybern_core::time::Timestamp;

/// A part that may fail for a while.
#[derive(Default)]
pub(crate) struct Trouble {
    // Looked at after each success, which is often.
    is_there: AtomicBool,
    told: Mutex<Option<(Timestamp, String)>>,
}

impl Trouble {
    /// It has failed; the first failure says since when.
    pub(crate) fn begin(&self, error: &Error, now: Timestamp) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let since = told.as_ref().map_or(now, |(since, _)| *since);
        *told = Some((since, error.to_string()));
        self.is_there.store(true, Ordering::Release);
    }

    /// It has succeeded.
    pub(crate) fn end(&self) {
        if self.is_there.load(Ordering::Acquire) {
            self.is_there.store(false, Ordering::Release);
            *self.told.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// Since when it fails, and at what last.
    pub(crate) fn told(&self) -> Option<(Timestamp, String)> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::error::ErrorCode;

    use super::*;

    #[test]
    fn a_trouble_says_since_when_and_what_last_until_it_is_over() {
        let (trouble, error) = (Trouble::default(), |text: &str| Error::new(ErrorCode::Unavailable, text));
        trouble.end();
        assert_eq!(trouble.told(), None);
        trouble.begin(&error("one"), Timestamp::from_millis(1));
        trouble.begin(&error("two"), Timestamp::from_millis(2));
        assert_eq!(trouble.told(), Some((Timestamp::from_millis(1), "two".to_owned())));
        trouble.end();
        assert_eq!(trouble.told(), None);
    }
}
