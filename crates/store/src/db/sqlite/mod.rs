//! A SQLite file: one writer thread that groups commits, a few connections that read, a lock, a folder of files.

mod lock;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use futures::FutureExt as _;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{Semaphore, mpsc};

use super::batch::{Pending, UnitFn, drain, run_batch, run_kept};
use super::{Conn, StoreShared, Tx};
use crate::error::{Result, StoreError};
use crate::options::SqliteOptions;
pub(crate) use lock::FileLock;
pub use lock::{holder, served_at};

/// Prepared statements that a connection keeps; more than this crate has.
const STATEMENTS: usize = 256;

/// An open SQLite file.
pub(crate) struct File {
    queue: Option<mpsc::Sender<Box<dyn Pending>>>,
    writer: Option<JoinHandle<()>>,
    readers: Arc<Readers>,
    path: PathBuf,
    _lock: FileLock,
}

/// Connections that read, and a permit for each.
struct Readers {
    idle: Mutex<Vec<Tx>>,
    permits: Arc<Semaphore>,
}

impl File {
    /// Opens the file, creating it when it is missing. The caller has brought it to the present schema.
    pub(crate) fn open(
        path: &Path,
        lock: FileLock,
        options: &SqliteOptions,
        shared: &Arc<StoreShared>,
    ) -> Result<Self> {
        let writer = connect(path, ConnectionUse::Write)?;
        let readers = (0..options.readers.max(1))
            .map(|_| Ok(Tx::new(Conn::Sqlite(connect(path, ConnectionUse::Read)?), Arc::clone(shared))))
            .collect::<Result<Vec<Tx>>>()?;
        let permits = Arc::new(Semaphore::new(readers.len()));
        let (queue, waiting) = mpsc::channel(options.queue.max(1));
        let tx = Tx::new(Conn::Sqlite(writer), Arc::clone(shared));
        let (batch, shared) = (options.batch.max(1), Arc::clone(shared));
        let thread = std::thread::Builder::new()
            .name("kybern-writer".to_owned())
            .spawn(move || write(tx, waiting, batch, &shared))
            .map_err(StoreError::io("starting the writer"))?;
        Ok(Self {
            queue: Some(queue),
            writer: Some(thread),
            readers: Arc::new(Readers { idle: Mutex::new(readers), permits }),
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// The folder that the file lies in.
    pub(crate) fn place(&self) -> PathBuf {
        let place = self.path.parent().filter(|place| !place.as_os_str().is_empty());
        place.unwrap_or(Path::new(".")).to_owned()
    }

    /// The folder of original bytes beside the file.
    pub(crate) fn folder(&self) -> PathBuf {
        folder(&self.path)
    }

    pub(crate) fn queue(&self) -> Option<&mpsc::Sender<Box<dyn Pending>>> {
        self.queue.as_ref()
    }

    /// Reads on one of the reading connections, outside the async threads.
    pub(crate) async fn read<A, T>(&self, args: A, run: UnitFn<A, T>) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let readers = Arc::clone(&self.readers);
        let permit = Arc::clone(&readers.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let reading = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            readers.read(&args, run)
        });
        reading.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Reads a few rows by their keys on the thread that asks: to wake another one takes longer than such a read.
    pub(crate) async fn read_few<A, T>(&self, args: &A, run: UnitFn<A, T>) -> Result<T> {
        let _permit = self.readers.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        self.readers.read(args, run)
    }
}

impl Readers {
    /// Reads on a connection that is idle; the caller has a permit for it.
    fn read<A, T>(&self, args: &A, run: UnitFn<A, T>) -> Result<T> {
        let mut tx = self.idle().pop().ok_or(StoreError::Closed)?;
        let answer = run_kept(run, &mut tx, args).now_or_never().unwrap_or(Err(StoreError::Closed));
        // A transaction that it began ends with it, so that the next one reads what is there then.
        let ended = tx.roll_back().now_or_never().unwrap_or(Err(StoreError::Closed));
        self.idle().push(tx);
        answer.and_then(|answer| ended.map(|()| answer))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Tx>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The writer ends when its queue does; until then the file stays locked.
        self.queue = None;
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the writer of the database ended by a panic");
        }
    }
}

/// The folder of original bytes of a database file.
pub(crate) fn folder(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".files");
    PathBuf::from(name)
}

