//! Calls that come to nothing, or to a question, have been paid for all the same.

use std::sync::Arc;

use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::Tool;
use kybern_core::task::{EffectClass, TaskStatus, limits};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolFailure, ToolOutcome};
use kybern_engine::task::SubmitRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};

use crate::server::Site;
use crate::server::client::until;
use crate::server::inside::{self, ShiftedClock};

const PAID: Usage = Usage { input_tokens: Tokens(11), output_tokens: Tokens(3), cost_nanos: NanoUsd(7) };

/// Tools that cost as much in each of the ways in which a call ends other than well.
fn tools() -> Vec<Arc<dyn Tool>> {
    let paid = |outcome: ToolOutcome| Ok(ToolOutcome { usage: PAID, ..outcome });
    vec![
        Arc::new(ScriptedTool::new("test.brim", EffectClass::Read, move |_, _| {
            let data = Map::from_iter([("text".to_owned(), Value::from("x".repeat(limits::MAX_STEP_DATA)))]);
            paid(ToolOutcome::new(data, "too large"))
        })),
        Arc::new(ScriptedTool::new("test.look", EffectClass::Read, move |_, _| {
            paid(ToolOutcome::ask(Review {
                reason: "look at it".to_owned(),
                title: None,
                schema: json!({"type": "object"}),
                details: Value::Null,
                answer_is_result: true,
            }))
        })),
        Arc::new(ScriptedTool::new("test.grow", EffectClass::Read, move |_, _| {
            paid(ToolOutcome { new_steps: vec![json!({"tool": "there.is_none"})], ..ToolOutcome::default() })
        })),
        Arc::new(ScriptedTool::new("test.wire", EffectClass::Unkeyed, move |_, _| {
            Err(ToolFailure::transient("nobody knows").unknown().used(PAID))
        })),
    ]
}

async fn what_a_call_has_used_counts_whatever_came_of_it(site: Site) {
    let mut registry = PackRegistry::default();
    for tool in tools() {
        registry.tool(tool).unwrap();
    }
    let (engine, admin) = inside::start(&site, Arc::new(ShiftedClock::default()), registry).await;
    for (tool, status) in [
        ("test.brim", TaskStatus::Failed),
        ("test.look", TaskStatus::NeedsReview),
        ("test.grow", TaskStatus::Failed),
        ("test.wire", TaskStatus::NeedsReview),
    ] {
        engine.plans().put(&admin, &json!({"key": "test.plan", "steps": [{"id": "a", "tool": tool}]})).await.unwrap();
        let request = SubmitRequest { plan_key: Some("test.plan".to_owned()), ..SubmitRequest::text("go") };
        let id = engine.tasks().submit(&admin, request, None).await.unwrap().id;
        let task = until("the task rests", || async {
            let task = engine.tasks().get(&admin, id).await.unwrap();
            (task.status == status).then_some(task)
        })
        .await;
        assert_eq!(task.usage, PAID, "{tool}");
        let of_task = format!("usage_row WHERE task_id = {}", site.id(&id.to_string()));
        let rows = site.rows(&format!("SELECT input_tokens, output_tokens, cost_nanos FROM {of_task}"));
        assert_eq!(rows, [["11", "3", "7"]], "{tool}");
    }
    engine.drain(Millis(1_000)).await;
}

#[tokio::test]
async fn what_a_call_has_used_counts_whatever_came_of_it_on_sqlite() {
    what_a_call_has_used_counts_whatever_came_of_it(Site::sqlite()).await;
}

#[tokio::test]
async fn what_a_call_has_used_counts_whatever_came_of_it_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    what_a_call_has_used_counts_whatever_came_of_it(site).await;
}
