//! `normalize_email_input`: a mail as the fields that plans work with.

use kybern_core::count::count;
use kybern_core::mail::{MailAddress, ParsedMail, PassageRole};
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::task::AttachmentSource;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use crate::args::fields;

/// The tool.
#[must_use]
pub fn normalize_email_input() -> StatelessTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Takes an inbound e-mail apart: sender, receivers, subject, body, newest words, \
                       request tokens, attachments, thread. For \
                       a task of another channel the body is its input.";
    let spec = ToolSpec {
        aliases: vec!["core.normalize_email".to_owned()],
        domain: "core".to_owned(),
        untrusted_output: true,
        needs: ToolNeeds { task: true, documents: true, ..ToolNeeds::default() },
        ..ToolSpec::read("normalize_email_input", description, schema)
            .shown(&["mail", "sender", "subject", "attachments"], json!({}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let documents = context.documents()?;
    let mail = documents.mail().await?;
    let attachments: Vec<Value> = documents
        .list()
        .await?
        .into_iter()
        .filter(|attachment| attachment.source == AttachmentSource::Attached)
        .map(|attachment| {
            json!({
                "n": attachment.n,
                "filename": attachment.filename,
                "mime_type": attachment.content_type,
            })
        })
        .collect();
    let attached = count(attachments.len(), "attachment");
    let summary = match &mail {
        Some(_) => format!("took the e-mail apart, {attached}"),
        None => format!("not an e-mail: took the input as its body, {attached}"),
    };
    let address = |address: &MailAddress| address.address.clone();
    let (from, to, subject, body) = match &mail {
        Some(mail) => (
            Some(address(&mail.from)),
            mail.to.iter().map(address).collect(),
            Some(mail.subject.clone()),
            mail.text.clone(),
        ),
        None => (None, Vec::new(), None, context.input.to_string()),
    };
    let data = fields([
        ("email_from", json!(from)),
        ("email_to", json!(to)),
        ("email_subject", json!(subject)),
        ("email_body", json!(body)),
        ("email_attachments", Value::Array(attachments)),
        ("email_thread_id", json!(mail.as_deref().and_then(thread))),
        ("email_newest", json!(mail.as_ref().map(|mail| mail.text_of(PassageRole::Newest)))),
        ("email_kind", json!(mail.as_ref().map(|mail| mail.kind))),
        ("email_request_tokens", json!(mail.as_ref().map(|mail| &mail.request_tokens))),
        ("email_sender", context.payload.get("sender").cloned().unwrap_or_default()),
        ("email_thread_ids", json!(mail.as_deref().map(ParsedMail::answers))),
        ("email_in_reply_to", json!(mail.as_ref().and_then(|mail| mail.in_reply_to.clone()))),
    ]);
    Ok(ToolOutcome::new(data, summary))
}

/// The first message of the conversation; the message itself when it begins one.
fn thread(mail: &ParsedMail) -> Option<String> {
    mail.references.first().or(mail.in_reply_to.as_ref()).or(mail.message_id.as_ref()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    #[tokio::test]
    async fn a_mail_is_taken_apart() {
        let mut world = World::new();
        world.mail("office@juniperflats.example", "Renewal", "please order loss runs");
        world.document("dec.txt", "x");
        let data = world.run(&normalize_email_input(), json!({})).await;
        assert_eq!(data["email_from"], "office@juniperflats.example");
        assert_eq!(data["email_attachments"][0]["filename"], "dec.txt");
        assert_eq!(data["email_thread_id"], "m1@juniperflats.example");
        assert_eq!((&data["email_kind"], &data["email_request_tokens"]), (&json!("personal"), &json!([])));
    }

    #[tokio::test]
    async fn without_a_mail_the_input_is_the_body() {
        let mut world = World::new();
        world.input("hello");
        let data = world.run(&normalize_email_input(), json!({})).await;
        assert_eq!((&data["email_body"], &data["email_from"]), (&json!("hello"), &Value::Null));
    }
}
