//! `kybern task`: everything that arrives.

mod ask;
mod ask_papers;
mod attachment;
mod control;
mod follow;
mod fork;
mod review;
mod show;
mod submit;

use clap::{Subcommand, ValueEnum};
use kybern_core::id::TaskId;
use kybern_core::task::{Channel, TaskStatus};
use serde_json::Value;

use super::list::{List, Page};
use super::{Context, Exit, Format, input};
use crate::output::Failure;

pub(super) use show::matter;

/// `kybern task …`
#[derive(Subcommand, Debug)]
pub(super) enum TaskCommand {
    /// Submit an e-mail or a text
    Submit(submit::SubmitArgs),
    /// List tasks, newest first
    List {
        /// Only of that status
        #[arg(long, value_parser = status)]
        status: Option<TaskStatus>,
        /// Only of that intent
        #[arg(long)]
        intent: Option<String>,
        /// Only of that channel
        #[arg(long, value_parser = channel)]
        channel: Option<Channel>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a task: its message, its steps, what it made, what it waits for
    Show {
        /// The task
        id: TaskId,
        #[command(flatten)]
        format: Format,
    },
    /// Fetch what a task came with: a file, its mail, or the picture of a scanned page
    Attachment(attachment::AttachmentArgs),
    /// Show a task's log
    Log {
        /// The task
        id: TaskId,
        #[command(flatten)]
        page: Page,
    },
    /// Follow a task until it ends or waits for a person
    Watch {
        /// The task
        id: TaskId,
        #[command(flatten)]
        format: Format,
    },
    /// Stop a task for good
    Cancel {
        /// The task
        id: TaskId,
    },
    /// Let a task rest
    Pause {
        /// The task
        id: TaskId,
    },
    /// Let a paused task go on
    Resume {
        /// The task
        id: TaskId,
    },
    /// Try a failed task again, from the step that failed
    Retry {
        /// The task
        id: TaskId,
    },
    /// Keep a task, with all tasks of its tree, however old it becomes
    Hold {
        /// The task
        id: TaskId,
        /// Why
        #[arg(long)]
        reason: String,
    },
    /// Release a task from its hold
    Release {
        /// The task
        id: TaskId,
    },
    /// Answer what a task waits for
    Review(ReviewArgs),
    /// Walk a finished task from its journal, with no model and no effect, and compare
    Replay {
        /// The task
        id: TaskId,
        #[command(flatten)]
        format: Format,
    },
    /// Try a task again from the middle, as a new task
    Fork {
        /// The task
        id: TaskId,
        /// The step at which the new task begins
        #[arg(long, value_name = "STEP")]
        from: String,
        /// Say yes to every outside write that is made again
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        format: Format,
    },
}

/// `kybern task review`
#[derive(clap::Args, Debug)]
pub(super) struct ReviewArgs {
    /// The task
    id: TaskId,
    /// A correction; the value is JSON, or a plain text; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = input::pair)]
    set: Vec<(String, String)>,
    /// All corrections as one JSON object
    #[arg(long, value_name = "JSON", value_parser = input::object)]
    corrections: Option<Value>,
    /// The step that is answered, when several wait
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// For an outside effect of which nobody knows: it is done, do it again, or give up; `fail` is a no to any question
    #[arg(long, value_enum)]
    resolution: Option<Resolution>,
    /// Say no: the task is cancelled, unless it goes on without that step; an outside effect counts as failed
    #[arg(long, conflicts_with_all = ["set", "corrections", "resolution", "drop"])]
    no: bool,
    /// Say that there is nothing to do, as with advertising: the task is cancelled
    #[arg(long, conflicts_with_all = ["set", "corrections", "resolution"])]
    drop: bool,
    /// Why not; it stands in the task
    #[arg(long, value_name = "WHY")]
    note: Option<String>,
}

/// What becomes of an outside effect of which nobody knows whether it happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Resolution {
    /// It happened
    Done,
    /// Do it again, even if it may happen twice
    Retry,
    /// Give up
    Fail,
}

impl Resolution {
    /// Its name on the wire.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retry => "retry",
            Self::Fail => "fail",
        }
    }
}

fn status(text: &str) -> Result<TaskStatus, String> {
    let names: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.as_str()).collect();
    TaskStatus::parse(text).ok_or_else(|| format!("is no status, take one of {}", names.join(", ")))
}

fn channel(text: &str) -> Result<Channel, String> {
    let names: Vec<&str> = Channel::ALL.iter().map(|channel| channel.as_str()).collect();
    Channel::parse(text).ok_or_else(|| format!("is no channel, take one of {}", names.join(", ")))
}

pub(super) async fn run(command: TaskCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        TaskCommand::Submit(args) => submit::run(args, context).await,
        TaskCommand::List { status, intent, channel, page } => {
            let tasks = List::at("/api/tasks", "task list")
                .only("status", status.map(|status| status.to_string()))
                .only("intent", intent.clone())
                .only("channel", channel.map(|channel| channel.to_string()));
            let narrowed = status.is_some() || intent.is_some() || channel.is_some();
            show::list(tasks, narrowed, &page, context).await
        }
        TaskCommand::Show { id, format } => show::show(id, format, context).await,
        TaskCommand::Attachment(args) => attachment::run(args, context).await,
        TaskCommand::Log { id, page } => show::log(id, &page, context).await,
        TaskCommand::Watch { id, format } => follow::watch(id, format, context).await,
        TaskCommand::Cancel { id } => control::steer(id, "cancel", context).await,
        TaskCommand::Pause { id } => control::steer(id, "pause", context).await,
        TaskCommand::Resume { id } => control::steer(id, "resume", context).await,
        TaskCommand::Retry { id } => control::steer(id, "retry", context).await,
        TaskCommand::Hold { id, reason } => control::hold(id, &reason, context).await,
        TaskCommand::Release { id } => control::release(id, context).await,
        TaskCommand::Review(args) => review::run(args, context).await,
        TaskCommand::Replay { id, format } => control::replay(id, format, context).await,
        TaskCommand::Fork { id, from, yes, format } => fork::run(id, &from, yes, format, context).await,
    }
}
