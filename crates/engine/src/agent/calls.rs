//! What becomes of the calls that a reply asks for.
//!
//! One that can be made becomes a step. Any other is answered at once, with what was wrong and how the tool is called,
//! so that the model can do better; nothing of it is tried.

use kybern_core::agent::{AskedCall, CallOutcome, Turn, TurnFinish, TurnStart};
use kybern_core::json as bounded;
use kybern_core::model::{Part, ToolCall};
use kybern_core::plan::{StepId, StepSpec};
use kybern_core::policy::redact;
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::Risk;
use serde_json::{Map, Value};

use super::functions::{are_many, help, tool_of};
use super::meta::{self, MetaOutcome};
use super::{MAX_SUGGESTION, SUGGEST_MEMORY};
use crate::tools::ToolSnapshot;

/// The calls of a reply, and the steps that are made of them.
pub(crate) struct ReplyCalls {
    pub(crate) calls: Vec<AskedCall>,
    pub(crate) steps: Vec<StepSpec>,
}

/// One call, understood.
struct ParsedCall {
    call: AskedCall,
    args: Map<String, Value>,
}

/// Understands the calls of a reply to `question`, of a model that was given those of its tools that are `open`. `turn` stands before the reply;
/// a call takes at most `left`, and none is made when the turn is `over`.
pub(crate) fn interpret(
    (snapshot, open): (&ToolSnapshot, &[String]),
    start: &TurnStart,
    turn: &Turn,
    question: &StepId,
    parts: &[Part],
    (left, over): (Millis, Option<TurnFinish>),
) -> ReplyCalls {
    let asked = parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) | Part::ToolAnswer(_) => None,
    });
    let many = are_many(snapshot, open);
    let room = usize::try_from(start.limits.calls.saturating_sub(turn.calls())).unwrap_or(usize::MAX);
    let mut understood: Vec<ParsedCall> = Vec::new();
    for (place, call) in asked.enumerate() {
        let step = StepId::trusted(&format!("call_{}", place + 1));
        let one = match over {
            Some(finish) => answered(call, None, &format!("not made: the turn is over, {}", finish.as_str()), true),
            None if place < room => understand((snapshot, open), start, many, call, question.child(&step)),
            None => {
                let text = "not made: this turn may make no more calls. Answer with what you have.";
                answered(call, None, text, true)
            }
        };
        understood.push(one);
    }
    let steps = steps(&understood, snapshot, left);
    ReplyCalls { calls: understood.into_iter().map(|one| one.call).collect(), steps }
}

fn understand(
    (snapshot, open): (&ToolSnapshot, &[String]),
    start: &TurnStart,
    many: bool,
    call: &ToolCall,
    step: StepId,
) -> ParsedCall {
    let written = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
    let object = |value: Value| match value {
        Value::Object(args) => Ok(args),
        _ => Err("they are JSON, but no object".to_owned()),
    };
    let args = bounded::read(written.as_bytes()).map_err(|error| error.to_string()).and_then(object);
    let key = tool_of(&start.tools, &call.name).filter(|_| !many);
    let spec_of = |key: &str| snapshot.find(key).map(|tool| tool.spec());
    let args = match args {
        Ok(args) => args,
        Err(why) => {
            let help = key.and_then(spec_of).map(help).unwrap_or_default();
            return answered(call, key, &format!("not made: the arguments cannot be read: {why}. {help}"), true);
        }
    };
    let meant = if many { meta::meant(snapshot, open, &call.name, &args) } else { None };
    let (key, args) = match (meant, key) {
        (Some(MetaOutcome::Told { text, is_error }), _) => return answered(call, None, &text, is_error),
        (Some(MetaOutcome::Uses(key, Value::Object(args))), _) => (key, args),
        (Some(MetaOutcome::Uses(key, _)), _) => {
            let help = spec_of(&key).map(help).unwrap_or_default();
            return answered(call, Some(&key), &format!("not made: arguments is no object. {help}"), true);
        }
        (None, Some(key)) => (key.to_owned(), args),
        (None, None) => {
            let text = format!("not made: there is no tool {:?}. Use only the tools that you were given.", call.name);
            return answered(call, None, &text, true);
        }
    };
    if key == SUGGEST_MEMORY {
        return suggested(call, &args);
    }
    let Some(tool) = snapshot.find(&key) else {
        return answered(call, None, "not made: the tool is not there any more", true);
    };
    let faults = tool.faults_of(&args);
    if !faults.is_empty() {
        let faults: Vec<String> = faults.iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect();
        let text = format!("not made: the arguments do not fit: {}. {}", faults.join("; "), help(tool.spec()));
        return answered(call, Some(&key), &text, true);
    }
    // What is not known to look only is made by itself.
    let reads = tool.tool().effect_of(&args) == EffectClass::Read && tool.tool().reach_of(&args).risk == Risk::R0;
    let call = AskedCall {
        id: call.id.clone(),
        function: call.name.clone(),
        tool: Some(tool.spec().key.clone()),
        reads,
        became: CallOutcome::Step(step),
    };
    ParsedCall { call, args }
}

fn answered(call: &ToolCall, tool: Option<&str>, text: &str, is_error: bool) -> ParsedCall {
    let (id, function, tool) = (call.id.clone(), call.name.clone(), tool.map(str::to_owned));
    let became = CallOutcome::Answered { text: text.to_owned(), is_error };
    ParsedCall { call: AskedCall { id, function, tool, reads: true, became }, args: Map::new() }
}

/// A suggestion to remember something is kept if it can be one: nothing secret, and no longer than a sentence.
fn suggested(call: &ToolCall, args: &Map<String, Value>) -> ParsedCall {
    let memory = args.get("memory").and_then(Value::as_str).unwrap_or_default().trim();
    let wrong = if memory.is_empty() {
        Some("it says nothing".to_owned())
    } else if memory.chars().count() > MAX_SUGGESTION {
        Some(format!("it has more than {MAX_SUGGESTION} characters"))
    } else if redact::has_secret(memory) {
        Some("it holds something secret".to_owned())
    } else {
        None
    };
    if let Some(wrong) = wrong {
        return answered(call, Some(SUGGEST_MEMORY), &format!("not kept: {wrong}"), true);
    }
    let became = CallOutcome::Suggested { memory: memory.to_owned() };
    let (id, function) = (call.id.clone(), call.name.clone());
    let tool = Some(SUGGEST_MEMORY.to_owned());
    ParsedCall { call: AskedCall { id, function, tool, reads: true, became }, args: Map::new() }
}

/// The steps, each batch after the one before it.
fn steps(understood: &[ParsedCall], snapshot: &ToolSnapshot, left: Millis) -> Vec<StepSpec> {
    let mut steps: Vec<StepSpec> = Vec::new();
    let (mut before, mut batch): (Vec<StepId>, Vec<StepId>) = (Vec::new(), Vec::new());
    let mut together = false;
    for one in understood {
        let (CallOutcome::Step(id), Some(tool)) = (&one.call.became, &one.call.tool) else { continue };
        let joins = together && one.call.reads;
        if !joins && !batch.is_empty() {
            before = std::mem::take(&mut batch);
        }
        together = one.call.reads;
        batch.push(id.clone());
        let own = snapshot.find(tool).map_or(left, |tool| tool.spec().timeout);
        steps.push(StepSpec {
            depends_on: Some(before.clone()),
            // The model is told what failed, and decides what follows.
            stop_on_failure: Some(false),
            timeout: Some(own.min(left)),
            ..StepSpec::tool(id.clone(), tool.clone(), one.args.clone())
        });
    }
    steps
}
