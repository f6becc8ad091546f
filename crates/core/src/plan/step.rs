//! One step of a plan, as it was written.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::limits;
use crate::time::Millis;

/// A step's stable id: `[a-z][a-z0-9_]*`, unique in its plan. Ids with a leading `_` are the kernel's own phases.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(Arc<str>);

impl StepId {
    /// The phase that turns documents into text.
    pub const EXTRACTION: &str = "_extraction";
    /// The phase that finds out what is wanted.
    pub const INTENT: &str = "_intent_detection";
    /// The phase that chooses a plan.
    pub const PLANNING: &str = "_planning";

    /// With what the ids of answers begin: what a language model said of a message or a document, which is no step.
    pub const ANSWER: &str = "_answer__";

    /// The row that says with which lessons the calls of a task read, where no phase says so; it is no step.
    pub const LESSONS: &str = "_lessons";

    /// Whether it names an answer of a language model about a message or a document.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.0.starts_with(Self::ANSWER)
    }

    /// Checks an id as a plan may write it.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::bounded(text, limits::MAX_STEP_ID)
    }

    /// Checks an id that may be derived: it is longer than an author may write.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn parse_derived(text: &str) -> Result<Self, String> {
        Self::bounded(text, limits::MAX_DERIVED_ID)
    }

    fn bounded(text: &str, most: usize) -> Result<Self, String> {
        let mut chars = text.chars();
        let starts_well = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        let goes_on_well = chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !starts_well || !goes_on_well {
            return Err(format!("step id {text:?} must match [a-z][a-z0-9_]*"));
        }
        if text.len() > most {
            return Err(format!("step id {text:?} is longer than {most} characters"));
        }
        Ok(Self(text.into()))
    }

    /// Wraps an id that is known to be well-formed: a kernel phase, a derived id, or one read back from the store.
    #[must_use]
    pub fn trusted(text: &str) -> Self {
        Self(text.into())
    }

    /// The id of a step that `self` injects, or that stands in one of its branches.
    #[must_use]
    pub fn child(&self, id: &Self) -> Self {
        Self(format!("{}__{}", self.0, id.0).into())
    }

    /// The id of a step in the `n`th round of the loop `self`, from 0.
    #[must_use]
    pub fn in_round(&self, n: u32, id: &Self) -> Self {
        Self(format!("{}__{n}__{}", self.0, id.0).into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

words! {
    /// When a step runs: `always` also after another has failed.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schema(as = StepWhen))]
    pub enum When {
        /// As long as no failure has stopped the task.
        #[default]
        Success = "success",
        /// Even after a failure has stopped the task (composing an answer, cleaning up).
        Always = "always",
    }
}

impl When {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_success(&self) -> bool {
        *self == Self::Success
    }
}

/// How often, and how far apart, a step is tried. Parts that a plan leaves out are those of [`RetryPolicy::DEFAULT`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Tries in all, from 1 to 20.
    pub max_attempts: u32,
    /// The pause before the second try, of which at least half is waited.
    pub initial_delay_ms: Millis,
    /// The longest pause.
    pub max_delay_ms: Millis,
    /// By how much each pause is longer than the one before, from 1 to 10.
    pub backoff_multiplier: f64,
}

impl RetryPolicy {
    /// Three tries, one second apart at first.
    pub const DEFAULT: Self = Self {
        max_attempts: 3,
        initial_delay_ms: Millis(1_000),
        max_delay_ms: Millis(60_000),
        backoff_multiplier: 2.0,
    };

    /// The pause after the `attempt`th try (from 1), scaled by `jitter` in 0..1 to between half and the whole.
    #[must_use]
    pub fn delay(&self, attempt: u32, jitter: f64) -> Millis {
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX).min(64);
        let mut whole = self.initial_delay_ms.0;
        for _ in 0..exponent {
            whole = scale(whole, self.backoff_multiplier).min(self.max_delay_ms.0);
        }
        let whole = whole.min(self.max_delay_ms.0);
        Millis(whole / 2 + scale(whole - whole / 2, jitter.clamp(0.0, 1.0)))
    }
}

/// `whole * factor`, rounded down; durations here are far below 2⁵³, where floats are exact.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bounded above by max_delay_ms, which is validated, and never negative"
)]
fn scale(whole: u64, factor: f64) -> u64 {
    (whole as f64 * factor) as u64
}

/// What a `task` step starts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskTarget {
    /// A plan by its key.
    #[serde(rename = "planKey")]
    Plan(String),
    /// A capability of the marketplace.
    Capability(String),
}

/// What a step does. String leaves of values may be templates.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum StepKind {
    /// Calls a tool.
    Tool {
        /// Its key.
        tool: String,
        /// Its arguments.
        args: Map<String, Value>,
    },
    /// Hands a task to an agent.
    Agent {
        /// The agent's key.
        agent: String,
        /// What it is to do.
        task: Value,
    },
    /// Asks the model of the agent around it. The kernel's own: no plan can write it.
    Question,
    /// Lets a model decide, by a schema.
    Decision {
        /// What it is asked.
        prompt: Value,
        /// The JSON Schema of its answer.
        schema: Value,
    },
    /// Asks a person to fill in a form.
    Input {
        /// The form's title.
        title: Value,
        /// The JSON Schema of the answer.
        fields: Value,
    },
    /// Takes one of two ways.
    Condition {
        /// The expression that decides.
        #[serde(rename = "if")]
        test: String,
        /// The steps when it is true.
        then: Vec<StepSpec>,
        /// The steps when it is false.
        #[serde(rename = "else")]
        otherwise: Vec<StepSpec>,
    },
    /// Walks branches side by side.
    Parallel { branches: Vec<Vec<StepSpec>> },
    /// Repeats steps over items.
    Loop {
        /// Over what.
        #[serde(flatten)]
        source: LoopSource,
        /// The most rounds; more items than this fail the step.
        max_iterations: u32,
        /// The steps of one round.
        steps: Vec<StepSpec>,
    },
    /// Hands over to an outside engine and waits for its callback.
    Workflow {
        /// The workflow's name.
        workflow: String,
        /// Its arguments.
        args: Map<String, Value>,
    },
    /// Starts a child task and waits for it.
    Task {
        /// What it runs.
        #[serde(flatten)]
        target: TaskTarget,
        input: Value,
    },
}

