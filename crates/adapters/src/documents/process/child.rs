//! A child process under limits of time and output, with an empty environment and a group of its own.
//!
//! What runs a program of others ([`run`]) also limits its memory. What starts this program ([`converse`]) leaves that to
//! it ([`super::confine`]), and talks with it for as long as both have something to say.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::workers::StopFlag;

/// How often it is looked at whether anybody still waits for the child.
const LOOK: Duration = Duration::from_millis(10);
/// How often it is looked at whether a child has ended that has said all, and how long it has for that.
const LAST_LOOK: Duration = Duration::from_millis(1);
const GOODBYE: Duration = Duration::from_secs(5);
/// Kilobytes of memory.
const MEMORY: &str = "1048576";
/// How Rust's standard library says that there is no memory, before it aborts.
const NO_MEMORY: &str = "memory allocation of ";
/// Bytes of what a child may say of its end.
const LAST_WORDS: u64 = 4 * 1024;

/// Why a child has no answer.
#[derive(Debug, thiserror::Error)]
pub(in crate::documents) enum ChildFault {
    /// It could not be started.
    #[error("cannot be started: {0}")]
    Start(#[source] io::Error),
    /// It took too long, or nobody waits for it any more.
    #[error("took longer than {} seconds", .0.as_secs())]
    TooLong(Duration),
    /// It needed more memory than it may have.
    #[error("needed more memory than it may have")]
    OutOfMemory,
    /// It ended with a fault, was ended by a limit, or said what it may not.
    #[error("ended with {0}")]
    Ended(ExitStatus),
}

/// What a child may take, beside its memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::documents) struct Limits {
    /// Time on the clock, and of the processor.
    pub(in crate::documents) time: Duration,
    /// Bytes of its output: one that writes more has no answer.
    pub(in crate::documents) output: u64,
}

/// Kills the child with all that it started when it is dropped, whatever happened: nothing of it goes on.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        // Until it has been waited for, its number and that of its group are nobody else's.
        if matches!(self.0.try_wait(), Ok(None))
            && let Ok(group) = i32::try_from(self.0.id())
        {
            // There is nothing left to kill where this fails.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }

    fn killed(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.0.wait()
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.killed());
    }
}

/// Runs a program on this input.
///
/// # Errors
/// When it cannot be started, goes over a limit, is stopped, or fails.
pub(in crate::documents) fn run(
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    input: &[u8],
    limits: Limits,
    stop: &StopFlag,
) -> Result<Vec<u8>, ChildFault> {
    let seconds = limits.time.as_secs().max(1).to_string();
    // The shell sets the limits and then becomes the program, so there is one process to end. macOS limits no memory.
    let script = "ulimit -c 0; ulimit -f 0; { ulimit -v \"$1\" 2>/dev/null || [ \"$(uname)\" = Darwin ]; } \
                  && ulimit -t \"$2\" && shift 2 && exec \"$@\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh", MEMORY, &seconds]).arg(program).args(arguments);
    command.envs(variables.iter().copied()).stderr(Stdio::null());
    converse(command, limits.time, stop, |mut to, from| {
        std::thread::scope(|scope| {
            // Whoever writes ends when the child does.
            scope.spawn(move || to.write_all(input).is_ok());
            let mut output = Vec::new();
            from.take(limits.output).read_to_end(&mut output)?;
            Ok(output)
        })
    })
}

