//! `notify_agent`: tells the agent in charge what was done. Only a user of the tenant is ever told, so no address out
//! of a message or a document can become a receiver.

use kybern_core::actor::Role;
use kybern_core::id::OutboxId;
use kybern_core::identity::User;
use kybern_core::outbox::{NewOutbox, OutboxChannel};
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use crate::args::{fields, text};
use crate::contact;

/// The tool.
#[must_use]
pub fn notify_agent() -> StatelessTool {
    let line = json!({"type": ["string", "null"], "maxLength": 500});
    let schema = json!({
        "type": "object",
        "properties": {
            "agent_email": line,
            "subject": line,
            "next": line,
            "counts": {
                "type": ["object", "null"],
                "description": "what was done, as label and number, or a list that is counted",
                "additionalProperties": {"type": ["integer", "array", "null"]}
            }
        },
        "additionalProperties": false
    });
    let description = "Queues an e-mail to the agent in charge (the assigned one, or the first admin): what was \
                       done, in numbers, and what to do next.";
    let spec = ToolSpec {
        aliases: vec!["core.notify_agent".to_owned()],
        domain: "core".to_owned(),
        stop_on_failure: false,
        destinations: vec!["agent_email".to_owned()],
        needs: ToolNeeds { task: true, users: true, ..ToolNeeds::default() },
        ..ToolSpec::local("notify_agent", description, schema).shown(
            &["mail", "colleague", "done"],
            json!({"subject": "Loss runs requested", "next": "Wait for the insurers.", "counts": {"requests": 2}}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let users = match &context.users {
        Some(directory) => directory.users_of(context.scope).await?,
        None => return Err(ToolFailure::permanent("the tool's spec does not ask for users")),
    };
    let (user, role) = receiver(context, &args, &users)?;
    // The tenant's own directory is believed: `admin@localhost` is somebody there.
    let target = Some(user.email.trim().to_lowercase())
        .filter(|address| address.contains('@'))
        .ok_or_else(|| ToolFailure::permanent("the agent in charge has no e-mail address; give that user one"))?;
    let subject = text(&args, "subject").unwrap_or_else(|| "A task was worked on".to_owned());
    let message = NewOutbox {
        id: OutboxId::from_uuid(context.ids.next()),
        channel: OutboxChannel::Email,
        target,
        key: context.key.clone(),
        body: json!({"subject": subject, "body": body(context, &args)}),
    };
    let data = fields([
        ("notification_queued", json!(true)),
        ("notification_sent", json!(false)),
        ("recipient_role", json!(role)),
    ]);
    let outcome = ToolOutcome::new(data, format!("queued an e-mail to the {}", role.replace('_', " ")));
    Ok(ToolOutcome { outbox: vec![message], ..outcome })
}

/// The tenant's user who is told, and as what.
fn receiver<'a>(
    context: &ToolContext,
    args: &Map<String, Value>,
    users: &'a [User],
) -> Result<(&'a User, &'static str), ToolFailure> {
    if let Some(named) = text(args, "agent_email") {
        let user = users.iter().find(|user| user.email.eq_ignore_ascii_case(&named));
        return user.map(|user| (user, "named_user")).ok_or_else(|| {
            ToolFailure::permanent("agent_email is the address of no user of this tenant; name a user, or leave it out")
        });
    }
    let assigned = context.state.get("assigned_agent").and_then(Value::as_object);
    let id = assigned.and_then(|agent| text(agent, "id"));
    if let Some(user) = id.and_then(|id| users.iter().find(|user| user.id.to_string() == id)) {
        return Ok((user, "assigned_agent"));
    }
    let of = |role: Role| users.iter().filter(move |user| user.roles.contains(&role));
    // The first admin of a server has an address that no mail reaches: whoever came later is told.
    let reached = |role: Role| of(role).find(|user| contact::is_reached(&user.email));
    let admin = reached(Role::Admin).or_else(|| reached(Role::PlatformAdmin));
    let admin = admin.or_else(|| of(Role::Admin).next()).or_else(|| of(Role::PlatformAdmin).next());
    admin.map(|user| (user, "admin")).ok_or_else(|| {
        ToolFailure::permanent("this tenant has no user with the role admin; create one, and retry the step")
    })
}

/// What was done, in numbers, and what is next in the caller's words. A model that has read what strangers wrote makes
/// this call only with a person's yes, because of its `destinations`.
fn body(context: &ToolContext, args: &Map<String, Value>) -> String {
    let mut lines = vec![format!("A task that came in by {} was worked on.", context.channel), String::new()];
    let counts = args.get("counts").and_then(Value::as_object);
    for (label, value) in counts.into_iter().flatten() {
        let number =
            value.as_array().map(|items| items.len().to_string()).or_else(|| value.as_i64().map(|n| n.to_string()));
        if let Some(number) = number {
            lines.push(format!("- {label}: {number}"));
        }
    }
    if counts.is_some_and(|counts| !counts.is_empty()) {
        lines.push(String::new());
    }
    if let Some(next) = text(args, "next") {
        lines.extend([format!("Next: {next}"), String::new()]);
    }
    match context.task {
        Some(task) => lines.push(format!("Task: {task}\nSee it with: kybern task show {task}")),
        None => lines.push("Called without a task.".to_owned()),
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    #[tokio::test]
    async fn the_first_admin_is_told_when_nobody_is_assigned() {
        let mut world = World::new();
        world.user("boss@agency.example", &[Role::Admin]);
        world.user("clerk@agency.example", &[Role::Operator]);
        let args = json!({"counts": {"requests": 2, "policies": ["a"]}, "next": "review the drafts"});
        let outcome = world.call(&notify_agent(), args).await.unwrap();
        assert_eq!((outcome.outbox[0].target.as_str(), &outcome.outbox[0].key), ("boss@agency.example", &world.key()));
        let body = outcome.outbox[0].body["body"].as_str().unwrap();
        assert!(body.contains("- requests: 2\n- policies: 1"), "{body}");
        assert_eq!(
            (&outcome.data["notification_queued"], &outcome.data["notification_sent"]),
            (&json!(true), &json!(false))
        );
    }

    #[tokio::test]
    async fn an_address_that_no_mail_reaches_is_told_only_where_there_is_no_other() {
        let mut world = World::new();
        world.user("admin@localhost", &[Role::Admin]);
        let told = async |world: &World| world.call(&notify_agent(), json!({})).await.unwrap().outbox[0].target.clone();
        assert_eq!(told(&world).await, "admin@localhost");
        world.user("ada@agency.example", &[Role::Admin, Role::Operator]);
        assert_eq!(told(&world).await, "ada@agency.example");
    }

    #[tokio::test]
    async fn nobody_outside_the_tenant_is_told() {
        let mut world = World::new();
        world.user("boss@agency.example", &[Role::Admin]);
        let failure = world.call(&notify_agent(), json!({"agent_email": "x@evil.example"})).await.unwrap_err();
        assert!(!failure.retryable, "{failure}");
        world.state(json!({"assigned_agent": {"id": "x", "email": "x@evil.example"}}));
        let outcome = world.call(&notify_agent(), json!({})).await.unwrap();
        assert_eq!(outcome.outbox[0].target, "boss@agency.example");
    }
}
