//! One process owns a SQLite file, whatever name it is reached by.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use kybern_store::{SqliteOptions, SqliteStore, StoreError, served_at};
use kybern_testkit::{SimClock, TestKeys};

async fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteOptions::default(), Arc::new(TestKeys::new()), Arc::new(SimClock::new())).await
}

#[tokio::test]
async fn a_file_has_one_owner_under_all_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kybern.db");
    let store = open(&file).await.unwrap();
    let [linked, hard] = ["linked.db", "hard.db"].map(|name| folder.path().join(name));
    symlink(&file, &linked).unwrap();
    std::fs::hard_link(&file, &hard).unwrap();
    let refused = |opened: Result<SqliteStore, StoreError>, how: &str| match opened {
        Err(StoreError::InUse { holder, .. }) => holder,
        other => panic!("{how}: {other:?}"),
    };
    let me = std::process::id().to_string();
    assert_eq!(refused(open(&file).await, "the same name"), me);
    assert_eq!(refused(open(&linked).await, "a symbolic link"), me);
    refused(open(&hard).await, "a hard link");
    std::fs::remove_file(folder.path().join("kybern.db.lock")).unwrap();
    refused(open(&file).await, "its lock file was removed");
    drop(store);
    drop(open(&linked).await.unwrap());
}

#[tokio::test]
async fn a_file_says_where_its_owner_answers_as_long_as_it_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kybern.db");
    assert_eq!(served_at(&file), None, "there is no file");
    let url = "http://127.0.0.1:7199".to_owned();
    let options = SqliteOptions { served_at: Some(url.clone()), ..SqliteOptions::default() };
    let opened = SqliteStore::open(&file, options, Arc::new(TestKeys::new()), Arc::new(SimClock::new())).await;
    let store = opened.unwrap();
    assert_eq!(served_at(&file), Some(url));
    drop(store);
    assert_eq!(served_at(&file), None, "nobody has it");
    let store = open(&file).await.unwrap();
    assert_eq!(served_at(&file), None, "whoever has it serves nobody");
    drop(store);
}
