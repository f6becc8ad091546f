//! What retention answers.

use kybern_core::retention::RetentionKind;
use utoipa::ToSchema;

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
    pub kind: RetentionKind,
    /// How much: trees of tasks count their tasks.
    pub count: u64,
}
