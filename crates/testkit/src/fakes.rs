//! Small stand-ins for what lies outside: models, documents, mail.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::document::{
    DocumentFault, DocumentFormat, DocumentText, FaultKind, PageImageRequest, PageLook, PagePicture, PageText, Scan,
    ScanPlace, ScannedWord, WHOLE,
};
use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::mail::{OutgoingMail, ParsedMail, SendFault};
use kybern_core::model::{Classification, ClassifyInput, IntentSpec};
use kybern_core::ports::{DocumentReader, Documents, IntentModel, MailSender, PreparedMail};
use kybern_core::task::Attachment;
use kybern_core::time::Millis;

/// A model that looks its answers up in a table: the first entry whose words stand in the subject or the text.
#[derive(Clone, Debug, Default)]
pub struct FixedIntent {
    table: Vec<(String, String, f64)>,
}

impl FixedIntent {
    /// A model that knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same model, which answers `intent` so surely when it reads `words`.
    #[must_use]
    pub fn when(mut self, words: &str, intent: &str, confidence: f64) -> Self {
        self.table.push((words.to_lowercase(), intent.to_owned(), confidence));
        self
    }
}

#[async_trait]
impl IntentModel for FixedIntent {
    async fn classify(&self, input: &ClassifyInput, _intents: &Arc<[IntentSpec]>) -> Result<Classification> {
        let text = format!("{} {}", input.subject, input.text).to_lowercase();
        let found = self.table.iter().find(|(words, _, _)| text.contains(words));
        Ok(Classification {
            doubts: Vec::new(),
            intent: found.map(|(_, intent, _)| intent.clone()),
            confidence: found.map_or(0.0, |(_, _, confidence)| *confidence),
            reasoning: found.map_or("nothing in the table".to_owned(), |(words, _, _)| format!("reads {words:?}")),
            alternatives: Vec::new(),
            model: "fixed/1".to_owned(),
        })
    }
}

/// A task without documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDocuments;

#[async_trait]
impl Documents for NoDocuments {
    async fn list(&self) -> Result<Vec<Attachment>> {
        Ok(Vec::new())
    }

    async fn texts(&self) -> Result<Vec<(Attachment, Arc<DocumentText>)>> {
        Ok(Vec::new())
    }

    async fn mail(&self) -> Result<Option<Arc<ParsedMail>>> {
        Ok(None)
    }
}

/// Reads plain text, one page per form feed. Bytes that are no UTF-8 are broken; a name that ends in `.scan`,
/// `.locked` or `.unknown` has that fault. One that ends in `.photo` is read from a picture: its words stand one under
/// another, and one with a question mark behind it is only sure to 40 percent. One that ends in `.pages` has no text, but
/// pages that can be looked at; an empty one is a picture of nothing, `-` is no picture, and `?` one that cannot be
/// unpacked. A page that is `?` in a file that ends in `.photo` or `.part` is not read.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextReader;

#[async_trait]
impl DocumentReader for TextReader {
    async fn read(
        &self,
        _tenant: TenantId,
        filename: &str,
        _content_type: &str,
        bytes: Bytes,
    ) -> Result<DocumentText, DocumentFault> {
        let fault = |kind, message: &str| Err(DocumentFault::new(kind, message));
        match filename.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "scan" | "pages" => return fault(FaultKind::Scan, "no text layer"),
            "locked" => return fault(FaultKind::Encrypted, "a password is set"),
            "unknown" => return fault(FaultKind::Unsupported, "an unknown type"),
            _ => {}
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return fault(FaultKind::Broken, "not UTF-8");
        };
        if text.trim().is_empty() {
            return fault(FaultKind::Empty, "no text");
        }
        let photo = filename.ends_with(PHOTO);
        let in_part = photo || filename.ends_with(".part");
        let page = |(n, text): (u32, &str)| match text {
            UNSEEN if in_part => PageText::not_read(n),
            text => {
                PageText { number: n, text: text.to_owned(), scan: photo.then(|| seen(text)), ..PageText::default() }
            }
        };
        Ok(DocumentText { format: DocumentFormat::Text, pages: (1..).zip(text.split('\u{c}')).map(page).collect() })
    }

    async fn looks(
        &self,
        _tenant: TenantId,
        filename: &str,
        _content_type: &str,
        bytes: Bytes,
    ) -> Result<Vec<PageLook>, DocumentFault> {
        let look = |page: &[u8]| if page == b"-" { PageLook::Blank } else { PageLook::Picture };
        let pages = filename.ends_with(PAGES).then(|| bytes.split(|byte| *byte == PAGE_END).map(look).collect());
        Ok(pages.unwrap_or_default())
    }

    async fn picture(
        &self,
        _tenant: TenantId,
        filename: &str,
        _content_type: &str,
        bytes: Bytes,
        PageImageRequest { page, .. }: PageImageRequest,
    ) -> Result<PagePicture, DocumentFault> {
        if filename.ends_with(PAGES) {
            let nth = usize::try_from(page).ok().and_then(|page| page.checked_sub(1));
            let text = nth.and_then(|nth| bytes.split(|byte| *byte == PAGE_END).nth(nth));
            let picture = text.filter(|text| *text != UNSEEN.as_bytes() && *text != b"-");
            let picture = picture.map(|text| [b"\x89PNG\r\n\x1a\n", text].concat());
            let picture = picture.map(|bytes| PagePicture { media_type: "image/png", bytes: Bytes::from(bytes) });
            return picture.ok_or_else(|| DocumentFault::new(FaultKind::Empty, format!("there is no page {page}")));
        }
        if !filename.ends_with(PHOTO) {
            return Err(DocumentFault::new(FaultKind::Empty, format!("page {page} is not a picture")));
        }
        Ok(PagePicture { media_type: "image/png", bytes: Bytes::from(format!("picture of page {page}")) })
    }
}

