//! `kill -9` in the middle of commits: nothing that was acknowledged is lost.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::ports::{IdSource as _, Store, TaskStore as _};
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use kybern_testkit::{SimClock, TestKeys};

use crate::support::{self, Database};
use crate::work;

const CHILD: &str = "KYBERN_TEST_KILL_CHILD";
const ACKNOWLEDGED: usize = 300;

async fn sqlite(path: &Path) -> SqliteStore {
    let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
    SqliteStore::open(path, SqliteOptions::default(), keys, clock).await.unwrap()
}

async fn postgres(url: &str) -> PostgresStore {
    let (keys, clock) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
    let options = PostgresOptions { connections: 6, writers: 2, ..PostgresOptions::default() };
    PostgresStore::connect(url, options, keys, clock).await.unwrap()
}

/// The store of a database that is named by its URL or its file.
pub async fn open(target: &str) -> Arc<dyn Store> {
    if target.starts_with("postgres") {
        Arc::new(postgres(target).await)
    } else {
        Arc::new(sqlite(Path::new(target)).await)
    }
}

/// Not a test of its own: the process that is killed. It writes a line for each commit that was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_child_that_is_killed() {
    let Ok(target) = std::env::var(CHILD) else { return };
    let store = open(&target).await;
    let writers = (0..8).map(|n| {
        let store = Arc::clone(&store);
        async move {
            let ids = work::ids(u64::from(std::process::id()) * 100 + n);
            loop {
                let id = TaskId::from_uuid(ids.next());
                let lease = work::leased(&*store, work::home(), work::task(id)).await.lease;
                for seq in 1..=5 {
                    store.commit(&lease, work::rows(&[seq]).into()).await.unwrap();
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "acknowledged {id} {seq}").unwrap();
                    out.flush().unwrap();
                }
            }
        }
    });
    futures::future::join_all(writers).await;
}

/// Runs the child until it has acknowledged enough, kills it, and returns what it said.
fn run_and_kill(target: &str) -> Vec<(TaskId, i64)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_child_that_is_killed", "--nocapture"])
        .env(CHILD, target)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut acknowledged = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut read = |acknowledged: &mut Vec<(TaskId, i64)>| {
        let line = lines.next()?.ok()?;
        let said = line.split("acknowledged ").nth(1)?.split_once(' ');
        if let Some((id, seq)) = said {
            acknowledged.push((id.parse().ok()?, seq.trim().parse().ok()?));
        }
        Some(())
    };
    while acknowledged.len() < ACKNOWLEDGED {
        // Lines of the test runner say nothing; only the end of the stream ends this.
        if read(&mut acknowledged).is_none() && child.try_wait().unwrap().is_some() {
            break;
        }
    }
    // SIGKILL: nothing is flushed and nothing is closed.
    child.kill().unwrap();
    child.wait().unwrap();
    // What was in the pipe had been acknowledged before the kill.
    while read(&mut acknowledged).is_some() {}
    acknowledged
}

async fn nothing_is_lost(target: &str) {
    for _ in 0..3 {
        let acknowledged = run_and_kill(target);
        assert!(acknowledged.len() >= ACKNOWLEDGED, "the child ended by itself");
        let store = open(target).await;
        for (id, seq) in acknowledged {
            let journal = store.journal(work::home(), id, 0, 10).await.unwrap();
            assert!(journal.iter().any(|row| row.seq == seq), "row {seq} of task {id} was acknowledged and is lost");
            let seqs: Vec<i64> = journal.iter().map(|row| row.seq).collect();
            assert!(seqs.iter().copied().eq(1..=i64::try_from(seqs.len()).unwrap()), "{seqs:?} has a gap");
        }
        drop(store);
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    nothing_is_lost(folder.path().join("kybern.db").to_str().unwrap()).await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_on_postgres() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    nothing_is_lost(&database.url()).await;
}

#[tokio::test]
async fn leases_of_the_killed_process_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    run_and_kill(path.to_str().unwrap());
    let store = sqlite(&path).await;
    let worker = kybern_core::task::WorkerId::new("second");
    let length = kybern_core::time::Millis::from_secs(30);
    assert!(
        store
            .claim_due(&worker, &kybern_core::slots::WorkerCapacity::of(100), length, work::NOW)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(store.take_over(work::NOW).await.unwrap() > 0);
    let claimed =
        store.claim_due(&worker, &kybern_core::slots::WorkerCapacity::of(1), length, work::NOW).await.unwrap();
    assert_eq!(claimed[0].recovered_from.as_ref().map(|from| from.as_str()), Some("w"));
    assert_eq!(claimed[0].task.recoveries, 1);
}
