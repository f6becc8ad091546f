//! What retention answers.

use utoipa::ToSchema;

use super::words::KeptSchema;
/// What was removed, or would be.
#[derive(ToSchema)]
#[schema(as = Purged, rename_all = "camelCase")]
pub struct PurgedSchema {
    /// Whether it was only counted.
    pub dry_run: bool,
    /// How much of each kind.
    pub items: Vec<PurgedKindSchema>,
}

/// How much of a kind was removed.
#[derive(ToSchema)]
#[schema(as = PurgedKind, rename_all = "camelCase")]
pub struct PurgedKindSchema {
    /// The kind.
    pub kind: KeptSchema,
    /// How much: trees of tasks count their tasks.
    pub count: u64,
}

/// Why a task is kept, however old it becomes.
#[derive(ToSchema)]
#[schema(as = TaskHold, rename_all = "camelCase")]
pub struct TaskHoldSchema {
    /// The task.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// Why.
    pub reason: String,
    /// Who put it on hold.
    pub held_by: String,
    /// When.
    #[schema(format = "date-time")]
    pub held_at: String,
}
