//! A text that one of the databases cannot keep is kept alike by both.

use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::ports::{IdSource as _, Store};
use kybern_core::task::{NewTask, Submitted};
use kybern_testkit::SimClock;

use crate::support::{self, Database};
use crate::work;

/// A name with U+0000 is written, and found again by what it was written as.
async fn a_nul(store: &dyn Store) {
    let ids = work::ids(1);
    let id = TaskId::from_uuid(ids.next());
    let task = |id| NewTask { dedupe_key: Some("k\0".to_owned()), input: "a\0b".to_owned(), ..work::task(id) };
    store.submit(work::home(), task(id), None).await.unwrap();
    let kept = store.task(work::home(), id).await.unwrap().unwrap();
    assert_eq!(kept.input, "a\u{fffd}b");
    match store.submit(work::home(), task(TaskId::from_uuid(ids.next())), None).await.unwrap() {
        Submitted::Duplicate { task, .. } => assert_eq!(task.id, id),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_nul_becomes_the_sign_of_a_broken_character_on_sqlite() {
    let (store, _folder) = support::sqlite(Arc::new(SimClock::new())).await;
    a_nul(&store).await;
}

#[tokio::test]
async fn a_nul_becomes_the_sign_of_a_broken_character_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    a_nul(&database.store(Arc::new(SimClock::new())).await).await;
}
