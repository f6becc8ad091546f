//! `kill -9` in the middle of a removal: each tree is there whole or gone whole, and the next removal ends it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use kybern_core::audit::ChainVerifier;
use kybern_core::id::TaskId;
use kybern_core::ports::{IdSource as _, Keys as _, Store};
use kybern_core::retention::{Purge, RetentionKind};
use kybern_core::task::NewTask;
use kybern_core::time::Millis;
use kybern_testkit::TestKeys;

use crate::kill::open;
use crate::support::{self, Database};
use crate::work;

const CHILD: &str = "KYBERN_TEST_PURGE_CHILD";
const TREES: usize = 150;

fn tasks() -> Purge {
    Purge { kept: RetentionKind::Tasks, before: work::NOW.plus(Millis(1)), holds: Vec::new(), dry_run: false }
}

/// Runs the removal to its end, and tells of each transaction when it is done.
async fn remove(store: &dyn Store, mut done: impl FnMut(u64)) -> u64 {
    let (mut after, mut removed) = (None, 0);
    loop {
        let step = store.purge(work::home(), &tasks(), after.as_deref(), work::NOW).await.unwrap();
        removed += step.count;
        done(step.count);
        let Some(next) = step.next else { return removed };
        after = Some(next);
    }
}

/// Not a test of its own: the process that is killed.
#[tokio::test]
async fn the_child_that_is_killed() {
    let Ok(target) = std::env::var(CHILD) else { return };
    let store = open(&target).await;
    remove(&*store, |count| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "removed {count}").unwrap();
        out.flush().unwrap();
    })
    .await;
}

/// Trees of a root and a child, each with rows.
async fn fill(store: &dyn Store, seed: u64) -> Vec<[TaskId; 2]> {
    let ids = work::ids(seed);
    let mut trees = Vec::new();
    for _ in 0..TREES {
        let [root, child] = [(); 2].map(|()| TaskId::from_uuid(ids.next()));
        for (id, parent) in [(root, None), (child, Some((root, "start".to_owned())))] {
            let task = NewTask { parent, ..work::task(id) };
            let lease = work::leased(store, work::home(), task).await.lease;
            store.commit(&lease, work::rows(&[1, 2, 3]).into()).await.unwrap();
            store.commit(&lease, work::ended().into()).await.unwrap();
        }
        trees.push([root, child]);
    }
    trees
}

/// Runs the child until it has done a few transactions, and kills it at its work.
fn run_and_kill(target: &str, transactions: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "purge_kill::the_child_that_is_killed", "--nocapture"])
        .env(CHILD, target)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let told = lines.filter(|line| line.contains("removed ")).take(transactions).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told, transactions);
}

async fn trees_are_whole_or_gone(target: &str) {
    for transactions in [1, 2] {
        let trees = {
            let store = open(target).await;
            fill(&*store, 7_000 + transactions as u64).await
        };
        run_and_kill(target, transactions);
        let store = open(target).await;
        let mut left = 0;
        for tree in trees {
            let mut there = Vec::new();
            for id in tree {
                let rows = store.journal(work::home(), id, 0, 10).await.unwrap().len();
                let task = store.task(work::home(), id).await.unwrap();
                there.push((task.is_some(), rows));
            }
            let whole = [(true, 3), (true, 3)];
            assert!(there == whole || there == [(false, 0), (false, 0)], "{there:?}");
            left += u64::from(there == whole) * 2;
        }
        assert!(remove(&*store, drop).await >= left);
        assert_eq!(remove(&*store, drop).await, 0);
        assert_eq!(store.count_by_status().await.unwrap(), []);
        let mut verifier = ChainVerifier::new(TestKeys::new().audit_key(work::home().tenant()));
        let events = store.audit_events(work::home(), 0, 10_000).await.unwrap();
        events.iter().for_each(|event| verifier.push(event));
        let head = store.audit_head(work::home()).await.unwrap();
        assert_eq!(verifier.finish(head).1, Vec::new());
    }
}

#[tokio::test]
async fn a_killed_removal_leaves_whole_trees_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    trees_are_whole_or_gone(folder.path().join("kybern.db").to_str().unwrap()).await;
}

#[tokio::test]
async fn a_killed_removal_leaves_whole_trees_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    trees_are_whole_or_gone(&database.url()).await;
}
