//! Rows that no program can read: planted by the tests, past every check.

use kybern_core::id::{ApprovalId, JobId, LessonId, OutboxId, OwnToolId, RecordId, TaskId, TenantId};
use uuid::Uuid;

/// A row whose JSON is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spoilt {
    /// A task's payload, and what it waits for.
    Task(TaskId),
    /// The frozen plan that a task walks.
    PlanOf(TaskId),
    /// A row of a task's journal, by its number.
    Journal(TaskId, i64),
    /// A signal, by its number.
    Signal(TaskId, i64),
    /// What a question asks about.
    Approval(ApprovalId),
    /// A job's payload.
    Job(JobId),
    /// A message's body.
    Outbox(OutboxId),
    /// A record's props.
    Record(RecordId),
    /// What a lesson teaches.
    Lesson(LessonId),
    /// What a version of an own tool says.
    OwnTool(OwnToolId),
    /// An audit event, by its number.
    Audit(TenantId, i64),
    /// What a tenant says about a tool.
    ToolSetting(TenantId, &'static str),
    /// Which providers a tenant allows.
    ModelPolicy(TenantId),
}

impl Spoilt {
    /// The table, the assignments and the condition of the statement that spoils it.
    #[must_use]
    pub fn parts(self, id: impl Fn(Uuid) -> String) -> (&'static str, String, String) {
        let (table, columns, place) = match self {
            Self::Task(task) => ("task", &["payload", "waits"][..], format!("id = {}", id(task.as_uuid()))),
            Self::PlanOf(task) => {
                let place = format!("hash = (SELECT plan_hash FROM task WHERE id = {})", id(task.as_uuid()));
                ("frozen_plan", &["body"][..], place)
            }
            Self::Journal(task, seq) => {
                ("step_row", &["body"][..], format!("task_id = {} AND seq = {seq}", id(task.as_uuid())))
            }
            Self::Signal(task, number) => {
                ("signal", &["body"][..], format!("task_id = {} AND number = {number}", id(task.as_uuid())))
            }
            Self::Approval(asked) => ("approval", &["input"][..], format!("id = {}", id(asked.as_uuid()))),
            Self::Job(job) => ("job", &["payload"][..], format!("id = {}", id(job.as_uuid()))),
            Self::Outbox(message) => ("outbox", &["body"][..], format!("id = {}", id(message.as_uuid()))),
            Self::Record(record) => ("record", &["props"][..], format!("id = {}", id(record.as_uuid()))),
            Self::Lesson(lesson) => ("lesson", &["body"][..], format!("id = {}", id(lesson.as_uuid()))),
            Self::OwnTool(tool) => ("own_tool", &["definition"][..], format!("id = {}", id(tool.as_uuid()))),
            Self::Audit(tenant, seq) => {
                ("audit_event", &["body"][..], format!("tenant_id = {} AND seq = {seq}", id(tenant.as_uuid())))
            }
            Self::ToolSetting(tenant, tool) => {
                ("tool_setting", &["body"][..], format!("tenant_id = {} AND tool = '{tool}'", id(tenant.as_uuid())))
            }
            Self::ModelPolicy(tenant) => {
                ("model_policy", &["providers"][..], format!("tenant_id = {}", id(tenant.as_uuid())))
            }
        };
        let broken: Vec<String> = columns.iter().map(|column| format!("{column} = '{{\"broken\": '")).collect();
        (table, broken.join(", "), place)
    }
}
