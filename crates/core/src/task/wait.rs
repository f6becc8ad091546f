//! What a step waits for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ApprovalId;
use crate::plan::StepId;
use crate::time::Timestamp;

/// Whom, or what, a step waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// A person: which intent is it?
    Intent,
    /// A person: a document could not be read.
    Document,
    /// A person: no plan can be used for this intent.
    Plan,
    /// A person: a form is to be filled in.
    Input,
    /// A person: the tool asks for a look.
    Review,
    /// A person: may this call be made with exactly these arguments?
    Confirmation,
    /// A person: nobody knows whether an outside effect happened.
    Ambiguous,
    /// The clock.
    Timer,
    /// A child task.
    Child,
    /// An outside engine.
    Workflow,
}

impl WaitKind {
    /// Whether a person has to answer.
    #[must_use]
    pub const fn is_person(self) -> bool {
        match self {
            Self::Intent
            | Self::Document
            | Self::Plan
            | Self::Input
            | Self::Review
            | Self::Confirmation
            | Self::Ambiguous => true,
            Self::Timer | Self::Child | Self::Workflow => false,
        }
    }

    /// Whether the question is about one call of a tool. Such a question is everybody's who answers questions, also when
    /// the call belongs to somebody's conversation; the others of a conversation are its user's.
    #[must_use]
    pub const fn is_about_a_call(self) -> bool {
        match self {
            Self::Confirmation | Self::Ambiguous => true,
            Self::Intent
            | Self::Document
            | Self::Plan
            | Self::Input
            | Self::Review
            | Self::Timer
            | Self::Child
            | Self::Workflow => false,
        }
    }

    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Intent,
        Self::Document,
        Self::Plan,
        Self::Input,
        Self::Review,
        Self::Confirmation,
        Self::Ambiguous,
        Self::Timer,
        Self::Child,
        Self::Workflow,
    ];

    /// The kind with that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Document => "document",
            Self::Plan => "plan",
            Self::Input => "input",
            Self::Review => "review",
            Self::Confirmation => "confirmation",
            Self::Ambiguous => "ambiguous",
            Self::Timer => "timer",
            Self::Child => "child",
            Self::Workflow => "workflow",
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// The step that waits.
    pub step_id: StepId,
    /// The journal row that began the wait: answers bind to it, so that none can be given twice.
    pub seq: i64,
    pub kind: WaitKind,
    /// The question to a person, by which it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    /// Why, for people: names the file, the recipient, the missing thing.
    pub reason: String,
    /// What a person is asked, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// JSON Schema of the corrections that are accepted.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub schema: Value,
    /// What is shown with it: a call's arguments, a file's fault, candidates.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    pub since: Timestamp,
    /// When the clock ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether the answer is the step's data, rather than a correction after which the tool is called again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answer_ends: bool,
    /// The child task or the workflow's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Of a call that is to be confirmed: the names of the arguments that come from untrusted sources. A yes makes the
    /// call, and its result stays as untrusted as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tainted_args: Vec<String>,
}
