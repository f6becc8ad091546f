//! Decisions: a handler chooses.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::plan::StepKind;
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolNeeds;
use serde_json::{Map, Value};

use super::task_steps::TaskSteps;
use super::tool_call::{Target, ToolCall};
use crate::executor::call::KernelFacts;
use crate::executor::step::{fail, failure, unrendered};
use crate::executor::steps::StepBegin;
use crate::executor::{TaskRun, arguments};

/// Begins a decision.
pub(super) fn begin(
    own: &TaskSteps,
    run: &TaskRun,
    index: usize,
    (kind, text): (&StepKind, &Value),
    now: Timestamp,
) -> StepBegin {
    let Some(handler) = own.services.plan_catalogue.handler(kind) else {
        let message = format!("{} steps are not available on this server", kind.name());
        return StepBegin::Rows(fail(run, index, failure(ErrorCode::Unprocessable, message), false));
    };
    let written = Map::from_iter([("prompt".to_owned(), text.clone())]);
    let mut args = match arguments::of(run, index, &written) {
        Ok(args) => args,
        Err(error) => return StepBegin::Rows(unrendered(run, index, "text", &error)),
    };
    let node = run.walk.node(index);
    let keep = args.to_keep(node, &written, &args.values);
    let rendered = args.values.remove("prompt").unwrap_or_default();
    let timeout = node.spec.timeout.unwrap_or(run.kernel.settings.step_timeout);
    let needs = ToolNeeds::default();
    let facts = KernelFacts {
        index,
        is_unseen: false,
        is_effectful: false,
        reads_first: false,
        question: None,
        is_reply: false,
    };
    StepBegin::Call(Box::new(ToolCall {
        facts,
        services: Arc::clone(&own.services),
        generation: node.generation,
        saw: args.saw,
        attempt: node.attempts + 1,
        context: own.tool_context(run, index, &needs, timeout, false, now),
        target: Target::Handler(Arc::clone(handler), Box::new(kind.clone()), rendered),
        timeout,
        tainted: !args.tainted.is_empty(),
        possible_duplicate: false,
        is_suspect: false,
        asked_with: None,
        args_hash: None,
        rendered: keep,
        came: None,
    }))
}
