//! Where the checkout lies.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The workspace's root: the parent of this crate's folder, also when called from elsewhere.
///
/// # Errors
/// When the folder has no parent.
pub(crate) fn find() -> Result<PathBuf> {
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let root = Path::new(&here).parent().context("xtask lies in no workspace")?;
    Ok(root.to_path_buf())
}
