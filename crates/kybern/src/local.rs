// wired by the lead
//! A server inside this process, for a verb that finds none running.

use crate::config::{Config, Secret};

/// What it is started with.
pub(crate) struct LocalOptions {
    /// Every setting; it listens on a loopback port of its own choice.
    pub(crate) config: Config,
}

/// A server inside this process.
pub(crate) struct LocalServer {
    /// Where it listens.
    pub(crate) url: String,
    /// A key that may do everything in the tenant `default`.
    pub(crate) key: Secret,
}

impl LocalServer {
    /// Gives back what is running, and ends.
    pub(crate) async fn close(self) {}
}

/// Opens the database and serves it on a loopback port.
///
/// # Errors
/// When the database cannot be opened, or another process owns it.
pub(crate) async fn open(options: LocalOptions) -> anyhow::Result<LocalServer> {
    anyhow::bail!("not wired yet: would open {}", options.config.database.url)
}
