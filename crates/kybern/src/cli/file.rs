//! Files that verbs write.

use std::path::{Path, PathBuf};

use crate::output::Failure;

/// Refuses a file that is there already, unless somebody said to write over it.
///
/// # Errors
/// [`Failure::Usage`]
pub(super) fn may_write(out: &Path, force: bool) -> Result<(), Failure> {
    if force || std::fs::symlink_metadata(out).is_err() {
        return Ok(());
    }
    let remedy = "name another one with --out, or write over it with --force";
    Err(Failure::usage(format!("{} is there already", out.display()), remedy))
}

/// Writes a file for its owner alone, under another name first: what cannot be written to its end is not there, and what
/// was there stays.
///
/// # Errors
/// [`Failure::Usage`] when it is there already and nobody said to write over it; a write that failed.
pub(super) fn write(out: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::Other(anyhow::anyhow!("{} cannot be written: {error}", out.display()));
    may_write(out, force)?;
    let found = std::fs::symlink_metadata(out).ok();
    // A device or a pipe is written to, and a link followed; neither is replaced.
    let target = std::fs::canonicalize(out).unwrap_or_else(|_missing| out.to_owned());
    if found.is_some() && !target.is_file() {
        return fill(&target, bytes).map_err(failed);
    }
    let mut part = target.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = fill(&part, bytes).and_then(|()| std::fs::rename(&part, &target));
    written.map_err(|error| {
        // What is wrong has been found; a leftover only takes space.
        std::fs::remove_file(&part).unwrap_or_default();
        failed(error)
    })
}

fn fill(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    // Strangers wrote it, and it may be of one customer: its owner alone reads it.
    let opened = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    opened.and_then(|mut file| file.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_written_over_unless_it_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("a.pdf");
        write(&out, b"one", false).unwrap();
        assert!(write(&out, b"two", false).unwrap_err().is_usage());
        write(&out, b"three", true).unwrap();
        assert_eq!(std::fs::read(&out).unwrap(), b"three");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_and_a_device_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(&folder.path().join("missing/a.pdf"), b"one", false).is_err());
        write(Path::new("/dev/null"), b"one", true).unwrap();
        assert!(write(Path::new("/dev/full"), b"one", true).unwrap_err().to_string().contains("cannot be written"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
