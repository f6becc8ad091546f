//! `helpdesk.read_message`: a mail, a form or a text message as the fields that the helpdesk's plans work with.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::task::Channel;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::{kinds, schema};
use crate::args::{add, as_text, fields, text};
use crate::contact;
use crate::reading::{self, MESSAGE_NUMBER, ReadDocument};

/// Characters of a subject, and of a message, that are kept with the ticket.
const MAX_SUBJECT: usize = 200;
const MAX_TEXT: usize = 4000;

/// The tool.
pub(super) fn read_message() -> StatelessTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Takes a support message apart, from a mail, a web form or a text message: who asks, where a reply \
                       goes, what it is about, how urgent it says it is.";
    let spec = ToolSpec {
        untrusted_output: true,
        needs: ToolNeeds { task: true, documents: true, model: true, ..ToolNeeds::default() },
        ..ToolSpec::read("helpdesk.read_message", description, schema)
            .shown(&["support", "mail", "form", "ticket"], json!({}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let mail = context.documents()?.mail().await?;
    let read = reading::read_all(context, &schema::schema()).await?;
    let message = read.iter().find(|document| document.n == MESSAGE_NUMBER);
    let found = |name: &str| message.and_then(|message| surely(message, name));
    // A machine that sends a form's answers is nobody to write back to.
    let sender = mail.as_deref().and_then(|mail| contact::email(&mail.from.address));
    let sender = sender.filter(|address| !contact::is_machine_address(address));
    let number = (context.channel == Channel::Sms).then(|| context.payload.get("From").and_then(as_text)).flatten();
    let reply_to = sender.or_else(|| found("email").and_then(|email| contact::email(&email)));
    let asked_by = reply_to.clone().or(number).or_else(|| found("phone"));
    let requester = asked_by.and_then(|written| kinds::address(&written));
    let said = mail.as_ref().map_or_else(|| context.input.to_string(), |mail| mail.text.clone());
    let title = mail.as_ref().map(|mail| mail.subject.clone()).filter(|subject| !subject.trim().is_empty());
    let title = title.or_else(|| found("subject")).or_else(|| said.lines().next().map(str::to_owned));
    let name = mail.as_ref().map(|mail| mail.from.name.trim().to_owned()).filter(|name| !name.is_empty());
    let mut threads: Vec<String> = Vec::new();
    if let Some(mail) = &mail {
        add(&mut threads, mail.message_id.iter().chain(mail.answers()).cloned());
    }
    let known = [requester.is_some(), found("product").is_some(), found("severity").is_some()];
    let data = fields([
        ("requester", json!(requester)),
        ("requester_name", json!(found("name").or(name))),
        ("reply_to", json!(reply_to)),
        ("ticket_subject", json!(title.map(|title| cut(&title, MAX_SUBJECT)))),
        ("ticket_text", json!(cut(&said, MAX_TEXT))),
        ("product", json!(found("product"))),
        ("said_severity", json!(found("severity"))),
        ("ticket_threads", json!(threads)),
    ]);
    let count = known.into_iter().filter(|known| *known).count();
    Ok(ToolOutcome::new(data, format!("took the message apart: {count} of requester, product and severity found")))
}

/// What the message says under a label, where that is sure enough.
fn surely(message: &ReadDocument, name: &str) -> Option<String> {
    let best = message.single().filter(|field| field.name == name && field.confidence >= reading::UNSURE);
    let best = best.max_by(|a, b| a.confidence.total_cmp(&b.confidence))?;
    text(&fields([("value", best.value.clone())]), "value")
}

fn cut(text: &str, most: usize) -> String {
    text.trim().chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    #[tokio::test]
    async fn a_mail_is_from_its_sender_and_names_its_thread() {
        let mut world = World::new();
        world.mail_from("Front Desk", "desk@bluefern.example", "Printer", "It jams.\nProduct: LabelJet 40");
        let data = world.run(&read_message(), json!({})).await;
        assert_eq!((&data["requester"], &data["reply_to"]), (&json!("desk@bluefern.example"), &data["requester"]));
        assert_eq!((&data["product"], &data["ticket_subject"]), (&json!("LabelJet 40"), &json!("Printer")));
        assert_eq!(data["ticket_threads"], json!(["m1@bluefern.example"]));
        assert_eq!(data["requester_name"], "Front Desk");
    }

    #[tokio::test]
    async fn a_form_that_a_machine_mails_is_from_whom_it_names() {
        let mut world = World::new();
        world.mail("forms@support.example", "New request", "Email: ops@bluefern.example\nPriority: high");
        let data = world.run(&read_message(), json!({})).await;
        assert_eq!((&data["requester"], &data["said_severity"]), (&json!("ops@bluefern.example"), &json!("high")));
    }

    #[tokio::test]
    async fn a_text_message_is_from_its_number_and_no_mail_answers_it() {
        let mut world = World::new();
        world.sms("+15125550142", "The till is frozen");
        let data = world.run(&read_message(), json!({})).await;
        assert_eq!((&data["requester"], &data["reply_to"]), (&json!("5125550142"), &Value::Null));
        assert_eq!(data["ticket_subject"], "The till is frozen");
    }

    #[tokio::test]
    async fn who_asks_stays_open_where_nothing_says_so() {
        let mut world = World::new();
        world.input("it hangs again");
        let data = world.run(&read_message(), json!({})).await;
        assert_eq!((&data["requester"], &data["ticket_threads"]), (&Value::Null, &json!([])));
    }
}
