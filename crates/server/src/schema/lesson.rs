//! Lessons.

use kybern_core::lesson::{LessonKind, LessonSource, LessonStatus};
use utoipa::ToSchema;

/// A lesson. Which members it has follows from its kind and from what it says.
#[derive(ToSchema)]
#[schema(as = Lesson, rename_all = "camelCase")]
pub struct LessonSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// What it teaches.
    pub kind: LessonKind,
    /// Of an example: the intent's key.
    pub intent: Option<String>,
    /// Of an example: what the message says; of one that an answer has suggested, without the values that were read
    /// out of it, numbers and addresses.
    pub text: Option<String>,
    /// Of a label or a spelling: the extraction schema.
    pub schema: Option<String>,
    /// Of a label or a spelling: the field, as `buyer.name`, or `orders/number` in a list.
    pub field: Option<String>,
    /// Of a label or a spelling: the words, in small letters.
    pub label: Option<String>,
    /// Of a label that is itself a value of a closed list: that value; of a spelling: the value that it means.
    pub value: Option<String>,
    /// Of a trusted sender or a speaker: the e-mail address, in small letters.
    pub address: Option<String>,
    /// Of a speaker: the company that they answer for.
    pub company: Option<String>,
    /// How it stands.
    pub status: LessonStatus,
    /// Where it comes from.
    pub source: LessonSource,
    /// The version of the tenant's lessons from which on it is used; null when it never was.
    #[schema(required)]
    pub since_version: Option<u32>,
    /// The version from which on it is used no longer.
    #[schema(required)]
    pub until_version: Option<u32>,
    /// Who accepted or withdrew it last.
    #[schema(required)]
    pub decided_by: Option<String>,
    /// When it was suggested.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When it was decided about last.
    #[schema(format = "date-time")]
    pub updated_at: String,
}

/// What a lesson changes.
#[derive(ToSchema)]
#[schema(as = LessonPreview, rename_all = "camelCase")]
pub struct LessonPreviewSchema {
    /// The lesson.
    #[schema(format = "uuid")]
    pub lesson_id: String,
    /// How many mails were looked at, the newest first.
    pub mails: u64,
    /// How many of them could not be read, or not within five seconds.
    pub left_out: u64,
    /// Whether all of the last hundred were looked at; otherwise the time was over.
    pub complete: bool,
    /// Those that are read differently.
    pub changed: Vec<PreviewedMailSchema>,
}

/// A mail that is read differently.
#[derive(ToSchema)]
#[schema(as = PreviewedMail, rename_all = "camelCase")]
pub struct PreviewedMailSchema {
    /// Its task.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// Its subject.
    pub subject: String,
    /// When it came in.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// The intent that it was given in the end, by the rules or by a person.
    #[schema(required)]
    pub intent: Option<String>,
    /// What the rules say without the lesson: `intent`, `confidence`, `asks`; or `fields`; or `doubtsSender`; or `answersFor`.
    #[schema(value_type = Object)]
    pub without: serde_json::Value,
    /// What they say with it.
    #[schema(value_type = Object)]
    pub with: serde_json::Value,
}

page! {
    /// A page of lessons.
    pub LessonPage of LessonSchema: "The lessons."
}
