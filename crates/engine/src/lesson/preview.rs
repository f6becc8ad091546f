//! What a lesson would change: the rules are asked again about the tenant's last mails, with it and without it.
//!
//! Nothing is stored and no language model is asked. The work is bounded in mails and in time, and few previews run at
//! a time: one of a tenant, and the tenants take turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{LessonId, TaskId};
use kybern_core::lesson::{LessonStatus, Lessons, Teaching};
use kybern_core::model::ExtractedField;
use kybern_core::ports::{Documents as _, Extractor, SpelledValue, TaskFilter};
use kybern_core::task::{AttachmentSource, Channel, Task};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use super::LessonService;
use super::labels::path_of;
use super::rules::{Rules, is_sure};
use crate::plans::intents::Intents;
use crate::tools::taught::taught;
use crate::understanding::message::{classify_input, doubtful_sender, message_of};

/// Mails that are looked at.
const MAILS: usize = 100;
/// Mails that are read from the store at once.
const PAGE: u32 = 20;
/// How long it may take; what has not been looked at by then is left out.
const TIME: Millis = Millis(20_000);
/// How long one mail may take with all its papers; one that takes longer is left out.
const MAIL_TIME: Millis = Millis(5_000);
/// Previews that run at the same time, each of another tenant.
pub(crate) const PREVIEWS: usize = 2;
/// How long one waits for its turn, and when it may be asked for again.
const AGAIN: Millis = Millis(5_000);
/// Fields of one mail that are told.
const MAX_FIELDS: usize = 50;
/// Characters of a subject that are told.
const MAX_SUBJECT: usize = 200;

/// What a lesson would change, or has changed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LessonPreview {
    pub lesson_id: LessonId,
    /// How many mails were looked at, the newest first.
    pub mails: usize,
    /// How many of them could not be read, or not in the time that one of them may take.
    pub left_out: usize,
    /// Whether all of the last hundred were looked at; otherwise the time was over.
    pub complete: bool,
    /// Those that would be read differently.
    pub changed: Vec<PreviewedMail>,
}

/// A mail that would be read differently.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewedMail {
    pub task_id: TaskId,
    pub subject: String,
    /// When it came in.
    pub created_at: Timestamp,
    /// The intent that it was given in the end, by the rules or by a person.
    pub intent: Option<String>,
    /// What the rules say without the lesson.
    pub without: Value,
    /// What they say with it.
    pub with: Value,
}

/// What is used with some lessons.
struct PreviewSide {
    lessons: Lessons,
    intents: Intents,
    extractor: Arc<dyn Extractor>,
}

/// The two sides that are compared.
struct PreviewSides {
    without: PreviewSide,
    with: PreviewSide,
}

impl LessonService {
    /// What a lesson changes on the tenant's last mails.
    ///
    /// # Errors
    /// `NOT_FOUND`; `RATE_LIMITED` while another preview of the tenant runs, or many others wait.
    pub async fn preview(&self, actor: &Actor, id: LessonId) -> Result<LessonPreview> {
        let scope = actor.scope();
        let lesson = self.get(scope, id).await?;
        let busy = || {
            let message = "other previews of lessons run: ask again when they have ended";
            Error::new(ErrorCode::RateLimited, message).retry_after(AGAIN)
        };
        let turn = tokio::time::timeout(AGAIN.as_duration(), self.previewing.turn(scope.tenant())).await;
        let _turn = turn.map_err(|_elapsed| busy())?;
        let rules = self.rules_of(scope).await?;
        let sides = self.sides(&rules, &lesson);
        let began = self.clock.now();
        let mut preview = LessonPreview { lesson_id: id, mails: 0, left_out: 0, complete: true, changed: Vec::new() };
        let mut filter = TaskFilter { channel: Some(Channel::Email), limit: PAGE, ..TaskFilter::default() };
        while preview.mails < MAILS {
            let page = self.task_rows.tasks(scope, &filter).await?;
            for task in page.items.into_iter().take(MAILS - preview.mails) {
                let left = Millis(TIME.0.saturating_sub(self.clock.now().since(began).0));
                if left == Millis(0) {
                    preview.complete = false;
                    return Ok(preview);
                }
                // A list has tasks without what they came with.
                let Some(task) = self.task_rows.task(scope, task.id).await? else { continue };
                preview.mails += 1;
                let compared = self.compare(scope, &task, &lesson.teaching, &sides);
                let compared = tokio::time::timeout(left.min(MAIL_TIME).as_duration(), compared).await;
                let compared = compared.unwrap_or_else(|_elapsed| {
                    Err(Error::new(ErrorCode::Timeout, "reading it again took longer than a preview may"))
                });
                match compared {
                    Ok(Some((without, with))) => preview.changed.push(told(task, without, with)),
                    Ok(None) => {}
                    // A mail that cannot be read, or not now, is left out alone.
                    Err(error) => {
                        preview.left_out += 1;
                        tracing::info!(task.id = %task.id, %error, "a mail is left out of a preview");
                    }
                }
            }
            let Some(next) = page.next else { break };
            filter.before = next.parse().ok();
            if filter.before.is_none() {
                break;
            }
        }
        Ok(preview)
    }

