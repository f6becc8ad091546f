//! One process owns a SQLite file. The lock is on the file itself, so that it holds under every name the file has: a
//! link, a mount, a lock file that was removed. A lock file beside it says which process has it, and keeps out programs
//! from before the lock was on the file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

use crate::error::{Result, StoreError};

/// How often a lock that another has is tried again: whoever only looks who has a file locks it for a moment as well.
const TRIES: u32 = 20;
/// How long after the try before; 200 ms in all.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The lock; given back when it is dropped, also by the death of the process.
pub(crate) struct FileLock {
    // Closed first, and only when SQLite has closed the file: with it go all locks of this process on the file.
    _database: Flock<File>,
    _note: Flock<File>,
}

impl FileLock {
    /// Takes the lock of a database file, and creates it when it is missing. The lock file says which process has it, and
    /// the URL at which that one answers. Blocks for [`TRIES`] when another has it.
    pub(crate) fn take(database: &Path, served_at: Option<&str>) -> Result<Self> {
        let (database, path) = names(database);
        let mut tries = 1..=TRIES;
        let (held, mut note) = loop {
            let mut note = open(&path)?;
            let mut said = String::new();
            // Only for the message; an unreadable lock file is still a lock.
            drop(note.read_to_string(&mut said));
            if let Some(note) = lock(note, &path)?
                && let Some(held) = lock(open(&database)?, &database)?
            {
                break (held, note);
            }
            if tries.next().is_none() {
                let holder = said.lines().next().map(str::trim).filter(|holder| !holder.is_empty());
                return Err(StoreError::InUse { path: database, holder: holder.unwrap_or("unknown").to_owned() });
            }
            std::thread::sleep(BETWEEN_TRIES);
        };
        let noted = note
            .set_len(0)
            .and_then(|()| note.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(note, "{}", std::process::id()))
            .and_then(|()| served_at.map_or(Ok(()), |url| writeln!(note, "{url}")));
        noted.map_err(StoreError::io(format!("writing {}", path.display())))?;
        Ok(Self { _database: held, _note: note })
    }
}

/// The URL at which the process answers that has a database file; `None` when none has it, or when it serves nobody.
#[must_use]
pub fn served_at(database: &Path) -> Option<String> {
    note_of_holder(database)?.lines().nth(1).map(|url| url.trim().to_owned()).filter(|url| !url.is_empty())
}

/// The process that has a database file; `None` when none has it.
#[must_use]
pub fn holder(database: &Path) -> Option<String> {
    note_of_holder(database)?.lines().next().map(|holder| holder.trim().to_owned()).filter(|holder| !holder.is_empty())
}

/// What the process has noted that has a file.
fn note_of_holder(database: &Path) -> Option<String> {
    let (_database, path) = names(database);
    let mut note = File::open(path).ok()?;
    let mut said = String::new();
    note.read_to_string(&mut said).ok()?;
    // A process that was killed has left its note behind, and somebody else may have its port by now. A lock of this kind
    // can be seen only by trying to take it: for that moment a start finds the file taken, and tries again.
    Flock::lock(note, FlockArg::LockSharedNonblock).is_err().then_some(said)
}

/// A database's file itself, whatever link it is reached by, and the lock file that stands beside it.
fn names(database: &Path) -> (PathBuf, PathBuf) {
    let database = std::fs::canonicalize(database).unwrap_or_else(|_missing| database.to_owned());
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    (database, PathBuf::from(name))
}

fn open(path: &Path) -> Result<File> {
    let mut options = std::fs::OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(StoreError::io(format!("opening {}", path.display())))
}

/// Locks a file; `None` when another has it. SQLite's own locks are of another kind, and neither sees the other.
fn lock(file: File, path: &Path) -> Result<Option<Flock<File>>> {
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(held) => Ok(Some(held)),
        Err((_, nix::errno::Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(StoreError::io(format!("locking {}", path.display()))(errno.into())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn looking_who_has_a_file_keeps_nobody_from_taking_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kybern.db");
        let looked = AtomicBool::new(true);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while looked.load(Ordering::Relaxed) {
                    drop(holder(&file));
                }
            });
            let refused = (0..200).find_map(|_| FileLock::take(&file, None).err());
            looked.store(false, Ordering::Relaxed);
            assert!(refused.is_none(), "{refused:?}");
        });
    }
}
