//! Whatever the umask is, only the owner can read what a store writes.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use kybern_core::ports::{BlobStore as _, Clock};
use kybern_store::{SqliteOptions, SqliteStore};
use kybern_testkit::{SimClock, TestKeys};
use nix::sys::stat::{Mode, umask};

use crate::work;

async fn open(path: &Path) -> SqliteStore {
    let clock: Arc<dyn Clock> = Arc::new(SimClock::new());
    SqliteStore::open(path, SqliteOptions::default(), Arc::new(TestKeys::new()), clock).await.unwrap()
}

/// The mode of everything in a folder, by its name there.
fn modes(folder: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        found.insert(name, path.metadata().unwrap().permissions().mode() & 0o777);
        if path.is_dir() {
            found.extend(modes(&path));
        }
    }
    found
}

fn open_to_others(folder: &Path) -> Vec<(String, u32)> {
    modes(folder).into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect()
}

#[tokio::test]
async fn what_a_store_writes_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    umask(Mode::empty());
    let store = open(&path).await;
    store.put_blob(work::home(), Bytes::from_static(b"a file")).await.unwrap();
    store.backup(folder.path().join("all.backup"), None).await.unwrap();
    let found = modes(folder.path());
    for name in ["kybern.db", "kybern.db-wal", "kybern.db-shm", "kybern.db.lock", "kybern.db.files", "all.backup"] {
        assert!(found.contains_key(name), "{name} is missing: {found:?}");
    }
    assert_eq!(open_to_others(folder.path()), []);
}

#[tokio::test]
async fn what_an_earlier_version_left_open_is_closed_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    let store = open(&path).await;
    store.put_blob(work::home(), Bytes::from_static(b"a file")).await.unwrap();
    drop(store);
    let loosen = |name: &str, mode| {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    loosen("kybern.db", 0o644);
    loosen("kybern.db.lock", 0o644);
    loosen("kybern.db.files", 0o755);
    let _store = open(&path).await;
    assert_eq!(open_to_others(folder.path()), []);
}
