//! What lies outside the engine, faked: time that passes by itself, no network, simple mail.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::document::DocumentText;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TenantId;
use kybern_core::mail::{MailAddress, MailFault, MailPart, ParsedMail};
use kybern_core::model::{DocumentAnalysis, Extraction, ExtractionSchema};
use kybern_core::ports::{Clock, Extractor, HttpClient, HttpFailure, HttpRequest, HttpResponse, MailParser};
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::SimClock;

/// A clock that begins at a fixed moment, runs by itself, and can be moved ahead.
pub(crate) struct RunningClock {
    began: tokio::time::Instant,
    ahead: AtomicI64,
}

impl RunningClock {
    pub(crate) fn new() -> Self {
        Self { began: tokio::time::Instant::now(), ahead: AtomicI64::new(0) }
    }

    pub(crate) fn advance(&self, span: Millis) {
        self.ahead.fetch_add(i64::try_from(span.0).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for RunningClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.began.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(SimClock::START.as_millis() + elapsed + self.ahead.load(Ordering::SeqCst))
    }
}

/// Nobody answers.
pub(crate) struct NoNetwork;

#[async_trait]
impl HttpClient for NoNetwork {
    async fn send(&self, _request: HttpRequest) -> Result<HttpResponse, HttpFailure> {
        Err(HttpFailure::Connect("there is no network in this test".to_owned()))
    }
}

/// A mail with this in it comes when too much is read already.
pub(crate) const BUSY: &str = "come back later";
/// A mail with this in it makes its parser panic.
pub(crate) const PANICS: &str = "the parser cannot bear this";

/// Reads `Name: value` lines, a blank line, and a text.
pub(crate) struct PlainMail;

#[async_trait]
impl MailParser for PlainMail {
    async fn parse(&self, _: TenantId, raw: Bytes) -> Result<ParsedMail, MailFault> {
        let text = String::from_utf8_lossy(&raw).replace("\r\n", "\n");
        assert!(!text.contains(PANICS), "{PANICS}");
        if text.contains(BUSY) {
            return Err(MailFault::Busy("too much is read already".to_owned()));
        }
        let (head, body) = text.split_once("\n\n").ok_or_else(|| MailFault::Broken("no header".to_owned()))?;
        let get = |name: &str| {
            let line = head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let to = get("to").unwrap_or_default();
        let to = to.split(", ").map(|one| MailAddress { name: String::new(), address: one.to_owned() });
        Ok(ParsedMail {
            to: to.collect(),
            message_id: get("message-id").map(|id| id.trim_matches(['<', '>']).to_owned()),
            from: MailAddress { name: String::new(), address: get("from").unwrap_or_default() },
            subject: get("subject").unwrap_or_default(),
            text: body.to_owned(),
            parts: Vec::<MailPart>::new(),
            ..ParsedMail::default()
        })
    }
}

/// Finds nothing.
pub(crate) struct NoExtractor;

#[async_trait]
impl Extractor for NoExtractor {
    async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        Err(Error::new(ErrorCode::Model, "no model in this test"))
    }

    async fn extract(
        &self,
        _number: u32,
        _document: &DocumentText,
        _analysis: &DocumentAnalysis,
        _schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        Err(Error::new(ErrorCode::Model, "no model in this test"))
    }
}
