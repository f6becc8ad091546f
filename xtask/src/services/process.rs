//! A server's process, from its start to its end.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::cache::Nobody;
use super::watchdog::Watchdog;
use crate::clock::Stopwatch;

/// How long a server may take to answer for the first time.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often it is asked.
const POLL: Duration = Duration::from_millis(50);

/// How much of a server's log an error shows.
const LOG_TAIL_LINES: usize = 15;

/// A server that answers. Its drop takes it down and deletes its data.
#[derive(Debug)]
pub(crate) struct RunningService {
    environment: Vec<(&'static str, String)>,
    about: String,
    /// `None` for a program that tests start themselves.
    server: Option<Server>,
}

impl RunningService {
    /// A server with the variables through which tests find it, and a line about it.
    pub(crate) fn new(server: Server, about: String, environment: Vec<(&'static str, String)>) -> Self {
        Self { environment, about, server: Some(server) }
    }

    /// A program that tests start themselves.
    pub(crate) fn installed(about: String, environment: Vec<(&'static str, String)>) -> Self {
        Self { environment, about, server: None }
    }

    /// The variables for the tests.
    pub(crate) fn environment(&self) -> &[(&'static str, String)] {
        &self.environment
    }

    /// What runs, and where.
    pub(crate) fn about(&self) -> &str {
        &self.about
    }

    /// Whether the process is still there; a server that crashed under the tests explains their failures.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.server.as_mut().is_none_or(|server| matches!(server.child.try_wait(), Ok(None)))
    }
}

/// A process with its folder and its watchdog.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    watchdog: Watchdog,
    log: PathBuf,
}

impl Server {
    /// Starts a command in a group of its own, with its output in `folder/server.log`. It ends on `signal`, and its
    /// folder with it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(mut command: Command, signal: &str, folder: &Path) -> Result<Self> {
        let started = Self::start_in(&mut command, signal, folder);
        if started.is_err() {
            // Nothing runs that would delete it.
            drop(fs::remove_dir_all(folder));
        }
        started
    }

    fn start_in(command: &mut Command, signal: &str, folder: &Path) -> Result<Self> {
        let log = folder.join("server.log");
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let errors = output.try_clone().context("cannot share the log")?;
        command.current_dir(folder).stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", spelled(command)))?;
        match Watchdog::over(child.id(), signal, folder) {
            Ok(watchdog) => Ok(Self { child, watchdog, log }),
            Err(error) => {
                drop(child.kill());
                drop(child.wait());
                Err(error)
            }
        }
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `ready` says yes.
    ///
    /// # Errors
    /// When the process ends before, or it takes too long. The message shows the end of its log.
    pub(crate) fn wait_until(&mut self, ready: impl Fn() -> bool) -> Result<()> {
        let watch = Stopwatch::start();
        loop {
            if let Some(status) = self.child.try_wait().context("cannot ask for a server's state")? {
                bail!("it ended with {status} before it answered:\n{}", self.log_tail());
            }
            if ready() {
                return Ok(());
            }
            if watch.elapsed() > START_LIMIT {
                bail!("it did not answer within {} s:\n{}", START_LIMIT.as_secs(), self.log_tail());
            }
            std::thread::sleep(POLL);
        }
    }

    fn log_tail(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.watchdog.release();
        // The child must be collected while the watchdog waits for its end; only then is the watchdog done.
        drop(self.child.wait());
    }
}

/// A command that runs as the servers' user: through setpriv where the caller is root.
pub(crate) fn as_server_user(program: &Path, user: Option<Nobody>) -> Command {
    let Some(Nobody { user, group }) = user else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={user}")).arg(format!("--regid={group}")).arg("--clear-groups").arg(program);
    command
}

/// Runs a command to its end and returns what it printed.
///
/// # Errors
/// When it cannot be started or fails; the message carries what it printed.
pub(crate) fn finish(mut command: Command) -> Result<String> {
    let name = spelled(&command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {name}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{name} ended with {}:\n{}{}", output.status, printed, errors.trim_end());
    }
    Ok(printed)
}

/// Runs `apt-get update`, or `apt-get install` with packages, without a question.
///
/// # Errors
/// When it fails; the message carries what it printed.
pub(crate) fn apt_get(what: &str, packages: &[&str]) -> Result<()> {
    let mut apt = Command::new("apt-get");
    apt.args([what, "-qq", "-y", "--no-install-recommends"]).args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    finish(apt).map(drop)
}

fn spelled(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::cache;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_dropped_server_is_gone_with_its_children_and_its_folder() {
        let folder = cache::fresh("unit-server").unwrap();
        let script = "sleep 300 & echo $! > child; touch ready; trap 'exit 0' TERM; wait";
        let mut server = Server::start(shell(script), "TERM", &folder).unwrap();
        let ready = folder.join("ready");
        server.wait_until(|| ready.exists()).unwrap();
        let grandchild = fs::read_to_string(folder.join("child")).unwrap();
        drop(server);
        assert!(!folder.exists());
        let state = finish(shell(&format!("ps -o stat= -p {} || echo gone", grandchild.trim()))).unwrap();
        assert!(state.contains("gone") || state.starts_with('Z'), "{state}");
    }

    #[test]
    fn a_server_that_ends_early_shows_its_log() {
        let folder = cache::fresh("unit-early").unwrap();
        let mut server = Server::start(shell("echo no room; exit 3"), "TERM", &folder).unwrap();
        let error = server.wait_until(|| false).unwrap_err().to_string();
        assert!(error.contains("no room") && error.contains('3'), "{error}");
    }

    #[test]
    fn a_failed_command_says_which_and_why() {
        let error = finish(shell("echo why >&2; exit 1")).unwrap_err().to_string();
        assert!(error.contains("sh -c") && error.contains("why"), "{error}");
    }
}
