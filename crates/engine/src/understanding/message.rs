//! The message of a task: as a document, what of it is nobody's, and what an intent model is shown of it.

use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::error::Result;
use kybern_core::mail::{MailAddress, MailKind, Passage, without_quoted};
use kybern_core::model::{ClassifyInput, ExtractedField, ExtractionSchema, ValueKind};
use kybern_core::task::{Channel, Task};
use serde_json::{Value, json};

use crate::executor::Phase;
use crate::executor::walk::Walk;
use crate::tools::documents::TaskDocuments;

/// The message as a document: its text, and its subject on a page of its own.
pub(crate) fn message_of(task: &Task) -> DocumentText {
    let of = |name: &str| task.payload.get(name).and_then(Value::as_str);
    // The day where the sender was, of a date as RFC 3339 writes it.
    let written = of("date").and_then(|date| date.get(..10)?.parse().ok());
    let page = |number, label: &str, text: &str| PageText {
        number,
        label: label.to_owned(),
        text: text.to_owned(),
        written,
        ..PageText::default()
    };
    let subject = of("subject").unwrap_or_default();
    let passages = task.payload.get("passages").cloned().unwrap_or_default();
    let passages: Vec<Passage> = serde_json::from_value(passages).unwrap_or_default();
    let mut pages = vec![page(1, "", &without_quoted(&task.input, &passages))];
    if !subject.trim().is_empty() {
        pages.push(page(2, "subject", subject));
    }
    DocumentText { format: DocumentFormat::Text, pages }
}

/// Whether a field of a mail is nobody's contact: an address, a telephone or a name in the report of a mail server, which
/// are of whom it did not reach, and an address that the mail was sent to.
pub(crate) fn is_nobodys(payload: &Value, schema: &ExtractionSchema, field: &ExtractedField) -> bool {
    let mut patterns = schema.fields.iter().filter(|pattern| pattern.name == field.name && pattern.group.is_none());
    let Some(kind) = patterns.next().map(|pattern| pattern.value).filter(|_| field.group.is_none()) else {
        return false;
    };
    let of_mail = |name: &str| payload.get(name).cloned().unwrap_or_default();
    match kind {
        ValueKind::Email if is_recipient(&of_mail("to"), field) => true,
        ValueKind::Email | ValueKind::Phone | ValueKind::Person => {
            serde_json::from_value::<MailKind>(of_mail("kind")).is_ok_and(|kind| kind == MailKind::Bounce)
        }
        _ => false,
    }
}

fn is_recipient(to: &Value, field: &ExtractedField) -> bool {
    let Some(address) = field.value.as_str() else { return false };
    let all: Vec<MailAddress> = serde_json::from_value(to.clone()).unwrap_or_default();
    all.iter().any(|other| other.address.eq_ignore_ascii_case(address))
}

/// Characters of documents that are shown to the intent model.
const DOCUMENT_EXCERPT: usize = 8_000;

/// The address in whose name a mail came, where what the receiving server says of it leaves a doubt.
pub(crate) fn doubtful_sender(task: &Task) -> Option<&str> {
    let is_doubtful = task.payload.pointer("/sender/authenticated") == Some(&json!(false));
    task.payload.pointer("/from/address").and_then(Value::as_str).filter(|_| is_doubtful)
}

/// That doubt, for people: no more than the server has said.
pub(crate) fn doubt_about_sender(payload: &Value) -> &'static str {
    match payload.pointer("/sender/dmarc").and_then(Value::as_str) {
        Some("malformed") => {
            "what the receiving server says about the mail's sender cannot be told apart from what the sender wrote"
        }
        Some("mismatch") => {
            "what the receiving server has checked is not the mail's one sender: it names another domain, or there are \
             several senders"
        }
        Some(_) | None => "the receiving server says that the mail does not come from its sender's domain",
    }
}

