//! What a tool says about itself. The registry decides by this, never by what a remote server claims.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Right;
use crate::plan::RetryPolicy;
use crate::policy::permission::{PermissionLevel, ToolCategory};
use crate::task::EffectClass;
use crate::time::Millis;

use super::price::ToolPrice;
use super::setting::ToolRateLimits;

/// How much harm a call can do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Risk {
    /// Reads what is the tenant's own.
    R0,
    /// Writes what can be undone.
    R1,
    /// Reaches the outside, or cannot be undone.
    R2,
    /// Code, money, administration.
    R3,
}

/// How far a call reaches: what a user must be allowed, on what it works, and what harm it can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ToolReach {
    /// The level that it asks for.
    pub level: PermissionLevel,
    /// What it works on.
    pub category: ToolCategory,
    /// How much harm it can do.
    pub risk: Risk,
}

/// What a tool's context gives it. What is not asked for is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolNeeds {
    /// The task's state, input and payload. What is made of them is as untrusted as the worst of them.
    pub task: bool,
    /// HTTP through the egress policy.
    pub http: bool,
    /// The task's documents as text.
    pub documents: bool,
    /// The extraction model.
    pub model: bool,
    /// The tenant's records, to read.
    pub records: bool,
    /// The tenant's users, to read.
    pub users: bool,
    /// What became of the tenant's outgoing messages, to read.
    pub outbox: bool,
    /// The values of the tenant's secrets, each for its own hosts.
    pub secrets: bool,
    pub language_model: bool,
    /// What the tenant has learned.
    pub lessons: bool,
    /// What is remembered, to read.
    pub memories: bool,
    /// The published documents, to search.
    pub knowledge: bool,
    /// Tasks, to read.
    pub tasks: bool,
    /// Plans, to read and to check.
    pub plans: bool,
}

/// A tool's description of itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSpec {
    /// Its key, `domain.verb_object`.
    pub key: String,
    /// Other names under which plans may call it.
    pub aliases: Vec<String>,
    /// What it does, for people and models.
    pub description: String,
    /// The part of the key before the dot, or `global`.
    pub domain: String,
    /// Words by which it is found beside those of its description.
    pub tags: Vec<String>,
    /// Arguments with which it can be called, each a whole call.
    pub examples: Vec<Value>,
    /// JSON Schema of its arguments. `additionalProperties` is refused unless it says otherwise.
    pub input_schema: Value,
    /// What happens if the process dies during a call. Some tools decide per call, see
    /// [`crate::ports::Tool::effect_of`].
    pub effect: EffectClass,
    /// How much harm a call can do.
    pub risk: Risk,
    /// How far it reaches: a user's policy must allow that level.
    pub level: PermissionLevel,
    /// What it works on: a user's policy must allow that category. Some tools decide level, category and risk per
    /// call, see [`crate::ports::Tool::reach_of`].
    pub category: ToolCategory,
    /// What the caller must hold.
    pub right: Right,
    /// How long one try may take.
    pub timeout: Millis,
    /// Whether its failure stops the task when the step does not say.
    pub stop_on_failure: bool,
    /// How it is tried again when the step does not say.
    pub retry: RetryPolicy,
    /// Arguments that name a receiver or a place on the network. When their values come from mail, documents or the
    /// web, a person is asked.
    pub destinations: Vec<String>,
    /// Arguments that are paths of files or folders.
    pub paths: Vec<String>,
    /// How often each user may call it.
    pub rate: ToolRateLimits,
    /// What a call costs; `None` for nothing. What a tool asks of models is counted there, not here.
    pub price: Option<ToolPrice>,
    /// Whether its data is untrusted whatever its arguments are: it read mail, documents or the web.
    pub untrusted_output: bool,
    /// Whether its data is trusted whatever its arguments are: it comes from the tenant's own settings.
    pub trusted_output: bool,
    /// What its context gives it.
    pub needs: ToolNeeds,
}

impl ToolSpec {
    /// A local tool of no risk, with defaults for all else: 30 s, no retry of its own beyond the default, failure
    /// stops the task.
    pub fn local(key: &str, description: &str, input_schema: Value) -> Self {
        Self {
            key: key.to_owned(),
            aliases: Vec::new(),
            description: description.to_owned(),
            domain: key.split_once('.').map_or("global", |(domain, _)| domain).to_owned(),
            tags: Vec::new(),
            examples: Vec::new(),
            input_schema,
            effect: EffectClass::Local,
            risk: Risk::R1,
            level: PermissionLevel::Write,
            category: ToolCategory::Custom,
            right: Right::Operate,
            timeout: Millis::from_secs(30),
            stop_on_failure: true,
            retry: RetryPolicy::DEFAULT,
            destinations: Vec::new(),
            paths: Vec::new(),
            rate: ToolRateLimits::default(),
            price: None,
            untrusted_output: false,
            trusted_output: false,
            needs: ToolNeeds::default(),
        }
    }

    /// The same for a tool that only reads.
    pub fn read(key: &str, description: &str, input_schema: Value) -> Self {
        let (effect, risk, level) = (EffectClass::Read, Risk::R0, PermissionLevel::Read);
        Self { effect, risk, level, ..Self::local(key, description, input_schema) }
    }

    /// The same tool, found by these words, and called like this.
    #[must_use]
    pub fn shown(mut self, tags: &[&str], example: Value) -> Self {
        self.tags.extend(tags.iter().map(|tag| (*tag).to_owned()));
        self.examples.push(example);
        self
    }

    /// How far its calls reach when the arguments do not matter.
    #[must_use]
    pub const fn reach(&self) -> ToolReach {
        ToolReach { level: self.level, category: self.category, risk: self.risk }
    }
}
