//! What a step sees: the names its templates may read, taken from the walk at the moment it starts.

use std::sync::{Arc, OnceLock};

use kybern_core::id::{TaskId, TenantId};
use kybern_core::identity::User;
use kybern_core::plan::StepId;
use kybern_core::task::{Channel, Task};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::walk::Walk;
use super::weight;
use crate::templates::Context;
use crate::templates::context::StepView;

/// What stays the same for a whole run. It is made into names when the first template asks for them: most steps have
/// none.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    about: TaskFacts,
    names: OnceLock<Names>,
    user: Arc<Value>,
}

/// What templates may know of the task.
#[derive(Clone, Debug)]
struct TaskFacts {
    id: TaskId,
    channel: Channel,
    input: Arc<str>,
    payload: Arc<Value>,
    intent: Option<String>,
    confidence: Option<f64>,
    created_at: Timestamp,
    trace_id: Arc<str>,
    parent: Option<TaskId>,
    tenant: TenantId,
    tenant_name: Arc<str>,
}

#[derive(Clone, Debug)]
struct Names {
    task: Arc<Map<String, Value>>,
    tenant: Arc<Map<String, Value>>,
    weight: usize,
}

impl RunContext {
    pub(crate) fn new(task: &Task, tenant_name: &str, user: Option<&User>) -> Self {
        Self {
            about: TaskFacts {
                id: task.id,
                channel: task.channel,
                input: task.input.as_str().into(),
                payload: Arc::new(task.payload.clone()),
                intent: task.intent.clone(),
                confidence: task.confidence,
                created_at: task.created_at,
                trace_id: task.trace_id.as_str().into(),
                parent: task.parent.as_ref().map(|(id, _)| *id),
                tenant: task.tenant,
                tenant_name: tenant_name.into(),
            },
            names: OnceLock::new(),
            user: Arc::new(match user {
                None => Value::Null,
                Some(user) => {
                    json!({"id": user.id, "name": user.name, "email": user.email, "timezone": user.timezone})
                }
            }),
        }
    }

    /// The same once the intent of the task is known.
    pub(crate) fn with_intent(&self, intent: Option<&str>, confidence: Option<f64>) -> Self {
        let intent = intent.map(str::to_owned);
        let about = TaskFacts { intent, confidence, ..self.about.clone() };
        Self { about, names: OnceLock::new(), user: Arc::clone(&self.user) }
    }

    /// The task's input text.
    pub(crate) fn input(&self) -> &Arc<str> {
        &self.about.input
    }

    /// The task's payload.
    pub(crate) fn payload(&self) -> &Arc<Value> {
        &self.about.payload
    }

    /// Whose task it is.
    pub(crate) fn user(&self) -> &Value {
        &self.user
    }

    pub(crate) fn trace_id(&self) -> &Arc<str> {
        &self.about.trace_id
    }

    /// The tenant's name.
    pub(crate) fn tenant_name(&self) -> &Arc<str> {
        &self.about.tenant_name
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let about = &self.about;
            let task = json!({
                "id": about.id,
                "channel": about.channel,
                "input": about.input,
                "payload": about.payload,
                "intent": about.intent,
                "confidence": about.confidence,
                "createdAt": about.created_at,
                "created_at": about.created_at,
                "traceId": about.trace_id,
                "trace_id": about.trace_id,
                "parentTaskId": about.parent,
            });
            let weight = weight::of_value(&task);
            Names { task: object(task), tenant: object(json!({"id": about.tenant, "name": about.tenant_name})), weight }
        })
    }

    /// The names that the templates of a node may read; `None` for the plan's own output.
    pub(crate) fn context(&self, walk: &Walk, index: Option<usize>) -> Context {
        Context {
            state: Arc::clone(walk.state()),
            steps: Arc::new(steps(walk, index)),
            task: Arc::clone(&self.names().task),
            tenant: Arc::clone(&self.names().tenant),
            user: Arc::clone(&self.user),
            args: None,
            round: index
                .and_then(|index| walk.node(index).round.clone())
                .map(|round| (Arc::new(round.item.clone()), round.index)),
            weight: walk.weight + self.names().weight,
        }
    }
}

fn object(value: Value) -> Arc<Map<String, Value>> {
    match value {
        Value::Object(members) => Arc::new(members),
        _never => Arc::default(),
    }
}

/// Steps under their derived ids and under the ids as written. Of several with one written id (the rounds of a loop)
/// the last wins, and those around the asking step win over all others.
fn steps(walk: &Walk, index: Option<usize>) -> Vec<StepView> {
    let mut views = Vec::new();
    let add = |views: &mut Vec<StepView>, id: &StepId, node: usize| {
        if let Some(outcome) = walk.node(node).outcome() {
            views.push(StepView { id: id.as_str().to_owned(), outcome: Arc::clone(outcome) });
        }
    };
    for node in walk.in_plan_order() {
        let (derived, written) = (&walk.node(node).id, &walk.node(node).spec.id);
        add(&mut views, written, node);
        if derived != written {
            add(&mut views, derived, node);
        }
    }
    for node in index.map(|index| walk.around(index)).unwrap_or_default() {
        add(&mut views, &walk.node(node).spec.id, node);
    }
    views
}
