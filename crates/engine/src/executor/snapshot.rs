//! What a step sees: the names its templates may read, taken from the walk at the moment it starts.

use std::sync::Arc;

use kybern_core::identity::User;
use kybern_core::plan::StepId;
use kybern_core::task::Task;
use serde_json::{Map, Value, json};

use super::walk::Walk;
use crate::templates::Context;
use crate::templates::context::StepView;

/// What stays the same for a whole run.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) task: Arc<Map<String, Value>>,
    pub(super) tenant: Arc<Map<String, Value>>,
    pub(super) tenant_name: String,
    pub(super) user: Arc<Value>,
}

impl Surroundings {
    pub(super) fn new(task: &Task, tenant_name: &str, user: Option<&User>) -> Self {
        let of = |value: Value| match value {
            Value::Object(map) => Arc::new(map),
            _never => Arc::default(),
        };
        Self {
            task: of(json!({
                "id": task.id,
                "channel": task.channel,
                "input": task.input,
                "payload": task.payload,
                "intent": task.intent,
                "confidence": task.confidence,
                "createdAt": task.created_at,
                "created_at": task.created_at,
                "traceId": task.trace_id,
                "trace_id": task.trace_id,
                "parentTaskId": task.parent.as_ref().map(|(id, _)| id),
            })),
            tenant: of(json!({"id": task.tenant, "name": tenant_name})),
            tenant_name: tenant_name.to_owned(),
            user: Arc::new(match user {
                None => Value::Null,
                Some(user) => {
                    json!({"id": user.id, "name": user.name, "email": user.email, "timezone": user.timezone})
                }
            }),
        }
    }

    /// The names that the templates of a node may read; `None` for the plan's own output.
    pub(super) fn context(&self, walk: &Walk, index: Option<usize>) -> Context {
        Context {
            state: Arc::clone(walk.state()),
            steps: Arc::new(steps(walk, index)),
            task: Arc::clone(&self.task),
            tenant: Arc::clone(&self.tenant),
            user: Arc::clone(&self.user),
            round: index
                .and_then(|index| walk.node(index).round.clone())
                .map(|round| (Arc::new(round.item.clone()), round.index)),
        }
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
