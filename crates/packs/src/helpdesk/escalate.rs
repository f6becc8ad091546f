//! `helpdesk.escalate`: marks a ticket as one that cannot wait. Who is told is another step's business.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::ticket;
use crate::args::{fields, text};
use crate::change;

/// The tool.
pub(super) fn escalate() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "ticket_id": {"type": "string", "format": "uuid"},
            "reason": {"type": "string", "minLength": 1, "maxLength": 500}
        },
        "required": ["ticket_id", "reason"],
        "additionalProperties": false
    });
    let description = "Marks an open ticket as escalated, with the reason. One that is escalated stays as it is, and a \
                       closed one is refused.";
    let spec = ToolSpec {
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        ..ToolSpec::local("helpdesk.escalate", description, schema).shown(
            &["ticket", "escalate", "urgent"],
            json!({"ticket_id": "0198c1de-7c00-7000-8000-000000000001", "reason": "severity critical"}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let ticket = ticket::named(context, &args).await?;
    if ticket::is_closed(&ticket) {
        return Err(ToolFailure::permanent("the ticket is closed; set its status to open first"));
    }
    let is_new = text(&ticket.props, "status").as_deref() != Some("escalated");
    let data = fields([("ticket_status", json!("escalated")), ("ticket_was_escalated", json!(is_new))]);
    if !is_new {
        let outcome = ToolOutcome::new(data, "the ticket is escalated already");
        return Ok(ToolOutcome { links: vec![change::resolve(&ticket)], ..outcome });
    }
    let changed = fields([
        ("status", json!("escalated")),
        ("escalated_at", json!(context.now)),
        ("escalated_because", json!(text(&args, "reason"))),
    ]);
    let records = vec![change::update(&ticket, changed, Vec::new())];
    Ok(ToolOutcome { records, ..ToolOutcome::new(data, "escalated the ticket") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helpdesk::kinds::TICKET;
    use crate::helpdesk::triage::tests::ticket;
    use crate::tests::World;

    #[tokio::test]
    async fn a_ticket_is_escalated_once() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "incident", "Nobody can print").await;
        let args = json!({"ticket_id": id, "reason": "severity critical"});
        assert_eq!(world.run(&escalate(), args.clone()).await["ticket_was_escalated"], true);
        let first = world.records(TICKET).remove(0);
        assert_eq!((&first.props["status"], first.version), (&json!("escalated"), 2));
        assert_eq!(world.run(&escalate(), args).await["ticket_was_escalated"], false);
        assert_eq!(world.records(TICKET).remove(0), first);
    }

    #[tokio::test]
    async fn what_is_closed_is_not_escalated() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "incident", "Nobody can print").await;
        let closed = change::update(&world.records(TICKET)[0], fields([("status", json!("closed"))]), Vec::new());
        world.write(&ToolOutcome { records: vec![closed], ..ToolOutcome::default() });
        let failure = world.call(&escalate(), json!({"ticket_id": id, "reason": "late"})).await.unwrap_err();
        assert!(failure.to_string().contains("closed"), "{failure}");
    }
}
