//! Whether the database takes writes, and the room on its disk.

use async_trait::async_trait;
use kybern_core::error::Result as PortResult;
use kybern_core::ports::{ProbeStore, Room};
use kybern_core::time::Timestamp;
use nix::sys::statvfs::statvfs;

use crate::db::{args, statements};
use crate::store::SqlStore;

statements! {
    WRITE = shared "probe_write";
}

#[async_trait]
impl<D: 'static> ProbeStore for SqlStore<D> {
    async fn probe(&self, at: Timestamp) -> PortResult<()> {
        let written =
            self.write_all(at, |tx, at| Box::pin(async move { tx.execute(&WRITE, args![*at]).await.map(|_| ()) }));
        Ok(written.await?)
    }

    async fn room(&self) -> Option<Room> {
        let folder = self.place()?;
        // A disk behind a network may take its time.
        let looked = tokio::task::spawn_blocking(move || {
            let found = statvfs(&folder).ok()?;
            let size = found.fragment_size();
            Some(Room { free: found.blocks_available() * size, total: found.blocks() * size })
        });
        looked.await.ok().flatten()
    }
}