/// The writer thread: takes what has queued up, commits it together, answers each.
fn write(mut tx: Tx, mut queue: mpsc::Receiver<Box<dyn Pending>>, limit: usize, shared: &StoreShared) {
    let mut batch = Vec::with_capacity(limit);
    while queue.blocking_recv_many(&mut batch, limit) > 0 {
        // Nothing in a SQLite unit waits for anything but SQLite, so one poll runs it to its end.
        let more = |batch: &mut Vec<_>| drain(&mut queue, batch, limit);
        if run_batch(&mut tx, &mut batch, more, &shared.commits, true).now_or_never().is_none() {
            tracing::error!("a unit of work tried to wait inside the writer");
            batch.drain(..).for_each(|unit| unit.fail(StoreError::Closed));
        }
    }
    if let Conn::Sqlite(conn) = tx.conn()
        && let Err(error) = conn.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)")
    {
        tracing::warn!(%error, "the database was closed without a checkpoint; the next start makes up for it");
    }
    tracing::debug!(commits = shared.commits.load(Ordering::Relaxed), "the writer has ended");
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionUse {
    /// Writing; creates the file.
    Write,
    /// Reading, in the process that has the file.
    Read,
    /// Reading, in whatever process: the file is not created and its content never changed.
    Look,
    /// The same of a file that is [at rest](at_rest): nothing is made beside it either. Whoever reads it has to make
    /// sure that it has stayed so.
    LookAtRest,
}

/// What tells that a file is the one that it was.
#[derive(PartialEq, Eq)]
pub(crate) struct AtRest {
    bytes: u64,
    modified: Option<std::time::SystemTime>,
}

/// Whether all that a database holds is in its file: no process has it, and none has left a log of writes behind.
pub(crate) fn at_rest(path: &Path) -> Option<AtRest> {
    let file = std::fs::canonicalize(path).ok()?;
    let mut log = file.clone().into_os_string();
    log.push("-wal");
    if holder(&file).is_some() || std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return None;
    }
    let found = std::fs::metadata(&file).ok()?;
    Some(AtRest { bytes: found.len(), modified: found.modified().ok() })
}

/// The file as a URL by which SQLite neither locks it nor makes a log and its index beside it.
fn immutable(path: &Path) -> std::io::Result<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let path = std::fs::canonicalize(path)?;
    let encode = |byte: &u8| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    let encoded: String = path.as_os_str().as_bytes().iter().map(encode).collect();
    Ok(format!("file:{encoded}?immutable=1"))
}

/// Opens one connection with its settings.
pub(crate) fn connect(path: &Path, use_: ConnectionUse) -> Result<Connection> {
    let flags = match use_ {
        ConnectionUse::Write | ConnectionUse::Read => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        ConnectionUse::Look => OpenFlags::SQLITE_OPEN_READ_ONLY,
        ConnectionUse::LookAtRest => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    } | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match use_ {
        ConnectionUse::Write | ConnectionUse::Read | ConnectionUse::Look => Connection::open_with_flags(path, flags)?,
        ConnectionUse::LookAtRest => {
            let url = immutable(path).map_err(StoreError::io(format!("looking at {}", path.display())))?;
            Connection::open_with_flags(url, flags)?
        }
    };
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // A plan holds whatever is bound: otherwise SQLite parses and plans a statement with a range anew for each run.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    conn.execute_batch(match use_ {
        ConnectionUse::Write => {
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -8000;
             PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY"
        }
        ConnectionUse::Read | ConnectionUse::Look | ConnectionUse::LookAtRest => {
            "PRAGMA query_only = ON; PRAGMA cache_size = -1000; PRAGMA temp_store = MEMORY"
        }
    })?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    // The one process of a file is its clock; PostgreSQL has a function of this name that asks the server's.
    conn.create_scalar_function("kybern_now", 1, flags, |context| context.get::<i64>(0))?;
    Ok(conn)
}
