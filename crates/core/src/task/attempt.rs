//! Attempts: an outside effect is recorded as started before it is sent.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        Self(format!("v1:{tenant}:{task}:{step}:{generation}"))
    }

    /// The key as text, as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One started try of an outside effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The step.
    pub step: StepId,
    /// The step's generation.
    pub generation: u32,
    /// Which try, from 1.
    pub attempt: u32,
    /// The tool.
    pub tool: String,
    /// What happens if the process dies now.
    pub effect: EffectClass,
    /// BLAKE3 of the arguments' canonical form. The same key with other arguments is a conflict.
    pub args_hash: String,
    /// When it started.
    pub at: Timestamp,
}
