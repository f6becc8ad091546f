// wired by the lead
//! `kybern key recover`.

use std::process::ExitCode;

use crate::config::Config;
use crate::output::Screen;

/// What a new admin key is made for.
pub(crate) struct RecoverOptions {
    /// Every setting: names the database.
    pub(crate) config: Config,
    /// Where the key is shown, once.
    pub(crate) screen: Screen,
}

/// Makes a new admin key. Whoever can write the database may do this; it is audited.
///
/// # Errors
/// When the database cannot be written.
pub(crate) async fn run(options: RecoverOptions) -> anyhow::Result<ExitCode> {
    let terminal = options.screen.is_terminal();
    anyhow::bail!("not wired yet: {} {terminal}", options.config.database.url)
}
