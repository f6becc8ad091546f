//! What a tool stands in: a tenant with users and records, and a task with a message and documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use kybern_core::actor::{Actor, Principal, Role};
use kybern_core::document::DocumentText;
use kybern_core::error::Result;
use kybern_core::id::{LessonId, OutboxId, RecordId, RequestId, TaskId, TenantId, UserId};
use kybern_core::identity::User;
use kybern_core::lesson::{Lesson, LessonSource, Lessons, Teaching};
use kybern_core::mail::{MailAddress, ParsedMail, Passage, PassageRole, RequestToken, TokenPlace};
use kybern_core::outbox::OutboxStatus;
use kybern_core::plan::StepId;
use kybern_core::ports::{Documents, IdSource, Nouns, OutboxView, PlanReader, Tool, ToolContext, UserDirectory};
use kybern_core::record::{Expect, Lookup, Merge, PutRecord, Record};
use kybern_core::task::{Attachment, AttachmentSource, Channel};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::extractor::LineExtractor;
use super::plans::Bundled;
use super::records::Records;
use crate::reading;

/// A tenant and its task.
pub(crate) struct World {
    records: Arc<Records>,
    users: Vec<User>,
    pub(crate) outbox: Vec<(OutboxId, OutboxStatus)>,
    /// Where all mails of the outbox go.
    pub(crate) receiver: String,
    ids: Arc<Counter>,
    channel: Channel,
    input: String,
    payload: Value,
    state: Map<String, Value>,
    pub(crate) mail: Option<ParsedMail>,
    files: Vec<(String, String)>,
    lessons: Lessons,
}

struct Counter(AtomicU64);

impl IdSource for Counter {
    fn next(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.fetch_add(1, Ordering::SeqCst)))
    }
}

impl World {
    /// An empty tenant with a task that says nothing.
    pub(crate) fn new() -> Self {
        Self {
            records: Arc::default(),
            users: Vec::new(),
            outbox: Vec::new(),
            receiver: "desk@prairielantern.example".to_owned(),
            ids: Arc::new(Counter(AtomicU64::new(1))),
            channel: Channel::Api,
            input: String::new(),
            payload: Value::Null,
            state: Map::new(),
            mail: None,
            files: Vec::new(),
            lessons: Lessons::default(),
        }
    }

    /// The tenant has learned this.
    pub(crate) fn learn(&mut self, teaching: Teaching) {
        let (id, at) = (LessonId::from_uuid(self.ids.next()), Timestamp::from_millis(1));
        let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
        self.lessons = self.lessons.with(&Lesson::suggested(id, teaching.checked().unwrap(), source, at));
    }

    /// The next task of the same tenant: nothing of the old one is left.
    pub(crate) fn next_task(&mut self) {
        self.channel = Channel::Api;
        self.input = String::new();
        self.payload = Value::Null;
        self.state = Map::new();
        self.mail = None;
        self.files = Vec::new();
    }

    /// The mail carries the token of a request.
    pub(crate) fn answers(&mut self, request: &str) {
        let token = RequestToken { id: request.to_owned(), place: TokenPlace::Subject };
        self.mail.as_mut().unwrap().request_tokens.push(token);
    }

    /// The mail hands on what somebody else wrote, and goes to its sender as well.
    pub(crate) fn forwards(&mut self, author: &str, also_to: &str) {
        let address = |address: &str| MailAddress { name: String::new(), address: address.to_owned() };
        let mail = self.mail.as_mut().unwrap();
        mail.to.push(address(also_to));
        mail.passages = vec![Passage {
            role: PassageRole::Forwarded,
            start: 0,
            end: mail.text.len(),
            author: Some(address(author)),
        }];
    }

    /// The task came by mail.
    pub(crate) fn mail(&mut self, from: &str, subject: &str, text: &str) {
        self.mail_from("", from, subject, text);
    }

    /// The task came by mail from somebody whose name stands beside the address.
    pub(crate) fn mail_from(&mut self, name: &str, from: &str, subject: &str, text: &str) {
        let domain = from.split('@').next_back().unwrap_or_default();
        self.channel = Channel::Email;
        self.input = text.to_owned();
        self.payload = json!({"from": from, "subject": subject});
        self.mail = Some(ParsedMail {
            message_id: Some(format!("m1@{domain}")),
            from: MailAddress { name: name.to_owned(), address: from.to_owned() },
            to: vec![MailAddress { name: String::new(), address: "intake@ironwoodlane.example".to_owned() }],
            subject: subject.to_owned(),
            text: text.to_owned(),
            ..ParsedMail::default()
        });
    }

