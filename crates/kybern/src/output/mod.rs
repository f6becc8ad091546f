//! What people see: short lines, aligned tables, and what to do next.
//!
//! Texts that come from mail or documents are shown without control characters, so that none of them can move the
//! cursor or fake a line.

mod aside;
mod command;
mod failure;
mod log;
mod message;
mod paint;
mod papers;
mod progress;
mod read;
mod schema;
mod screen;
mod table;
mod task;
mod text;
mod waits;

pub(crate) use kybern_core::count::count;

pub(crate) use aside::{aside, secret_aside};
pub(crate) use command::{called_with, kybern, kybern_here, quoted};
pub(crate) use failure::{Failure, FailureFormat};
pub(crate) use log::{line as log_line, table as log_table};
pub(crate) use message::message as render_message;
pub(crate) use paint::Paint;
pub(crate) use papers::{AskedPaper, papers};
pub(crate) use progress::Progress;
pub(crate) use read::read_table;
pub(crate) use schema::{Field, fields};
pub(crate) use screen::Screen;
pub(crate) use table::{Cell, MAX_COLUMN, Table};
pub(crate) use task::{
    TaskView, UNREADABLE, plan as plan_of, read as render_read, remedy_of_unreadable, render as render_task, unreadable,
};
pub(crate) use text::{clean, field, in_full, moment, short, span};
pub(crate) use waits::{person_waits, waits as render_waits};
