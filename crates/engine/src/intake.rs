//! What comes in by mail, webhook and SMS: taken apart, deduplicated per tenant and source, and made a task.

use std::sync::Arc;

use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::digest::hash_of;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::mail::{AuthenticationResults, MailFault, ParsedMail, has_token};
use kybern_core::outbox::mail_of;
use kybern_core::ports::{IdentityStore, MailParser, OutboxStore};
use kybern_core::task::{AttachmentSource, Channel, NewKind};
use kybern_core::tenant::TenantScope;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::task::Tasks;
use crate::task::submit::{Incoming, SubmitOutcome, SubmittedFile};

/// Mails of ours that a mail may answer and that are looked at, the nearest first.
const MAX_ANSWERED: usize = 10;
/// Bytes of a message's own key, such as its `Message-ID`, that are kept as they are.
const MAX_KEY: usize = 255;
/// Lines of a webhook's body that are shown to the intent model.
const MAX_LINES: usize = 400;
/// Characters of one name in it, with the names around it; a longer one is left out.
const MAX_PATH: usize = 300;
/// Characters of one value in it.
const MAX_VALUE: usize = 10_000;

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryOutcome {
    /// The task; that of the first delivery when this is a repeat.
    pub task_id: TaskId,
    /// Whether the same message came before.
    pub duplicate: bool,
}

/// Takes in what comes by mail, webhook and SMS.
#[derive(Clone)]
pub struct Intake {
    pub(crate) tenants: Arc<dyn IdentityStore>,
    pub(crate) outbox: Arc<dyn OutboxStore>,
    pub(crate) parser: Arc<dyn MailParser>,
    pub(crate) tasks: Tasks,
    /// The domain of intake addresses.
    pub(crate) domain: Option<String>,
    /// The mail server whose findings about senders are believed.
    pub(crate) trusted_authserv: Option<String>,
}

impl Intake {
    /// Takes in an e-mail as it came over the wire. Its `Message-ID` deduplicates it, or a hash of its sender, date,
    /// subject, text and parts when it has none. `trace_id` is the trace that whoever delivers it is in.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` when it is no message, `PAYLOAD_TOO_LARGE` when it is over a limit or takes too long,
    /// `UNAVAILABLE` when too much is read already. Nothing is stored then.
    pub async fn receive_email(&self, actor: &Actor, raw: Bytes, trace_id: Option<String>) -> Result<DeliveryOutcome> {
        let mail = self.take_apart(actor.tenant(), &raw).await?;
        let hash = content_hash(&mail);
        let answers_request = self.answers_request(actor.scope(), &mail).await?;
        let sender = sender(&mail, self.trusted_authserv.as_deref());
        let subject: String = mail.subject.chars().filter(|c| !c.is_control()).take(500).collect();
        let mut parts =
            vec![part("message.eml".to_owned(), "message/rfc822".to_owned(), raw, AttachmentSource::Original)];
        for file in &mail.parts {
            let source = if file.inline { AttachmentSource::Inline } else { AttachmentSource::Attached };
            parts.push(part(file.filename.clone(), file.content_type.clone(), file.bytes.clone(), source));
        }
        let mut payload = json!({
            "messageId": mail.message_id,
            "inReplyTo": mail.in_reply_to,
            "references": mail.references,
            "date": mail.date,
            "from": mail.from,
            "to": mail.to,
            "subject": subject,
            "fromHtml": mail.from_html,
            "kind": mail.kind,
            "passages": mail.passages,
            "requestTokens": mail.request_tokens,
            "sender": sender,
        });
        if answers_request {
            payload["answersRequest"] = json!(true);
        }
        if mail.references_left_out > 0 {
            payload["referencesLeftOut"] = json!(mail.references_left_out);
        }
        let incoming = Incoming {
            channel: Channel::Email,
            source: "email".to_owned(),
            dedupe_key: Some(mail.message_id.clone().map_or_else(|| format!("hash:{hash}"), short_key)),
            body_hash: Some(hash),
            input: mail.text.clone(),
            payload,
            parts,
            mail: Some(Arc::new(mail)),
            trace_id,
            kind: NewKind::Plan,
        };
        self.take_in(actor, incoming).await
    }

