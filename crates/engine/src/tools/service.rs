//! ToolService: exists → schema → permission → taint → call with a deadline → limits of the result.
//!
//! Rate, cost, budget and confirmation by risk take their places in this chain later; what is here already holds for
//! every call, whoever makes it.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::Validator;
use kybern_core::actor::Right;
use kybern_core::error::{Detail, ErrorCode};
use kybern_core::pack::Registry;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::task::{EffectClass, limits};
use kybern_core::time::Millis;
use kybern_core::tool::{Needs, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value};

use super::schema;

/// A call that may be made.
#[derive(Clone)]
pub struct Prepared {
    tool: Arc<dyn Tool>,
    /// The arguments.
    pub args: Map<String, Value>,
    /// What happens if the process dies during the call.
    pub effect: EffectClass,
}

impl Prepared {
    /// The tool's own words about itself.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// What this call needs.
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.tool.needs_of(&self.args)
    }

    /// BLAKE3 of the arguments' canonical form, in hex.
    #[must_use]
    pub fn args_hash(&self) -> String {
        hash_args(&self.args)
    }
}

/// BLAKE3 of arguments' canonical form (RFC 8785), in hex.
#[must_use]
pub fn hash_args(args: &Map<String, Value>) -> String {
    // Serialising a JSON object cannot fail.
    let canonical = serde_json_canonicalizer::to_vec(args).unwrap_or_default();
    blake3::hash(&canonical).to_hex().to_string()
}

/// Why a call may not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such tool.
    #[error("tool {0:?} is not registered")]
    Unknown(String),
    /// The arguments do not fit.
    #[error("the arguments do not fit the tool's schema: {}", .0.iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect::<Vec<_>>().join("; "))]
    Arguments(Vec<Detail>),
    /// The caller may not.
    #[error("tool {tool} needs the right {right:?}")]
    Permission {
        /// The tool.
        tool: String,
        /// What it asks for.
        right: Right,
    },
}

impl Refusal {
    /// Its code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(_) => ErrorCode::NotFound,
            Self::Arguments(_) => ErrorCode::Validation,
            Self::Permission { .. } => ErrorCode::PermissionDenied,
        }
    }
}

/// The one door.
pub struct ToolService {
    registry: Arc<Registry>,
    /// What the arguments of each tool have to be, by its key: compiled once. A schema that is none is the fault of
    /// each call.
    arguments: HashMap<String, Result<Arc<Validator>, String>>,
}

impl ToolService {
    /// A door to these tools.
    #[must_use]
    pub fn new(registry: Arc<Registry>) -> Self {
        let compiled = |spec: &ToolSpec| schema::compile(&schema::closed(&spec.input_schema));
        let arguments = registry.tools().map(|tool| (tool.spec().key.clone(), compiled(tool.spec()))).collect();
        Self { registry, arguments }
    }

    fn faults(&self, spec: &ToolSpec, args: &Value) -> Vec<Detail> {
        match self.arguments.get(&spec.key) {
            Some(Ok(validator)) => schema::faults(validator, args),
            Some(Err(problem)) => vec![Detail::new("", problem.clone())],
            None => schema::check(&schema::closed(&spec.input_schema), args),
        }
    }

    /// Checks a call: exists, schema, permission.
    ///
    /// # Errors
    /// Why it may not be made.
    pub fn prepare(
        &self,
        name: &str,
        args: Map<String, Value>,
        may: impl FnOnce(Right) -> bool,
    ) -> Result<Prepared, Refusal> {
        let tool = self.registry.find_tool(name).ok_or_else(|| Refusal::Unknown(name.to_owned()))?;
        let spec = tool.spec();
        let as_value = Value::Object(args);
        let faults = self.faults(spec, &as_value);
        if !faults.is_empty() {
            return Err(Refusal::Arguments(faults));
        }
        if !may(spec.right) {
            return Err(Refusal::Permission { tool: spec.key.clone(), right: spec.right });
        }
        let Value::Object(args) = as_value else { return Err(Refusal::Arguments(Vec::new())) };
        let effect = tool.effect_of(&args);
        Ok(Prepared { tool: Arc::clone(tool), args, effect })
    }

    /// Makes the call, at most `timeout` long, and checks the result's limits.
    ///
    /// # Errors
    /// The tool's own failure; `TIMEOUT` when the time is up, of which nobody knows whether the effect happened.
    ///
    /// # Cancel safety
    /// Dropping the future is the same as a crash during the call.
    pub async fn call(
        &self,
        prepared: &Prepared,
        context: &ToolContext,
        timeout: Millis,
    ) -> Result<ToolOutcome, ToolFailure> {
        let call = prepared.tool.call(context, prepared.args.clone());
        let outcome = match tokio::time::timeout(timeout.as_duration(), call).await {
            Ok(outcome) => outcome?,
            Err(_elapsed) => {
                let message = format!("{} took longer than {timeout}", prepared.spec().key);
                return Err(ToolFailure::transient(message).code(ErrorCode::Timeout).unknown());
            }
        };
        limited(outcome)
    }
}

/// Refuses a result that is too large to keep. The effect of the call has happened; saying so is honest, keeping
/// half of the result would not be.
fn limited(outcome: ToolOutcome) -> Result<ToolOutcome, ToolFailure> {
    let size = approximate_size(&outcome.data);
    if size > limits::MAX_STEP_DATA {
        let message = format!("the result is {size} bytes, over the limit of {}", limits::MAX_STEP_DATA);
        return Err(ToolFailure::permanent(message).code(ErrorCode::PayloadTooLarge));
    }
    Ok(outcome)
}

fn approximate_size(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| name.len() + 4 + size_of_value(value)).sum::<usize>() + 2
}

/// About how many bytes a value is as JSON.
pub(crate) fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(size_of_value).sum::<usize>() + 2,
        Value::Object(members) => approximate_size(members),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_hash_of_arguments_follows_their_values_and_not_their_order() {
        let (a, b) =
            (object(json!({"x": 1, "y": {"p": [1], "q": 2}})), object(json!({"y": {"q": 2, "p": [1]}, "x": 1})));
        assert_eq!(hash_args(&a), hash_args(&b));
        assert_ne!(hash_args(&a), hash_args(&object(json!({"x": 1, "y": {"p": [2], "q": 2}}))));
    }

    #[test]
    fn a_call_is_refused_by_existence_then_arguments_then_right() {
        let mut registry = Registry::default();
        crate::tools::builtin::register(&mut registry).unwrap();
        let service = ToolService::new(Arc::new(registry));
        let refused = |name: &str, args: Value, may: bool| service.prepare(name, object(args), |_| may).err().unwrap();
        assert_eq!(refused("ghost", json!({}), false).code(), ErrorCode::NotFound);
        assert_eq!(refused("core.wait", json!({"ms": "x"}), false).code(), ErrorCode::Validation);
        assert_eq!(refused("core.wait", json!({"ms": 1}), false).code(), ErrorCode::PermissionDenied);
        assert!(service.prepare("core.wait", object(json!({"ms": 1})), |_| true).is_ok());
        let alias = service.prepare("http_request", object(json!({"method": "GET", "url": "http://x"})), |_| true);
        assert_eq!(alias.unwrap().effect, EffectClass::Read);
    }
}
