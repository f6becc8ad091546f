//! What lies outside of the engine under test: time, HTTP, models, mail.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::document::{DocumentFault, DocumentText, FaultKind, PageImageRequest, PageLook, PagePicture};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TenantId;
use kybern_core::mail::{MailFault, MailPart, ParsedMail};
use kybern_core::model::{
    Classification, ClassifyInput, DocumentAnalysis, ExtractedField, Extraction, ExtractionSchema, FieldSource,
    FoundBy, IntentSpec,
};
use kybern_core::ports::{
    Clock, DocumentReader, Extractor, HttpBody, HttpClient, HttpFailure, HttpRequest, HttpResponse, IntentModel,
    MailParser, WakeUps,
};
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::SimClock;
use kybern_testkit::fakes::{FixedIntent, TextReader};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// A clock that runs with the simulated time of the runtime it is asked in, and stands still between two of them.
pub struct LifeClock {
    base: AtomicI64,
    origin: Mutex<Option<Instant>>,
    /// What a thread is told that no runtime has, such as a writer of SQLite: simulated time is not known there.
    told: AtomicI64,
}

impl LifeClock {
    pub fn new() -> Self {
        Self { base: AtomicI64::new(SimClock::START.as_millis()), origin: Mutex::default(), told: AtomicI64::new(0) }
    }

    /// A life begins: time runs.
    pub fn run(&self) {
        *self.origin.lock().unwrap() = Some(Instant::now());
    }

    /// Somebody sets it forward.
    pub fn shift(&self, by: Millis) {
        self.base.fetch_add(i64::try_from(by.0).unwrap(), Ordering::SeqCst);
    }

    /// Somebody sets it back.
    pub fn shift_back(&self, by: Millis) {
        self.base.fetch_sub(i64::try_from(by.0).unwrap(), Ordering::SeqCst);
    }

