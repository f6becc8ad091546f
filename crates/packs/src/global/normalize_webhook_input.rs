//! `normalize_webhook_input`: a lead, however it came: a web form, a form service, an SMS, or a mail.
//!
//! Labelled answers come first, then what the extraction model finds in the text, then what a sentence says.

use std::sync::Arc;

use kybern_core::json as bounded;
use kybern_core::mail::ParsedMail;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::task::Channel;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::form::{self, FormAnswer};
use super::{contact_schema, free_text};
use crate::args::{add, as_text, fields};
use crate::reading::{self, ReadDocument};
use crate::{company, contact, coverage};

/// From so many `Label: value` lines on, a text is a form, and lines whose labels mean nothing here are answers too.
const FORM_LINES: usize = 3;

/// The tool.
#[must_use]
pub fn normalize_webhook_input() -> StatelessTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Takes a lead apart, from a web form, a form service, an SMS or an e-mail: who writes, \
                       which company, which coverage.";
    let spec = ToolSpec {
        aliases: vec!["core.normalize_webhook".to_owned()],
        domain: "core".to_owned(),
        untrusted_output: true,
        needs: ToolNeeds { task: true, documents: true, model: true, ..ToolNeeds::default() },
        ..ToolSpec::read("normalize_webhook_input", description, schema)
            .shown(&["lead", "form", "webhook", "sms"], json!({}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let message = Message::read(context).await?;
    let lead = message.lead(&context.tenant_name);
    let has_documents = reading::has_documents(context).await?;
    let known = ["company_name", "dot_number", "lead_email", "lead_phone"];
    let count = known.iter().filter(|name| lead.get(**name).is_some_and(|value| !value.is_null())).count();
    let mut data = lead;
    data.insert("has_documents".to_owned(), json!(has_documents));
    Ok(ToolOutcome::new(data, format!("took the lead apart: {count} of {} main fields found", known.len())))
}

/// Everything that was said, in order of how plainly.
struct Message {
    answers: Vec<FormAnswer>,
    others: Map<String, Value>,
    text: String,
    read: Option<ReadDocument>,
    sender: Option<String>,
    sender_phone: Option<String>,
}

impl Message {
    async fn read(context: &ToolContext) -> Result<Self, ToolFailure> {
        let mail = context.documents()?.mail().await?;
        let payload = match mail {
            // A mail's payload is its headers: no answers of a form.
            Some(_) => Value::Null,
            None => payload_of(context),
        };
        let mut answers = form::answers(&payload);
        let sender_phone = take(&mut answers, "From").filter(|_| context.channel == Channel::Sms);
        let body = take(&mut answers, "Body");
        for gateway in ["To", "MessageSid", "AccountSid", "SmsSid"] {
            take(&mut answers, gateway);
        }
        let message = form::first(&answers, "message").and_then(as_text);
        let text = match &mail {
            Some(mail) => mail.text.clone(),
            None => body.or(message).unwrap_or_else(|| plain_input(context)),
        };
        let lines = form::labelled_lines(&text);
        let mut others = form::others(&answers);
        if lines.len() >= FORM_LINES {
            others.extend(form::others(&lines));
        }
        answers.extend(lines);
        let read = if text.trim().is_empty() {
            None
        } else {
            let document = Arc::new(reading::as_document(text.clone()));
            Some(reading::read_one(context, 0, reading::MESSAGE, &document, &contact_schema::schema()).await?)
        };
        Ok(Self {
            answers,
            others,
            text,
            read,
            sender: mail.as_deref().and_then(sender),
            sender_phone: sender_phone.and_then(|text| contact::phone(&text)),
        })
    }

    fn lead(&self, tenant_name: &str) -> Map<String, Value> {
        let answer = |name| form::first(&self.answers, name).and_then(as_text);
        let found = |name, extracted| answer(name).or_else(|| self.extracted(extracted));
        let address = form::address(&self.answers).or_else(|| self.extracted("address"));
        let state = answer("state").and_then(|text| contact::state(&text));
        let place = address.as_deref().unwrap_or(&self.text);
        let name = answer("lead_name").or_else(|| {
            let parts: Vec<String> = ["first_name", "last_name"].into_iter().filter_map(answer).collect();
            (!parts.is_empty()).then(|| parts.join(" "))
        });
        let dot = found("dot_number", "dot_number").and_then(|text| company::dot_number(&text));
        let mc = found("mc_number", "mc_number").and_then(|text| company::mc_number(&text));
        let email = found("lead_email", "email").and_then(|text| contact::email(&text));
        let phone = found("lead_phone", "phone").and_then(|text| contact::phone(&text));
        let company_name = found("company_name", "company_name");
        fields([
            ("lead_name", json!(name.or_else(|| self.extracted("contact_name")))),
            ("lead_email", json!(email.or_else(|| self.sender.clone()).or_else(|| free_text::email(&self.text)))),
            ("lead_phone", json!(phone.or_else(|| self.sender_phone.clone()).or_else(|| free_text::phone(&self.text)))),
            ("company_name", json!(company_name.or_else(|| free_text::company(&self.text, tenant_name)))),
            ("dot_number", json!(dot.or_else(|| free_text::dot_number(&self.text)))),
            ("mc_number", json!(mc.or_else(|| free_text::mc_number(&self.text)))),
            ("company_address", json!(address)),
            ("company_state", json!(state.or_else(|| contact::state_of_address(place)))),
            ("coverage_types", json!(self.coverage_types())),
            ("raw_fields", Value::Object(self.others.clone())),
        ])
    }

    /// The lines that were chosen; without any, those that the message names.
    fn coverage_types(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match form::first(&self.answers, "coverage") {
            Some(Value::Array(items)) => {
                for item in items.iter().filter_map(as_text) {
                    add(&mut lines, coverage::lines_of(&item));
                }
            }
            Some(value) => add(&mut lines, coverage::lines_of(&as_text(value).unwrap_or_default())),
            None => add(&mut lines, coverage::lines_in(&self.text)),
        }
        lines
    }

    /// What the extraction model found, where it is sure enough.
    fn extracted(&self, name: &str) -> Option<String> {
        let found = self.read.iter().flat_map(ReadDocument::single).filter(|field| field.name == name);
        let best = found.max_by(|a, b| a.confidence.total_cmp(&b.confidence))?;
        (best.confidence >= reading::UNSURE).then(|| as_text(&best.value)).flatten()
    }
}

/// The payload, or the input where that is the JSON that a caller has sent.
fn payload_of(context: &ToolContext) -> Value {
    let spoken = context.payload.as_object().is_some_and(|fields| !fields.is_empty());
    if spoken {
        return (*context.payload).clone();
    }
    bounded::read(context.input.as_bytes()).ok().filter(Value::is_object).unwrap_or(Value::Null)
}

/// The input, unless it is JSON: then it has been read as the payload, or repeats it.
fn plain_input(context: &ToolContext) -> String {
    let is_json = context.input.trim_start().starts_with(['{', '[']);
    if is_json { String::new() } else { context.input.to_string() }
}

fn take(answers: &mut Vec<FormAnswer>, label: &str) -> Option<String> {
    let at = answers.iter().position(|answer| answer.label == label)?;
    as_text(&answers.remove(at).value)
}

/// The address to write back to: who sent the mail, unless a machine did.
fn sender(mail: &ParsedMail) -> Option<String> {
    contact::email(&mail.from.address).filter(|address| !contact::is_machine_address(address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    async fn lead(world: &World) -> Map<String, Value> {
        world.run(&normalize_webhook_input(), json!({})).await
    }

    #[tokio::test]
    async fn a_web_form_is_taken_apart() {
        let mut world = World::new();
        let sample = include_str!("../../../../samples/webhook/lead.json");
        world.webhook(serde_json::from_str(sample).unwrap());
        let data = lead(&world).await;
        assert_eq!(data["company_name"], "Sorrel Canyon Carriers LLC");
        assert_eq!((&data["dot_number"], &data["mc_number"]), (&json!("9214460"), &json!("1921446")));
        assert_eq!((&data["lead_phone"], &data["company_state"]), (&json!("7755550121"), &json!("NV")));
        assert_eq!(data["coverage_types"], json!(["Auto Liability", "Motor Truck Cargo", "Physical Damage"]));
        assert_eq!(data["raw_fields"]["powerUnits"], 9);
    }

    #[tokio::test]
    async fn an_empty_form_finds_nothing() {
        let mut world = World::new();
        let sample = include_str!("../../../../samples/webhook/lead-incomplete.json");
        world.webhook(serde_json::from_str(sample).unwrap());
        let data = lead(&world).await;
        assert_eq!((&data["company_name"], &data["dot_number"]), (&Value::Null, &Value::Null));
        assert_eq!(data["lead_email"], "someone@example.net");
    }

    #[tokio::test]
    async fn an_sms_says_all_in_one_sentence() {
        let mut world = World::new();
        let body = "Need a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX. 3 trucks, auto liability and cargo. \
                    Call back please.";
        world.sms("+12545550187", body);
        let data = lead(&world).await;
        assert_eq!((&data["company_name"], &data["dot_number"]), (&json!("Dry Creek Hauling LLC"), &json!("9228815")));
        assert_eq!((&data["lead_phone"], &data["company_state"]), (&json!("2545550187"), &json!("TX")));
        assert_eq!(data["coverage_types"], json!(["Auto Liability", "Motor Truck Cargo"]));
        assert_eq!(data["raw_fields"], json!({}));
    }

    #[tokio::test]
    async fn a_form_by_mail_is_not_its_sender() {
        let mut world = World::new();
        let text = "A new quote request was submitted.\n\nCompany Name: Gravel Bend Hauling LLC\nUSDOT #: 9190027\n\
                    MC #: 1919002\nPhone: (512) 555-0142\nEmail: owner@gravelbend.example\n\
                    Address: 5 Quarry Lane, San Marcos, TX 78666\nCoverage needed: Auto Liability, Motor Truck Cargo";
        world.mail("forms@ironwoodlane.example", "New quote request", text);
        let data = lead(&world).await;
        assert_eq!(
            (&data["company_name"], &data["dot_number"]),
            (&json!("Gravel Bend Hauling LLC"), &json!("9190027"))
        );
        assert_eq!((&data["mc_number"], &data["lead_email"]), (&json!("1919002"), &json!("owner@gravelbend.example")));
    }

    #[tokio::test]
    async fn a_mail_in_prose_is_signed_by_its_company() {
        let mut world = World::new();
        let text = "we run six units. Could you quote us for liability, cargo and physical damage? DOT 9201154.\n\n\
                    Operations\nPecan Shoals Trucking LLC\n(229) 555-0136\n";
        world.mail("ops@pecanshoals.example", "Need a quote", text);
        world.document("vehicles.txt", "VIN: x");
        let data = lead(&world).await;
        assert_eq!(
            (&data["company_name"], &data["dot_number"]),
            (&json!("Pecan Shoals Trucking LLC"), &json!("9201154"))
        );
        assert_eq!((&data["lead_email"], &data["has_documents"]), (&json!("ops@pecanshoals.example"), &json!(true)));
        assert_eq!(data["coverage_types"], json!(["Auto Liability", "Motor Truck Cargo", "Physical Damage"]));
    }
}
