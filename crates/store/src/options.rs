//! What can be set about the databases.

use std::time::Duration;

/// Settings of a SQLite store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqliteOptions {
    /// Connections that read at the same time; each keeps up to 2 MB of pages.
    pub readers: usize,
    /// Writes that may wait for the writer; one more is refused with `UNAVAILABLE`.
    pub queue: usize,
    /// Writes that share a commit at most.
    pub batch: usize,
    /// Take the given master key for the database's own, although it was made under another: API keys, sealed values
    /// and the audit chain up to now no longer hold.
    pub adopt_key: bool,
    /// The URL at which this process answers, for whoever finds the file taken; see [`served_at`](crate::served_at).
    pub served_at: Option<String>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { readers: 3, queue: 20_000, batch: 512, adopt_key: false, served_at: None }
    }
}

/// Settings of a PostgreSQL store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostgresOptions {
    /// Connections in all, writers included.
    pub connections: u32,
    /// Connections that group commits, besides the one for what most steps do: what is about the same thing is always
    /// written by the same one.
    pub writers: usize,
    /// Writes that may wait for one writer; one more is refused with `UNAVAILABLE`.
    pub queue: usize,
    /// Writes that share a commit at most.
    pub batch: usize,
    /// How long to wait for a connection.
    pub acquire_timeout: Duration,
    /// How long the server may take for a statement. It gives the statement up then; one that says nothing for a third
    /// longer has gone silent, and the connection is left. To be well below the lease.
    pub statement_timeout: Duration,
    /// Take the given master key for the database's own, although it was made under another: API keys, sealed values
    /// and the audit chain up to now no longer hold.
    pub adopt_key: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            connections: 12,
            writers: 2,
            queue: 5_000,
            batch: 128,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(6),
            adopt_key: false,
        }
    }
}