    /// A life has ended, at that moment.
    pub fn stop(&self, at: Timestamp) {
        *self.origin.lock().unwrap() = None;
        self.base.store(at.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for LifeClock {
    fn now(&self) -> Timestamp {
        if Handle::try_current().is_err() && self.origin.lock().unwrap().is_some() {
            return Timestamp::from_millis(self.told.load(Ordering::SeqCst));
        }
        let ran = self.origin.lock().unwrap().map_or(0, |origin| origin.elapsed().as_millis());
        let now = self.base.load(Ordering::SeqCst) + i64::try_from(ran).unwrap();
        self.told.store(now, Ordering::SeqCst);
        Timestamp::from_millis(now)
    }
}

/// No hints: workers find what is due by polling, so that a run repeats itself call by call.
pub struct NoHints;

#[async_trait]
impl WakeUps for NoHints {
    async fn wait(&self, at_most: Millis) {
        pause(at_most).await;
    }
}

/// Lets simulated time pass: everything that can go on goes on first.
pub async fn pause(span: Millis) {
    let _ = tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await;
}

/// What the other side of the wire does.
#[derive(Clone, Debug)]
pub enum Wired {
    Answer(u16, Value),
    /// It fails like this.
    Fail(HttpFailure),
    /// It takes the request and never answers.
    Hang,
}

type Script = Box<dyn Fn(&HttpRequest, usize) -> Wired + Send + Sync>;

/// The other end of every HTTP request.
pub struct Wire {
    script: Script,
    requests: Mutex<Vec<HttpRequest>>,
}

impl Wire {
    /// It answers as `script` says; the number of the request counts from 1.
    pub fn new(script: impl Fn(&HttpRequest, usize) -> Wired + Send + Sync + 'static) -> Self {
        Self { script: Box::new(script), requests: Mutex::default() }
    }

    /// Every request, in order.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The keys of the requests that had one, with how often each came.
    pub fn keys(&self) -> BTreeMap<String, usize> {
        let mut keys = BTreeMap::new();
        for key in self.requests().iter().filter_map(|request| header(request, "Idempotency-Key")) {
            *keys.entry(key).or_insert(0) += 1;
        }
        keys
    }
}

impl Default for Wire {
    fn default() -> Self {
        Self::new(|_, _| Wired::Answer(200, serde_json::json!({"ok": true})))
    }
}

pub fn header(request: &HttpRequest, name: &str) -> Option<String> {
    request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
}

/// A request's body as JSON.
pub fn body(request: &HttpRequest) -> Value {
    match &request.body {
        HttpBody::Json(json) => json.clone(),
        HttpBody::Text(text) => serde_json::from_str(text).unwrap(),
        HttpBody::Empty => Value::Null,
    }
}

#[async_trait]
impl HttpClient for Wire {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpFailure> {
        let n = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len()
        };
        match (self.script)(&request, n) {
            Wired::Answer(status, body) => {
                Ok(HttpResponse { status, headers: Vec::new(), body: Bytes::from(body.to_string()) })
            }
            Wired::Fail(failure) => Err(failure),
            Wired::Hang => std::future::pending().await,
        }
    }
}

/// A table of intents that counts how often it is asked, and may be out of order at first.
#[derive(Default)]
pub struct CountedIntent {
    pub table: FixedIntent,
    pub asked: AtomicUsize,
    /// So many first calls fail.
    pub fails: usize,
}

#[async_trait]
impl IntentModel for CountedIntent {
    async fn classify(&self, input: &ClassifyInput, intents: &Arc<[IntentSpec]>) -> Result<Classification> {
        if self.asked.fetch_add(1, Ordering::SeqCst) < self.fails {
            return Err(Error::new(ErrorCode::Unavailable, "the model rests"));
        }
        self.table.classify(input, intents).await
    }
}

/// An extractor that counts how often it is asked. It finds nothing, or takes each line for a field.
#[derive(Default)]
pub struct CountedExtractor {
    pub asked: AtomicUsize,
    pub takes_lines: AtomicBool,
}

#[async_trait]
impl Extractor for CountedExtractor {
    async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(DocumentAnalysis::default())
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        _analysis: &DocumentAnalysis,
        _schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        if !self.takes_lines.load(Ordering::SeqCst) {
            return Ok(Extraction::default());
        }
        let pages = document.pages.iter();
        let lines = pages.flat_map(|page| page.text.lines().map(|line| (page.number, line)));
        let field = |(page, line): (u32, &str)| ExtractedField {
            name: "line".to_owned(),
            group: None,
            item: None,
            value: line.into(),
            confidence: 1.0,
            problem: None,
            found_by: FoundBy::default(),
            rival: None,
            source: FieldSource { document: number, page, end: line.len(), ..FieldSource::default() },
        };
        Ok(Extraction { fields: lines.map(field).collect(), ..Extraction::default() })
    }
}

/// Letters, written as JSON: `{"id", "subject", "text", "files": {name: text}, "kind", "requestTokens"}`. Anything else is no mail.
#[derive(Default)]
pub struct Letters {
    /// How often it was asked.
    pub asked: AtomicUsize,
}

#[async_trait]
impl MailParser for Letters {
    async fn parse(&self, _: TenantId, raw: Bytes) -> Result<ParsedMail, MailFault> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let letter: Value = serde_json::from_slice(&raw).map_err(|error| MailFault::Broken(error.to_string()))?;
        let text = |name: &str| letter[name].as_str().unwrap_or_default().to_owned();
        let file = |(name, content): (&String, &Value)| MailPart {
            filename: name.clone(),
            content_type: "text/plain".to_owned(),
            bytes: Bytes::from(content.as_str().unwrap_or_default().to_owned()),
            inline: false,
            depth: 0,
        };
        Ok(ParsedMail {
            message_id: letter["id"].as_str().map(str::to_owned),
            subject: text("subject"),
            text: text("text"),
            kind: serde_json::from_value(letter["kind"].clone()).unwrap_or_default(),
            request_tokens: serde_json::from_value(letter["requestTokens"].clone()).unwrap_or_default(),
            parts: letter["files"].as_object().into_iter().flatten().map(file).collect(),
            ..ParsedMail::default()
        })
    }
}

/// Reads plain texts, unless it has too much to do.
#[derive(Default)]
pub struct BusyReader {
    pub busy: AtomicBool,
    /// How often it was asked.
    pub asked: AtomicUsize,
    /// Milliseconds that drawing a page takes.
    pub drawing: AtomicU64,
    /// Pages that are being drawn, and how many have been at the same time.
    pub drawn: AtomicUsize,
    pub drawn_at_once: AtomicUsize,
}

#[async_trait]
impl DocumentReader for BusyReader {
    async fn read(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<DocumentText, DocumentFault> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.busy.load(Ordering::SeqCst) {
            return Err(DocumentFault::new(FaultKind::Busy, "too much work at once"));
        }
        TextReader.read(tenant, filename, content_type, bytes).await
    }

    async fn looks(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<Vec<PageLook>, DocumentFault> {
        TextReader.looks(tenant, filename, content_type, bytes).await
    }

    async fn picture(
        &self,
        tenant: TenantId,
        filename: &str,
        content_type: &str,
        bytes: Bytes,
        view: PageImageRequest,
    ) -> Result<PagePicture, DocumentFault> {
        let now = self.drawn.fetch_add(1, Ordering::SeqCst) + 1;
        self.drawn_at_once.fetch_max(now, Ordering::SeqCst);
        pause(Millis(self.drawing.load(Ordering::SeqCst))).await;
        self.drawn.fetch_sub(1, Ordering::SeqCst);
        TextReader.picture(tenant, filename, content_type, bytes, view).await
    }
}
