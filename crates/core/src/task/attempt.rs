//! Attempts: an outside effect is recorded as started before it is sent.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::journal::EffectClass;
use crate::id::{TaskId, TenantId};
use crate::plan::StepId;
use crate::time::Timestamp;

/// The idempotency key of one logical call: minted once, carried by every try, changed only by a person's redo.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttemptKey(String);

impl AttemptKey {
    /// `v1:{tenant}:{task}:{step}:{generation}`.
    #[must_use]
    pub fn mint(tenant: TenantId, task: TaskId, step: &StepId, generation: u32) -> Self {
        let mut buffer = Uuid::encode_buffer();
        let mut key = String::with_capacity("v1:".len() + 2 * (buffer.len() + 1) + step.as_str().len() + ":0".len());
        key.push_str("v1:");
        key.push_str(tenant.as_uuid().hyphenated().encode_lower(&mut buffer));
        key.push(':');
        key.push_str(task.as_uuid().hyphenated().encode_lower(&mut buffer));
        key.push(':');
        key.push_str(step.as_str());
        // Writing into a string does not fail.
        let _ = write!(key, ":{generation}");
        Self(key)
    }

    /// The key as text, as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<AttemptKey> for String {
    fn from(key: AttemptKey) -> Self {
        key.0
    }
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What every try of one generation of a step is called with, as it was rendered for the first one. Templates read a
/// state that steps beside this one change, so rendering them again could give other arguments for the same call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenderedArgs {
    /// The arguments that contain templates, rendered. The others are as the plan says. Secrets are still references.
    pub args: Map<String, Value>,
    /// The last journal row that the templates could read.
    pub saw: i64,
    /// The names of those arguments whose values come from untrusted sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tainted: Vec<String>,
}

/// One started try of an outside effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub step: StepId,
    /// The step's generation.
    pub generation: u32,
    /// Which try, from 1.
    pub attempt: u32,
    pub tool: String,
    /// What happens if the process dies now.
    pub effect: EffectClass,
    /// BLAKE3 of the arguments' canonical form. The same key with other arguments is a conflict.
    pub args_hash: String,
    /// The hash of the definition that was called, of a tool that its tenant can change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_hash: Option<Arc<str>>,
    /// What it was called with, unless the plan or an earlier journal row says so: kept so that another try after a
    /// crash sends the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Arc<RenderedArgs>>,
    /// When it started.
    pub at: Timestamp,
}
