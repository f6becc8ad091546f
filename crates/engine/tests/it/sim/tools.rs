//! The tools and handlers of simulated programs: they do what their arguments say, and tell the ledger.

use std::sync::Arc;

use futures::FutureExt as _;
use kybern_core::id::RecordId;
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::plan::{PatchMode, PlanPatch, StepSpec};
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::record::{ArtifactLink, ArtifactRole, Expect, Merge, PutRecord, Record};
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::{RecordChange, Review, ToolFailure, ToolOutcome};
use kybern_testkit::handlers::ScriptedHandler;
use kybern_testkit::tools::{ScriptedAnswer, ScriptedTool};
use serde_json::{Map, Value, json};

use super::ledger::{Ledger, generation};
use super::program::{Bulk, Class};
use crate::live::object;
use crate::outside::pause;

pub fn all(ledger: &Arc<Ledger>) -> Vec<Arc<dyn Tool>> {
    let classes = [
        (Class::Read, EffectClass::Read),
        (Class::Local, EffectClass::Local),
        (Class::Keyed, EffectClass::Keyed),
        (Class::Queryable, EffectClass::Queryable),
        (Class::Unkeyed, EffectClass::Unkeyed),
    ];
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for (class, effect) in classes {
        let ledger = ledger.clone();
        let tool = ScriptedTool::pending(class.tool(), effect, move |context, args| {
            let ledger = ledger.clone();
            async move { act(&ledger, class, context, args).await }.boxed()
        });
        tools.push(Arc::new(tool.with_spec(|spec| spec.needs.records = true)));
    }
    let share = ScriptedTool::pending("s.share", EffectClass::Local, |context, args| {
        async move {
            let key = text(&args, "key");
            // Reads, adds and writes: what another wrote in between would be lost.
            let added = |found: Option<&Record>| {
                let mut by = found.and_then(|found| found.props["by"].as_array().cloned()).unwrap_or_default();
                by.push(json!(context.key));
                json!({"by": by})
            };
            let put = put(&context, "shared", &key, added).await?;
            Ok(ToolOutcome { records: vec![put], ..done(&args, "shared") })
        }
        .boxed()
    });
    tools.push(Arc::new(share.with_spec(|spec| spec.needs.records = true)));
    tools.push(Arc::new(ScriptedTool::pending("s.hang", EffectClass::Read, |_, args| {
        async move {
            pause(Millis(args["ms"].as_u64().unwrap())).await;
            Ok(ToolOutcome::new(Map::new(), "hung"))
        }
        .boxed()
    })));
    tools.push(Arc::new(ScriptedTool::new("s.review", EffectClass::Read, review)));
    tools.push(Arc::new(ScriptedTool::new("s.grow", EffectClass::Read, grow)));
    tools.push(Arc::new(ScriptedTool::new("s.delegate", EffectClass::Read, |_, args| {
        let told = object(json!({"n": args["n"]}));
        let delegate = Some(Box::new((text(args, "workflow"), told)));
        Ok(ToolOutcome { delegate, usage: used(args), ..ToolOutcome::default() })
    })));
    tools
}

/// The handler of decisions.
pub fn handler(ledger: &Arc<Ledger>) -> ScriptedHandler {
    let ledger = ledger.clone();
    ScriptedHandler::pending(move |context, _, rendered| {
        let ledger = ledger.clone();
        async move { act(&ledger, Class::Read, context, object(rendered)).await }.boxed()
    })
}

fn text(args: &Map<String, Value>, name: &str) -> String {
    args[name].as_str().unwrap().to_owned()
}

/// A success with the step's number under a name, and as the tokens it used.
fn done(args: &Map<String, Value>, name: &str) -> ToolOutcome {
    ToolOutcome { usage: used(args), ..ToolOutcome::new(object(json!({name: args["n"]})), "done") }
}

/// What every call uses: as many tokens as its step's number.
fn used(args: &Map<String, Value>) -> Usage {
    let n = args["n"].as_u64().unwrap();
    Usage { input_tokens: Tokens(n), output_tokens: Tokens(1), cost_nanos: NanoUsd(7) }
}

