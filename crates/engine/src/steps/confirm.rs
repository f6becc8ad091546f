//! Asking a person whether a call may be made: because of what it can do, because the tenant says so, or because its
//! receiver, its address or the secret that goes along comes from mail, documents or the web.
//!
//! An approval covers exactly the arguments shown, and the tool as its tenant had defined it. The approver may replace
//! the arguments; the new ones are checked like any others. It holds for one call and ends with its time.

use kybern_core::task::WaitKind;
use kybern_core::time::Timestamp;
use kybern_core::tool::Risk;
use serde_json::{Value, json};

use crate::executor::step::{Draft, wait_of, wait_row};
use crate::executor::{Node, TaskRun};
use crate::schema;
use crate::tools::{Asks, PreparedCall, hash_args};

/// The most characters of a value in a reason.
const SHOWN: usize = 200;

/// Whether a value names a secret, at any depth.
fn names_secret(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.get("secret").is_some_and(Value::is_string) || members.values().any(names_secret)
        }
        Value::Array(items) => items.iter().any(names_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a model that has read what strangers wrote wants something done that cannot be undone, or something said to
/// somebody: nobody can say whose wish it is, and whoever gets the message takes it for the server's.
fn is_led_astray(node: &Node, prepared: &PreparedCall) -> bool {
    let speaks = !prepared.spec().destinations.is_empty();
    node.turn.is_some() && node.tainted_args && (speaks || prepared.reach.risk >= Risk::R2)
}

/// Whether strangers may have chosen what is administered: nobody's plan has meant that.
fn is_administered_by_strangers(prepared: &PreparedCall, tainted: &[String]) -> bool {
    prepared.reach.risk >= Risk::R3 && !tainted.is_empty()
}

/// The question, when the call needs a yes.
pub(super) fn confirmation(
    run: &TaskRun,
    index: usize,
    prepared: &PreparedCall,
    tainted: &[String],
    now: Timestamp,
) -> Option<Draft> {
    let node = run.walk.node(index);
    let spec = prepared.spec();
    let sends_secret = |name: &&String| spec.needs.secrets && prepared.args.get(*name).is_some_and(names_secret);
    let led = spec.destinations.iter().filter(|name| tainted.contains(name));
    let secret = tainted.iter().filter(|name| !spec.destinations.contains(name)).filter(sends_secret);
    let risky: Vec<&str> = led.chain(secret).map(String::as_str).collect();
    let reason = match (risky.first(), prepared.asks) {
        (Some(first), _) => {
            let value = prepared.args.get(*first).map(Value::to_string).unwrap_or_default();
            let value: String = value.chars().take(SHOWN).collect();
            let verb = if spec.destinations.iter().any(|name| name == first) { "go to" } else { "send the secret in" };
            format!("{} would {verb} {first} = {value}, which comes from a message, a document or the web", spec.key)
        }
        (None, Some(Asks::Risk)) => {
            format!(
                "{} is a call of risk {:?}, which the user's autonomy does not cover",
                spec.key, prepared.reach.risk
            )
        }
        (None, Some(Asks::Setting)) => format!("every call of {} is confirmed first", spec.key),
        (None, Some(Asks::FourEyes)) => {
            format!("every call of {} is confirmed first, by somebody else than whoever asked for it", spec.key)
        }
        (None, None) if is_led_astray(node, prepared) => {
            format!("{} was asked for by a model that has read a message, a document or the web", spec.key)
        }
        (None, None) if is_administered_by_strangers(prepared, tainted) => {
            format!("{} would be called with what a message, a document or the web says", spec.key)
        }
        (None, None) => return None,
    };
    let mut wait = wait_of(&node.id, WaitKind::Confirmation, reason, now);
    wait.title = Some(format!("May {} be called like this?", spec.key));
    // A call of which a try has begun is made with the arguments of that try, or not at all.
    let has_begun = node.attempts > 0 || node.is_open();
    let changes = if has_begun { json!({"type": "object", "properties": {}}) } else { spec.input_schema.clone() };
    wait.schema = schema::partial(&schema::closed(&changes));
    wait.until = Some(now.plus(run.kernel.settings.approval_time));
    wait.details = json!({
        "tool": spec.key,
        "args": prepared.args,
        "argsHash": hash_args(&prepared.args),
        "toolHash": prepared.definition.hash(),
        "untrusted": risky,
        "risk": prepared.reach.risk,
        "effect": prepared.effect,
    });
    wait.tainted_args = tainted.to_vec();
    Some(Draft::row(wait_row(node, wait)))
}
