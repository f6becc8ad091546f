// wired by the lead
//! `kybern demo`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::output::Screen;

/// What the demonstration is started with.
pub(crate) struct DemoOptions {
    /// Keep its folder afterwards.
    pub(crate) keep: bool,
    /// The folder it uses; a temporary one when not stated.
    pub(crate) dir: Option<PathBuf>,
    /// Where it shows what happens.
    pub(crate) screen: Screen,
}

/// Runs the main job on the bundled e-mails.
///
/// # Errors
/// When it cannot start.
pub(crate) async fn run(options: DemoOptions) -> anyhow::Result<ExitCode> {
    let terminal = options.screen.is_terminal();
    anyhow::bail!("not wired yet: keep {}, folder {:?}, terminal {terminal}", options.keep, options.dir)
}
