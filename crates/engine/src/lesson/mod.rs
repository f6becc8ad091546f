//! What a tenant learns: suggestions out of answers, what admins write down, and what is decided about both.

mod labels;
mod learn;
mod preview;
mod rules;
mod told;

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::LessonId;
use kybern_core::lesson::{Lesson, LessonAct, LessonChange, LessonFilter, LessonSource, Teaching};
use kybern_core::model::ExtractionSchema;
use kybern_core::ports::{Clock, Extractor, IdSource, IntentModel, LessonStore, Page, RecordStore, TaskStore};
use kybern_core::tenant::TenantScope;
use serde_json::json;

pub(crate) use learn::{LEARN_JOB, Learner, TakenAnswer};
pub(crate) use preview::PREVIEWS;
pub use preview::{LessonPreview, PreviewedMail};
pub(crate) use told::{TEACH_JOB, Teacher, ToldByTool};

use crate::command::{id_for, once};
use crate::plans::catalogue::PlanCatalogue;
use crate::plans::manage::Plans;
use crate::retention::Removal;
use crate::task::Tasks;
use crate::task::reading::ReadingTurns;

/// What tenants learn.
#[derive(Clone)]
pub struct LessonService {
    pub(crate) store: Arc<dyn LessonStore>,
    pub(crate) task_rows: Arc<dyn TaskStore>,
    pub(crate) records: Arc<dyn RecordStore>,
    pub(crate) tasks: Tasks,
    pub(crate) plans: Plans,
    pub(crate) removal: Removal,
    pub(crate) plan_catalogue: Arc<PlanCatalogue>,
    pub(crate) intents: Arc<dyn IntentModel>,
    pub(crate) extractor: Arc<dyn Extractor>,
    /// Whose turn it is to preview a lesson.
    pub(crate) previewing: Arc<ReadingTurns>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl LessonService {
    /// A page of the tenant's lessons, the newest first.
    pub async fn list(
        &self,
        scope: TenantScope,
        filter: LessonFilter,
        after: Option<LessonId>,
        limit: u32,
    ) -> Result<Page<Lesson>> {
        self.store.lessons(scope, filter, after, limit).await
    }

    /// One of them.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, id: LessonId) -> Result<Lesson> {
        self.store.lesson(scope, id).await?.ok_or_else(|| Error::not_found("lesson", id))
    }

    /// Writes down a lesson. It is used once it is accepted.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for what cannot be taught: an intent that no plan serves, a field that no schema has, words
    /// that are known already; `CONFLICT` when there is such a lesson; `UNPROCESSABLE` when too many wait.
    pub async fn add(&self, actor: &Actor, teaching: Teaching) -> Result<Lesson> {
        let (scope, teaching) = (actor.scope(), teaching.checked()?);
        self.can_be_taught(scope, &teaching).await?;
        let source = LessonSource { task_id: None, step_id: None, by: actor.principal().label() };
        let id = LessonId::from_uuid(id_for(self.ids.as_ref(), actor, "lesson"));
        let lesson = Lesson::suggested(id, teaching, source, self.clock.now());
        let subject = format!("lesson:{id}");
        let event = AuditEvent::by(actor, "lesson.add", subject, json!({"kind": lesson.teaching.kind().as_str()}));
        let add = async {
            let held = self.removal.is_on_hold(scope.tenant()).await?;
            match self.store.add_lesson(scope, &lesson, held, event).await? {
                None => Ok(lesson.clone()),
                Some(same) => {
                    let message = format!("lesson {} teaches the same, and is {}", same.id, same.status.as_str());
                    Err(Error::new(ErrorCode::Conflict, message))
                }
            }
        };
        once(actor, || self.store.lesson(scope, id), add).await
    }

    /// Decides about a lesson. What is accepted is used for every message that is read from then on.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` for an act that its status does not allow, and when somebody else decides at the same
    /// time; `VALIDATION_ERROR` when it teaches what cannot be taught any more; `UNPROCESSABLE` when as many are accepted as may.
    pub async fn act(&self, actor: &Actor, id: LessonId, act: LessonAct) -> Result<Lesson> {
        let scope = actor.scope();
        let before = self.get(scope, id).await?;
        let next = self.store.lessons_in_use(scope).await?.version() + 1;
        let after = before.clone().after(act, &actor.principal().label(), next, self.clock.now())?;
        if act == LessonAct::Accept {
            self.can_be_taught(scope, &before.teaching).await?;
        }
        let version = before.begins_version(&after).then_some(next);
        let detail = json!({"kind": before.teaching.kind().as_str(), "version": version});
        let event = AuditEvent::by(actor, act.as_str(), format!("lesson:{id}"), detail);
        let change = LessonChange { before, after: after.clone() };
        self.store.change_lesson(scope, &change, event).await?;
        Ok(after)
    }

    /// Refuses what no rule of the tenant could use.
    async fn can_be_taught(&self, scope: TenantScope, teaching: &Teaching) -> Result<()> {
        match teaching {
            Teaching::IntentExample { intent, .. } => {
                let rules = self.rules_of(scope).await?;
                if rules.serves(intent) {
                    return Ok(());
                }
                let message = format!("no plan serves the intent {intent:?}, `kybern plan list` shows those that are");
                Err(Error::invalid("/intent", message))
            }
            Teaching::Label { schema, field, label, value } => {
                labels::fits(self.schema_to_teach(schema)?, field, label, value.as_deref())
            }
            Teaching::Spelling { schema, field, label, value } => {
                labels::is_spelling(self.schema_to_teach(schema)?, field, label, value)?;
                let lessons = self.store.lessons_in_use(scope).await?;
                match lessons.meant_by(schema, field, label) {
                    Some(other) if other != value => {
                        let message = format!("{label:?} means {other:?} already: withdraw that lesson first");
                        Err(Error::invalid("/label", message))
                    }
                    Some(_) | None => Ok(()),
                }
            }
            Teaching::TrustedSender { .. } | Teaching::Speaker { .. } => Ok(()),
        }
    }

    fn schema_to_teach(&self, name: &str) -> Result<&ExtractionSchema> {
        let registry = self.plan_catalogue.registry();
        if let Some((_, known)) = registry.extractions().find(|(known, _)| *known == name) {
            return Ok(known);
        }
        let names: Vec<&str> = registry.extractions().map(|(name, _)| name).collect();
        let message = format!("there is no extraction schema {name:?}, use {}", names.join(", "));
        Err(Error::invalid("/schema", message))
    }
}
