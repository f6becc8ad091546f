//! What can go wrong in here, and what callers are told of it: a code and a sentence, never SQL.

use std::path::PathBuf;

use kybern_core::error::{Error, ErrorCode};
use kybern_core::ports::ReviewRefused;
use kybern_core::task::CommitRefused;
use sqlx::postgres::{PgDatabaseError, PgSeverity};

/// What store functions answer.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the SQLite file.
    #[error(
        "{} is in use by process {holder}: one process owns a SQLite file; stop that one, or use PostgreSQL",
        path.display()
    )]
    InUse {
        /// The database file.
        path: PathBuf,
        /// What the lock file says of its holder.
        holder: String,
    },
    /// The database was written by a newer program.
    #[error("the database has schema version {found}, this program knows {known}: start a newer program")]
    Newer {
        /// The database's version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The database was written by an older program, and is not to be migrated.
    #[error(
        "the database has schema version {found}, this program knows {known}: use the program that wrote it, or start \
         the server with this one once, which migrates it"
    )]
    Older {
        /// The database's version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file is the database of another program.
    #[error("the database holds tables of another program and none of Kybern's: name another file")]
    Foreign,
    /// The database was made under another master key.
    #[error(
        "the database was made under another master key, bring that one back, or, when it is lost for good, run \
         `kybern key recover --new-master-key`"
    )]
    OtherKey,
    /// A migration that has been applied reads differently now.
    #[error("migration {name} was edited after it had been applied: restore its text and add another migration")]
    EditedMigration {
        /// The migration.
        name: String,
    },
    /// More writes wait than the queue holds.
    #[error("the database has too many writes waiting, try again")]
    QueueFull,
    /// The store is being closed.
    #[error("the store is closed")]
    Closed,
    /// SQLite failed.
    #[error("the database could not do this")]
    Sqlite(#[source] rusqlite::Error),
    /// What this did with the database panicked; the log has the place.
    #[error("this ran into a fault of the program and was not done")]
    Panicked,
    /// PostgreSQL failed.
    #[error("the database could not do this")]
    Postgres(#[source] sqlx::Error),
    /// PostgreSQL has not answered. Whether it has done what it was asked nobody knows.
    #[error("the database has not answered within {0:?}; it may have done this all the same")]
    Silent(std::time::Duration),
    /// The batch in which this ran could not be committed.
    #[error(transparent)]
    Batch(std::sync::Arc<StoreError>),
    /// A file could not be read or written.
    #[error("{what} failed")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A row cannot be read by this program.
    #[error("a row of {row} cannot be read: {problem}")]
    Decode {
        /// The statement that read it.
        row: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An archive cannot be used.
    #[error("{0}")]
    Archive(String),
    /// The lease is somebody else's.
    #[error("the lease on the task has been taken over")]
    Fenced,
    /// Something is not what a tool believed: a record, a memory, a plan, another task.
    #[error("{0} has changed since the tool read it")]
    Changed(String),
    /// The task does not wait there.
    #[error("the task is not waiting for this answer")]
    NotWaiting,
    /// There is no such thing in this tenant.
    #[error("there is no {noun} {id}")]
    NotFound { noun: &'static str, id: String },
    /// It is not in a state that allows this, or a name is taken.
    #[error("{0}")]
    Conflict(String),
    /// There are as many as there may be.
    #[error("{0}")]
    Full(String),
    /// There are as many as there may be at a time.
    #[error("{0}")]
    Busy(String),
}

impl StoreError {
    pub(crate) fn not_found(noun: &'static str, id: impl std::fmt::Display) -> Self {
        Self::NotFound { noun, id: id.to_string() }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// The code that a caller is told.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InUse { .. } | Self::QueueFull | Self::Closed | Self::Silent(_) | Self::Io { .. } => {
                ErrorCode::Unavailable
            }
            Self::Sqlite(error) => sqlite_code(error),
            Self::Postgres(error) => postgres_code(error),
            Self::Batch(error) => error.code(),
            Self::Newer { .. }
            | Self::Older { .. }
            | Self::OtherKey
            | Self::Foreign
            | Self::EditedMigration { .. }
            | Self::Panicked
            | Self::Decode { .. } => ErrorCode::Internal,
            Self::Archive(_) | Self::Full(_) => ErrorCode::Unprocessable,
            Self::Busy(_) => ErrorCode::RateLimited,
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Fenced | Self::Changed(_) | Self::NotWaiting | Self::Conflict(_) => ErrorCode::Conflict,
        }
    }

    /// Whether somebody else was faster, so that the same unit may succeed, or refuse properly, when it runs again.
    pub(crate) fn lost_a_race(&self) -> bool {
        match self {
            Self::Sqlite(_) => self.code() == ErrorCode::Conflict,
            Self::Postgres(error) => {
                sqlstate(error).is_some_and(|state| matches!(state.as_str(), "23505" | "40001" | "40P01"))
            }
            _ => false,
        }
    }

    /// Whether the connection to the database is gone, or leads to a server that takes no writes: one that is made anew
    /// may lead to another.
    pub(crate) fn lost_the_connection(&self) -> bool {
        match self {
            Self::Silent(_) => true,
            Self::Postgres(error) => match sqlstate(error) {
                Some(state) => {
                    ended_the_session(error)
                        || state == READ_ONLY
                        || state.starts_with("57P")
                        || state.starts_with("08")
                }
                None => !matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)),
            },
            _ => false,
        }
    }
}

