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
use kybern_core::task::{JournalEntry, Signal};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::LessonService;
use crate::jobs::{JobFailure, JobHandler};

/// The kind of the job.
pub(crate) const TEACH_JOB: &str = "lesson.suggest";
/// Lessons of one outcome that are suggested.
const MAX_TOLD: usize = 20;
/// Rows of a journal that are read at once.
const PAGE: u32 = 1_000;

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
    async fn run(&self, job: &ClaimedJob) -> std::result::Result<(), JobFailure> {
        self.0.learn_from_tool(job).await
    }
}

impl LessonService {
    async fn learn_from_tool(&self, job: &ClaimedJob) -> std::result::Result<(), JobFailure> {
        let told = serde_json::from_value::<ToldByTool>(job.payload.clone());
        let told = told.map_err(|error| JobFailure::permanent(format!("the job cannot be read: {error}")))?;
        let scope = job.scope();
        let Some(by) = self.who_answered(scope, told.task, &told.step).await? else { return Ok(()) };
        for teaching in told.lessons {
            // What is known meanwhile, and what no rule could use, is not suggested.
            if self.can_be_taught(scope, &teaching).await.is_ok() {
                self.suggest(scope, (told.task, &told.step, &by), teaching).await?;
            }
        }
        Ok(())
    }

    /// The person who answered a step last.
    async fn who_answered(&self, scope: TenantScope, task: TaskId, step: &StepId) -> Result<Option<String>> {
        let (mut last, mut after) = (None, 0);
        loop {
            let rows = self.task_rows.journal(scope, task, after, PAGE).await?;
            let Some(end) = rows.last().map(|row| row.seq) else { return Ok(last) };
            for row in rows {
                if let JournalEntry::Answered { signal, .. } = row.entry
                    && let Signal::Review { step: of, by, .. } = *signal
                    && of == *step
                {
                    last = Some(by);
                }
            }
            after = end;
        }
    }
}