    fn sides(&self, rules: &Rules, lesson: &kybern_core::lesson::Lesson) -> PreviewSides {
        let now = rules.lessons.as_ref();
        let (without, with) = match lesson.status {
            LessonStatus::Accepted => (now.without(lesson.id), now.clone()),
            LessonStatus::Suggested | LessonStatus::Withdrawn => (now.clone(), now.with(lesson)),
        };
        let side = |lessons: Lessons| PreviewSide {
            intents: self.intents_with(rules, &lessons),
            extractor: taught(&self.extractor, &lessons),
            lessons,
        };
        PreviewSides { without: side(without), with: side(with) }
    }

    /// What is said of a mail without the lesson and with it, where that differs.
    async fn compare(
        &self,
        scope: TenantScope,
        task: &Task,
        teaching: &Teaching,
        sides: &PreviewSides,
    ) -> Result<Option<(Value, Value)>> {
        match teaching {
            Teaching::IntentExample { .. } => self.compare_intents(scope, task, sides).await,
            Teaching::Label { schema, field, .. } | Teaching::Spelling { schema, field, .. } => {
                self.compare_fields(scope, task, (schema, field), sides).await
            }
            Teaching::TrustedSender { address } => Ok(compare_senders(task, address, sides)),
            Teaching::Speaker { address, .. } => Ok(compare_speakers(task, address, sides)),
        }
    }

    async fn compare_intents(
        &self,
        scope: TenantScope,
        task: &Task,
        sides: &PreviewSides,
    ) -> Result<Option<(Value, Value)>> {
        let walk = self.tasks.walk_of(scope, task).await?;
        let input = classify_input(task, &walk, &self.tasks.documents_of(scope, task, &walk)).await?;
        let mut said = Vec::new();
        for side in [&sides.without, &sides.with] {
            let found = self.classified(&input, &side.intents).await?;
            let doubted = doubtful_sender(task).is_some_and(|sender| !side.lessons.trusts(sender));
            let asks = !is_sure(&found, task) || !found.doubts.is_empty() || doubted;
            said.push((
                (found.intent.clone(), asks),
                json!({"intent": found.intent, "confidence": found.confidence, "asks": asks}),
            ));
        }
        Ok(differing(said))
    }

    async fn compare_fields(
        &self,
        scope: TenantScope,
        task: &Task,
        (name, field): (&str, &str),
        sides: &PreviewSides,
    ) -> Result<Option<(Value, Value)>> {
        let mut schemas = self.plan_catalogue.registry().extractions();
        let Some((_, schema)) = schemas.find(|(known, _)| *known == name) else { return Ok(None) };
        let walk = self.tasks.walk_of(scope, task).await?;
        let mut documents = vec![(0, message_of(task))];
        for (attachment, text) in self.tasks.documents_of(scope, task, &walk).texts().await? {
            if attachment.source == AttachmentSource::Attached {
                documents.push((attachment.n, text.as_ref().clone()));
            }
        }
        let mut said = Vec::new();
        for PreviewSide { extractor, lessons, .. } in [&sides.without, &sides.with] {
            let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            for (n, text) in &documents {
                let analysis = extractor.analyse(text, schema).await?;
                let read = extractor.extract(*n, text, &analysis, schema).await?.fields;
                for field in &read {
                    // What is read stays as it is written; whoever uses it asks what is meant.
                    let meant = self.meant(scope, name, lessons, field, &read).await?;
                    let value = meant.map_or_else(|| field.value.clone(), Value::from);
                    found.entry(path_of(field)).or_default().push(json!({"document": n, "value": value}));
                }
            }
            said.push(found);
        }
        let (Some(with), Some(without)) = (said.pop(), said.pop()) else { return Ok(None) };
        // A label may take a value away from another field: every field that differs is told, its own first.
        let mut paths: Vec<&String> = without.keys().chain(with.keys()).collect();
        paths.sort_by_key(|path| (path.as_str() != field, path.as_str()));
        paths.dedup();
        paths.retain(|path| without.get(*path) != with.get(*path));
        if paths.is_empty() {
            return Ok(None);
        }
        let side = |all: &BTreeMap<String, Vec<Value>>| -> Value {
            let told = paths.iter().take(MAX_FIELDS).map(|path| ((*path).clone(), json!(all.get(*path))));
            json!({"fields": told.collect::<serde_json::Map<String, Value>>()})
        };
        Ok(Some((side(&without), side(&with))))
    }

