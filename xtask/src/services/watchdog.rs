//! A process that outlives this one by a moment, to take servers down.
//!
//! It is a shell that waits for the end of a pipe. The pipe ends when it is dropped here, and also when this process
//! is killed by Ctrl-C or `kill -9`; so there is one way down, and it always runs. It stands in its own process
//! group, so that a terminal's Ctrl-C does not reach it.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Waits for the pipe's end, asks the process `$1` with the signal `$2`, insists after ten seconds, kills what is
/// left of its group, and deletes the folder `$3`. A process whose state is Z has ended and waits for its parent.
const SCRIPT: &str = r#"
cat >/dev/null
runs() {
    state=$(ps -o stat= -p "$1" 2>/dev/null) || return 1
    case $state in ''|Z*) return 1;; esac
}
kill -s "$2" "$1" 2>/dev/null
tries=0
while runs "$1" && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -s KILL -- "-$1" 2>/dev/null
rm -rf -- "$3"
"#;

/// Takes one server down when it is dropped, or when this process ends in any way.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Watches over the process `pid`, which leads its own group, ends in good order on `signal`, and keeps its
    /// data in `folder`.
    ///
    /// # Errors
    /// When no shell can be started.
    pub(crate) fn over(pid: u32, signal: &str, folder: &Path) -> Result<Self> {
        let child = Command::new("sh")
            .args(["-c", SCRIPT, "kybern-test-watchdog"])
            .arg(pid.to_string())
            .arg(signal)
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start a shell to watch over a test server")?;
        Ok(Self(child))
    }

    /// Lets it begin. It ends by itself.
    pub(crate) fn release(&mut self) {
        drop(self.0.stdin.take());
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.release();
        // It cannot fail in a way that somebody could act on here.
        drop(self.0.wait());
    }
}
