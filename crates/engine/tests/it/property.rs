//! Small plans at random: what the journal says is what happened, and the order of ends does not matter.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome};
use kybern_testkit::Fault;
use kybern_testkit::tools::ScriptedTool;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::live::object;
use crate::outside::pause;
use crate::world::{World, plan};

/// A step before it has an id.
#[derive(Clone, Debug)]
enum Shape {
    Tool { fails: bool, stops: bool, always: bool, name: u8, graph: bool },
    Condition { truth: bool, then: Vec<Shape>, otherwise: Vec<Shape> },
    Parallel(Vec<Vec<Shape>>),
    Loop { rounds: u8, steps: Vec<Shape> },
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let leaf =
        (prop::bool::weighted(0.15), any::<bool>(), prop::bool::weighted(0.2), 0..4_u8, prop::bool::weighted(0.2))
            .prop_map(|(fails, stops, always, name, graph)| Shape::Tool { fails, stops, always, name, graph });
    let shape = leaf.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec(inner, 1..3);
        prop_oneof![
            (any::<bool>(), list.clone(), list.clone()).prop_map(|(truth, then, otherwise)| Shape::Condition {
                truth,
                then,
                otherwise
            }),
            prop::collection::vec(list.clone(), 1..4).prop_map(Shape::Parallel),
            (0..3_u8, list).prop_map(|(rounds, steps)| Shape::Loop { rounds, steps }),
        ]
    });
    prop::collection::vec(shape, 1..5)
}

fn written(shapes: &[Shape], next: &mut usize) -> Value {
    shapes.iter().map(|shape| one(shape, next)).collect()
}

fn one(shape: &Shape, next: &mut usize) -> Value {
    *next += 1;
    let n = *next;
    let id = format!("s{n}");
    match shape {
        Shape::Tool { fails, stops, always, name, graph } => {
            let mut step = json!({"id": id, "tool": "t.any", "stopOnFailure": stops,
                                  "args": {"n": n, "name": format!("v{name}"), "fails": fails}});
            if *always {
                step["when"] = json!("always");
            }
            if *graph {
                step["dependsOn"] = json!([]);
            }
            step
        }
        Shape::Condition { truth, then, otherwise } => {
            json!({"id": id, "kind": "condition", "if": format!("{{{{ {truth} }}}}"),
                   "then": written(then, next), "else": written(otherwise, next)})
        }
        Shape::Parallel(branches) => {
            let branches: Vec<Value> = branches.iter().map(|branch| written(branch, next)).collect();
            json!({"id": id, "kind": "parallel", "branches": branches})
        }
        Shape::Loop { rounds, steps } => {
            json!({"id": id, "kind": "loop", "over": (0..*rounds).collect::<Vec<_>>(), "steps": written(steps, next)})
        }
    }
}

/// Takes as long as `seed` says for this step, then answers its number under its name, or fails.
fn any_tool(seed: u64, effect: EffectClass) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::pending("t.any", effect, move |context, args| {
        async move {
            let hash = blake3_of(&format!("{seed}{}", context.step.unwrap()));
            if seed > 0 {
                pause(Millis(hash % 40)).await;
            }
            if args["fails"] == json!(true) {
                return Err(ToolFailure::permanent("as told"));
            }
            let name = args["name"].as_str().unwrap();
            Ok(ToolOutcome::new(object(json!({name: args["n"]})), ""))
        }
        .boxed()
    }))
}

fn blake3_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What a task came to: status, state, and what completed.
fn outcome(steps: &Value, seed: u64) -> (String, Value, Vec<String>) {
    World::with([any_tool(seed, EffectClass::Read)]).run(async |live| {
        let id = live.begin(plan(steps.clone()), json!({})).await;
        let task = live.proven(id).await;
        (task.status.to_string(), json!(task.state), task.completed_step_ids)
    })
}

/// The same shapes without failures: with them it matters who fails first.
fn without_failures(shapes: &[Shape]) -> Vec<Shape> {
    let all = |lists: &[Vec<Shape>]| lists.iter().map(|list| without_failures(list)).collect::<Vec<_>>();
    shapes
        .iter()
        .map(|shape| match shape {
            Shape::Tool { stops, always, name, graph, .. } => {
                Shape::Tool { fails: false, stops: *stops, always: *always, name: *name, graph: *graph }
            }
            Shape::Condition { truth, then, otherwise } => {
                Shape::Condition { truth: *truth, then: without_failures(then), otherwise: without_failures(otherwise) }
            }
            Shape::Parallel(branches) => Shape::Parallel(all(branches)),
            Shape::Loop { rounds, steps } => Shape::Loop { rounds: *rounds, steps: without_failures(steps) },
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_steps_end_does_not_change_what_a_plan_comes_to(shapes in shapes(), seed in 1..u64::MAX) {
        let steps = written(&without_failures(&shapes), &mut 0);
        prop_assert_eq!(outcome(&steps, 0), outcome(&steps, seed));
    }

    #[test]
    fn a_journal_proves_its_end_whatever_fails(shapes in shapes(), seed in 0..u64::MAX) {
        outcome(&written(&shapes, &mut 0), seed);
    }

    #[test]
    fn a_resume_from_the_journal_arrives_where_the_undisturbed_walk_does(shapes in shapes(), n in 5..40_u64) {
        let steps = written(&without_failures(&shapes), &mut 0);
        let (status, state, completed) = outcome(&steps, 0);
        let world = World::with([any_tool(0, EffectClass::Keyed)]);
        let id = world.run(async |live| {
            live.put(plan(steps.clone())).await;
            live.engine.drain(Millis(1)).await;
            live.submit("test.plan", json!({})).await.id
        });
        world.doom(n, Fault::CrashAfter);
        world.life(async |live| live.end(id).await);
        let task = world.run(async |live| live.proven(id).await);
        prop_assert_eq!((task.status.to_string(), json!(task.state), task.completed_step_ids), (status, state, completed));
    }
}
