//! Tools that follow a script and remember how they were called.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kybern_core::id::RecordId;
use kybern_core::plan::StepId;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Lookup, Merge, PutRecord};
use kybern_core::task::EffectClass;
use kybern_core::tool::{RecordChange, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

/// What a call of a scripted tool answers.
pub type ScriptedAnswer = Result<ToolOutcome, ToolFailure>;

type ToolScript = Box<dyn Fn(ToolContext, Map<String, Value>) -> BoxFuture<'static, ScriptedAnswer> + Send + Sync>;

/// One call as the tool saw it.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub step: Option<StepId>,
    /// The idempotency key.
    pub key: String,
    /// Which try.
    pub attempt: u32,
    /// Whether an earlier try may have had its effect.
    pub may_have_happened: bool,
    /// The arguments.
    pub args: Map<String, Value>,
}

/// A tool that does what a test says.
pub struct ScriptedTool {
    spec: ToolSpec,
    script: ToolScript,
    computes: bool,
    calls: Mutex<Vec<Call>>,
}

impl std::fmt::Debug for ScriptedTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedTool").field("key", &self.spec.key).finish_non_exhaustive()
    }
}

impl ScriptedTool {
    /// A tool that answers by a function of its context and arguments.
    pub fn new<F>(key: &str, effect: EffectClass, answer: F) -> Self
    where
        F: Fn(&ToolContext, &Map<String, Value>) -> ScriptedAnswer + Send + Sync + 'static,
    {
        Self::pending(key, effect, move |context, args| std::future::ready(answer(&context, &args)).boxed())
    }

    /// A tool whose answers may take their time, or never come.
    pub fn pending<F>(key: &str, effect: EffectClass, answer: F) -> Self
    where
        F: Fn(ToolContext, Map<String, Value>) -> BoxFuture<'static, ScriptedAnswer> + Send + Sync + 'static,
    {
        let spec = ToolSpec { effect, ..ToolSpec::local(key, "follows a script", anything()) };
        Self { spec, script: Box::new(answer), computes: false, calls: Mutex::default() }
    }

    /// A tool that succeeds with no data.
    #[must_use]
    pub fn noop(key: &str, effect: EffectClass) -> Self {
        Self::new(key, effect, |_, _| Ok(ToolOutcome::new(Map::new(), "done")))
    }

    /// A tool that answers its arguments as its data.
    #[must_use]
    pub fn echo(key: &str) -> Self {
        Self::new(key, EffectClass::Read, |_, args| Ok(ToolOutcome::new(args.clone(), "echoed")))
    }

    /// A tool that gives these answers one after the other, and fails for good when they are used up.
    pub fn answers(key: &str, effect: EffectClass, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let queue = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
        Self::new(key, effect, move |_, _| {
            let next = queue.lock().expect("no test panics while it holds this").pop_front();
            next.unwrap_or_else(|| Err(ToolFailure::permanent("the script has no more answers")))
        })
    }

    /// The same tool with another description of itself.
    #[must_use]
    pub fn with_spec(mut self, change: impl FnOnce(&mut ToolSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// The same tool, as one that could take the process down.
    #[must_use]
    pub fn that_computes(mut self) -> Self {
        self.computes = true;
        self
    }

    /// Every call so far, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().expect("no test panics while it holds this").clone()
    }

    /// How often it was called.
    #[must_use]
    pub fn count(&self) -> usize {
        self.calls.lock().expect("no test panics while it holds this").len()
    }
}

#[async_trait]
impl Tool for ScriptedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn computes(&self, _args: &Map<String, Value>) -> bool {
        self.computes
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> ScriptedAnswer {
        self.calls.lock().expect("no test panics while it holds this").push(Call {
            step: context.step.clone(),
            key: context.key.clone(),
            attempt: context.attempt,
            may_have_happened: context.may_have_happened,
            args: args.clone(),
        });
        (self.script)(context.clone(), args).await
    }
}

/// Puts one record: `{kind, key, props?, lookups?: {name: value}}`. It reads first, and expects what it read. Its data
/// is `{recordId, created}`.
#[derive(Debug)]
pub struct PutTool(ToolSpec);

impl PutTool {
    /// The tool under that key.
    #[must_use]
    pub fn new(key: &str) -> Self {
        let schema = json!({
            "type": "object",
            "required": ["kind", "key"],
            "properties": {
                "kind": {"type": "string"},
                "key": {"type": "string"},
                "props": {"type": "object"},
                "lookups": {"type": "object"}
            },
            "additionalProperties": false
        });
        let mut spec = ToolSpec::local(key, "puts one record", schema);
        spec.needs.records = true;
        Self(spec)
    }
}

#[async_trait]
impl Tool for PutTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> ScriptedAnswer {
        let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let object = |name: &str| args.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let (kind, key) = (text("kind"), text("key"));
        let found = context.records()?.record(context.scope, &kind, &key).await?;
        let id = found.as_ref().map_or_else(|| RecordId::from_uuid(context.ids.next()), |record| record.id);
        let role = if found.is_some() { ArtifactRole::Updated } else { ArtifactRole::Created };
        let lookups = object("lookups")
            .iter()
            .map(|(name, value)| Lookup::unique(name, value.as_str().unwrap_or_default()))
            .collect();
        let put = PutRecord {
            id,
            kind: kind.clone(),
            key: key.clone(),
            props: object("props"),
            merge: Merge::Overwrite,
            expect: found.as_ref().map_or(Expect::Absent, |record| Expect::Version(record.version)),
            lookups,
        };
        let link = ArtifactLink { kind, record_id: id, key, role, metadata: Map::new() };
        let mut data = Map::new();
        data.insert("recordId".to_owned(), json!(id));
        data.insert("created".to_owned(), json!(found.is_none()));
        let records = vec![RecordChange { put, link }];
        Ok(ToolOutcome { records, ..ToolOutcome::new(data, "put one record") })
    }
}

/// Injects the steps that it is given: `{steps: [...]}`.
#[derive(Debug)]
pub struct InjectTool(ToolSpec);

impl InjectTool {
    /// The tool under that key.
    #[must_use]
    pub fn new(key: &str) -> Self {
        let schema = json!({
            "type": "object",
            "required": ["steps"],
            "properties": {"steps": {"type": "array"}},
            "additionalProperties": false
        });
        Self(ToolSpec::read(key, "injects the steps it is given", schema))
    }
}

#[async_trait]
impl Tool for InjectTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _context: &ToolContext, args: Map<String, Value>) -> ScriptedAnswer {
        let new_steps = args.get("steps").and_then(Value::as_array).cloned().unwrap_or_default();
        let summary = format!("injects {} steps", new_steps.len());
        Ok(ToolOutcome { new_steps, ..ToolOutcome::new(Map::new(), summary) })
    }
}

/// A schema that takes any object.
fn anything() -> Value {
    json!({"type": "object", "additionalProperties": true})
}
