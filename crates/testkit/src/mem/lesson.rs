//! What tenants have learned.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::LessonId;
use kybern_core::lesson::{self, Lesson, LessonChange, LessonFilter, LessonStatus, Lessons};
use kybern_core::ports::{LessonStore, Page};
use kybern_core::task::TaskStatus;
use kybern_core::tenant::TenantScope;

use super::MemStore;
use super::state::{State, conflict};
use super::task::page;

#[async_trait]
impl LessonStore for MemStore {
    async fn add_lesson(&self, scope: TenantScope, new: &Lesson, audit: AuditEvent) -> Result<Option<Lesson>> {
        self.run("add_lesson", |state| {
            let fingerprint = new.teaching.fingerprint();
            let counts = |old: &Lesson| old.status != LessonStatus::Withdrawn || new.source.task_id.is_some();
            let same = |old: &&Lesson| counts(old) && old.teaching.fingerprint() == fingerprint;
            if let Some(same) = state.lessons_of(scope).rev().find(same) {
                return Ok(Some(same.clone()));
            }
            lesson::has_room_for_suggestion(state.count_lessons(scope, LessonStatus::Suggested).0)?;
            if u64::try_from(state.lessons_of(scope).count()).unwrap_or(u64::MAX) >= lesson::MAX_KEPT {
                let version = state.lesson_version(scope);
                let withdrawn = state.lessons_of(scope).filter(|old| {
                    old.status == LessonStatus::Withdrawn && old.until_version.is_none_or(|until| until < version)
                });
                let spare = withdrawn.filter(|old| old.since_version.is_none() || !state.is_read_with(scope, old));
                let oldest = spare.min_by_key(|old| (old.updated_at, old.id)).map(|old| old.id);
                let removed = oldest.and_then(|id| state.lessons.remove(&(scope.tenant(), id)));
                lesson::has_room_to_keep(lesson::MAX_KEPT, removed.is_some())?;
            }
            state.lessons.insert((scope.tenant(), new.id), new.clone());
            state.append_audit(scope.tenant(), new.created_at, audit);
            Ok(None)
        })
        .await
    }

    async fn lesson(&self, scope: TenantScope, id: LessonId) -> Result<Option<Lesson>> {
        self.run("lesson", |state| {
            let found = state.lessons.get(&(scope.tenant(), id)).cloned();
            if found.is_some() {
                state.lesson_can_be_read(id)?
            }
            Ok(found)
        })
        .await
    }

    async fn lessons(
        &self,
        scope: TenantScope,
        filter: LessonFilter,
        after: Option<LessonId>,
        limit: u32,
    ) -> Result<Page<Lesson>> {
        self.run("lessons", |state| {
            let wanted = |lesson: &&Lesson| {
                filter.status.is_none_or(|status| lesson.status == status)
                    && filter.kind.is_none_or(|kind| lesson.teaching.kind() == kind)
                    && after.is_none_or(|after| lesson.id < after)
            };
            let readable = |lesson: &&Lesson| !state.spoilt_lessons.contains(&lesson.id);
            let found = state.lessons_of(scope).rev().filter(wanted).filter(readable).cloned();
            Ok(page(found, limit, |lesson| lesson.id.to_string()))
        })
        .await
    }

    async fn lessons_in_use(&self, scope: TenantScope) -> Result<Arc<Lessons>> {
        self.run("lessons_in_use", |state| {
            let mut used: Vec<Lesson> =
                state.lessons_of(scope).filter(|lesson| lesson.since_version.is_some()).cloned().collect();
            used.retain(|lesson| !state.spoilt_lessons.contains(&lesson.id));
            used.sort_by_key(|lesson| lesson.since_version);
            Ok(Arc::new(Lessons::at(state.lesson_version(scope), used)))
        })
        .await
    }

    async fn change_lesson(&self, scope: TenantScope, change: &LessonChange, audit: AuditEvent) -> Result<()> {
        self.run("change_lesson", |state| {
            let LessonChange { before, after } = change;
            state.lesson_can_be_read(before.id)?;
            let place = (scope.tenant(), before.id);
            let is_next = !before.begins_version(after)
                || after.until_version.or(after.since_version) == Some(state.lesson_version(scope) + 1);
            if state.lessons.get(&place) != Some(before) || !is_next {
                return Err(conflict(format!("somebody else has decided about lessons meanwhile: {}", before.id)));
            }
            if after.status == LessonStatus::Accepted {
                let (accepted, bytes) = state.count_lessons(scope, LessonStatus::Accepted);
                lesson::has_room(accepted, bytes, after.teaching.bytes())?;
            }
            state.lessons.insert(place, after.clone());
            state.append_audit(scope.tenant(), after.updated_at, audit);
            Ok(())
        })
        .await
    }
}

impl State {
    fn lessons_of(&self, scope: TenantScope) -> impl DoubleEndedIterator<Item = &Lesson> {
        let own = self.lessons.iter().filter(move |((tenant, _), _)| *tenant == scope.tenant());
        own.map(|(_, lesson)| lesson)
    }

    fn lesson_can_be_read(&self, id: LessonId) -> Result<()> {
        if self.spoilt_lessons.contains(&id) {
            return Err(Error::new(ErrorCode::Internal, format!("lesson {id} cannot be read")));
        }
        Ok(())
    }

    /// Whether a task that may still go on came in before a lesson was withdrawn.
    fn is_read_with(&self, scope: TenantScope, lesson: &Lesson) -> bool {
        self.tasks.values().map(|row| &row.task).any(|task| {
            task.tenant == scope.tenant()
                && task.created_at <= lesson.updated_at
                && !matches!(task.status, TaskStatus::Completed | TaskStatus::Cancelled)
        })
    }

    fn lesson_version(&self, scope: TenantScope) -> u32 {
        let versions = self.lessons_of(scope).flat_map(|lesson| [lesson.since_version, lesson.until_version]);
        versions.flatten().max().unwrap_or_default()
    }

    /// How many lessons have that status, and how many bytes.
    fn count_lessons(&self, scope: TenantScope, status: LessonStatus) -> (u64, u64) {
        let such = self.lessons_of(scope).filter(|lesson| lesson.status == status);
        such.fold((0, 0), |(count, bytes), lesson| (count + 1, bytes + lesson.teaching.bytes()))
    }
}
