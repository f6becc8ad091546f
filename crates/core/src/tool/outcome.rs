//! What a call returns. Everything that is to be written is returned as data; the executor commits it with the step.

use serde_json::{Map, Value};

use crate::job::NewJob;
use crate::json::{self, Unstorable};
use crate::lesson::Teaching;
use crate::money::Usage;
use crate::outbox::NewOutbox;
use crate::plan::PlanPatch;
use crate::record::{ArtifactLink, PutRecord};
use crate::time::Timestamp;

use super::write::Write;

/// A record to be written, and the link that explains it.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordChange {
    pub put: PutRecord,
    pub link: ArtifactLink,
}

/// A question to a person before the step can end.
#[derive(Clone, PartialEq, Debug)]
pub struct Review {
    /// Why, naming the file, the field, the missing thing.
    pub reason: String,
    /// A form's title, when the answer is a form.
    pub title: Option<String>,
    /// JSON Schema of the corrections.
    pub schema: Value,
    /// What is shown with the question.
    pub details: Value,
    /// Whether the answer itself is the step's data (a form), rather than a correction after which the tool is
    /// called again.
    pub answer_is_result: bool,
}

/// Steps as a tool proposes them, before they are checked and given derived ids.
pub type Injected = Vec<Value>;

/// Asks the executor to let the clock finish the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitUntil(pub Timestamp);

/// A call's success.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolOutcome {
    /// The step's data. An object's members enter the state under their names.
    pub data: Map<String, Value>,
    /// One sentence for people; no values of documents or messages.
    pub summary: String,
    /// Records to be written with the step.
    pub records: Vec<RecordChange>,
    /// Links to records that are not changed.
    pub links: Vec<ArtifactLink>,
    /// Messages to be sent afterwards.
    pub outbox: Vec<NewOutbox>,
    /// Jobs to be queued.
    pub jobs: Vec<NewJob>,
    /// What the answer of a person, with which the tool was called again, teaches: each is suggested to the tenant.
    pub lessons: Vec<Teaching>,
    /// What is to be written of memories, tasks and plans.
    pub writes: Vec<Write>,
    /// What the call used.
    pub usage: Usage,
    /// Steps to run after this one.
    pub new_steps: Injected,
    /// A change of the remaining plan.
    pub patch: Option<PlanPatch>,
    /// A question to a person; then nothing else of this outcome counts.
    pub review: Option<Box<Review>>,
    /// Hand the step over to this workflow, with these arguments; then nothing else of this outcome counts.
    pub delegate: Option<Box<(String, Map<String, Value>)>>,
    /// The step ends when the clock says so.
    pub wait: Option<WaitUntil>,
    /// Whether the data comes from untrusted sources although the tool's spec does not say so.
    pub tainted: bool,
}

impl ToolOutcome {
    /// A success with data and a sentence.
    pub fn new<N: Into<String>>(data: impl IntoIterator<Item = (N, Value)>, summary: impl Into<String>) -> Self {
        let data = data.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { data, summary: summary.into(), ..Self::default() }
    }

    /// Refuses an outcome of which a part could not be read again, and names the part.
    ///
    /// # Errors
    /// As [`json::check_value`].
    pub fn check_value(&self) -> Result<(), (&'static str, Unstorable)> {
        let named = |what: &'static str| move |deep: Unstorable| (what, deep);
        json::check_members(&self.data).map_err(named("the result"))?;
        for change in &self.records {
            json::check_members(&change.put.props).map_err(named("a record"))?;
        }
        for link in self.links.iter().chain(self.records.iter().map(|change| &change.link)) {
            json::check_members(&link.metadata).map_err(named("a link"))?;
        }
        for message in &self.outbox {
            json::check_value(&message.body).map_err(named("a message"))?;
        }
        for job in &self.jobs {
            json::check_value(&job.payload).map_err(named("a job"))?;
        }
        for write in &self.writes {
            if let Write::Submit(task) = write {
                json::check_value(&task.payload).map_err(named("the payload of a task"))?;
            }
        }
        for step in &self.new_steps {
            json::check_value(step).map_err(named("a new step"))?;
        }
        if let Some(review) = &self.review {
            json::check_value(&review.schema).map_err(named("the question's schema"))?;
            json::check_value(&review.details).map_err(named("the question"))?;
        }
        if let Some(delegate) = &self.delegate {
            json::check_members(&delegate.1).map_err(named("the arguments of the workflow"))?;
        }
        Ok(())
    }

    /// A question to a person.
    #[must_use]
    pub fn ask(review: Review) -> Self {
        Self { review: Some(Box::new(review)), ..Self::default() }
    }
}
