//! The key file: made once with mode 0600, and refused when others may read it.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{KEY_BYTES, KeyError, MasterKey};

/// More than any spelling of a key needs.
const MAX_FILE_BYTES: u64 = 1024;

impl MasterKey {
    /// Reads the key from `path`, or makes the file with a fresh key when there is none. Two processes that start
    /// together end with the same key. Blocks on the disk.
    ///
    /// # Errors
    /// When others may read the file, when it holds no key, or when it can be neither read nor made.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
                create(path)?;
                Self::load(path)
            }
            loaded => loaded,
        }
    }

    /// Reads the key from `path`. Blocks on the disk.
    ///
    /// # Errors
    /// When there is no such file, others may read it, or it holds no key.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let mut file = File::open(path).map_err(fault("open", path))?;
        let mode = file.metadata().map_err(fault("examine", path))?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed { path: path.to_owned(), mode });
        }
        let mut text = String::new();
        (&mut file).take(MAX_FILE_BYTES).read_to_string(&mut text).map_err(fault("read", path))?;
        Self::parse(&text, &path.display().to_string())
    }
}

/// Writes a fresh key beside `path` and links it into place, which fails when somebody was faster. So the file is
/// whole from the moment it has its name, and a key that was in use is never overwritten.
fn create(path: &Path) -> Result<(), KeyError> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(KeyError::NoRandomness)?;
    let draft = path.with_extension(format!("{:016x}.new", getrandom::u64().map_err(KeyError::NoRandomness)?));
    let placed = write_synced(&draft, &STANDARD.encode(bytes)).and_then(|()| match std::fs::hard_link(&draft, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    });
    // The draft goes in any case; what matters is whether the file is in place.
    let removed = std::fs::remove_file(&draft);
    placed.and(removed).and_then(|()| sync_folder(path)).map_err(fault("create", path))
}

fn write_synced(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn fault(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> KeyError {
    let path = path.to_owned();
    move |source| KeyError::File { act, path, source }
}
