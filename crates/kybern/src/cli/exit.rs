//! How a verb ends, as the shell sees it.

use std::process::ExitCode;

use serde_json::Value;

/// The exit code of a verb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// 0
    Done,
    /// 1
    Failed,
    /// 2: what was typed or set is wrong
    Usage,
    /// 3
    Review,
}

impl Exit {
    /// The code for a task as it stands: a task that still runs is no failure.
    pub(crate) fn of_task(task: &Value) -> Self {
        match task.get("status").and_then(Value::as_str) {
            Some("failed" | "cancelled") => Self::Failed,
            Some("needs_review") => Self::Review,
            _completed_or_running => Self::Done,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Review => 3,
        })
    }
}
