//! One process owns a SQLite file: a lock file beside it says which.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use crate::error::{Result, StoreError};

/// The lock; given back when it is dropped, also by the death of the process.
pub(crate) struct FileLock {
    _held: Flock<std::fs::File>,
}

impl FileLock {
    /// Takes the lock of a database file.
    pub(crate) fn take(database: &Path) -> Result<Self> {
        let mut name = database.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let mut file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(StoreError::io(format!("opening {}", path.display())))?;
        let mut holder = String::new();
        // Only for the message; an unreadable lock file is still a lock.
        if file.read_to_string(&mut holder).is_err() || holder.trim().is_empty() {
            holder = "unknown".to_owned();
        }
        let mut held = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => held,
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
                return Err(StoreError::InUse { path: database.to_owned(), holder: holder.trim().to_owned() });
            }
            Err((_, errno)) => return Err(StoreError::io(format!("locking {}", path.display()))(errno.into())),
        };
        let noted = held
            .set_len(0)
            .and_then(|()| held.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(held, "{}", std::process::id()));
        noted.map_err(StoreError::io(format!("writing {}", path.display())))?;
        Ok(Self { _held: held })
    }
}