    /// The receiving server has verified who sent the mail.
    pub(crate) fn verified(&mut self) {
        self.payload["sender"] = json!({"authenticated": true, "dmarc": "pass"});
    }

    /// The task came by webhook.
    pub(crate) fn webhook(&mut self, payload: Value) {
        self.channel = Channel::Webhook;
        self.input = payload.to_string();
        self.payload = payload;
    }

    /// The task came by SMS.
    pub(crate) fn sms(&mut self, from: &str, body: &str) {
        self.channel = Channel::Sms;
        self.input = body.to_owned();
        self.payload = json!({"From": from, "To": "+15125550100", "Body": body, "MessageSid": "SM417"});
    }

    /// The task is an instruction.
    pub(crate) fn input(&mut self, text: &str) {
        self.input = text.to_owned();
    }

    /// A file came with it; the first is number 1, after the original.
    pub(crate) fn document(&mut self, name: &str, text: &str) {
        self.files.push((name.to_owned(), text.to_owned()));
    }

    /// The tenant has another user.
    pub(crate) fn user(&mut self, email: &str, roles: &[Role]) {
        self.users.push(User {
            id: UserId::from_uuid(self.ids.next()),
            name: email.split('@').next().unwrap_or_default().to_owned(),
            email: email.to_owned(),
            roles: roles.to_vec(),
            timezone: "UTC".to_owned(),
            created_at: Timestamp::from_millis(0),
            made_by_user_id: None,
        });
    }

    /// The state gets these members.
    pub(crate) fn state(&mut self, members: Value) {
        self.state.extend(members.as_object().cloned().unwrap());
    }

    /// The state as it stands.
    pub(crate) fn present_state(&self) -> &Map<String, Value> {
        &self.state
    }

    /// A record is there already.
    pub(crate) fn put(&self, kind: &str, key: &str, props: Value) -> String {
        self.put_with(kind, key, props, Vec::new())
    }

    /// A record is there already, with what it can be found under.
    pub(crate) fn put_with(&self, kind: &str, key: &str, props: Value, lookups: Vec<Lookup>) -> String {
        let id = RecordId::from_uuid(self.ids.next());
        self.records.put(PutRecord {
            id,
            kind: kind.to_owned(),
            key: key.to_owned(),
            props: props.as_object().cloned().unwrap(),
            merge: Merge::Fill,
            expect: Expect::Absent,
            lookups,
        });
        id.to_string()
    }

    pub(crate) fn records(&self, kind: &str) -> Vec<Record> {
        self.records.of(kind)
    }

    /// How often many records' lookups were read.
    pub(crate) fn surveys(&self) -> usize {
        self.records.surveys()
    }

    /// The idempotency key of calls.
    pub(crate) fn key(&self) -> String {
        "v1:tenant:task:step:1".to_owned()
    }

    /// Calls a tool with arguments that fit its schema, and writes nothing.
    pub(crate) async fn call(&self, tool: &dyn Tool, args: Value) -> Result<ToolOutcome, ToolFailure> {
        let faults: Vec<String> = jsonschema::validator_for(&tool.spec().input_schema)
            .unwrap()
            .iter_errors(&args)
            .map(|fault| fault.to_string())
            .collect();
        // An unknown name inside an enumeration is the tool's own to refuse in tests of that.
        assert!(faults.iter().all(|fault| fault.contains("is not one of")), "{}: {faults:?}", tool.spec().key);
        tool.call(&self.context(tool), args.as_object().cloned().unwrap()).await
    }

    /// Calls a tool, writes what it returns, and answers its data.
    pub(crate) async fn run(&self, tool: &dyn Tool, args: Value) -> Map<String, Value> {
        let outcome = self.call(tool, args).await.unwrap();
        assert!(outcome.review.is_none(), "{:?}", outcome.review);
        assert!(!outcome.summary.is_empty());
        self.write(&outcome);
        outcome.data
    }

    /// Writes what a call has returned.
    pub(crate) fn write(&self, outcome: &ToolOutcome) {
        for change in &outcome.records {
            assert_eq!(change.put.id, change.link.record_id);
            self.records.put(change.put.clone());
            let record = self.records.of(&change.put.kind).into_iter().find(|record| record.key == change.put.key);
            super::packs::check_record(&record.unwrap());
        }
    }

