//! The copy of a plan that a task walks. It is immutable and named by its own hash, so that a thousand tasks of one
//! plan share one stored copy, and a later edit of the plan cannot touch them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::step::StepSpec;

/// BLAKE3 of a frozen plan's canonical form, in hex (64 characters).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanHash(Arc<str>);

impl PlanHash {
    /// Wraps a hash that was read back from the store.
    #[must_use]
    pub fn trusted(text: &str) -> Self {
        Self(text.into())
    }

    /// The hash as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a task walks.
#[derive(Clone, Debug)]
pub struct FrozenPlan {
    hash: PlanHash,
    body: Arc<str>,
    steps_json: Arc<RawValue>,
    /// The plan's key.
    pub key: String,
    /// The plan's version.
    pub version: u32,
    /// The steps. Every task that walks the plan shares them.
    pub steps: Vec<Arc<StepSpec>>,
    /// The expression that makes the task's result; `None` means the last step's result.
    pub output: Option<String>,
}

impl FrozenPlan {
    /// The version of the form in which plans are frozen. A body with a larger one was written by a newer program.
    pub const SCHEMA: u64 = 1;

    /// Freezes a plan.
    #[must_use]
    pub fn freeze(key: &str, version: u32, steps: Vec<StepSpec>, output: Option<String>) -> Self {
        let steps_json = raw(&steps);
        let body = serde_json::json!({
            "schema": Self::SCHEMA,
            "key": key,
            "version": version,
            "output": output,
            "steps": steps,
        })
        .to_string();
        let hash = PlanHash(blake3::hash(body.as_bytes()).to_hex().as_str().into());
        Self { hash, body: body.into(), steps_json, key: key.to_owned(), version, steps: shared(steps), output }
    }

    /// Reads a frozen plan back.
    ///
    /// # Errors
    /// A sentence that says why the body cannot be walked by this program.
    pub fn thaw(body: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(body).map_err(|error| format!("frozen plan is not JSON: {error}"))?;
        let schema = value.get("schema").and_then(Value::as_u64).unwrap_or(0);
        if schema != Self::SCHEMA {
            return Err(format!("frozen plan has schema {schema}, this program reads {}", Self::SCHEMA));
        }
        let mut faults = Vec::new();
        let steps = super::parse::steps(value.get("steps").unwrap_or(&Value::Null), "/steps", &mut faults);
        if let Some(fault) = faults.first() {
            return Err(format!("frozen plan is faulty at {fault}"));
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let steps_json = raw(value.get("steps").unwrap_or(&Value::Null));
        Ok(Self {
            steps_json,
            hash: PlanHash(blake3::hash(body.as_bytes()).to_hex().as_str().into()),
            body: body.into(),
            key: text("key").unwrap_or_default(),
            version: value.get("version").and_then(Value::as_u64).and_then(|v| u32::try_from(v).ok()).unwrap_or(1),
            output: text("output"),
            steps: shared(steps),
        })
    }

    /// Its name.
    #[must_use]
    pub fn hash(&self) -> &PlanHash {
        &self.hash
    }

    /// The canonical form that is stored.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The steps as JSON, written once however often they are shown.
    #[must_use]
    pub fn steps_json(&self) -> &RawValue {
        &self.steps_json
    }
}

/// Plans of one hash have one body, and everything else is read from it.
impl PartialEq for FrozenPlan {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

fn shared(steps: Vec<StepSpec>) -> Vec<Arc<StepSpec>> {
    steps.into_iter().map(Arc::new).collect()
}

fn raw(value: &impl Serialize) -> Arc<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default().into()
}
