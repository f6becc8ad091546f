//! Time, ids and randomness are handed in, so that a test or a replay can hand in its own.

use uuid::Uuid;

use crate::time::Timestamp;

/// What time it is.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
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