/// Starts a program and talks with it: `talk` has what it reads and what it writes, and has ended when it ends.
///
/// # Errors
/// As for [`run`], and when `talk` fails.
pub(in crate::documents) fn converse<T: Send>(
    mut command: Command,
    time: Duration,
    stop: &StopFlag,
    talk: impl FnOnce(ChildStdin, ChildStdout) -> io::Result<T> + Send,
) -> Result<T, ChildFault> {
    let variables: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    command.env_clear().envs(variables.into_iter().filter_map(|(name, value)| Some((name, value?)))).current_dir("/");
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = Killed(command.spawn().map_err(ChildFault::Start)?);
    let (Some(to), Some(from)) = (child.0.stdin.take(), child.0.stdout.take()) else {
        return Err(ChildFault::Start(io::ErrorKind::BrokenPipe.into()));
    };
    let last_words = child.0.stderr.take();
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        scope.spawn(move || drop(tell.send(talk(to, from))));
        // Looks are counted rather than the clock asked: they are as long as they say, or longer.
        let (mut waited, mut said) = (Duration::ZERO, None);
        while said.is_none() && waited < time && !stop.is_set() {
            said = match told.recv_timeout(LOOK) {
                Ok(said) => Some(said.ok()),
                Err(mpsc::RecvTimeoutError::Timeout) => None,
                Err(mpsc::RecvTimeoutError::Disconnected) => Some(None),
            };
            waited += LOOK;
        }
        let Some(said) = said else {
            child.kill();
            return Err(ChildFault::TooLong(time));
        };
        let status = ended(&mut child).map_err(ChildFault::Start)?;
        match said {
            Some(said) if status.success() => Ok(said),
            _ => Err(fault(status, last_words, time)),
        }
    })
}

/// How a child ended that has said all. One that does not end is ended.
fn ended(child: &mut Killed) -> io::Result<ExitStatus> {
    let mut waited = Duration::ZERO;
    while waited < GOODBYE {
        if let Some(status) = child.0.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(LAST_LOOK);
        waited += LAST_LOOK;
    }
    child.killed()
}

fn fault(status: ExitStatus, last_words: Option<ChildStderr>, time: Duration) -> ChildFault {
    if status.signal() == Some(Signal::SIGXCPU as i32) {
        return ChildFault::TooLong(time);
    }
    // Only whether it says this is looked at: what it says may be of the document.
    let mut words = Vec::new();
    drop(last_words.map(|from| from.take(LAST_WORDS).read_to_end(&mut words)));
    if String::from_utf8_lossy(&words).contains(NO_MEMORY) {
        ChildFault::OutOfMemory
    } else {
        ChildFault::Ended(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const OUTPUT: u64 = 16 * 1024 * 1024;

    fn shell(script: &str, input: &[u8], limit: Duration, stop: &StopFlag) -> Result<Vec<u8>, ChildFault> {
        let limits = Limits { time: limit, output: OUTPUT };
        run(Path::new("/bin/sh"), &["-c", script], &[("KEPT", "yes")], input, limits, stop)
    }

    #[test]
    fn it_answers_and_sees_nothing_of_this_process() {
        let said = shell("cat; echo $KEPT $CARGO_MANIFEST_DIR$HOME", b"input ", LONG, &StopFlag::default()).unwrap();
        assert_eq!(String::from_utf8(said).unwrap().trim(), "input yes");
    }

    #[test]
    fn large_input_and_output_do_not_wait_for_each_other() {
        let input = vec![b'x'; 4 * 1024 * 1024];
        assert_eq!(shell("cat", &input, LONG, &StopFlag::default()).unwrap(), input);
    }

    #[test]
    fn it_ends_at_its_limit_of_time() {
        let fault = shell("sleep 600", b"", Duration::from_millis(50), &StopFlag::default()).unwrap_err();
        assert!(matches!(fault, ChildFault::TooLong(_)), "{fault}");
    }

    #[test]
    fn it_ends_when_nobody_waits_any_more() {
        let fault = shell("sleep 600", b"", LONG, &StopFlag::set()).unwrap_err();
        assert!(matches!(fault, ChildFault::TooLong(_)), "{fault}");
    }

    #[test]
    fn its_memory_and_its_files_are_limited() {
        let limits = shell("ulimit -v; ulimit -f; ulimit -t", b"", LONG, &StopFlag::default()).unwrap();
        assert_eq!(String::from_utf8(limits).unwrap().split_whitespace().collect::<Vec<_>>(), [MEMORY, "0", "60"]);
    }

    #[test]
    fn a_fault_and_a_missing_program_are_faults() {
        assert!(matches!(shell("exit 3", b"", LONG, &StopFlag::default()), Err(ChildFault::Ended(_))));
        let missing =
            run(Path::new("/nonexistent"), &[], &[], b"", Limits { time: LONG, output: OUTPUT }, &StopFlag::default());
        assert!(matches!(missing, Err(ChildFault::Ended(_))));
    }
}
