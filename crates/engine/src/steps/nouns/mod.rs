//! The engine's own nouns for tools: narrow views, each of one tenant and for one caller. Nothing can be written through
//! them; what a tool wants written it returns.

mod knowledge;
mod memories;
mod plans;
mod tasks;

use std::sync::Arc;

use kybern_core::error::Result;
use kybern_core::ports::Nouns;
use kybern_core::task::Task;
use kybern_core::tenant::TenantScope;
use kybern_core::tool::{Behalf, ToolNeeds};
use kybern_core::trace::traceparent;
use tokio::sync::OnceCell;

use super::services::StepServices;
use crate::budget::tree::tree_of;
use crate::models::CallContext;

/// The readers that a tool's spec asks for.
pub(super) fn given(
    services: &Arc<StepServices>,
    scope: TenantScope,
    behalf: Behalf,
    needs: ToolNeeds,
    task: &Task,
) -> Nouns {
    let seen = || NounContext { services: Arc::clone(services), scope, behalf };
    let payer = || Payer {
        seen: seen(),
        task: task.id,
        traceparent: traceparent(&task.trace_id, &task.id.to_string()),
        caller: OnceCell::new(),
    };
    Nouns {
        memories: needs.memories.then(|| Arc::new(memories::Memories(payer())) as _),
        knowledge: needs.knowledge.then(|| Arc::new(knowledge::Knowledge(payer())) as _),
        tasks: needs.tasks.then(|| Arc::new(tasks::Tasks(seen())) as _),
        plans: needs.plans.then(|| Arc::new(plans::Plans(seen())) as _),
    }
}

struct NounContext {
    services: Arc<StepServices>,
    scope: TenantScope,
    behalf: Behalf,
}

/// The same, where looking costs something: the task's tree pays.
struct Payer {
    seen: NounContext,
    task: kybern_core::id::TaskId,
    traceparent: Option<String>,
    /// Parents do not change while a step runs: they are walked once.
    caller: OnceCell<CallContext>,
}

impl Payer {
    async fn caller(&self) -> Result<&CallContext> {
        let NounContext { services, scope, behalf } = &self.seen;
        let make = || async {
            let tree = tree_of(services.store.as_ref(), *scope, self.task).await?;
            let caller = CallContext::executor(*scope, behalf.user, self.traceparent.clone());
            Ok(CallContext { tree: Some(tree), ..caller })
        };
        self.caller.get_or_try_init(make).await
    }
}
