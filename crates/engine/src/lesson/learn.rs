//! The job that looks what can be learned from a person's answer. It follows the commit that takes the answer in, so
//! nobody waits for it; done again after a crash, it suggests nothing twice.
//!
//! Only what would have made the question needless is suggested: the rules are asked again, with the lesson, about
//! the message that raised it.

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{JobId, LessonId, TaskId};
use kybern_core::job::{ClaimedJob, NewJob, limits};
use kybern_core::lesson::{Lesson, LessonSource, MAX_EXAMPLE, Teaching};
use kybern_core::model::ClassifyInput;
use kybern_core::plan::StepId;
use kybern_core::policy::redact;
use kybern_core::task::{JournalEntry, JournalRow, Signal, Task, Wait, WaitKind};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::LessonService;
use super::rules::is_sure;
use crate::executor::Phase;
use crate::executor::phases::EXTRACTIONS;
use crate::executor::walk::Walk;
use crate::jobs::{self, JobFailure, JobHandler};
use crate::understanding::message::{classify_input, doubtful_sender, message_of};

/// The kind of the job.
pub(crate) const LEARN_JOB: &str = "lesson.learn";
/// With fewer words of its own a mail says what it hands on.
const FEW_WORDS: usize = 25;
/// A shorter value may be any word of a message.
const SHORTEST_NAME: usize = 4;
/// Bytes of a message out of which an example is made: its beginning says what it wants.
const MAX_WORDS: usize = 64 * 1024;
/// Values of a message and its papers that are taken out of an example. Of a message that has more no example is made:
/// one of them might stay in it.
const MAX_VALUES: usize = 5_000;

/// An answer that was taken in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TakenAnswer {
    pub(crate) task: TaskId,
    /// The journal row that asked.
    pub(crate) wait_seq: i64,
}

impl TakenAnswer {
    /// The job that looks at it.
    pub(crate) fn job(&self, id: JobId, at: Timestamp) -> NewJob {
        NewJob {
            id,
            kind: LEARN_JOB.to_owned(),
            payload: json!(self),
            dedupe_key: Some(format!("{}:{}", self.task, self.wait_seq)),
            max_attempts: limits::DEFAULT_ATTEMPTS,
            due_at: at,
        }
    }
}

/// A question and its answer, with the task as its journal tells it.
pub(super) struct AnsweredReview {
    pub(super) task: Task,
    pub(super) walk: Walk,
    pub(super) wait: Wait,
    pub(super) corrections: Map<String, Value>,
    by: String,
}

/// Looks what the answers of people teach.
pub(crate) struct Learner(pub(crate) LessonService);

#[async_trait]
impl JobHandler for Learner {
    async fn run(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let (Self(lessons), scope) = (self, job.scope());
        // What was removed meanwhile teaches nothing.
        let Some(answer) = lessons.answer_to(scope, &jobs::read(job)?).await? else { return Ok(()) };
        let taught = match answer.wait.kind {
            WaitKind::Intent => lessons.intent_taught(scope, &answer).await?,
            _ => lessons.labels_taught(scope, &answer).await?,
        };
        for teaching in taught {
            let asked = (answer.task.id, &answer.wait.step_id, answer.by.as_str());
            lessons.suggest(scope, asked, teaching).await?;
        }
        Ok(())
    }
}

impl LessonService {
    async fn answer_to(&self, scope: TenantScope, answered: &TakenAnswer) -> Result<Option<AnsweredReview>> {
        let Some(task) = self.task_rows.task(scope, answered.task).await? else { return Ok(None) };
        let walk = self.tasks.walk_of(scope, &task).await?;
        let (mut asked, mut said) = (None, None);
        let look = |row: JournalRow| {
            match row.entry {
                JournalEntry::Waiting(wait) if wait.seq == answered.wait_seq => asked = Some(*wait),
                JournalEntry::Answered { signal, .. } => {
                    if let Signal::Review { wait_seq, corrections, by, .. } = *signal
                        && wait_seq == answered.wait_seq
                        && said.is_none()
                    {
                        said = Some((corrections, by));
                    }
                }
                _ => {}
            }
            Ok(())
        };
        self.tasks.kernel.each_row(scope, task.id, look).await?;
        Ok(asked.zip(said).map(|(wait, (corrections, by))| AnsweredReview { task, walk, wait, corrections, by }))
    }

