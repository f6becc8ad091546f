//! Standard output: the one place that writes to it. A reader that has gone away, as `head` does, is no failure; any
//! other write that fails is remembered, and the verb ends with it.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};

use super::failure::Failure;
use super::paint::Paint;
use crate::config::Environment;

/// Where output goes, and how it may look.
pub(crate) struct Screen {
    out: Box<dyn Write + Send>,
    paint: Paint,
    terminal: bool,
    interactive: bool,
    fault: Fault,
}

/// The first write that failed, on whichever screen of this process.
#[derive(Clone, Default)]
struct Fault(Arc<OnceLock<io::Error>>);

impl Screen {
    /// Standard output. `NO_COLOR` and `TERM=dumb` turn colours off; `COLUMNS` says how wide the terminal is.
    pub(crate) fn stdout(env: &Environment) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = terminal && env.get("NO_COLOR").is_none() && env.get("TERM") != Some("dumb");
        Self {
            out: Box::new(io::stdout()),
            paint: Paint::new(color).with_width(if terminal { columns(env) } else { None }),
            terminal,
            interactive: terminal && io::stdin().is_terminal(),
            fault: Fault::default(),
        }
    }

    /// Standard output once more, for a part that runs by itself. What fails there has failed here.
    pub(crate) fn another(&self) -> Self {
        Self { out: Box::new(io::stdout()), fault: self.fault.clone(), ..*self }
    }

    /// The same screen for whoever tells by itself what could not be written, so that it is not told twice.
    pub(crate) fn apart(self) -> Self {
        Self { fault: Fault::default(), ..self }
    }

    /// Whether a person is looking: then progress is shown.
    pub(crate) const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether a person can be asked.
    pub(crate) const fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Colours, or none.
    pub(crate) const fn paint(&self) -> Paint {
        self.paint
    }

    /// Whether nothing more can be written: the reader has gone away, or a write failed.
    pub(crate) fn is_broken(&self) -> bool {
        self.fault.0.get().is_some()
    }

    /// Writes a line. When nobody reads any more, nothing happens.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.write(text.as_ref().as_bytes(), true);
    }

    /// Writes a text that ends where it ends.
    pub(crate) fn text(&mut self, text: impl AsRef<str>) {
        self.write(text.as_ref().as_bytes(), false);
    }

    /// Writes bytes as they are: what somebody sends into a file or another program.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.write(bytes, false);
    }

    /// Whether all that was printed has arrived, or nobody wanted to read it to its end.
    ///
    /// # Errors
    /// The first write that failed.
    pub(crate) fn written(&self) -> Result<(), Failure> {
        match self.fault.0.get() {
            Some(fault) if fault.kind() != io::ErrorKind::BrokenPipe => Err(lost(fault, None)),
            _well => Ok(()),
        }
    }

    /// The same after a secret was printed that cannot be shown again: it is lost also where its reader has gone away.
    ///
    /// # Errors
    /// The first write that failed, with the remedy.
    pub(crate) fn secret_written(&self, remedy: impl Into<String>) -> Result<(), Failure> {
        self.fault.0.get().map_or(Ok(()), |fault| Err(lost(fault, Some(remedy.into()))))
    }

    fn write(&mut self, bytes: &[u8], newline: bool) {
        if self.is_broken() {
            return;
        }
        let result = self.out.write_all(bytes);
        let result = result.and_then(|()| if newline { self.out.write_all(b"\n") } else { Ok(()) });
        if let Err(error) = result.and_then(|()| self.out.flush()) {
            // The first one counts.
            self.fault.0.set(error).unwrap_or_default();
        }
    }
}

/// How wide the terminal is, as the environment or the terminal says.
fn columns(env: &Environment) -> Option<usize> {
    let said = env.get("COLUMNS").and_then(|columns| columns.parse().ok());
    let asked = || console::Term::stdout().size_checked().map(|(_rows, columns)| usize::from(columns));
    said.or_else(asked).filter(|columns| *columns > 0)
}

fn lost(fault: &io::Error, remedy: Option<String>) -> Failure {
    Failure::Output { problem: fault.to_string(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that fails so.
    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn screen(kind: io::ErrorKind) -> Screen {
        Screen { out: Box::new(Failing(kind)), ..Screen::stdout(&Environment::default()) }
    }

    #[test]
    fn a_write_that_fails_is_told_and_a_reader_that_left_is_not() {
        let mut full = screen(io::ErrorKind::StorageFull);
        full.written().unwrap();
        full.line("one");
        assert!(full.is_broken() && full.another().written().is_err());
        let mut left = screen(io::ErrorKind::BrokenPipe);
        left.line("one");
        assert!(left.is_broken() && left.written().is_ok());
    }

    #[test]
    fn a_secret_is_lost_also_when_its_reader_left() {
        let mut left = screen(io::ErrorKind::BrokenPipe);
        left.line("secret");
        assert!(left.secret_written("revoke it").is_err());
    }
}