/// What a loop goes over.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LoopSource {
    /// Each item of a list, fixed when the loop opens.
    Over(Value),
    /// As long as the expression is true, looked at before each round.
    While(String),
}

impl StepKind {
    /// The kind's name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Agent { .. } => "agent",
            Self::Question => "question",
            Self::Decision { .. } => "decision",
            Self::Input { .. } => "input",
            Self::Condition { .. } => "condition",
            Self::Parallel { .. } => "parallel",
            Self::Loop { .. } => "loop",
            Self::Workflow { .. } => "workflow",
            Self::Task { .. } => "task",
        }
    }

    /// The lists of steps inside, in order; empty for a kind that holds none.
    #[must_use]
    pub fn inner(&self) -> Vec<&[StepSpec]> {
        match self {
            Self::Condition { then, otherwise, .. } => vec![then, otherwise],
            Self::Parallel { branches } => branches.iter().map(Vec::as_slice).collect(),
            Self::Loop { steps, .. } => vec![steps],
            Self::Tool { .. }
            | Self::Agent { .. }
            | Self::Question
            | Self::Decision { .. }
            | Self::Input { .. }
            | Self::Workflow { .. }
            | Self::Task { .. } => Vec::new(),
        }
    }
}

/// A step. On the wire its fields stand in this order, and those that say nothing are left out: a plan's hash is made of
/// it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSpec {
    pub id: StepId,
    /// What it does.
    #[serde(flatten)]
    pub kind: StepKind,
    /// Skipped when this expression is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether it also runs after a failure.
    #[serde(skip_serializing_if = "When::is_success")]
    pub when: When,
    /// The steps of the same list that must have ended first; `None` means the step before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<StepId>>,
    /// The name under which its data enters the state; `None` means under the data's own names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_as: Option<String>,
    /// Whether its failure stops the task; `None` leaves it to the tool, then to the default, which is yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_on_failure: Option<bool>,
    /// How it is tried again; `None` leaves it to the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// How long one try may take; `None` leaves it to the tool.
    #[serde(rename = "timeoutMs", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Millis>,
}

impl StepSpec {
    /// A tool step with everything else left to the defaults.
    #[must_use]
    pub fn tool(id: StepId, tool: impl Into<String>, args: Map<String, Value>) -> Self {
        Self {
            id,
            kind: StepKind::Tool { tool: tool.into(), args },
            condition: None,
            when: When::Success,
            depends_on: None,
            save_as: None,
            stop_on_failure: None,
            retry: None,
            timeout: None,
        }
    }

    /// A question to the model of an agent.
    #[must_use]
    pub fn question() -> Self {
        Self { kind: StepKind::Question, ..Self::tool(StepId::trusted("ask"), "", Map::new()) }
    }

    /// The tool this step calls, when it calls one.
    #[must_use]
    pub fn tool_key(&self) -> Option<&str> {
        match &self.kind {
            StepKind::Tool { tool, .. } => Some(tool),
            StepKind::Agent { .. }
            | StepKind::Question
            | StepKind::Decision { .. }
            | StepKind::Input { .. }
            | StepKind::Condition { .. }
            | StepKind::Parallel { .. }
            | StepKind::Loop { .. }
            | StepKind::Workflow { .. }
            | StepKind::Task { .. } => None,
        }
    }

    /// How many steps this is, with all inside it.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.kind.inner().into_iter().flatten().map(Self::count).sum::<usize>()
    }
}

impl<'de> Deserialize<'de> for StepSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let mut faults = Vec::new();
        let step = super::parse_step::step(&value, "", 0, &mut faults);
        match (step, faults.into_iter().next()) {
            (Some(step), None) => Ok(step),
            (_, Some(fault)) => Err(serde::de::Error::custom(fault)),
            (None, None) => Err(serde::de::Error::custom("not a step")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_and_are_capped() {
        let policy = RetryPolicy { max_delay_ms: Millis(3_000), ..RetryPolicy::DEFAULT };
        assert_eq!(policy.delay(1, 1.0), Millis(1_000));
        assert_eq!(policy.delay(2, 1.0), Millis(2_000));
        assert_eq!(policy.delay(50, 1.0), Millis(3_000));
        assert_eq!(policy.delay(1, 0.0), Millis(500));
    }

    #[test]
    fn ids_are_checked_and_derived() {
        assert!(StepId::parse("Bad-Id").is_err());
        assert!(StepId::parse("_kernel").is_err());
        let (a, b) = (StepId::trusted("each"), StepId::trusted("send"));
        assert_eq!(a.child(&b).as_str(), "each__send");
        assert_eq!(a.in_round(2, &b).as_str(), "each__2__send");
    }
}
