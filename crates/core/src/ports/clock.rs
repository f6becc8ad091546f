//! Time, ids and randomness are handed in, so that a test or a replay can hand in its own.

use uuid::Uuid;

use crate::time::{Millis, Timestamp};

/// What time it is.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// How much time has passed since a moment that stays the same while the process runs. Unlike [`Clock::now`] it does
    /// not jump when somebody sets the machine's clock; a clock that nobody sets needs no other.
    fn elapsed(&self) -> Millis {
        self.now().since(Timestamp::from_millis(0))
    }
}

/// Where ids come from.
pub trait IdSource: Send + Sync {
    /// A fresh UUIDv7.
    fn next(&self) -> Uuid;
}

/// Randomness that need not be secret: jitter.
pub trait Random: Send + Sync {
    /// A number in 0..1.
    fn unit(&self) -> f64;
}
