//! What tenants have learned. Every message asks for what is used, so an implementation answers from memory what it
//! knows to hold.

use std::sync::Arc;

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::LessonId;
use crate::lesson::{Lesson, LessonChange, LessonFilter, Lessons};
use crate::tenant::TenantScope;

/// Where lessons are kept.
#[async_trait]
pub trait LessonStore: Send + Sync {
    /// Stores a suggestion, unless the tenant has a lesson that teaches the same: that one is answered, and nothing is
    /// written. One that came out of a task is not suggested again after it was withdrawn; what somebody writes down
    /// by themselves is.
    ///
    /// Where as many are kept as may, the oldest that was withdrawn makes room; none where all of the tenant's is `held`.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when as many wait to be decided about as may, or nothing can make room.
    async fn add_lesson(
        &self,
        scope: TenantScope,
        lesson: &Lesson,
        held: bool,
        audit: AuditEvent,
    ) -> Result<Option<Lesson>>;

    async fn lesson(&self, scope: TenantScope, id: LessonId) -> Result<Option<Lesson>>;

    /// A page of those that pass the filter, the newest first, behind `after`.
    async fn lessons(
        &self,
        scope: TenantScope,
        filter: LessonFilter,
        after: Option<LessonId>,
        limit: u32,
    ) -> Result<Page<Lesson>>;

    /// What is used, and what was used at earlier versions.
    async fn lessons_in_use(&self, scope: TenantScope) -> Result<Arc<Lessons>>;

    /// Carries out a decision. It holds in every process when it returns.
    ///
    /// # Errors
    /// `CONFLICT` when the lesson is not stored any more as the change says it was read, or when the version that begins
    /// with it is not the next one; `UNPROCESSABLE` when the tenant has as many accepted lessons as it may.
    async fn change_lesson(&self, scope: TenantScope, change: &LessonChange, audit: AuditEvent) -> Result<()>;
}
