//! Original bytes, named by their content: files in a folder beside a SQLite file, rows in PostgreSQL.
//!
//! Each tenant has its own, so knowing a hash is not enough to read what another tenant stored under it.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::error::Result as PortResult;
use kybern_core::id::TenantId;
use kybern_core::ports::BlobStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use crate::db::{Row, Tx, args, count, statements};
use crate::error::{Result, StoreError};
use crate::private;
use crate::retention::touch_or_place;
use crate::store::SqlStore;

statements! {
    INSERT = postgres "blob_insert";
    GET = postgres "blob_get";
    HASHES = postgres "blob_hashes";
}

/// Whether a text can be the name of bytes: 64 hex digits. Nothing else becomes a path.
pub(crate) fn is_name(hash: &str) -> bool {
    hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Where the bytes of that name lie.
pub(crate) fn path(folder: &Path, tenant: TenantId, hash: &str) -> PathBuf {
    folder.join(tenant.to_string()).join(hash.get(..2).unwrap_or_default()).join(hash)
}

/// Writes bytes to a file: complete and on the disk under its name, or not there at all. A file that is there already
/// is stored once more: it counts as new from `at`.
pub(crate) fn write(folder: &Path, tenant: TenantId, hash: &str, bytes: &[u8], at: Timestamp) -> Result<()> {
    let target = path(folder, tenant, hash);
    let fault = || StoreError::io(format!("storing file {hash}"));
    if read(folder, tenant, hash)?.is_some() && touch_or_place(None, &target, at).map_err(fault())? {
        return Ok(());
    }
    let Some(parent) = target.parent() else { return Err(StoreError::Closed) };
    let was_there = parent.is_dir();
    private::create_dir_all(parent).map_err(fault())?;
    // Two writers of the same bytes have two temporary files; the later rename replaces like with like.
    let own = std::thread::current().id();
    let part = parent.join(format!("{hash}.{}.{own:?}.part", std::process::id()));
    let mut file = private::create(&part).map_err(fault())?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.and_then(|()| touch_or_place(Some(&part), &target, at).map(|_| ()));
    if let Err(error) = written {
        // A leftover would only take space; the failure itself is what counts.
        drop(std::fs::remove_file(&part));
        return Err(fault()(error));
    }
    sync(parent).map_err(fault())?;
    if was_there && lasting().contains(parent) {
        return Ok(());
    }
    for folder in parent.ancestors().skip(1).take(2) {
        sync(folder).map_err(fault())?;
    }
    let mut lasting = lasting();
    if lasting.len() >= KEPT {
        lasting.clear();
    }
    lasting.insert(parent.to_owned());
    Ok(())
}

fn sync(folder: &Path) -> std::io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// Folders that are remembered; beyond it the memory is emptied, which costs two more syncs for each once.
const KEPT: usize = 16_384;

/// Folders of which this process knows that they themselves are on the disk; there are 256 a tenant.
fn lasting() -> MutexGuard<'static, HashSet<PathBuf>> {
    static LASTING: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    LASTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads bytes back, if they still match their name.
pub(crate) fn read(folder: &Path, tenant: TenantId, hash: &str) -> Result<Option<Vec<u8>>> {
    if !is_name(hash) {
        return Ok(None);
    }
    match std::fs::read(path(folder, tenant, hash)) {
        Ok(bytes) => Ok(verified(hash, bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(format!("reading file {hash}"))(error)),
    }
}

fn verified(hash: &str, bytes: Vec<u8>) -> Option<Vec<u8>> {
    let found = blake3::hash(&bytes).to_hex();
    if found.as_str() != hash {
        tracing::error!(blob.hash = hash, "stored bytes no longer match their name");
        return None;
    }
    Some(bytes)
}

/// Stores bytes as a row, or says that they are stored once more.
pub(crate) async fn insert(tx: &mut Tx, scope: TenantScope, hash: &str, bytes: &[u8]) -> Result<()> {
    let size = count(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    let now = tx.shared().clock.now();
    tx.execute(&INSERT, args![scope, hash, size, bytes, now]).await.map(|_| ())
}

/// Reads bytes from a row.
pub(crate) async fn get(tx: &mut Tx, scope: TenantScope, hash: &str) -> Result<Option<Vec<u8>>> {
    Ok(tx.find(&GET, args![scope, hash], Row::blob).await?.and_then(|bytes| verified(hash, bytes)))
}

/// The names of a tenant's bytes in rows.
pub(crate) async fn hashes(tx: &mut Tx, scope: TenantScope) -> Result<Vec<String>> {
    tx.list(&HASHES, args![scope], Row::text).await
}

pub(crate) async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}

#[async_trait]
impl<D: 'static> BlobStore for SqlStore<D> {
    async fn put_blob(&self, scope: TenantScope, bytes: Bytes) -> PortResult<String> {
        let hash = blake3::hash(&bytes).to_hex().to_string();
        match self.folder() {
            Some(folder) => {
                let (name, now) = (hash.clone(), self.shared.clock.now());
                on_disk(move || write(&folder, scope.tenant(), &name, &bytes, now)).await?;
            }
            None => {
                let args = (scope, hash.clone(), bytes);
                let run = self.write(scope, args, |tx, (scope, hash, bytes)| Box::pin(insert(tx, *scope, hash, bytes)));
                run.await?;
            }
        }
        Ok(hash)
    }

    async fn blob(&self, scope: TenantScope, hash: &str) -> PortResult<Option<Bytes>> {
        let hash = hash.to_owned();
        let found = match self.folder() {
            Some(folder) => on_disk(move || read(&folder, scope.tenant(), &hash)).await?,
            None => self.read(scope, (scope, hash), |tx, (scope, hash)| Box::pin(get(tx, *scope, hash))).await?,
        };
        Ok(found.map(Bytes::from))
    }
}
