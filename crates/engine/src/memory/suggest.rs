//! The job that notes what the agents of a task would remember. It follows the end of the task, so nobody waits for it, and it is tried again until it is done: what was noted already is not noted twice.

use async_trait::async_trait;
use kybern_core::chat::TurnRef;
use kybern_core::error::ErrorCode;
use kybern_core::id::{JobId, TaskId, UserId};
use kybern_core::job::{ClaimedJob, NewJob, limits};
use kybern_core::memory::{NewMemory, Provenance, Subject};
use kybern_core::time::Timestamp;
use kybern_core::trace::traceparent_of;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Memories;
use crate::jobs::{self, JobFailure, JobHandler};
use crate::models::CallContext;

/// The kind of the job.
pub(crate) const SUGGEST_JOB: &str = "memory.suggest";

/// What a job notes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggestions {
    pub(crate) task: TaskId,
    pub(crate) user: UserId,
    /// The turn of a conversation; `None` when the steps of a plan said it.
    #[serde(default)]
    pub(crate) turn: Option<TurnRef>,
    pub(crate) memories: Vec<String>,
}

impl Suggestions {
    /// The job that notes them.
    pub(crate) fn job(&self, id: JobId, at: Timestamp) -> NewJob {
        NewJob {
            id,
            kind: SUGGEST_JOB.to_owned(),
            payload: json!(self),
            dedupe_key: Some(format!("memories:{}", self.task)),
            max_attempts: limits::DEFAULT_ATTEMPTS,
            due_at: at,
        }
    }
}

/// Whether another try may note what could not be noted.
const fn mends(code: ErrorCode) -> bool {
    !matches!(
        code,
        ErrorCode::Validation | ErrorCode::Unprocessable | ErrorCode::NotFound | ErrorCode::PermissionDenied
    )
}

#[async_trait]
impl JobHandler for Memories {
    async fn run(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let said: Suggestions = jobs::read(job)?;
        let caller = CallContext::executor(job.scope(), Some(said.user), traceparent_of(job.id.as_uuid()));
        let mut again = None;
        for memory in &said.memories {
            let provenance = Provenance {
                task: Some(said.task),
                chat: said.turn.map(|turn| turn.chat_id),
                message: said.turn.map(|turn| turn.answer_id),
                tool: Some(crate::tools::builtin::SUGGEST_MEMORY.to_owned()),
                ..Provenance::default()
            };
            let new = NewMemory { provenance, pending: true, ..NewMemory::fact(Subject::User(said.user), memory) };
            match self.suggest(&caller, new).await.map_err(|error| (mends(error.code()), error)) {
                Ok(_) => {}
                Err((true, error)) => again = Some(error),
                // What it says cannot be kept: no other try changes that, and the others are not lost for it.
                Err((false, error)) => tracing::info!(task.id = %said.task, %error, "a suggested memory is dropped"),
            }
        }
        again.map_or(Ok(()), |error| Err(error.into()))
    }
}
