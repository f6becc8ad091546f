//! What a tool has learned from an answer: it knows what the answer means, and returns the lesson with its outcome. The
//! job that suggests it is committed with the step, so that what did not happen teaches nothing.
//!
//! Only what a person has answered teaches: a step that asked nobody suggests nothing, whatever its tool says.

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::JobId;
use kybern_core::id::TaskId;
use kybern_core::job::{ClaimedJob, NewJob, limits};
use kybern_core::lesson::Teaching;
use kybern_core::plan::StepId;
use kybern_core::task::{JournalEntry, JournalRow, Signal};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::LessonService;
use crate::jobs::{self, JobFailure, JobHandler};

/// The kind of the job.
pub(crate) const TEACH_JOB: &str = "lesson.suggest";
/// Lessons of one outcome that are suggested.
const MAX_TOLD: usize = 20;

/// What a step's tool has learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToldByTool {
    task: TaskId,
    step: StepId,
    lessons: Vec<Teaching>,
}

impl ToldByTool {
    /// What a step's tool has learned; `None` where that is nothing.
    pub(crate) fn new(task: TaskId, step: &StepId, lessons: Vec<Teaching>) -> Option<Self> {
        let checked = lessons.into_iter().filter_map(|teaching| teaching.checked().ok());
        let lessons: Vec<Teaching> = checked.take(MAX_TOLD).collect();
        (!lessons.is_empty()).then(|| Self { task, step: step.clone(), lessons })
    }

    /// The job that suggests it.
    pub(crate) fn job(&self, id: JobId, at: Timestamp) -> NewJob {
        NewJob {
            id,
            kind: TEACH_JOB.to_owned(),
            payload: json!(self),
            dedupe_key: None,
            max_attempts: limits::DEFAULT_ATTEMPTS,
            due_at: at,
        }
    }
}

/// Suggests what tools have learned from answers.
pub(crate) struct Teacher(pub(crate) LessonService);

#[async_trait]
impl JobHandler for Teacher {
    async fn run(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let (Self(lessons), scope) = (self, job.scope());
        let told: ToldByTool = jobs::read(job)?;
        let Some(by) = lessons.who_answered(scope, told.task, &told.step).await? else { return Ok(()) };
        for teaching in told.lessons {
            // What is known meanwhile, and what no rule could use, is not suggested.
            if lessons.can_be_taught(scope, &teaching).await.is_ok() {
                lessons.suggest(scope, (told.task, &told.step, &by), teaching).await?;
            }
        }
        Ok(())
    }
}

impl LessonService {
    /// The person who answered a step last.
    async fn who_answered(&self, scope: TenantScope, task: TaskId, step: &StepId) -> Result<Option<String>> {
        let mut last = None;
        let look = |row: JournalRow| {
            if let JournalEntry::Answered { signal, .. } = row.entry
                && let Signal::Review { step: of, by, .. } = *signal
                && of == *step
            {
                last = Some(by);
            }
            Ok(())
        };
        self.tasks.kernel.each_row(scope, task, look).await?;
        Ok(last)
    }
}
