//! Whether the database takes writes, the room on its disk, and how much is open in it.

use async_trait::async_trait;
use kybern_core::error::Result as PortResult;
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::{DiskSpace, OldestWork, OpenWork, ProbeStore};
use kybern_core::time::Timestamp;
use nix::sys::statvfs::statvfs;

use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::store::SqlStore;
use crate::{jobs, tasks};

statements! {
    WRITE = shared "probe_write";
    LITTLE_MEMORY = postgres "probe_memory";
    FILL = postgres "probe_fill";
    OPEN = shared "open_work";
    OLDEST = shared "oldest_work";
}

#[async_trait]
impl<D: 'static> ProbeStore for SqlStore<D> {
    async fn probe(&self, at: Timestamp) -> PortResult<()> {
        let written =
            self.write_all(at, |tx, at| Box::pin(async move { tx.execute(&WRITE, args![*at]).await.map(|_| ()) }));
        written.await?;
        if self.place().is_none() {
            self.read_all((), |tx, ()| Box::pin(fill(tx))).await?;
        }
        Ok(())
    }

    async fn open_work(&self) -> PortResult<OpenWork> {
        Ok(self.read_all((), |tx, ()| Box::pin(open(tx))).await?)
    }

    async fn oldest_work(&self, now: Timestamp) -> PortResult<OldestWork> {
        Ok(self.read_all(now, |tx, now| Box::pin(oldest(tx, *now))).await?)
    }

    async fn room(&self) -> Option<DiskSpace> {
        let folder = self.place()?;
        // A disk behind a network may take its time.
        let looked = tokio::task::spawn_blocking(move || {
            let found = statvfs(&folder).ok()?;
            let size = found.fragment_size();
            Some(DiskSpace { free: found.blocks_available() * size, total: found.blocks() * size })
        });
        looked.await.ok().flatten()
    }
}

/// Whether the server still finds room on its disk, which only it can see. The one row above always fits where it was,
/// so a megabyte goes into a temporary file, which is gone with the statement.
async fn fill(tx: &mut Tx) -> Result<()> {
    tx.fetch_optional(&LITTLE_MEMORY, args![]).await?;
    tx.fetch_optional(&FILL, args![]).await?;
    Ok(())
}

async fn open(tx: &mut Tx) -> Result<OpenWork> {
    let mut open = OpenWork::default();
    for mut row in tx.fetch_all(&OPEN, args![]).await? {
        let of = row.text()?;
        if of == "message" {
            open.messages.push((row.named(OutboxStatus::parse)?, row.i64()?));
            continue;
        }
        let (kind, count) = (row.text()?, row.i64()?);
        match of.as_str() {
            "approval" => open.approvals = count,
            "job" => open.jobs.push((kind, count)),
            _dead => open.dead_jobs.push((kind, count)),
        }
    }
    Ok(open)
}

async fn oldest(tx: &mut Tx, now: Timestamp) -> Result<OldestWork> {
    let (task, job) = (tasks::longest_due(tx, now).await?, jobs::longest_due(tx, now).await?);
    let mut oldest = OldestWork { task, job, ..OldestWork::default() };
    for mut row in tx.fetch_all(&OLDEST, args![]).await? {
        let (of, since) = (row.text()?, row.opt_time()?);
        match of.as_str() {
            "approval" => oldest.approval = since,
            "delegation" => oldest.delegation = since,
            _message => oldest.message = since,
        }
    }
    Ok(oldest)
}
