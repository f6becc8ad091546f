//! The local tools, called as the ToolService calls them.

mod asked;
mod calculator;
mod datetime;
mod hostile;
mod json_parser;
mod registry;
mod text_transform;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use kybern_core::actor::{Actor, Principal, Role};
use kybern_core::error::ErrorCode;
use kybern_core::id::{RequestId, TenantId};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::ToolContext;
use kybern_core::task::Channel;
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::{SeededIds, SimClock};
use serde_json::{Map, Value, json};

/// What the clock says in all tests: 2026-11-22T14:30:00.250Z, a Sunday.
const NOW: i64 = 1_795_357_800_250;

fn registry() -> PackRegistry {
    let mut registry = PackRegistry::default();
    kybern_adapters::tools::local::register(&mut registry).unwrap();
    registry
}

fn context() -> ToolContext {
    let request = RequestId::from_uuid(uuid::Uuid::nil());
    let actor = Actor::authenticated(TenantId::DEFAULT, Principal::Executor, vec![Role::Operator], vec![], request);
    ToolContext {
        scope: actor.scope(),
        tenant_name: "Example".into(),
        user: None,
        behalf: kybern_core::tool::Behalf::of_plan(None, actor.rights()),
        task: None,
        step: None,
        lease: None,
        channel: Channel::Api,
        input: "".into(),
        payload: Arc::new(Value::Null),
        state: Arc::default(),
        trace_id: "0".repeat(32).into(),
        key: "key".to_owned(),
        attempt: 1,
        may_have_happened: false,
        now: Timestamp::from_millis(NOW),
        timeout: Millis::from_secs(30),
        ids: Arc::new(SeededIds::new(1, Arc::new(SimClock::at(Timestamp::from_millis(NOW))))),
        http: None,
        documents: None,
        extractor: None,
        records: None,
        nouns: kybern_core::ports::Nouns::default(),
        users: None,
        outbox: None,
        secrets: None,
        models: None,
        lessons: kybern_core::lesson::Lessons::default(),
    }
}

/// Calls a tool whose arguments fit its schema; answers the data, or the refusal's words.
fn call(tool: &str, args: &Value) -> Result<Map<String, Value>, String> {
    let registry = registry();
    let tool = registry.registered_tool(tool).unwrap();
    let validator = jsonschema::validator_for(&tool.spec().input_schema).unwrap();
    let faults: Vec<String> = validator.iter_errors(args).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{args}: {faults:?}");
    let (context, args) = (context(), args.as_object().unwrap().clone());
    let outcome = if tool.computes(&args) {
        // It computes on a thread of its own, and the call waits for that.
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(tool.call(&context, args))
    } else {
        // It waits for nothing, so it is done when it is first asked.
        let mut waiting = Context::from_waker(Waker::noop());
        let Poll::Ready(outcome) = pin!(tool.call(&context, args)).poll(&mut waiting) else { panic!("it waits") };
        outcome
    };
    match outcome {
        Ok(outcome) => {
            assert!(!outcome.summary.is_empty());
            assert!(outcome.records.is_empty() && outcome.jobs.is_empty() && outcome.outbox.is_empty());
            Ok(outcome.data)
        }
        Err(failure) => {
            assert_eq!((failure.code, failure.retryable), (ErrorCode::Validation, false), "{failure}");
            assert!(!failure.effect_unknown && !failure.message.is_empty());
            Err(failure.message)
        }
    }
}

/// Checks one member of each answer, and tells of all that differ.
fn check_table(tool: &str, cases: &[(Value, &str, Value)]) {
    let mut wrong = Vec::new();
    for (args, pointer, expected) in cases {
        match call(tool, args) {
            Ok(data) => {
                let data = Value::Object(data);
                let found = data.pointer(pointer).cloned().unwrap_or(Value::Null);
                if found != *expected {
                    wrong.push(format!("{args} {pointer}: {found}, not {expected}"));
                }
            }
            Err(message) => wrong.push(format!("{args}: refused: {message}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Checks that each call is refused with these words in its message.
fn check_refusals(tool: &str, cases: &[(Value, &str)]) {
    let mut wrong = Vec::new();
    for (args, words) in cases {
        match call(tool, args) {
            Ok(data) => wrong.push(format!("{args}: {}", json!(data))),
            Err(message) if !message.contains(words) => wrong.push(format!("{args}: {message:?}, not {words:?}")),
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
