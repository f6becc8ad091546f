//! Calling cargo from inside cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Variables that `cargo run` sets for this process. Handed on, they would make build scripts that watch them run
/// again, and so rebuild crates that have not changed.
const OWN_VARIABLES: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// A cargo call in `root`, with the environment of a call from the shell.
pub(crate) fn command(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(args);
    for (name, _) in std::env::vars_os() {
        let own = name.to_str().is_some_and(|name| OWN_VARIABLES.iter().any(|own| name.starts_with(own)));
        if own {
            command.env_remove(name);
        }
    }
    command
}

/// The folder that cargo builds into.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Whether `cargo NAME --version` works: the component or the plug-in is installed.
pub(crate) fn has(root: &Path, name: &str) -> bool {
    command(root, &[name, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The machine's own triple.
///
/// # Errors
/// When the compiler cannot be asked.
pub(crate) fn host() -> Result<String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).arg("-vV").output().context("cannot start rustc")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}
