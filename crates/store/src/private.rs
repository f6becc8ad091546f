//! Files and folders for their owner alone (0600 and 0700), whatever the umask is: they hold what customers sent.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::Result;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What the owner's group and everybody else may do.
const OTHERS: u32 = 0o077;

/// Creates a file that was not there. It is its owner's from the moment it exists.
///
/// # Errors
/// When there is a file of that name, or none can be made.
pub fn create_new(path: &Path) -> Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a file, or empties the one that is there.
pub(crate) fn create(path: &Path) -> Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode counts for a new file only.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Makes a folder with those that it lies in.
pub(crate) fn create_dir_all(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a database file before SQLite does, which gives `-wal` and `-shm` the mode that the file has; closes what was
/// made open by an earlier version.
pub(crate) fn prepare(database: &Path) {
    // What cannot be made here cannot be opened by SQLite either, which says so.
    drop(OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(database));
    for suffix in ["", "-wal", "-shm", ".lock", ".files"] {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        close(&PathBuf::from(name));
    }
}

/// Takes a file or a folder that is there away from everybody but its owner.
fn close(path: &Path) {
    let Ok(mode) = path.metadata().map(|found| found.permissions().mode()) else { return };
    if mode & OTHERS == 0 {
        return;
    }
    let (before, after) = (mode & 0o777, mode & 0o777 & !OTHERS);
    let path_shown = path.display();
    match std::fs::set_permissions(path, Permissions::from_mode(after)) {
        Ok(()) => {
            tracing::warn!("{path_shown} could be read by others (mode {before:04o}); its mode is {after:04o} now")
        }
        Err(error) => tracing::warn!(
            %error,
            "{path_shown} can be read by others (mode {before:04o}), which this user cannot change: run chmod go= on it"
        ),
    }
}