async fn act(ledger: &Ledger, class: Class, context: ToolContext, args: Map<String, Value>) -> ScriptedAnswer {
    ledger.arrives(class, &context, &args);
    let on_its_way = ledger.goes_out(class, &context);
    ledger.doom.moment().await;
    pause(Millis(args["before"].as_u64().unwrap())).await;
    let script = text(&args, "script");
    let (how, times) = script.split_once(' ').map_or((script.as_str(), 0), |(how, n)| (how, n.parse().unwrap()));
    let stumbles = context.attempt <= times;
    match how {
        "fails" => return Err(ToolFailure::permanent("as told")),
        "once" if generation(&context.key) == 0 => return Err(ToolFailure::permanent("as told, once")),
        "stumbles" if stumbles => return Err(ToolFailure::transient("as told, this time")),
        "unknown" if stumbles && context.attempt % 2 == 1 => {
            return Err(ToolFailure::transient("nobody knows, it did not").unknown());
        }
        _ => {}
    }
    ledger.happens(class, &context);
    ledger.doom.moment().await;
    pause(Millis(args["after"].as_u64().unwrap())).await;
    if how == "unknown" && stumbles {
        return Err(ToolFailure::transient("nobody knows, it did").unknown());
    }
    let mut outcome = done(&args, &text(&args, "var"));
    if class == Class::Local {
        let props = json!({"n": args["n"], "attempt": context.attempt});
        outcome.records.push(put(&context, "own", &context.key, |_| props).await?);
    }
    if let Some(bulk) = args.get("bulk").and_then(|bulk| serde_json::from_value::<Bulk>(bulk.clone()).ok()) {
        outcome.data.insert(format!("x{}", args["n"]), bulk.value());
    }
    on_its_way.returns();
    Ok(outcome)
}

async fn put(
    context: &ToolContext,
    kind: &str,
    key: &str,
    props: impl FnOnce(Option<&Record>) -> Value,
) -> Result<RecordChange, ToolFailure> {
    // A store that cannot be read is not the script's failure: it is asked until it answers.
    let found = loop {
        match context.records()?.record(context.scope, kind, key).await {
            Ok(found) => break found,
            Err(_) => pause(Millis(20)).await,
        }
    };
    let id = found.as_ref().map_or_else(|| RecordId::from_uuid(context.ids.next()), |record| record.id);
    let (kind, key) = (kind.to_owned(), key.to_owned());
    let put = PutRecord {
        id,
        kind: kind.clone(),
        key: key.clone(),
        props: object(props(found.as_ref())),
        merge: Merge::Overwrite,
        expect: found.map_or(Expect::Absent, |record| Expect::Version(record.version)),
        lookups: Vec::new(),
    };
    let link = ArtifactLink { kind, record_id: id, key, role: ArtifactRole::Updated, metadata: Map::new() };
    // Others may put it meanwhile.
    pause(Millis(3)).await;
    Ok(RecordChange { put, link })
}

fn review(context: &ToolContext, args: &Map<String, Value>) -> ScriptedAnswer {
    if generation(&context.key) > 0 {
        return Ok(done(args, &format!("q{}", args["n"])));
    }
    let name = format!("r{}", args["n"]);
    let asks = ToolOutcome::ask(Review {
        reason: "look at it".to_owned(),
        title: None,
        schema: json!({"type": "object", "properties": {name.clone(): {"type": "integer"}}, "required": [name]}),
        details: Value::Null,
        answer_is_result: false,
    });
    Ok(ToolOutcome { usage: used(args), ..asks })
}

fn grow(_: &ToolContext, args: &Map<String, Value>) -> ScriptedAnswer {
    let steps: Vec<Value> = serde_json::from_str(&text(args, "steps")).unwrap();
    let mut outcome = ToolOutcome::new(Map::new(), "grows");
    let mode = match text(args, "mode").as_str() {
        "append" => PatchMode::Append,
        "replace" => PatchMode::Replace,
        _ => {
            outcome.new_steps = steps;
            return Ok(outcome);
        }
    };
    let steps: Vec<StepSpec> = steps.into_iter().map(|step| serde_json::from_value(step).unwrap()).collect();
    outcome.patch = Some(PlanPatch { mode, steps, reason: "as told".to_owned() });
    Ok(outcome)
}
