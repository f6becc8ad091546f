//! Another process holds the lock under which SQLite writes.

use std::fs::OpenOptions;
use std::path::Path;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use serde_json::json;

use super::load::Load;
use crate::server::Site;
use crate::server::client::{Ask, until};

/// In the `-shm` file of a database in WAL mode: the lock of whoever writes.
const WRITE_LOCK: i64 = 120;

#[tokio::test]
async fn a_file_that_somebody_else_has_locked_refuses_and_recovers() {
    let site = Site::sqlite();
    let server = site.start();
    let client = server.client();
    Load::prepare(&client).await;
    let load = Load::default();
    load.during(&client, load.served(5)).await;
    assert_eq!(load.refused(), 0);
    load.during(&client, async {
        let lock = Lock::take(&site.folder().join("kybern.db-shm")).await;
        load.turned_away(1).await;
        // What only reads goes on meanwhile.
        client.get("/api/tasks").await;
        drop(lock);
    })
    .await;
    load.settle(&client).await;
    let (status, ready) = client.send(&Ask::get("/readyz")).await;
    assert_eq!((status.as_u16(), &ready["ready"]), (200, &json!(true)), "{ready}");
}

/// The lock, held by this process; the server is another one.
struct Lock(#[expect(dead_code, reason = "the lock is the file's, and ends with it")] std::fs::File);

impl Lock {
    async fn take(path: &Path) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let kind = |kind: libc::c_int| libc::c_short::try_from(kind).unwrap();
        let wanted = libc::flock {
            l_type: kind(libc::F_WRLCK),
            l_whence: kind(libc::SEEK_SET),
            l_start: WRITE_LOCK,
            l_len: 1,
            l_pid: 0,
        };
        until("the lock is free for a moment", || {
            std::future::ready(fcntl(&file, FcntlArg::F_SETLK(&wanted)).ok().map(drop))
        })
        .await;
        Self(file)
    }
}
