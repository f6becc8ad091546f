//! `helpdesk.send_reply`: queues the reply to a ticket as an e-mail. Mail and ticket are committed together. The address
//! comes out of a message, so a plan that calls this waits for a person's yes.

use kybern_core::error::ErrorCode;
use kybern_core::id::OutboxId;
use kybern_core::outbox::{NewOutbox, OutboxChannel, is_address, message_id};
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::ticket;
use crate::args::{add, fields, text, texts};
use crate::change;

/// The tool.
pub(super) fn send_reply() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "ticket_id": {"type": "string", "format": "uuid"},
            "to": {"type": "string", "minLength": 3, "maxLength": 254, "description": "one e-mail address"},
            "subject": {"type": "string", "minLength": 1, "maxLength": 300},
            "body": {"type": "string", "minLength": 1, "maxLength": 10000},
            "answers": {"type": ["boolean", "null"], "description": "true where the ticket is answered by it"}
        },
        "required": ["ticket_id", "to", "subject", "body"],
        "additionalProperties": false
    });
    let description = "Sends a reply to a ticket by e-mail, in the thread of its mails. With `answers` the ticket counts as \
                       answered.";
    let spec = ToolSpec {
        risk: Risk::R2,
        category: ToolCategory::NetworkWrite,
        destinations: vec!["to".to_owned()],
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        ..ToolSpec::local("helpdesk.send_reply", description, schema).shown(
            &["ticket", "reply", "mail", "send"],
            json!({
                "ticket_id": "0198c1de-7c00-7000-8000-000000000001", "to": "ops@example.com",
                "subject": "Re: Printer [HD-1A2B3C4D]", "body": "Hold the button for five seconds.", "answers": true
            }),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let ticket = ticket::named(context, &args).await?;
    let to = text(&args, "to").unwrap_or_default();
    if !is_address(&to) {
        let message = "to must be one e-mail address: a name, an @ and a host";
        return Err(ToolFailure::permanent(message).code(ErrorCode::Validation));
    }
    let id = OutboxId::from_uuid(context.ids.next());
    let answers = args.get("answers").and_then(Value::as_bool) == Some(true);
    let mut threads = texts(&ticket.props, "threads");
    let mail = NewOutbox {
        id,
        channel: OutboxChannel::Email,
        target: to,
        key: context.key.clone(),
        body: json!({"subject": text(&args, "subject"), "body": text(&args, "body"), "references": threads}),
    };
    // What answers this mail names it, and so finds the ticket.
    add(&mut threads, [message_id(id)]);
    let lookups = ticket::thread_lookups(&threads);
    let mut changed = fields([("threads", json!(threads)), ("replied_at", json!(context.now))]);
    if answers && !ticket::is_closed(&ticket) {
        changed.insert("status".to_owned(), json!("answered"));
    }
    let data = fields([("notification_queued", json!(true)), ("outbox_id", json!(id))]);
    let records = vec![change::update(&ticket, changed, lookups)];
    Ok(ToolOutcome { outbox: vec![mail], records, ..ToolOutcome::new(data, "queued the reply as an e-mail") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helpdesk::kinds::TICKET;
    use crate::helpdesk::open_ticket::open_ticket;
    use crate::helpdesk::triage::tests::ticket;
    use crate::tests::World;

    fn reply(id: &str, answers: bool) -> Value {
        json!({"ticket_id": id, "to": "ops@bluefern.example", "subject": "Re: x", "body": "y", "answers": answers})
    }

    #[tokio::test]
    async fn an_answer_goes_out_in_the_thread_and_what_answers_it_finds_the_ticket() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "question", "How?").await;
        let outcome = world.call(&send_reply(), reply(&id, true)).await.unwrap();
        world.write(&outcome);
        let mail = &outcome.outbox[0];
        assert_eq!((mail.target.as_str(), &mail.key), ("ops@bluefern.example", &world.key()));
        assert_eq!(mail.body["references"], json!(["4@mail.example"]));
        assert_eq!(world.records(TICKET)[0].props["status"], "answered");
        let again = json!({
            "category": "question", "requester": "ops@bluefern.example", "text": "And then?",
            "threads": ["new@mail.example", message_id(mail.id)]
        });
        assert_eq!(world.run(&open_ticket(), again).await["ticket_id"], json!(id));
    }

    #[tokio::test]
    async fn a_receipt_leaves_the_ticket_open() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "incident", "It jams").await;
        world.run(&send_reply(), reply(&id, false)).await;
        assert_eq!(world.records(TICKET)[0].props["status"], "open");
    }

    #[tokio::test]
    async fn only_one_address_is_written_to() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "incident", "It jams").await;
        let args = json!({"ticket_id": id, "to": "a@x.example, b@x.example", "subject": "x", "body": "y"});
        assert_eq!(world.call(&send_reply(), args).await.unwrap_err().code, ErrorCode::Validation);
    }
}
