//! `kybern task fork`: what would be written outside again is listed, and needs a yes each.

use std::io::BufRead;

use kybern_core::id::TaskId;
use serde_json::{Value, json};

use super::ask::says_yes;
use crate::cli::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Failure, Screen, field, kybern};

/// Starts a new task from the middle of another.
pub(super) async fn run(
    id: TaskId,
    from: &str,
    yes: bool,
    format: Format,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let path = format!("/api/tasks/{id}/fork");
    let preview = client.post(&path, PostedBody::Json(&json!({"fromStep": from, "dryRun": true})), None).await?;
    let repeats = preview.value.get("repeats").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut body = json!({ "fromStep": from });
    if !repeats.is_empty() {
        if !format.json {
            context.screen().line(heading(repeats.len()));
            repeats.iter().for_each(|repeat| context.screen().line(line(repeat)));
        }
        let screen = context.screen();
        // Whoever reads JSON is a program.
        if !yes && (format.json || !screen.is_interactive()) {
            if format.json {
                context.raw(&preview);
            }
            let message =
                format!("{} would be made again outside, and nobody said yes; nothing was forked", steps(&repeats));
            return Err(Failure::usage(message, "look at the list, then add --yes; or fork from a later step"));
        }
        if !yes {
            ask(&repeats, screen, &mut std::io::stdin().lock())?;
        }
        body["confirm"] = repeats.iter().map(|repeat| repeat["stepId"].clone()).collect();
    }
    let reply = client.post(&path, PostedBody::Json(&body), None).await?;
    if format.json {
        context.raw(&reply);
        return Ok(Exit::Done);
    }
    let new = field(&reply.value, "id");
    context.screen().line(format!("task {new} begins at step {from} of task {id}"));
    context.screen().line(format!("next: {kybern} task watch {new}", kybern = kybern()));
    Ok(Exit::Done)
}

/// Asks for a yes to each; the first no ends it.
fn ask(repeats: &[Value], screen: &mut Screen, input: &mut dyn BufRead) -> Result<(), Failure> {
    for repeat in repeats {
        if !says_yes(&format!("make {} again?", field(repeat, "stepId")), screen, input)? {
            let message = format!("no yes for step {}; nothing was forked", field(repeat, "stepId"));
            return Err(Failure::usage(message, "fork from a later step, or say yes"));
        }
    }
    Ok(())
}

fn heading(n: usize) -> String {
    let what = if n == 1 { "1 outside write".to_owned() } else { format!("{n} outside writes") };
    format!("the new task would make {what} again; receivers see it as new:")
}

fn line(repeat: &Value) -> String {
    let what = match field(repeat, "kind").as_str() {
        "call" => format!("calls {} ({})", field(repeat, "tool"), field(repeat, "effect")),
        "message" => "sends a message".to_owned(),
        "workflow" => "starts an outside workflow".to_owned(),
        _task => "starts a child task that writes outside".to_owned(),
    };
    let summary = field(repeat, "summary");
    let before = if summary.is_empty() { String::new() } else { format!("; the first time: {summary}") };
    format!("  {}  {what}{before}", field(repeat, "stepId"))
}

fn steps(repeats: &[Value]) -> String {
    repeats.iter().map(|repeat| field(repeat, "stepId")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    #[test]
    fn each_needs_a_yes_and_the_first_no_ends_it() {
        let repeats = [json!({"stepId": "pay"}), json!({"stepId": "tell"})];
        let said = |typed: &str| ask(&repeats, &mut Screen::stdout(&Environment::default()), &mut typed.as_bytes());
        assert!(said("yes\ny\n").is_ok());
        for (typed, step) in [("no\n", "pay"), ("yes\n\n", "tell"), ("yes\n", "tell"), ("", "pay")] {
            let refused = said(typed).unwrap_err().to_string();
            assert!(refused.contains(&format!("no yes for step {step}")), "{typed:?}: {refused}");
        }
    }

    #[test]
    fn what_is_made_again_is_said_in_words() {
        let call = json!({"stepId": "pay", "kind": "call", "tool": "core.http_request", "effect": "keyed", "summary": "POST 200"});
        assert_eq!(line(&call), "  pay  calls core.http_request (keyed); the first time: POST 200");
        let message = json!({"stepId": "tell", "kind": "message", "tool": "core.notify", "summary": ""});
        assert_eq!(line(&message), "  tell  sends a message");
    }
}
