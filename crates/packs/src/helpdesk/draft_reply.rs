//! `helpdesk.draft_reply`: what is written back. A person writes what answers a question; the rules write no prose, only
//! that a message has come in and by when somebody looks at it.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::ticket;
use crate::args::{fields, text, text_or_state};
use crate::review;

/// The tool.
pub(super) fn draft_reply() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "ticket_id": {"type": "string", "format": "uuid"},
            "ask": {
                "type": ["string", "null"], "maxLength": 500,
                "description": "why a person has to write the answer; null drafts a receipt"
            },
            "answer": {"type": ["string", "null"], "maxLength": 8000, "description": "the answer, where it is known"}
        },
        "required": ["ticket_id"],
        "additionalProperties": false
    });
    let description = "Drafts the reply to a ticket, and sends nothing: a receipt that says when somebody looks at it, or \
                       the answer, which a person is asked for where the call does not give it.";
    let spec = ToolSpec {
        needs: ToolNeeds { task: true, records: true, ..ToolNeeds::default() },
        // The subject is the requester's.
        untrusted_output: true,
        ..ToolSpec::read("helpdesk.draft_reply", description, schema).shown(
            &["ticket", "reply", "answer"],
            json!({"ticket_id": "0198c1de-7c00-7000-8000-000000000001", "answer": "Hold the button for five seconds."}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let ticket = ticket::named(context, &args).await?;
    let of = |name: &str| text(&ticket.props, name).unwrap_or_default();
    let asked = text(&args, "ask");
    let answer = match &asked {
        Some(_) => text_or_state(&args, &context.state, &["answer"]),
        None => text(&args, "answer"),
    };
    if let (Some(why), None) = (asked, &answer) {
        let form = json!({"answer": {"type": "string", "minLength": 1, "maxLength": 8000}});
        let details = json!({"ticket": of("number"), "subject": of("subject"), "text": of("text")});
        return Ok(ToolOutcome::ask(review::form("What is the answer?", why, form, details)));
    }
    let due = of("due_at");
    let says = answer.clone().unwrap_or_else(|| match due.as_str() {
        "" => "Your message has come in. Somebody will look at it.".to_owned(),
        due => format!("Your message has come in. Somebody will look at it by {due}."),
    });
    let (number, us) = (of("number"), &context.tenant_name);
    let body = format!(
        "Hello,\n\n{says}\n\nYour ticket is {number}. Answer this mail to write to us about it again.\n\n{us}\n"
    );
    let data = fields([
        ("reply_subject", json!(format!("Re: {} [{number}]", of("subject")))),
        ("reply_body", json!(body)),
        ("reply_answers", json!(answer.is_some())),
    ]);
    let what = if answer.is_some() { "drafted the answer" } else { "drafted a receipt" };
    Ok(ToolOutcome::new(data, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helpdesk::triage::tests::ticket;
    use crate::tests::World;

    #[tokio::test]
    async fn a_receipt_names_the_ticket_and_promises_no_answer() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "incident", "It jams").await;
        let data = world.run(&draft_reply(), json!({"ticket_id": id, "ask": null})).await;
        let subject = data["reply_subject"].as_str().unwrap();
        assert!(subject.starts_with("Re: Help [HD-") && subject.ends_with(']'), "{subject}");
        let body = data["reply_body"].as_str().unwrap();
        assert!(body.contains("has come in") && body.contains("Ironwood Lane"), "{body}");
        assert_eq!(data["reply_answers"], false);
    }

    #[tokio::test]
    async fn a_person_writes_the_answer() {
        let mut world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "question", "How do I print?").await;
        let args = json!({"ticket_id": id, "ask": "somebody asks how something is done"});
        let review = world.call(&draft_reply(), args.clone()).await.unwrap().review.unwrap();
        assert_eq!(review.details["text"], "How do I print?");
        let answer = json!({"answer": "Press the green button."});
        assert!(jsonschema::is_valid(&review.schema, &answer));
        world.state(answer);
        let data = world.run(&draft_reply(), args).await;
        assert!(data["reply_body"].as_str().unwrap().contains("Press the green button."));
        assert_eq!(data["reply_answers"], true);
    }
}