/// A page that cannot be seen.
const UNSEEN: &str = "?";
/// How the names of pictures end.
const PHOTO: &str = ".photo";
/// How the names of files end whose pages can only be looked at.
const PAGES: &str = ".pages";
/// What stands between two pages.
const PAGE_END: u8 = 0x0c;

/// The words of a picture, one under another.
fn seen(text: &str) -> Scan {
    let mut y = 0;
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let confidence = if word.ends_with('?') { 40 } else { 90 };
        let place = ScanPlace { x: 100, y, width: 200, height: 10, confidence };
        words.push(ScannedWord { start, end: start + word.len(), place });
        y = (y + 10) % WHOLE;
    }
    Scan { words }
}

/// Keeps what it is asked to send. Faults that were queued come first; a message whose fault is unknown is kept too,
/// because it may have been sent. A server that cannot be reached is found out before the message is handed over,
/// everything else by handing it over.
#[derive(Debug, Default)]
pub struct RecordingMailSender {
    sent: Mutex<Vec<OutgoingMail>>,
    reached_after: Mutex<Millis>,
    takes: Mutex<Millis>,
    faults: Mutex<VecDeque<SendFault>>,
}

impl RecordingMailSender {
    /// A sender that succeeds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the next message that has no fault yet end with this one.
    pub fn fail_next(&self, fault: SendFault) {
        self.faults.lock().expect("no test panics while it holds this").push_back(fault);
    }

    /// Lets every message wait so long before it can be handed over.
    pub fn reached_after(&self, span: Millis) {
        *self.reached_after.lock().expect("no test panics while it holds this") = span;
    }

    /// Lets handing over every message take so long, whatever becomes of it.
    pub fn take(&self, span: Millis) {
        *self.takes.lock().expect("no test panics while it holds this") = span;
    }

    /// What was sent, in order.
    #[must_use]
    pub fn sent(&self) -> Vec<OutgoingMail> {
        self.sent.lock().expect("no test panics while it holds this").clone()
    }
}

#[async_trait]
impl MailSender for RecordingMailSender {
    async fn prepare(&self, mail: &OutgoingMail) -> Result<Box<dyn PreparedMail + '_>, SendFault> {
        let span = *self.reached_after.lock().expect("no test panics while it holds this");
        passes(span).await;
        let mut faults = self.faults.lock().expect("no test panics while it holds this");
        if matches!(faults.front(), Some(SendFault::Unreachable { .. }))
            && let Some(fault) = faults.pop_front()
        {
            return Err(fault);
        }
        Ok(Box::new(RecordedMail { sender: self, mail: mail.clone() }))
    }
}

struct RecordedMail<'a> {
    sender: &'a RecordingMailSender,
    mail: OutgoingMail,
}

#[async_trait]
impl PreparedMail for RecordedMail<'_> {
    async fn hand_over(self: Box<Self>) -> Result<(), SendFault> {
        let Self { sender, mail } = *self;
        let span = *sender.takes.lock().expect("no test panics while it holds this");
        passes(span).await;
        let fault = sender.faults.lock().expect("no test panics while it holds this").pop_front();
        if !matches!(fault, Some(SendFault::NotSent { .. } | SendFault::Unreachable { .. })) {
            sender.sent.lock().expect("no test panics while it holds this").push(mail);
        }
        fault.map_or(Ok(()), Err)
    }
}

async fn passes(span: Millis) {
    if span > Millis(0) {
        // Running out of time is how it takes its time.
        drop(tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_text_is_read_page_by_page_and_faults_are_typed() {
        let read = |name: &'static str, bytes: &'static [u8]| {
            TextReader.read(TenantId::DEFAULT, name, "", Bytes::from_static(bytes))
        };
        assert_eq!(read("a.txt", b"one\x0ctwo").await.unwrap().pages.len(), 2);
        assert_eq!(read("a.txt", b" \n").await.unwrap_err().kind, FaultKind::Empty);
        assert_eq!(read("a.txt", b"\xff").await.unwrap_err().kind, FaultKind::Broken);
        assert_eq!(read("a.scan", b"x").await.unwrap_err().kind, FaultKind::Scan);
    }

    #[tokio::test]
    async fn a_message_that_was_surely_not_sent_is_not_recorded() {
        let (sender, mail) = (
            RecordingMailSender::new(),
            OutgoingMail {
                to: "a@example.com".to_owned(),
                subject: String::new(),
                body: String::new(),
                message_id: "1".to_owned(),
                references: Vec::new(),
                files: Vec::new(),
            },
        );
        sender.fail_next(SendFault::NotSent { message: "busy".to_owned(), retryable: true });
        sender.fail_next(SendFault::Unknown { message: "cut".to_owned() });
        assert!(sender.send(&mail).await.is_err());
        assert!(sender.send(&mail).await.is_err());
        assert!(sender.send(&mail).await.is_ok());
        assert_eq!(sender.sent().len(), 2);
    }
}
