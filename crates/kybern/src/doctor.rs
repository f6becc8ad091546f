// wired by the lead
//! `kybern doctor`.

use std::process::ExitCode;

use crate::config::{Config, ConfigError, Secret};
use crate::output::Screen;

/// What is looked at.
pub(crate) struct DoctorOptions {
    /// Every setting, or what is wrong with them.
    pub(crate) config: Result<Config, ConfigError>,
    /// The server that the command line would talk to, when one was named.
    pub(crate) url: Option<String>,
    /// The key that it would use.
    pub(crate) api_key: Option<Secret>,
    /// Answer in JSON.
    pub(crate) json: bool,
    /// Where the answer goes.
    pub(crate) screen: Screen,
}

/// Says what is configured, what is reachable, what is missing and how to fix it.
///
/// # Errors
/// When it cannot even look.
pub(crate) async fn run(options: DoctorOptions) -> anyhow::Result<ExitCode> {
    let key = options.api_key.is_some();
    let sound = options.config.is_ok();
    let terminal = options.screen.is_terminal();
    anyhow::bail!("not wired yet: {:?} {key} {sound} {} {terminal}", options.url, options.json)
}
