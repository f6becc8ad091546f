//! `core.notify`: a message to somebody, by mail or webhook. It is committed to the outbox with the step and sent
//! afterwards, so it is never sent for a step that did not commit.

use kybern_core::id::OutboxId;
use kybern_core::json_schema::object;
use kybern_core::outbox::{NewOutbox, OutboxChannel, is_address};
use kybern_core::policy::ToolCategory;
use kybern_core::policy::place::is_http;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::text;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "to": {"type": "string", "minLength": 3, "maxLength": 2048},
        "subject": {"type": "string", "maxLength": 500},
        "body": {"type": "string", "maxLength": 100_000},
        "channel": {"type": "string", "enum": ["email", "webhook"]}
    });
    let description = "Puts a message into the outbox: an e-mail (sent when SMTP is configured) or a webhook POST.";
    let spec = ToolSpec {
        risk: Risk::R2,
        category: ToolCategory::NetworkWrite,
        destinations: vec!["to".to_owned()],
        ..ToolSpec::local("core.notify", description, object(properties, ["to", "subject", "body"])).shown(
            &["send", "mail", "message", "webhook"],
            json!({"to": "ada@example.com", "subject": "Your report", "body": "It is ready."}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let to = text(&args, "to")?.trim().to_owned();
    let (subject, body) = (text(&args, "subject")?, text(&args, "body")?);
    let webhook = args.get("channel").and_then(Value::as_str) == Some("webhook");
    if webhook != is_http(&to) || (!webhook && !is_address(&to)) {
        let message = if webhook { "to must be an http(s) URL" } else { "to must be an e-mail address" };
        return Err(ToolFailure::permanent(message).code(kybern_core::error::ErrorCode::Validation));
    }
    if subject.contains(['\r', '\n']) {
        let message = "subject must be one line";
        return Err(ToolFailure::permanent(message).code(kybern_core::error::ErrorCode::Validation));
    }
    let id = OutboxId::from_uuid(context.ids.next());
    let (channel, body) = if webhook {
        (OutboxChannel::Webhook, json!({"subject": subject, "body": body, "taskId": context.task}))
    } else {
        (OutboxChannel::Email, json!({"subject": subject, "body": body}))
    };
    let data = [("notification_queued", json!(true)), ("outbox_id", json!(id))];
    let mut outcome = ToolOutcome::new(data, format!("queued one {} message", channel.as_str()));
    outcome.outbox.push(NewOutbox { id, channel, target: to, key: context.key.clone(), body });
    Ok(outcome)
}
