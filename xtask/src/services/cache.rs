//! Folders outside the clone: one for downloads that lasts, and a fresh one for each server's data.
//!
//! PostgreSQL refuses to run as root. Where this process is root, servers run as `nobody`, who must be able to walk
//! to their files; a folder below a closed home does not do.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Who runs the servers, where that is not the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nobody {
    /// The user's number.
    pub(crate) user: u32,
    /// The group's number.
    pub(crate) group: u32,
}

/// The user who runs servers: `None` is the caller, who is not root.
///
/// # Errors
/// When the caller is root and there is no user `nobody`.
pub(crate) fn server_user() -> Result<Option<Nobody>> {
    if !is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd to find the user nobody")?;
    let nobody = users.lines().find_map(nobody_in);
    nobody.map(Some).context("there is no user nobody; run as a user who is not root")
}

fn nobody_in(line: &str) -> Option<Nobody> {
    let fields: Vec<&str> = line.split(':').collect();
    match fields.as_slice() {
        ["nobody", _, user, group, ..] => Some(Nobody { user: user.parse().ok()?, group: group.parse().ok()? }),
        _ => None,
    }
}

/// Whether this process runs as root: then its own entry in `/proc` belongs to root.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

/// The folder for downloads, made if missing: `$KYBERN_CACHE`, else `$XDG_CACHE_HOME/kybern`, else
/// `~/.cache/kybern`; for root `/var/cache/kybern`, unless `$KYBERN_CACHE` names another that everybody can reach.
///
/// # Errors
/// When there is no such folder, or the servers' user could not reach it.
pub(crate) fn downloads() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = if let Some(folder) = set("KYBERN_CACHE") {
        folder
    } else if is_root() {
        PathBuf::from("/var/cache/kybern")
    } else if let Some(folder) = set("XDG_CACHE_HOME") {
        folder.join("kybern")
    } else {
        let home = set("HOME").context("neither KYBERN_CACHE nor HOME is set; set KYBERN_CACHE to a folder")?;
        home.join(".cache/kybern")
    };
    let folder = std::path::absolute(&folder).with_context(|| format!("cannot place {}", folder.display()))?;
    make(&folder, 0o755)?;
    if is_root() && !everybody_reaches(&folder) {
        bail!(
            "{} cannot be reached by the user nobody, who runs the servers; set KYBERN_CACHE to a folder that can",
            folder.display()
        );
    }
    Ok(folder)
}

/// Holds the installation of that name in the folder until it is dropped; whoever comes meanwhile waits.
///
/// # Errors
/// When the lock cannot be had.
pub(crate) fn lock(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join(format!("{name}.lock"));
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// A fresh folder for one server's data, whose parents everybody can walk.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn fresh(name: &str) -> Result<PathBuf> {
    let wanted = std::env::temp_dir();
    let base = if is_root() && !everybody_reaches(&wanted) { PathBuf::from("/var/tmp") } else { wanted };
    for attempt in 0..1000_u32 {
        let folder = base.join(format!("kybern-{name}-{}-{attempt}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => {
                fs::set_permissions(&folder, Permissions::from_mode(0o755))
                    .with_context(|| format!("cannot open {}", folder.display()))?;
                return Ok(folder);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot make {}", folder.display()));
            }
        }
    }
    bail!("{} is full of folders of earlier runs; delete its kybern-{name}-*", base.display())
}

/// Makes a folder with its parents, and gives it the mode. A folder that is there already is left as it is.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make(folder: &Path, mode: u32) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)
        .and_then(|()| fs::set_permissions(folder, Permissions::from_mode(mode)))
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// Whether everybody may walk through the folder and all its parents.
fn everybody_reaches(folder: &Path) -> bool {
    folder.ancestors().all(|part| fs::metadata(part).is_ok_and(|meta| meta.mode() & 0o001 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_found_in_a_list_of_users() {
        let line = "nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin";
        assert_eq!(nobody_in(line), Some(Nobody { user: 65534, group: 65533 }));
        assert_eq!(nobody_in("daemon:x:1:1::/:"), None);
    }

    #[test]
    fn a_closed_parent_is_noticed() {
        let folder = fresh("unit-test").unwrap();
        let inner = folder.join("closed/inner");
        make(&inner, 0o755).unwrap();
        assert_eq!(everybody_reaches(&inner), everybody_reaches(&folder));
        fs::set_permissions(folder.join("closed"), Permissions::from_mode(0o700)).unwrap();
        assert!(!everybody_reaches(&inner));
        fs::remove_dir_all(&folder).unwrap();
    }
}
