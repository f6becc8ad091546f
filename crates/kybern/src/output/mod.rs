//! What people see: short lines, aligned tables, and what to do next.
//!
//! Texts that come from mail or documents are shown without control characters, so that none of them can move the
//! cursor or fake a line.

mod failure;
mod log;
mod message;
mod paint;
mod papers;
mod progress;
mod read;
mod schema;
mod table;
mod task;
mod text;
mod waits;

use std::io::{self, IsTerminal, Write};

pub(crate) use failure::{Failure, report};
pub(crate) use log::{line as log_line, table as log_table};
pub(crate) use message::message as render_message;
pub(crate) use paint::Paint;
pub(crate) use papers::{Paper, papers};
pub(crate) use progress::Progress;
pub(crate) use read::read_table;
pub(crate) use schema::{Field, fields};
pub(crate) use table::{Cell, MAX_COLUMN, Table};
pub(crate) use task::{TaskView, plan as plan_of, read as render_read, render as render_task};
pub(crate) use text::{clean, count, field, in_full, moment, short, span};
pub(crate) use waits::{person_waits, waits as render_waits};

use crate::config::Environment;

/// Where output goes, and how it may look.
pub(crate) struct Screen {
    out: Box<dyn Write + Send>,
    paint: Paint,
    terminal: bool,
    interactive: bool,
    broken: bool,
}

impl Screen {
    /// Standard output. `NO_COLOR` and `TERM=dumb` turn colours off.
    pub(crate) fn stdout(env: &Environment) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = terminal && env.get("NO_COLOR").is_none() && env.get("TERM") != Some("dumb");
        Self {
            out: Box::new(io::stdout()),
            paint: Paint::new(color),
            terminal,
            interactive: terminal && io::stdin().is_terminal(),
            broken: false,
        }
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

    /// Whether the reader has gone away, as `head` does.
    pub(crate) const fn is_broken(&self) -> bool {
        self.broken
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

    fn write(&mut self, bytes: &[u8], newline: bool) {
        let result = self.out.write_all(bytes);
        let result = result.and_then(|()| if newline { self.out.write_all(b"\n") } else { Ok(()) });
        if result.and_then(|()| self.out.flush()).is_err() {
            self.broken = true;
        }
    }
}
