//! Files that nothing names any more: rows in PostgreSQL, files in a folder beside a SQLite file.
//!
//! A file is stored before a row names it. So only what nobody has stored for a while is looked at, and whoever stores
//! what is there already says so, under the lock that a removal takes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kybern_core::id::TenantId;
use kybern_core::retention::PurgeStep;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::{BATCH, PurgeUnit, note};
use crate::blobs;
use crate::db::{Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;

statements! {
    NAMED = shared "file_named";
    REMOVE = postgres "retention_files";
    COUNT = postgres "retention_files_count";
}

/// Removes rows, or counts them.
pub(super) async fn rows(tx: &mut Tx, asked: &PurgeUnit) -> Result<PurgeStep> {
    let (before, dry_run) = (asked.purge.before, asked.purge.dry_run);
    let found = if dry_run {
        tx.fetch_optional(&COUNT, args![asked.scope, before]).await?
    } else {
        tx.write_row(&REMOVE, args![before, BATCH]).await?
    };
    let count = found.map_or(Ok(0), |mut row| row.u64())?;
    Ok(PurgeStep { count, next: (!dry_run && count >= u64::from(BATCH)).then(String::new) })
}

/// The same in the folder: the next subfolders of it, until there is enough to remove.
pub(super) async fn in_folder<D: 'static>(store: &SqlStore<D>, folder: PathBuf, asked: PurgeUnit) -> Result<PurgeStep> {
    let (scope, before, dry_run) = (asked.scope, asked.purge.before, asked.purge.dry_run);
    let first = asked.after.as_deref().and_then(|name| u8::from_str_radix(name, 16).ok()).unwrap_or(0);
    let looked = {
        let folder = folder.clone();
        blobs::on_disk(move || old_files(&folder, scope.tenant(), first, before)).await?
    };
    let unnamed =
        store.read(scope, (scope, looked.hashes), |tx, (scope, hashes)| Box::pin(unnamed(tx, *scope, hashes)));
    let unnamed = unnamed.await?;
    let count = if dry_run {
        unnamed.len() as u64
    } else {
        let (count, failed) = blobs::on_disk(move || Ok(remove(&folder, scope.tenant(), &unnamed, before))).await?;
        let noting = store.write(scope, (asked, count), |tx, (asked, count)| Box::pin(note(tx, asked, *count)));
        noting.await?;
        failed?;
        count
    };
    Ok(PurgeStep { count, next: looked.next.map(|next| format!("{next:02x}")) })
}

/// Those of the files that no row names.
async fn unnamed(tx: &mut Tx, scope: TenantScope, hashes: &[String]) -> Result<Vec<String>> {
    let mut unnamed = Vec::new();
    for hash in hashes {
        if tx.fetch_optional(&NAMED, args![scope, hash.as_str()]).await?.is_none() {
            unnamed.push(hash.clone());
        }
    }
    Ok(unnamed)
}

/// Files that nobody has stored since a moment.
struct OldFiles {
    hashes: Vec<String>,
    /// The first two digits of the next ones.
    next: Option<u8>,
}

fn old_files(folder: &Path, tenant: TenantId, first: u8, before: Timestamp) -> Result<OldFiles> {
    let mut hashes = Vec::new();
    for start in first..=u8::MAX {
        let subfolder = folder.join(tenant.to_string()).join(format!("{start:02x}"));
        let fault = || StoreError::io(format!("reading {}", subfolder.display()));
        let entries = match std::fs::read_dir(&subfolder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(fault()(error)),
        };
        for entry in entries {
            let entry = entry.map_err(fault())?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !is_old(&entry.path(), before)? {
                continue;
            }
            if blobs::is_name(&name) {
                hashes.push(name);
            } else if name.ends_with(".part") {
                // What a process that died was writing: no row ever names it.
                drop(std::fs::remove_file(entry.path()));
            }
        }
        if hashes.len() >= BATCH as usize && start < u8::MAX {
            return Ok(OldFiles { hashes, next: Some(start + 1) });
        }
    }
    Ok(OldFiles { hashes, next: None })
}

/// Whether nobody has stored a file since a moment; one that is not there is not old.
fn is_old(path: &Path, before: Timestamp) -> Result<bool> {
    let modified = match std::fs::metadata(path).and_then(|file| file.modified()) {
        Ok(modified) => modified,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io(format!("reading {}", path.display()))(error)),
    };
    Ok(modified < moment(before))
}

fn moment(at: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at.as_millis()).unwrap_or(0))
}

/// How many were removed, and what the last one that could not be removed failed with.
fn remove(folder: &Path, tenant: TenantId, hashes: &[String], before: Timestamp) -> (u64, Result<()>) {
    let (mut removed, mut failed) = (0, Ok(()));
    for hash in hashes {
        let path = blobs::path(folder, tenant, hash);
        let _alone = alone();
        let gone = is_old(&path, before).and_then(|is_old| {
            let unlink = || std::fs::remove_file(&path).map_err(StoreError::io(format!("removing file {hash}")));
            if is_old { unlink().map(|()| 1) } else { Ok(0) }
        });
        match gone {
            Ok(one) => removed += one,
            Err(error) => failed = Err(error),
        }
    }
    (removed, failed)
}

/// Whoever puts a file into its place or says that it is stored once more, and whoever removes one, does it alone. A
/// SQLite file has one process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks a file as stored just now; with `part`, that file becomes it first. `false` when there is no such file.
pub(crate) fn touch_or_place(part: Option<&Path>, target: &Path, at: Timestamp) -> std::io::Result<bool> {
    let _alone = alone();
    if let Some(part) = part {
        std::fs::rename(part, target)?;
    }
    let touched = std::fs::File::options().write(true).open(target).and_then(|file| file.set_modified(moment(at)));
    match touched {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