    /// What a call gets.
    pub(crate) fn context(&self, tool: &dyn Tool) -> ToolContext {
        let needs = tool.spec().needs;
        let request = RequestId::from_uuid(Uuid::nil());
        let actor = Actor::authenticated(TenantId::DEFAULT, Principal::Executor, vec![Role::Operator], vec![], request);
        let files = Files { mail: self.mail.clone(), files: self.files.clone() };
        ToolContext {
            scope: actor.scope(),
            tenant_name: "Ironwood Lane Insurance Agency".into(),
            user: None,
            behalf: kybern_core::tool::Behalf::of_plan(None, actor.rights()),
            task: Some(TaskId::from_uuid(Uuid::from_u128(77))),
            step: Some(StepId::trusted("step")),
            lease: None,
            channel: self.channel,
            input: self.input.as_str().into(),
            payload: Arc::new(self.payload.clone()),
            state: Arc::new(self.state.clone()),
            trace_id: "0".repeat(32).into(),
            key: self.key(),
            attempt: 1,
            may_have_happened: false,
            now: Timestamp::from_millis(1_767_225_600_000),
            timeout: Millis::from_secs(30),
            ids: Arc::clone(&self.ids) as Arc<dyn IdSource>,
            http: None,
            documents: needs.documents.then(|| Arc::new(files) as Arc<dyn Documents>),
            extractor: needs.model.then(|| Arc::new(LineExtractor) as Arc<_>),
            records: needs.records.then(|| Arc::clone(&self.records) as Arc<_>),
            nouns: Nouns { plans: needs.plans.then(|| Arc::new(Bundled) as Arc<dyn PlanReader>), ..Nouns::default() },
            users: needs.users.then(|| Arc::new(Directory(self.users.clone())) as Arc<dyn UserDirectory>),
            outbox: needs
                .outbox
                .then(|| Arc::new(Sent(self.outbox.clone(), self.receiver.clone())) as Arc<dyn OutboxView>),
            secrets: None,
            models: None,
            lessons: if needs.lessons { self.lessons.clone() } else { Lessons::default() },
        }
    }
}

struct Sent(Vec<(OutboxId, OutboxStatus)>, String);

#[async_trait]
impl OutboxView for Sent {
    async fn status_of(&self, _scope: TenantScope, id: OutboxId) -> Result<Option<OutboxStatus>> {
        Ok(self.0.iter().find(|(known, _)| *known == id).map(|(_, status)| *status))
    }

    async fn receiver_of(&self, _scope: TenantScope, id: OutboxId) -> Result<Option<String>> {
        Ok(self.0.iter().any(|(known, _)| *known == id).then(|| self.1.clone()))
    }
}

struct Directory(Vec<User>);

#[async_trait]
impl UserDirectory for Directory {
    async fn users_of(&self, _scope: TenantScope) -> Result<Vec<User>> {
        Ok(self.0.clone())
    }
}

struct Files {
    mail: Option<ParsedMail>,
    files: Vec<(String, String)>,
}

impl Files {
    fn attachments(&self) -> Vec<Attachment> {
        let attachment = |n, filename: &str, source| Attachment {
            n,
            filename: filename.to_owned(),
            content_type: "text/plain".to_owned(),
            size: 1,
            hash: format!("{n:064x}"),
            source,
        };
        let original = attachment(0, "message.eml", AttachmentSource::Original);
        let files = (1..).zip(&self.files).map(|(n, (name, _))| attachment(n, name, AttachmentSource::Attached));
        std::iter::once(original).chain(files).collect()
    }
}

#[async_trait]
impl Documents for Files {
    async fn list(&self) -> Result<Vec<Attachment>> {
        Ok(self.attachments())
    }

    async fn texts(&self) -> Result<Vec<(Attachment, Arc<DocumentText>)>> {
        let attached = self.attachments().into_iter().skip(1);
        let texts = self.files.iter().map(|(_, text)| Arc::new(reading::as_document(text.clone())));
        Ok(attached.zip(texts).collect())
    }

    async fn mail(&self) -> Result<Option<Arc<ParsedMail>>> {
        Ok(self.mail.clone().map(Arc::new))
    }
}