/// Whether a mail carries the token of a request, or stands in the thread of one of ours that does.
pub(crate) fn answers_request(payload: &Value) -> bool {
    let has_token = payload.get("requestTokens").and_then(Value::as_array).is_some_and(|tokens| !tokens.is_empty());
    has_token || payload.get("answersRequest") == Some(&json!(true))
}

/// What the intent model is shown. How a mail was taken apart stands in the payload; what does not fit there, as in a
/// task that somebody made by hand, counts as not said.
///
/// # Errors
/// When the store fails, or a document cannot be read right now.
pub(crate) async fn classify_input(task: &Task, walk: &Walk, texts: &TaskDocuments) -> Result<ClassifyInput> {
    let payload = &task.payload;
    let is_mail = task.channel == Channel::Email;
    let read = |name: &str| payload.get(name).filter(|_| is_mail).cloned().unwrap_or_default();
    let kind = serde_json::from_value::<MailKind>(read("kind")).unwrap_or_default();
    let passages = serde_json::from_value::<Vec<Passage>>(read("passages")).unwrap_or_default();
    let subject = payload.get("subject").and_then(Value::as_str).unwrap_or_default();
    let documents = walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
    let listed = || documents.and_then(|outcome| outcome.data.get("documents")?.as_array()).into_iter().flatten();
    let mut input = ClassifyInput::of_mail(kind, subject, &task.input, &passages);
    input.answers_request = is_mail && answers_request(payload);
    input.files = listed().count();
    let categories = listed().filter_map(|document| document.get("category")?.as_str().map(str::to_owned));
    input.document_categories = categories.collect();
    if documents.is_some() {
        use kybern_core::ports::Documents;
        for (_, text) in texts.texts().await? {
            for page in &text.pages {
                if input.document_text.len() < DOCUMENT_EXCERPT {
                    input.document_text.extend(page.text.chars().take(DOCUMENT_EXCERPT));
                    input.document_text.push('\n');
                }
            }
        }
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use kybern_core::model::{FieldPattern, FieldSource, FoundBy};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_mail_server_reports_and_whom_a_mail_was_sent_to_is_nobodys_contact() {
        let fields =
            [("contact.email", ValueKind::Email), ("contact.phone", ValueKind::Phone), ("name", ValueKind::Name)];
        let fields = fields.map(|(name, kind)| FieldPattern::new(name, &[], kind)).into();
        let schema = ExtractionSchema { fields, ..ExtractionSchema::default() };
        let is = |payload: Value, name: &str, value: &str| {
            let field = ExtractedField {
                name: name.to_owned(),
                group: None,
                item: None,
                value: value.into(),
                confidence: 0.5,
                problem: None,
                source: FieldSource::default(),
                found_by: FoundBy::Rules,
                rival: None,
            };
            is_nobodys(&payload, &schema, &field)
        };
        let bounce = || json!({"kind": MailKind::Bounce});
        assert!(is(bounce(), "contact.email", "ada@example.com") && is(bounce(), "contact.phone", "5125550171"));
        assert!(!is(bounce(), "name", "Acme LLC"));
        let sent = || json!({"kind": MailKind::Personal, "to": [{"name": "", "address": "desk@example.com"}]});
        assert!(is(sent(), "contact.email", "desk@example.com"));
        assert!(!is(sent(), "contact.email", "ada@example.com") && !is(sent(), "contact.phone", "5125550171"));
    }

    #[test]
    fn a_doubt_about_the_sender_says_no_more_than_the_server_has_said() {
        let doubt = |result: &str| doubt_about_sender(&json!({"sender": {"authenticated": false, "dmarc": result}}));
        assert_eq!(doubt("fail"), "the receiving server says that the mail does not come from its sender's domain");
        assert!(doubt("malformed").contains("cannot be told apart"), "{}", doubt("malformed"));
        assert!(doubt("mismatch").contains("another domain"), "{}", doubt("mismatch"));
    }
}
