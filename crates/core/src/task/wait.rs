//! What a step waits for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ApprovalId;
use crate::plan::StepId;
use crate::time::Timestamp;

words! {
    /// Whom, or what, a step waits for.
    pub enum WaitKind {
        /// A person: which intent is it?
        Intent = "intent",
        /// A person: a document could not be read.
        Document = "document",
        /// A person: no plan can be used for this intent.
        Plan = "plan",
        /// A person: a form is to be filled in.
        Input = "input",
        /// A person: the tool asks for a look.
        Review = "review",
        /// A person: may this call be made with exactly these arguments?
        Confirmation = "confirmation",
        /// A person: nobody knows whether an outside effect happened.
        Ambiguous = "ambiguous",
        /// The clock.
        Timer = "timer",
        /// A child task.
        Child = "child",
        /// An outside engine.
        Workflow = "workflow",
    }
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
}

/// For what a task waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// The step.
    pub step_id: StepId,
    /// The place of the wait in the journal.
    pub seq: i64,
    /// For whom or what.
    pub kind: WaitKind,
    /// The question, by which it is answered at `/api/approvals/{id}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub approval_id: Option<ApprovalId>,
    /// Why, for people.
    pub reason: String,
    /// What a person is asked, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub title: Option<String>,
    /// JSON Schema of the corrections that are accepted.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>, nullable = false))]
    pub schema: Value,
    /// What is shown with it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// Since when.
    pub since: Timestamp,
    /// When the clock ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub until: Option<Timestamp>,
    /// Whether the answer is the step's data, rather than a correction after which the tool is called again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub answer_ends: bool,
    /// The child task or the delegation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub reference: Option<String>,
    /// Of a call that is to be confirmed: the names of the arguments that come from untrusted sources. A yes makes the
    /// call, and its result stays as untrusted as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tainted_args: Vec<String>,
}
