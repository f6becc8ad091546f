//! Runs the tests with their output on the terminal, and reads it on the way.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use anyhow::{Context, Result};

use super::counts::{Counts, plain};
use crate::cargo;

/// What a run of tests said.
#[derive(Debug)]
pub(super) struct Tests {
    /// Whether the runner ended well.
    pub(super) success: bool,
    /// The numbers in its summaries; `None` when it printed none, for instance because nothing compiled.
    pub(super) counts: Option<Counts>,
    /// Its own summary lines.
    pub(super) lines: Vec<String>,
}

/// Runs `cargo ARGS` with the given variables.
///
/// # Errors
/// When cargo cannot be started or its output not be read.
pub(super) fn run(root: &Path, args: &[String], environment: &[(&str, String)]) -> Result<Tests> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = cargo::command(root, &args);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    if std::env::var_os("CARGO_TERM_COLOR").is_none() && std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start cargo")?;
    let (out, err) = (child.stdout.take().context("no output")?, child.stderr.take().context("no output")?);
    // nextest prints its summary on the error stream, cargo test on the other.
    let other = std::thread::spawn(move || copy(err, &mut std::io::stderr()));
    let mut lines = copy(out, &mut std::io::stdout());
    lines.extend(other.join().unwrap_or_default());
    let status: ExitStatus = child.wait().context("cannot wait for cargo")?;
    let counts = lines.iter().filter_map(|line| Counts::read(line)).reduce(Counts::plus);
    Ok(Tests { success: status.success(), counts, lines })
}

/// Copies every line as it comes and keeps the summaries.
fn copy(from: impl Read, to: &mut impl Write) -> Vec<String> {
    let mut summaries = Vec::new();
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        // A closed terminal must not stop the tests.
        drop(to.write_all(&line).and_then(|()| to.flush()));
        let text = plain(&String::from_utf8_lossy(&line));
        if Counts::read(&text).is_some() {
            summaries.push(text.trim_end().to_owned());
        }
        line.clear();
    }
    summaries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_copied_whole_and_summaries_are_kept() {
        let said = "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored\nlast";
        let mut seen = Vec::new();
        let kept = copy(said.as_bytes(), &mut seen);
        assert_eq!(seen, said.as_bytes());
        assert_eq!(kept, ["test result: ok. 1 passed; 0 failed; 0 ignored"]);
    }
}