    /// What a value means by the lessons, where the domain of its field lets them count.
    async fn meant<'l>(
        &self,
        scope: TenantScope,
        schema: &str,
        lessons: &'l Lessons,
        field: &ExtractedField,
        read: &[ExtractedField],
    ) -> Result<Option<&'l str>> {
        let (path, Some(written)) = (path_of(field), field.value.as_str()) else { return Ok(None) };
        let Some(value) = lessons.meant_by(schema, &path, written) else { return Ok(None) };
        let Some(rule) = self.plan_catalogue.registry().find_spelling(schema, &path) else { return Ok(Some(value)) };
        let of_item = |other: &&ExtractedField| (&other.group, other.item) == (&field.group, field.item);
        let single = |other: &&ExtractedField| other.group.is_none() && field.group.is_some();
        let beside = read.iter().filter(of_item).chain(read.iter().filter(single));
        let beside: Vec<(&str, &Value)> = beside.map(|other| (other.name.as_str(), &other.value)).collect();
        let counts =
            rule.counts(self.records.as_ref(), scope, SpelledValue { written, value, beside: &beside }).await?;
        Ok(counts.then_some(value))
    }
}

/// Whether the sender of a mail counts as proven.
fn compare_senders(task: &Task, address: &str, sides: &PreviewSides) -> Option<(Value, Value)> {
    let sender = doubtful_sender(task).filter(|sender| sender.trim().to_lowercase() == address)?;
    let said = [&sides.without, &sides.with].map(|side| {
        let doubted = !side.lessons.trusts(sender);
        (doubted, json!({"doubtsSender": doubted}))
    });
    differing(said.into())
}

/// Which companies the sender of a mail answers for.
fn compare_speakers(task: &Task, address: &str, sides: &PreviewSides) -> Option<(Value, Value)> {
    let from = task.payload.pointer("/from/address").and_then(Value::as_str)?;
    // What is handed on has its author in the first such passage; what stands below is the author's own text.
    let mut passages = task.payload.get("passages").and_then(Value::as_array).into_iter().flatten();
    let handed_on = passages.find(|passage| passage["role"] == "forwarded");
    let author = handed_on.and_then(|passage| passage.pointer("/author/address")?.as_str());
    let sender = std::iter::once(from).chain(author).find(|sender| sender.trim().eq_ignore_ascii_case(address))?;
    let said = [&sides.without, &sides.with].map(|side| {
        let companies: Vec<&str> = side.lessons.answers_for(sender).collect();
        let told = json!({"answersFor": companies});
        (companies, told)
    });
    differing(said.into())
}

/// Both sides, where they differ in what counts.
fn differing<T: PartialEq>(said: Vec<(T, Value)>) -> Option<(Value, Value)> {
    let mut said = said.into_iter();
    let ((without, one), (with, other)) = (said.next()?, said.next()?);
    (without != with).then_some((one, other))
}

fn told(task: Task, without: Value, with: Value) -> PreviewedMail {
    let subject = task.payload.get("subject").and_then(Value::as_str).unwrap_or_default();
    PreviewedMail {
        subject: subject.chars().take(MAX_SUBJECT).collect(),
        task_id: task.id,
        created_at: task.created_at,
        intent: task.intent,
        without,
        with,
    }
}