    /// Whether a mail stands in the thread of one that has left here with the token of a request: it answers the request
    /// although its sender's mail program has cut the token out.
    async fn answers_request(&self, scope: TenantScope, mail: &ParsedMail) -> Result<bool> {
        for id in mail.answers().into_iter().filter_map(|id| mail_of(id)).take(MAX_ANSWERED) {
            let Some(sent) = self.outbox.outbox_message(scope, id).await? else { continue };
            let texts = ["subject", "body"].map(|name| sent.message.body.get(name).and_then(Value::as_str));
            if texts.into_iter().flatten().any(has_token) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes in a webhook's body. The delivery id deduplicates it; without one every delivery is a task of its own,
    /// because two equal bodies may well mean two things.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` when the source's name or the body will not do.
    pub async fn receive_webhook(
        &self,
        actor: &Actor,
        source: &str,
        delivery_id: Option<String>,
        body: Value,
        raw: &[u8],
        trace_id: Option<String>,
    ) -> Result<DeliveryOutcome> {
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if source.is_empty() || source.len() > 64 || !source.chars().all(named) {
            return Err(Error::invalid("/source", "source must be 1 to 64 characters of [A-Za-z0-9_.-]"));
        }
        let incoming = Incoming {
            channel: Channel::Webhook,
            source: format!("webhook/{source}"),
            dedupe_key: delivery_id,
            body_hash: Some(blake3::hash(raw).to_hex().to_string()),
            input: as_lines(&body),
            payload: body,
            parts: Vec::new(),
            mail: None,
            trace_id,
            kind: NewKind::Plan,
        };
        self.take_in(actor, incoming).await
    }

    /// Takes in an SMS gateway's form: `From`, `To`, `Body`, `MessageSid`.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` naming the missing field.
    pub async fn receive_sms(
        &self,
        actor: &Actor,
        form: Vec<(String, String)>,
        trace_id: Option<String>,
    ) -> Result<DeliveryOutcome> {
        let get = |name: &str| form.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let mut missing = Vec::new();
        for name in ["From", "Body", "MessageSid"] {
            if get(name).is_none_or(|value| value.trim().is_empty()) {
                missing.push(kybern_core::error::Detail::new(format!("/{name}"), format!("{name} is missing")));
            }
        }
        if !missing.is_empty() {
            return Err(Error::new(ErrorCode::Validation, "the form lacks fields").with_details(missing));
        }
        let body = get("Body").unwrap_or_default();
        let fields: Map<String, Value> = form.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let hash = blake3::hash(body.as_bytes()).to_hex().to_string();
        let incoming = Incoming {
            channel: Channel::Sms,
            source: "sms".to_owned(),
            dedupe_key: get("MessageSid").map(short_key),
            body_hash: Some(hash),
            input: body,
            payload: Value::Object(fields),
            parts: Vec::new(),
            mail: None,
            trace_id,
            kind: NewKind::Plan,
        };
        self.take_in(actor, incoming).await
    }

    /// The tenant to which mail for an address belongs: the one whose slug is the local part.
    pub async fn tenant_of_address(&self, address: &str) -> Result<Option<kybern_core::identity::Tenant>> {
        let Some((local, domain)) = address.rsplit_once('@') else { return Ok(None) };
        let ours = self.domain.as_deref();
        if ours.is_some_and(|ours| !ours.eq_ignore_ascii_case(domain)) {
            return Ok(None);
        }
        // `slug+anything@` is the same mailbox.
        let slug = local.split('+').next().unwrap_or(local).to_ascii_lowercase();
        self.tenants.tenant_by_slug(&slug).await
    }

    /// The tenant to which a message from a shared mailbox belongs, by its receivers; that of the mailbox when none of
    /// them is an intake address, or no intake domain is set.
    ///
    /// # Errors
    /// When the store fails, and those of [`receive_email`](Self::receive_email).
    pub async fn tenant_of_mail(&self, mailbox: TenantId, raw: &Bytes) -> Result<TenantId> {
        if self.domain.is_none() {
            return Ok(mailbox);
        }
        let mail = self.take_apart(mailbox, raw).await?;
        for receiver in &mail.to {
            if let Some(tenant) = self.tenant_of_address(&receiver.address).await? {
                return Ok(tenant.id);
            }
        }
        Ok(mailbox)
    }

    async fn take_apart(&self, tenant: TenantId, raw: &Bytes) -> Result<ParsedMail> {
        let parsed = self.parser.parse(tenant, raw.clone()).await;
        parsed.map_err(|fault| match fault {
            MailFault::Broken(_) => Error::invalid("", fault.to_string()),
            MailFault::TooLarge(_) => Error::new(ErrorCode::PayloadTooLarge, fault.to_string()),
            MailFault::Busy(_) => Error::new(ErrorCode::Unavailable, fault.to_string()),
        })
    }

    async fn take_in(&self, actor: &Actor, incoming: Incoming) -> Result<DeliveryOutcome> {
        let mut submitted = self.tasks.submit_incoming(actor, incoming.clone()).await?;
        // Anybody can choose a Message-ID: another message under a known one is another message, not a repeat.
        if let (SubmitOutcome::Known { same_body: false, .. }, Channel::Email) = (&submitted, incoming.channel) {
            let (key, hash) = (incoming.dedupe_key.clone(), incoming.body_hash.clone());
            let dedupe_key = key.zip(hash).map(|(key, hash)| format!("{key}#{hash}"));
            tracing::warn!(source = %incoming.source, "another message came under a known Message-ID");
            submitted = self.tasks.submit_incoming(actor, Incoming { dedupe_key, ..incoming }).await?;
        }
        Ok(match submitted {
            SubmitOutcome::Started(id) | SubmitOutcome::Queued(id) => DeliveryOutcome { task_id: id, duplicate: false },
            SubmitOutcome::Known { id, .. } => DeliveryOutcome { task_id: id, duplicate: true },
        })
    }
}

/// What is known of a mail's sender: the domain it claims, and what the trusted server found out about it. Without a
/// trusted server `authenticated` is null: whatever else a header says, the sender may have written it.
fn sender(mail: &kybern_core::mail::ParsedMail, trusted: Option<&str>) -> Value {
    let domain = mail.from.address.rsplit_once('@').map(|(_, domain)| domain);
    let is_trusted = |server: &str| trusted.is_some_and(|trusted| trusted.eq_ignore_ascii_case(server));
    let told: Vec<_> = mail.authentication.iter().filter(|found| is_trusted(&found.server)).collect();
    let said = |found: &AuthenticationResults, method: &str| {
        found.results.iter().find(|(name, _)| name == method).map(|(_, result)| result.clone())
    };
    let of = |method: &str| told.first().and_then(|found| said(found, method));
    // The newest is the trusted server's own. It may have written more than one, and a sender may write under its name:
    // so what speaks for the sender counts only there, and what speaks against it anywhere.
    let doubt = told.iter().filter_map(|found| said(found, "dmarc"));
    let doubt = doubt.into_iter().find(|result| matches!(result.as_str(), "fail" | "mismatch" | "malformed"));
    let authenticated = match (&doubt, of("dmarc").as_deref()) {
        (Some(_), _) => Some(false),
        (None, Some("pass")) => Some(true),
        (None, _) => None,
    };
    json!({
        "domain": domain,
        "authenticated": authenticated,
        "dmarc": doubt.or_else(|| of("dmarc")),
        "dkim": of("dkim"),
        "spf": of("spf"),
    })
}

fn part(filename: String, content_type: String, bytes: Bytes, source: AttachmentSource) -> SubmittedFile {
    let filename: String = filename.chars().filter(|c| !c.is_control()).take(200).collect();
    SubmittedFile { filename, content_type, bytes, source }
}

/// What a message says, as a hash: the same for every delivery of it, whatever the servers on the way added.
fn content_hash(mail: &ParsedMail) -> String {
    let date = mail.date.as_deref().unwrap_or_default();
    let said = [mail.from.address.as_str(), date, &mail.subject, &mail.text].map(str::as_bytes);
    let parts = mail.parts.iter().flat_map(|part| [part.filename.as_bytes(), &part.bytes]);
    hash_of(said.into_iter().chain(parts))
}

/// A webhook's body as `name: value` lines, for people and for the intent model.
fn as_lines(body: &Value) -> String {
    fn walk(path: &str, value: &Value, lines: &mut Vec<String>) {
        if lines.len() >= MAX_LINES || path.len() > MAX_PATH {
            return;
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    walk(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, member, lines);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(path, item, lines)),
            Value::Null => {}
            Value::String(text) => {
                let text: String = text.chars().take(MAX_VALUE).collect();
                lines.push(format!("{path}: {text}"));
            }
            Value::Bool(_) | Value::Number(_) => lines.push(format!("{path}: {value}")),
        }
    }
    let mut lines = Vec::new();
    walk("", body, &mut lines);
    lines.join("\n")
}

/// A key that a stranger has chosen, as it is kept: indexes take no long ones.
fn short_key(key: String) -> String {
    if key.len() <= MAX_KEY { key } else { format!("hash:{}", blake3::hash(key.as_bytes()).to_hex()) }
}
