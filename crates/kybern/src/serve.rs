// wired by the lead
//! `kybern serve`.

use std::process::ExitCode;

use crate::config::Config;

/// What `serve` is started with.
pub(crate) struct ServeOptions {
    /// Every setting.
    pub(crate) config: Config,
}

/// Serves until SIGTERM or Ctrl-C.
///
/// # Errors
/// When it cannot start.
pub(crate) async fn run(options: ServeOptions) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not wired yet: would listen on {}", options.config.server.listen)
}