fn sqlite_code(error: &rusqlite::Error) -> ErrorCode {
    use rusqlite::ErrorCode as Sqlite;
    match error.sqlite_error_code() {
        Some(
            Sqlite::DiskFull
            | Sqlite::DatabaseBusy
            | Sqlite::DatabaseLocked
            | Sqlite::SystemIoFailure
            | Sqlite::CannotOpen
            | Sqlite::ReadOnly
            | Sqlite::OutOfMemory
            | Sqlite::FileLockingProtocolFailed,
        ) => ErrorCode::Unavailable,
        Some(Sqlite::ConstraintViolation) if is_unique(error) => ErrorCode::Conflict,
        _ => ErrorCode::Internal,
    }
}

/// Whether there is no room left to write.
fn is_full(error: &StoreError) -> bool {
    match error {
        StoreError::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
        StoreError::Postgres(error) => sqlstate(error).is_some_and(|state| state == "53100"),
        StoreError::Batch(error) => is_full(error),
        StoreError::Io { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
        _ => false,
    }
}

fn is_unique(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    error.sqlite_error().is_some_and(|found| {
        found.extended_code == SQLITE_CONSTRAINT_UNIQUE || found.extended_code == SQLITE_CONSTRAINT_PRIMARYKEY
    })
}

fn sqlstate(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(|found| found.code()).map(std::borrow::Cow::into_owned)
}

/// What PostgreSQL answers to a write while it takes none: as a standby, a former primary, or with a full disk.
const READ_ONLY: &str = "25006";

/// Whether the server takes no writes on this connection.
pub(crate) fn is_read_only(error: &sqlx::Error) -> bool {
    sqlstate(error).is_some_and(|state| state == READ_ONLY)
}

/// Whether the server has ended the session, or has let none begin. Then it judged the session, not what was asked:
/// that the session was idle for too long within a transaction, that the server stops or crashed, that it has too many
/// connections, does not know the database or does not let the role in.
fn ended_the_session(error: &sqlx::Error) -> bool {
    let told = error.as_database_error().and_then(|told| told.try_downcast_ref::<PgDatabaseError>());
    told.is_some_and(|told| matches!(told.severity(), PgSeverity::Fatal | PgSeverity::Panic))
}

/// Unavailable is what passes without a change of the statement, the row or this program, so that the same unit may be
/// written later. Broken pages (`XX001`), missing rights and features (`42501`, `0A000`) and statements in a wrong place
/// (the rest of class 25) do not pass.
fn postgres_code(error: &sqlx::Error) -> ErrorCode {
    match sqlstate(error) {
        Some(state) if state == "23505" => ErrorCode::Conflict,
        Some(_) if ended_the_session(error) || is_read_only(error) => ErrorCode::Unavailable,
        Some(state) => match state.get(..2) {
            // Connections, resources (a full disk), locks, shutdown, I/O, and transactions that lost a race.
            Some("08" | "53" | "55" | "57" | "58" | "40") => ErrorCode::Unavailable,
            _ => ErrorCode::Internal,
        },
        None => match error {
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::TypeNotFound { .. }
            | sqlx::Error::Encode(_) => ErrorCode::Internal,
            _ => ErrorCode::Unavailable,
        },
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let code = error.code();
        let message = match (&error, code) {
            (StoreError::Sqlite(_) | StoreError::Postgres(_) | StoreError::Batch(_), ErrorCode::Conflict) => {
                "another one like this exists".to_owned()
            }
            (
                StoreError::Sqlite(_) | StoreError::Postgres(_) | StoreError::Batch(_) | StoreError::Io { .. },
                ErrorCode::Unavailable,
            ) if is_full(&error) => "the database's disk is full: make room, then try again".to_owned(),
            (
                StoreError::Sqlite(_) | StoreError::Postgres(_) | StoreError::Batch(_) | StoreError::Io { .. },
                ErrorCode::Unavailable,
            ) => "the database cannot take this now, try again".to_owned(),
            _ => error.to_string(),
        };
        Self::new(code, message).caused_by(error)
    }
}

impl From<StoreError> for CommitRefused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Fenced => Self::Fenced,
            StoreError::Changed(what) => Self::Changed { what },
            other => Self::Store(other.into()),
        }
    }
}

impl From<StoreError> for ReviewRefused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotWaiting => Self::NotWaiting,
            StoreError::NotFound { .. } => Self::NotFound,
            other => Self::Store(other.into()),
        }
    }
}
