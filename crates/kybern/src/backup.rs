// wired by the lead
//! `kybern backup` and `kybern restore`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::Config;

/// What a backup is made of.
pub(crate) struct BackupOptions {
    /// Every setting: names the database.
    pub(crate) config: Config,
    /// The file that is written.
    pub(crate) file: PathBuf,
}

/// What is restored.
pub(crate) struct RestoreOptions {
    /// Every setting: names the database.
    pub(crate) config: Config,
    /// The file that is read.
    pub(crate) file: PathBuf,
    /// Replace a database that is there already.
    pub(crate) replace: bool,
}

/// Writes everything into one file.
///
/// # Errors
/// When the database cannot be read or the file cannot be written.
pub(crate) async fn backup(options: BackupOptions) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not wired yet: {} to {}", options.config.database.url, options.file.display())
}

/// Makes a database out of a backup.
///
/// # Errors
/// When the file is no backup, or a database is there and may not be replaced.
pub(crate) async fn restore(options: RestoreOptions) -> anyhow::Result<ExitCode> {
    let (database, replace) = (options.config.database.url, options.replace);
    anyhow::bail!("not wired yet: {} to {database}, replace {replace}", options.file.display())
}
