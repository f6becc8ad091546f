//! Whether the store takes writes.

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::ports::{ProbeStore, Room};
use kybern_core::time::Timestamp;

use super::MemStore;

#[async_trait]
impl ProbeStore for MemStore {
    async fn probe(&self, _at: Timestamp) -> Result<()> {
        self.run("probe", |_state| Ok(())).await
    }

    async fn room(&self) -> Option<Room> {
        None
    }
}
