//! The pieces of a walk: nodes (a step in its place) and lists (steps in order).

use std::sync::Arc;

use kybern_core::id::TaskId;
use kybern_core::plan::{StepId, StepSpec};
use kybern_core::task::{ContainerOpening, RenderedArgs, Signal, StepOutcome, TaskStatus, Wait, WaitKind};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Map, Value};

/// Where a node stands.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeState {
    /// It has not begun, or is to begin again.
    Pending,
    /// It is being executed by this process. Never stored: after a crash it is pending.
    Running,
    /// It holds steps and has been opened.
    Opened,
    /// It waits for a person, the clock, a child or an outside engine.
    Waiting(Box<Wait>),
    /// A try failed; the next is due then.
    Backoff(Timestamp),
    /// It has ended.
    Done(Arc<StepOutcome>),
}

/// What a loop's round gives its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRound {
    /// The item; `null` in a while loop.
    pub item: Value,
    /// Which round, from 0.
    pub index: u32,
    /// Whether the item comes from untrusted sources.
    pub tainted: bool,
}

/// What a person's answer left for the next try of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PersonAnswer {
    /// Arguments that a person approved.
    pub approved_args: Option<ApprovedArgs>,
    /// Whether an earlier call may have had its effect, and a person said that it shall be made again or has failed.
    pub possible_duplicate: bool,
}

impl PersonAnswer {
    /// What it leaves for another call of the step: what nobody knew of an earlier one, nobody knows still.
    #[must_use]
    pub const fn for_another_call(&self) -> Self {
        Self { approved_args: None, possible_duplicate: self.possible_duplicate }
    }
}

/// The arguments of a call to which a person said yes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApprovedArgs {
    /// What they are, exactly; they are used as they are.
    pub values: Map<String, Value>,
    /// The names of those that came from untrusted sources when the person was asked.
    pub tainted: Vec<String>,
    /// The hash of the definition that was shown; `None` where none was.
    pub tool_hash: Option<String>,
    /// Until when the yes holds for a call that has not begun.
    pub until: Option<Timestamp>,
}

/// A child task as its parent's step knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    pub id: TaskId,
    pub wait: Box<Wait>,
    /// How it ended, as far as it has been told.
    pub ended: Option<TaskStatus>,
}

/// A step in its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The step, with its own id as written (or proposed).
    pub spec: Arc<StepSpec>,
    /// Its id in this walk.
    pub id: StepId,
    /// The list it stands in.
    pub list: usize,
    /// The nodes it waits for.
    pub deps: Vec<usize>,
    /// Where it stands.
    pub state: NodeState,
    /// Lists inside it, in order of opening.
    pub lists: Vec<usize>,
    /// The list of steps it injected.
    pub injected: Option<usize>,
    /// One more with each redo by a person.
    pub generation: u32,
    /// Tries so far in this generation.
    pub attempts: u32,
    /// The try of this generation that was begun last outside, as far as attempts tell.
    pub begun: u32,
    /// What its tries are called with, once a row of this generation has said so.
    pub rendered: Option<Arc<RenderedArgs>>,
    /// How often it was put off without a try that ended: the worker did not have its tool or plan, or died.
    pub misses: u32,
    /// Whether it has been scheduled, as far as the journal knows: it counts towards the task's cap from then on.
    pub scheduled: bool,
    /// What was decided when it was opened.
    pub opening: Option<ContainerOpening>,
    /// What a person's answers left.
    pub answer: PersonAnswer,
    /// The row with which it asked a person last.
    pub asked: Option<i64>,
    /// The child that it last waited for.
    pub child: Option<Child>,
    /// The workflow that it last waited for.
    pub delegated: Option<String>,
    /// That workflow's answer, when it came after its step had failed without it.
    pub late_answer: Option<Box<Signal>>,
    /// What persons put right here; enters the state before the step's own data.
    pub corrections: Map<String, Value>,
    /// Whether its arguments are data from untrusted sources (injected by a tainted step).
    pub tainted_args: bool,
    /// Whether its arguments are data and never templates (injected).
    pub literal_args: bool,
    /// The loop round it stands in, innermost.
    pub round: Option<Arc<LoopRound>>,
    /// Whether it was its turn when a worker died or gave it up, so that it may have run although no row says so.
    pub may_have_run: bool,
    /// Whether it was replaced by a patch before it began.
    pub replaced: bool,
    /// Of an agent: what its turn had taken when a person wanted it tried again. It counts towards its time no more.
    pub spent: Millis,
    /// The agent in whose turn it stands: its model chose it, or asks in it.
    pub turn: Option<usize>,
    /// When it was opened, if it holds steps.
    pub opened_at: Option<Timestamp>,
    /// How long its tries have taken together.
    pub took: Millis,
    /// The last row before it came into being, or was to run once more. What rows up to there say of a step with its id
    /// does not count any more.
    pub since: i64,
}

impl Node {
    /// What it does next is another call: under the next generation, with all its tries.
    pub fn next_generation(&mut self) {
        self.generation += 1;
        self.attempts = 0;
        self.begun = 0;
        self.delegated = None;
        self.late_answer = None;
        self.rendered = None;
        self.misses = 0;
    }

    /// Whether a call of it was begun of which no row says how it ended. It may have had its effect, so it goes on
    /// whatever has stopped what stands around it since.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.begun > self.attempts
    }

    /// Whether the row that it stands at says that it has begun, so that its end need not say it again.
    #[must_use]
    pub fn has_told_that_it_began(&self) -> bool {
        match &self.state {
            NodeState::Opened => true,
            NodeState::Waiting(wait) => matches!(wait.kind, WaitKind::Timer | WaitKind::Child),
            NodeState::Pending | NodeState::Running | NodeState::Backoff(_) | NodeState::Done(_) => false,
        }
    }

    /// Its outcome, once it has ended.
    #[must_use]
    pub fn outcome(&self) -> Option<&Arc<StepOutcome>> {
        match &self.state {
            NodeState::Done(outcome) => Some(outcome),
            NodeState::Pending
            | NodeState::Running
            | NodeState::Opened
            | NodeState::Waiting(_)
            | NodeState::Backoff(_) => None,
        }
    }
}

/// Steps in order.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// The node that holds it; `None` for the plan itself.
    pub(super) owner: Option<usize>,
    /// Its nodes in order.
    pub(super) nodes: Vec<usize>,
    /// The node whose failure stopped it.
    pub(super) stopped_by: Option<usize>,
}

/// A phase of the kernel before the plan is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Documents become text.
    Extraction,
    /// What is wanted?
    Intent,
    /// Which plan?
    Planning,
}

impl Phase {
    /// The step id under which the phase is journaled.
    #[must_use]
    pub const fn step_id(self) -> &'static str {
        match self {
            Self::Extraction => StepId::EXTRACTION,
            Self::Intent => StepId::INTENT,
            Self::Planning => StepId::PLANNING,
        }
    }

    /// The phase with that step id.
    #[must_use]
    pub fn of_step(id: &str) -> Option<Self> {
        [Self::Extraction, Self::Intent, Self::Planning].into_iter().find(|phase| phase.step_id() == id)
    }
}

/// What is known of a phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseState {
    /// Its outcome, once it has ended.
    pub outcome: Option<Arc<StepOutcome>>,
    /// Its wait, while it waits.
    pub wait: Option<Box<Wait>>,
    /// What a person answered, for the next try.
    pub corrections: Map<String, Value>,
}
