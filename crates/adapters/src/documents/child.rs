//! A child process that reads its standard input and writes its standard output, under limits of memory, processor
//! time, output and time on the clock, with an empty environment.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::workers::Stop;

/// How often it is looked at whether the child has ended, and whether anybody still waits for it.
const LOOK: Duration = Duration::from_millis(10);
/// Kilobytes of memory.
const MEMORY: &str = "1048576";

/// Why a child has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChildFault {
    /// It could not be started.
    #[error("cannot be started: {0}")]
    Start(#[source] std::io::Error),
    /// It took too long, or nobody waits for it any more.
    #[error("took longer than {} seconds", .0.as_secs())]
    TooLong(Duration),
    /// It ended with a fault, or was ended by a limit.
    #[error("ended with {0}")]
    Ended(std::process::ExitStatus),
}

/// What a child may take, beside its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Time on the clock, and of the processor.
    pub(super) time: Duration,
    /// Bytes of its output: one that writes more has no answer.
    pub(super) output: u64,
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
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
        drop(self.0.wait());
    }
}

/// Runs a program on this input.
///
/// # Errors
/// When it cannot be started, goes over a limit, is stopped, or fails.
pub(super) fn run(
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    input: &[u8],
    limits: Limits,
    stop: &Stop,
) -> Result<Vec<u8>, ChildFault> {
    let seconds = limits.time.as_secs().max(1).to_string();
    // The shell sets the limits and then becomes the program, so there is one process to end.
    let script = "ulimit -c 0; ulimit -f 0; ulimit -v \"$1\" && ulimit -t \"$2\" && shift 2 && exec \"$@\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh", MEMORY, &seconds]).arg(program).args(arguments);
    command.env_clear().envs(variables.iter().copied()).current_dir("/");
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Killed(command.spawn().map_err(ChildFault::Start)?);
    let (to, from) = (child.0.stdin.take(), child.0.stdout.take());
    std::thread::scope(|scope| {
        // Whoever writes and whoever reads ends when the child does.
        scope.spawn(move || to.is_some_and(|mut to| to.write_all(input).is_ok()));
        let read = scope.spawn(move || {
            let mut output = Vec::new();
            let taken = from.map(|from| from.take(limits.output).read_to_end(&mut output));
            taken.is_some_and(|taken| taken.is_ok()).then_some(output)
        });
        let ended = wait(&mut child.0, limits.time, stop);
        if ended.is_err() {
            child.kill();
        }
        let output = read.join().ok().flatten();
        let status = ended?;
        match output {
            Some(output) if status.success() => Ok(output),
            _ => Err(ChildFault::Ended(status)),
        }
    })
}

fn wait(child: &mut Child, limit: Duration, stop: &Stop) -> Result<std::process::ExitStatus, ChildFault> {
    // Looks are counted rather than the clock asked: they are as long as they say, or longer.
    let mut waited = Duration::ZERO;
    while waited < limit && !stop.is_set() {
        if let Some(status) = child.try_wait().map_err(ChildFault::Start)? {
            return Ok(status);
        }
        std::thread::sleep(LOOK);
        waited += LOOK;
    }
    Err(ChildFault::TooLong(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const OUTPUT: u64 = 16 * 1024 * 1024;

    fn shell(script: &str, input: &[u8], limit: Duration, stop: &Stop) -> Result<Vec<u8>, ChildFault> {
        let limits = Limits { time: limit, output: OUTPUT };
        run(Path::new("/bin/sh"), &["-c", script], &[("KEPT", "yes")], input, limits, stop)
    }

    #[test]
    fn it_answers_and_sees_nothing_of_this_process() {
        let said = shell("cat; echo $KEPT $CARGO_MANIFEST_DIR$HOME", b"input ", LONG, &Stop::default()).unwrap();
        assert_eq!(String::from_utf8(said).unwrap().trim(), "input yes");
    }

    #[test]
    fn large_input_and_output_do_not_wait_for_each_other() {
        let input = vec![b'x'; 4 * 1024 * 1024];
        assert_eq!(shell("cat", &input, LONG, &Stop::default()).unwrap(), input);
    }

    #[test]
    fn it_ends_at_its_limit_of_time() {
        let fault = shell("sleep 600", b"", Duration::from_millis(50), &Stop::default()).unwrap_err();
        assert!(matches!(fault, ChildFault::TooLong(_)), "{fault}");
    }

    #[test]
    fn it_ends_when_nobody_waits_any_more() {
        let fault = shell("sleep 600", b"", LONG, &Stop::set()).unwrap_err();
        assert!(matches!(fault, ChildFault::TooLong(_)), "{fault}");
    }

    #[test]
    fn its_memory_and_its_files_are_limited() {
        let limits = shell("ulimit -v; ulimit -f; ulimit -t", b"", LONG, &Stop::default()).unwrap();
        assert_eq!(String::from_utf8(limits).unwrap().split_whitespace().collect::<Vec<_>>(), [MEMORY, "0", "60"]);
    }

    #[test]
    fn a_fault_and_a_missing_program_are_faults() {
        assert!(matches!(shell("exit 3", b"", LONG, &Stop::default()), Err(ChildFault::Ended(_))));
        let missing =
            run(Path::new("/nonexistent"), &[], &[], b"", Limits { time: LONG, output: OUTPUT }, &Stop::default());
        assert!(matches!(missing, Err(ChildFault::Ended(_))));
    }
}