    /// Writes down what an answer to a step of a task teaches.
    pub(super) async fn suggest(
        &self,
        scope: TenantScope,
        (task, step, by): (TaskId, &StepId, &str),
        teaching: Teaching,
    ) -> Result<()> {
        let source = LessonSource { task_id: Some(task), step_id: Some(step.to_string()), by: by.to_owned() };
        let id = LessonId::from_uuid(self.ids.next());
        let lesson = Lesson::suggested(id, teaching, source, self.clock.now());
        let detail = json!({"kind": lesson.teaching.kind().as_str(), "taskId": task});
        let event = AuditEvent::by_executor("lesson.suggest", format!("lesson:{id}"), detail);
        let held = self.removal.is_on_hold(scope.tenant()).await?;
        match self.store.add_lesson(scope, &lesson, held, event).await {
            Ok(_) => Ok(()),
            // As many wait as may: the answer counts all the same.
            Err(error) if error.code() == ErrorCode::Unprocessable => {
                tracing::info!(task.id = %task, %error, "a suggested lesson is dropped");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// What the choice of an intent teaches: that messages like this one ask for it, and that mail in this sender's name
    /// is theirs.
    async fn intent_taught(&self, scope: TenantScope, answer: &AnsweredReview) -> Result<Vec<Teaching>> {
        let AnsweredReview { task, walk, corrections, .. } = answer;
        let Some(chosen) = corrections.get("intent").and_then(Value::as_str) else { return Ok(Vec::new()) };
        let rules = self.rules_of(scope).await?;
        let mut taught = Vec::new();
        if let Some(sender) = doubtful_sender(task).filter(|sender| !rules.lessons.trusts(sender)) {
            taught.extend(Teaching::TrustedSender { address: sender.to_owned() }.checked().ok());
        }
        if !rules.serves(chosen) {
            return Ok(taught);
        }
        let input = classify_input(task, walk, &self.tasks.documents_of(scope, task, walk)).await?;
        let answers = |found: &kybern_core::model::Classification| {
            found.intent.as_deref() == Some(chosen) && is_sure(found, task)
        };
        let before = self.classified(&input, &self.intents_with(&rules, &rules.lessons)).await?;
        if answers(&before) {
            return Ok(taught);
        }
        let values = own_values(answer);
        if values.len() > MAX_VALUES {
            return Ok(taught);
        }
        let words = words_of(&input);
        // So many values in so many words are work for another thread.
        let text = tokio::task::spawn_blocking(move || example(words, &values)).await;
        let text = text.map_err(|error| Error::new(ErrorCode::Internal, format!("no example was made: {error}")))?;
        let example = Teaching::IntentExample { intent: chosen.to_owned(), text };
        let Ok(example) = example.checked() else { return Ok(taught) };
        let source = LessonSource { task_id: None, step_id: None, by: String::new() };
        let id = LessonId::from_uuid(self.ids.next());
        let tried = Lesson::suggested(id, example.clone(), source, self.clock.now());
        let after = self.classified(&input, &self.intents_with(&rules, &rules.lessons.with(&tried))).await?;
        if answers(&after) {
            taught.push(example);
        }
        Ok(taught)
    }
}

/// The subject of a message and its newest words, or those that it only hands on: as far as an example is made of them,
/// up to the end of a line where it can be.
fn words_of(input: &ClassifyInput) -> String {
    let hands_on = input.text.split_whitespace().count() <= FEW_WORDS && !input.forwarded.is_empty();
    let words = if hands_on { &input.forwarded } else { &input.text };
    let mut all = format!("{}\n{}", clipped(&input.subject), clipped(words));
    all.truncate(clipped(&all).len());
    all
}

fn clipped(text: &str) -> &str {
    if text.len() <= MAX_WORDS {
        return text;
    }
    let begin = &text[..text.floor_char_boundary(MAX_WORDS)];
    // Half a name would not be known as one.
    let end = begin.rfind('\n').or_else(|| begin.rfind(char::is_whitespace)).unwrap_or_default();
    &begin[..end]
}

/// Words as an example: without what is this message's alone, names and other values that were read out of it, secrets,
/// addresses and numbers.
fn example(words: String, values: &[String]) -> String {
    let mut text = redact::redacted(words);
    for value in values {
        text = text.replace(value.as_str(), " ");
    }
    let plain = text
        .split_whitespace()
        .filter(|word| !word.contains("[redacted:") && !word.contains(|c: char| c.is_ascii_digit() || c.is_control()));
    let mut kept = String::new();
    for word in plain {
        if kept.chars().count() + word.chars().count() >= MAX_EXAMPLE {
            break;
        }
        kept.push_str(word);
        kept.push(' ');
    }
    kept
}

/// The values that were read out of the message and its papers, as they are written there, the longest first.
fn own_values(answer: &AnsweredReview) -> Vec<String> {
    let message = message_of(&answer.task);
    let outcome = answer.walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
    let documents = outcome.and_then(|outcome| outcome.data.get(EXTRACTIONS)?.as_array());
    let mut values: Vec<String> = Vec::new();
    for document in documents.into_iter().flatten() {
        for field in document.get("fields").and_then(Value::as_array).into_iter().flatten() {
            values.extend(field.get("value").and_then(Value::as_str).map(str::to_owned));
            if document.get("n") == Some(&json!(0)) {
                let at = |name: &str| field.pointer(name).and_then(Value::as_u64);
                let page = message.pages.iter().find(|page| at("/source/page") == Some(u64::from(page.number)));
                let place = |name| at(name).and_then(|byte| usize::try_from(byte).ok());
                let written = page.and_then(|page| page.text.get(place("/source/start")?..place("/source/end")?));
                values.extend(written.map(|written| written.trim().to_owned()));
            }
        }
    }
    values.retain(|value| value.chars().count() >= SHORTEST_NAME);
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_made_of_the_beginning_of_a_message_and_of_whole_lines() {
        let line = "Please see to the yard of Fern Hollow before the week is over\n";
        let input =
            ClassifyInput { subject: "The yard".to_owned(), text: line.repeat(70_000), ..ClassifyInput::default() };
        let words = words_of(&input);
        assert!(words.len() <= MAX_WORDS && words.len() > MAX_WORDS - 2 * line.len(), "{}", words.len());
        assert!(words.ends_with(line.trim_end()), "no value is cut in two");
        let made = example(words, &["Fern Hollow".to_owned()]);
        assert!(made.starts_with("The yard Please see to the yard of before the week"), "{made}");
        assert!(!made.contains("Fern") && made.chars().count() <= MAX_EXAMPLE);
        // What has no end of a line is cut between words.
        let input = ClassifyInput { text: "some more words ".repeat(10_000), ..ClassifyInput::default() };
        assert!(words_of(&input).ends_with(|end: char| end.is_alphabetic()));
    }
}
