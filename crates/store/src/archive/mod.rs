//! Archives: a whole store in one file, restorable into an empty store of either database.
//!
//! A zip without compression: `tables/NAME.jsonl` with one JSON array a row, `files/TENANT/HASH` with original bytes,
//! and `manifest.json` with the schema version and the checksum of each. Secrets are not in it, only the master
//! key's fingerprint, so that a restore under another key is noticed.

mod dump;
mod load;
mod tables;
pub(crate) mod unreadable;

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::ports::{Clock, Keys};
use kybern_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::db::{Conn, StoreShared, Tx, sqlite};
use crate::error::{Result, StoreError};
use crate::store::{SqlStore, Sqlite};

/// The version of the archive's own form.
const FORMAT: u32 = 1;
/// The entry that lists all others.
const MANIFEST: &str = "manifest.json";
/// Bytes of what is told about a damaged archive.
const MAX_TOLD: usize = 1_000;

/// What an archive holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the archive's own form.
    pub format: u32,
    /// The schema version of the store.
    pub schema: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// What tells the master key from another; sealed values and audit chains need the same one.
    pub key_fingerprint: Option<String>,
    pub entries: Vec<ArchiveEntry>,
    /// Originals that the tables name and that were gone or damaged, as `files/TENANT/HASH`: nobody can read them any
    /// more, in the store either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// One entry of an archive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveEntry {
    /// Its name in the archive.
    pub name: String,
    /// BLAKE3 of its bytes.
    pub checksum: String,
    /// Rows of a table; 1 for a file.
    pub rows: u64,
    /// The columns of a table, in order; empty for a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

/// Looks whether an archive is whole, without restoring it.
///
/// # Errors
/// When it cannot be read, is newer than this program, or something in it is missing or damaged.
pub async fn verify(file: impl AsRef<Path>) -> Result<Manifest> {
    let file = file.as_ref().to_owned();
    tokio::task::spawn_blocking(move || load::look(&file)).await.unwrap_or(Err(StoreError::Closed))
}

impl<D: 'static> SqlStore<D> {
    /// Writes everything that is stored into one file, all of one moment, while others go on working. The file
    /// appears under its name when it is complete.
    ///
    /// # Errors
    /// When the file exists or cannot be written, or the database fails.
    pub async fn backup(&self, file: impl AsRef<Path>, key_fingerprint: Option<&str>) -> Result<Manifest> {
        let order = dump::DumpOrder {
            file: file.as_ref().to_owned(),
            folder: self.folder(),
            created_at: self.shared.clock.now(),
            key_fingerprint: key_fingerprint.map(str::to_owned),
        };
        self.read_all(order, |tx, order| Box::pin(dump::dump(tx, order))).await
    }

    /// Fills this empty store from an archive of either database, all or nothing.
    ///
    /// # Errors
    /// When the store is not empty, when the archive is damaged or newer than this program, or the database fails.
    pub async fn restore(&self, file: impl AsRef<Path>) -> Result<Manifest> {
        let order = load::RestoreOrder { file: file.as_ref().to_owned(), folder: self.folder() };
        self.write_all(order, |tx, order| Box::pin(load::load(tx, order))).await
    }
}

impl SqlStore<Sqlite> {
    /// Writes everything that a file holds into one archive, all of one moment, while the process that has the file
    /// goes on working. Nothing is locked, written or migrated: a reader of a SQLite file in WAL mode sees the moment
    /// of its first look, and originals lie in the folder before a row names them and stay there until the round of
    /// retention after the one that removed the row.
    ///
    /// # Errors
    /// When the archive exists or cannot be written, when another version of this program wrote the database, or when
    /// it cannot be read.
    pub async fn back_up_file(
        path: impl AsRef<Path>,
        archive: impl AsRef<Path>,
        key_fingerprint: Option<&str>,
        keys: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
    ) -> Result<Manifest> {
        let path = path.as_ref().to_owned();
        let order = dump::DumpOrder {
            file: archive.as_ref().to_owned(),
            folder: Some(sqlite::folder(&path)),
            created_at: clock.now(),
            key_fingerprint: key_fingerprint.map(str::to_owned),
        };
        let writing = tokio::task::spawn_blocking(move || {
            let conn = sqlite::connect(&path, sqlite::ConnectionUse::Look)?;
            let mut tx = Tx::new(Conn::Sqlite(conn), StoreShared::new(keys, clock, None));
            dump::dump(&mut tx, &order).now_or_never().unwrap_or(Err(StoreError::Closed))
        });
        writing.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// Reads an archive's manifest without restoring it, for instance to compare the key's fingerprint first.
///
/// # Errors
/// When the file is no archive, or was made by a newer program.
pub fn manifest(file: impl AsRef<Path>) -> Result<Manifest> {
    load::open(file.as_ref()).map(|(_, manifest)| manifest)
}

/// The error about a damaged archive. What it quotes of a row may be as long as the row, and is cut.
fn broken(problem: impl std::fmt::Display) -> StoreError {
    let mut told = format!("the archive is damaged: {problem}");
    if told.len() > MAX_TOLD {
        told.truncate(told.floor_char_boundary(MAX_TOLD));
        told.push('…');
    }
    StoreError::Archive(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_is_told_in_short() {
        assert_eq!(broken("column id holds 7").to_string(), "the archive is damaged: column id holds 7");
        let told = broken(format!("column id holds {}", "ä".repeat(9_000))).to_string();
        assert!(told.len() <= MAX_TOLD + '…'.len_utf8() && told.ends_with("ä…"), "{told}");
    }
}
