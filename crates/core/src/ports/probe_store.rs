//! Whether the store takes writes, and for how long still.

use async_trait::async_trait;

use crate::error::Result;
use crate::time::Timestamp;

/// The room where the store keeps its files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Bytes that may still be written.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Looks at the store itself.
#[async_trait]
pub trait ProbeStore: Send + Sync {
    /// Writes something small, as every other write is written.
    ///
    /// # Errors
    /// Why the store takes no writes.
    async fn probe(&self, at: Timestamp) -> Result<()>;

    /// The room that is left; `None` when that is another machine's to know.
    async fn room(&self) -> Option<Room>;
}
