//! A task's documents as tools see them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kybern_core::cache::ByteCache;
use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, PageImageRequest, PageLook, PageText};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::mail::{MailFault, ParsedMail};
use kybern_core::model::Image;
use kybern_core::ports::{DocumentReader, Documents, MailParser, Store};
use kybern_core::task::{Attachment, AttachmentSource};
use kybern_core::tenant::TenantScope;
use serde_json::{Map, Value, json};

/// Bytes of texts that are kept in memory: a few hundred usual documents. A text follows from its bytes, so it is never
/// stored.
const KEPT: usize = 32 * 1024 * 1024;
/// The same for mails that were taken apart, when they came in or later: each tool of a task asks for the task's.
const KEPT_MAILS: usize = 16 * 1024 * 1024;
/// What a mail takes in memory beside its bytes, as a multiple of them: text and attachments are decoded.
const MAIL_WEIGHT: usize = 3;

/// Bytes of a picture at most: 5 MB in base64, which is Anthropic's limit and the narrowest of the large providers.
const MAX_PICTURE: usize = 3_750_000;
/// The most pixels of a page's longer side that models are shown: what they see of larger ones is made as small or
/// smaller by the large providers, and a letter page of that size has letters that can be read.
const LONGEST: u32 = 2_000;
/// Pictures that are shown with a message.
pub(crate) const MAX_PICTURES: usize = 8;
/// Bytes of all of them: 16 MB in base64, beside which a request has room at every large provider.
pub(crate) const MAX_ALL_PICTURES: usize = 12_000_000;

/// What was decided about a document that could not be read, or only from its pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Leave it out.
    Ignore,
    /// This is what it says.
    Typed(String),
    /// Nobody had to decide: the model that answers looks at it itself.
    Picture,
    /// It was read from pictures, by OCR or by a model, and a person compared the two: this is what it says. It is kept
    /// with the task, because another version, or another machine, may read the pictures differently.
    Confirmed(Arc<DocumentText>),
    /// Some of its pages were not read, and a person who was told which goes on without them.
    WithoutPictures,
}

pub struct TaskDocuments {
    /// Where they are kept.
    pub store: Arc<dyn Store>,
    /// What reads them.
    pub reader: Arc<dyn DocumentReader>,
    /// What takes mail apart.
    pub parser: Arc<dyn MailParser>,
    /// What was read lately.
    pub texts: DocumentTexts,
    /// Whose they are.
    pub scope: TenantScope,
    /// The task.
    pub task: TaskId,
    /// What persons decided, by number.
    pub decisions: BTreeMap<u32, Decision>,
}

type ReadResult = Result<Arc<DocumentText>, DocumentFault>;

/// What was read lately, by tenant: texts by all that the reader is told of a document, mails by their hash.
#[derive(Clone)]
pub struct DocumentTexts {
    texts: RecentCache<DocumentText>,
    mails: RecentCache<ParsedMail>,
}

type RecentCache<T> = Arc<Mutex<ByteCache<(TenantId, String), Arc<T>>>>;

impl Default for DocumentTexts {
    fn default() -> Self {
        Self {
            texts: Arc::new(Mutex::new(ByteCache::new(KEPT))),
            mails: Arc::new(Mutex::new(ByteCache::new(KEPT_MAILS))),
        }
    }
}

fn lock<T>(lately: &RecentCache<T>) -> MutexGuard<'_, ByteCache<(TenantId, String), Arc<T>>> {
    lately.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DocumentTexts {
    /// A mail that was taken apart, by the hash of its bytes, unless it is too long ago.
    fn mail(&self, tenant: TenantId, hash: &str) -> Option<Arc<ParsedMail>> {
        lock(&self.mails).get(&(tenant, hash.to_owned()))
    }

    /// Keeps a mail of so many bytes for a while.
    pub(crate) fn keep_mail(&self, tenant: TenantId, hash: &str, bytes: usize, mail: Arc<ParsedMail>) {
        let weight = hash.len() + MAIL_WEIGHT * bytes;
        lock(&self.mails).keep((tenant, hash.to_owned()), mail, weight);
    }
}

impl TaskDocuments {
    /// The bytes of an attachment.
    ///
    /// # Errors
    /// When they are missing or damaged.
    pub async fn bytes(&self, attachment: &Attachment) -> Result<Bytes> {
        self.store.blob(self.scope, &attachment.hash).await?.ok_or_else(|| {
            let message = format!("the bytes of attachment {} are missing or damaged", attachment.n);
            Error::new(ErrorCode::Internal, message)
        })
    }

    /// The text of an attachment, or why it has none.
    ///
    /// # Errors
    /// When its bytes cannot be had.
    pub async fn read(&self, attachment: &Attachment) -> Result<ReadResult> {
        match self.decisions.get(&attachment.n) {
            Some(Decision::Typed(text)) => return Ok(Ok(Arc::new(typed(text)))),
            Some(Decision::Confirmed(text)) => return Ok(Ok(Arc::clone(text))),
            Some(Decision::WithoutPictures) => {
                // Its pictures may be read the next time: nobody has compared what they then say.
                let read = self.read_again(attachment).await?;
                return Ok(read.map(|text| match text.is_scanned() {
                    true => Arc::new(DocumentText::clone(&text).without_scans()),
                    false => text,
                }));
            }
            Some(Decision::Ignore | Decision::Picture) | None => {}
        }
        self.read_again(attachment).await
    }

    async fn read_again(&self, attachment: &Attachment) -> Result<ReadResult> {
        let tenant = self.scope.tenant();
        let key = (tenant, format!("{}/{}/{}", attachment.hash, attachment.content_type, attachment.filename));
        if let Some(text) = lock(&self.texts.texts).get(&key) {
            return Ok(Ok(text));
        }
        let bytes = self.bytes(attachment).await?;
        let read = self.reader.read(tenant, &attachment.filename, &attachment.content_type, bytes).await.map(Arc::new);
        // A fault may be the moment's (too much work at once), so it is never taken for a fact about the bytes.
        if let Ok(text) = &read {
            let weight = key.1.len() + text.heap_bytes();
            lock(&self.texts.texts).keep(key, Arc::clone(text), weight);
        }
        Ok(read)
    }

    /// The attachments at which the model looks itself, in order.
    pub async fn pictures(&self) -> Result<Vec<Attachment>> {
        if !self.decisions.values().any(|decision| *decision == Decision::Picture) {
            return Ok(Vec::new());
        }
        let mut attachments = self.store.attachments(self.scope, self.task).await?;
        attachments.retain(|attachment| self.decisions.get(&attachment.n) == Some(&Decision::Picture));
        Ok(attachments)
    }

    /// A picture as a model is shown it; `None` when it is none after all.
    ///
    /// # Errors
    /// When its bytes cannot be had.
    pub async fn picture(&self, attachment: &Attachment) -> Result<Option<Image>> {
        let bytes = self.bytes(attachment).await?;
        Ok(picture_type(&bytes).map(|media_type| image(media_type, &bytes)))
    }

    /// What a model looks at to read an attachment that has no text: the file itself, where it is a picture that models
    /// take, else each of its pages in order. Pictures are drawn as long as `may_draw` says so.
    ///
    /// # Errors
    /// When its bytes cannot be had, or the reader has too much to do.
    pub async fn pages(&self, attachment: &Attachment, mut may_draw: impl FnMut() -> bool) -> Result<Vec<Leaf>> {
        let bytes = self.bytes(attachment).await?;
        if let Some(media_type) = picture_type(&bytes) {
            return Ok(vec![if may_draw() { Leaf::Picture(image(media_type, &bytes)) } else { Leaf::Unseen }]);
        }
        let (tenant, name, kind) = (self.scope.tenant(), &attachment.filename, &attachment.content_type);
        let busy = |fault: DocumentFault| Error::new(ErrorCode::Unavailable, fault.to_string());
        let looks = match self.reader.looks(tenant, name, kind, bytes.clone()).await {
            Ok(looks) => looks,
            Err(fault) if fault.kind.is_transient() => return Err(busy(fault)),
            Err(_) => Vec::new(),
        };
        let mut leaves = Vec::with_capacity(looks.len());
        for (page, look) in (1..).zip(looks) {
            leaves.push(match look {
                PageLook::Blank => Leaf::Blank,
                PageLook::Picture if may_draw() => {
                    let view = PageImageRequest { page, longest: Some(LONGEST) };
                    match self.reader.picture(tenant, name, kind, bytes.clone(), view).await {
                        Ok(picture) => Leaf::Picture(image(picture.media_type, &picture.bytes)),
                        Err(fault) if fault.kind.is_transient() => return Err(busy(fault)),
                        Err(_) => Leaf::Unseen,
                    }
                }
                PageLook::Picture | PageLook::Other => Leaf::Unseen,
            });
        }
        Ok(leaves)
    }
}

/// A page of a document that has no text.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// A model may look at it.
    Picture(Image),
    /// There is something on it that nobody looks at.
    Unseen,
    /// There is nothing on it.
    Blank,
}

fn image(media_type: &str, bytes: &Bytes) -> Image {
    Image::Data { media_type: media_type.to_owned(), data: STANDARD.encode(bytes).into(), detail: None }
}

/// What kind of picture the bytes are, of those that models look at; `None` for anything else, whatever its name says,
/// and for one that is too large.
pub(crate) fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.len() > MAX_PICTURE {
        return None;
    }
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// What a person has typed in, or confirmed, as a document.
pub(crate) fn typed(text: &str) -> DocumentText {
    let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
    DocumentText { format: DocumentFormat::Text, pages: vec![page] }
}

#[async_trait]
impl Documents for TaskDocuments {
    async fn list(&self) -> Result<Vec<Attachment>> {
        self.store.attachments(self.scope, self.task).await
    }

    async fn texts(&self) -> Result<Vec<(Attachment, Arc<DocumentText>)>> {
        let mut texts = Vec::new();
        for attachment in self.list().await? {
            let without = matches!(self.decisions.get(&attachment.n), Some(Decision::Ignore | Decision::Picture));
            if attachment.source != AttachmentSource::Attached || without {
                continue;
            }
            match self.read(&attachment).await? {
                Ok(text) => texts.push((attachment, text)),
                // It could be read when the task came in, or a person decided about it: it must not vanish now.
                Err(fault) => {
                    let message = format!("document {} cannot be read right now: {fault}", attachment.n);
                    return Err(Error::new(ErrorCode::Unavailable, message));
                }
            }
        }
        Ok(texts)
    }

    async fn mail(&self) -> Result<Option<Arc<ParsedMail>>> {
        let attachments = self.list().await?;
        let Some(original) = attachments.iter().find(|a| a.source == AttachmentSource::Original) else {
            return Ok(None);
        };
        if original.content_type != "message/rfc822" {
            return Ok(None);
        }
        let tenant = self.scope.tenant();
        if let Some(mail) = self.texts.mail(tenant, &original.hash) {
            return Ok(Some(mail));
        }
        let bytes = self.bytes(original).await?;
        let size = bytes.len();
        let parsed = self.parser.parse(tenant, bytes).await.map_err(|fault| {
            let code = match fault {
                MailFault::Broken(_) | MailFault::TooLarge(_) => ErrorCode::Unprocessable,
                MailFault::Busy(_) => ErrorCode::Unavailable,
            };
            Error::new(code, fault.to_string())
        })?;
        let mail = Arc::new(parsed);
        self.texts.keep_mail(tenant, &original.hash, size, Arc::clone(&mail));
        Ok(Some(mail))
    }
}

/// What persons say of documents that could not be read: `{"documents": {"2": …}}`. Only the server says of one that it
/// is a picture, or what a confirmed scan says.
pub(crate) fn corrected(corrections: &Map<String, Value>) -> BTreeMap<u32, Decision> {
    let mut decisions = decisions_in(corrections.get(crate::executor::phases::DOCUMENTS));
    decisions.retain(|_, decision| matches!(decision, Decision::Ignore | Decision::Typed(_)));
    decisions
}

/// What was decided about documents, as the outcome of the phase has it: `{"decisions": {"2": …}}`.
pub(crate) fn decided(outcome: &Value) -> BTreeMap<u32, Decision> {
    decisions_in(outcome.get("decisions"))
}

fn decisions_in(written: Option<&Value>) -> BTreeMap<u32, Decision> {
    let written = written.and_then(Value::as_object).into_iter().flatten();
    let one = |(n, decision): (&String, &Value)| {
        let text = decision.get("text").and_then(Value::as_str);
        let decided = match (text, decision.get("scan")) {
            (Some(text), _) => Decision::Typed(text.to_owned()),
            (None, Some(scan)) => Decision::Confirmed(Arc::new(serde_json::from_value(scan.clone()).ok()?)),
            (None, None) if decision.get("picture").is_some() => Decision::Picture,
            (None, None) if decision.get("withoutPictures").is_some() => Decision::WithoutPictures,
            // A yes counts for the text that was shown, so it is judged apart.
            (None, None) if decision.get("confirm").is_some() => return None,
            (None, None) => Decision::Ignore,
        };
        Some((n.parse().ok()?, decided))
    };
    written.filter_map(one).collect()
}

/// Decisions as the outcome of the phase has them.
pub(crate) fn written(decisions: &BTreeMap<u32, Decision>) -> Value {
    decisions
        .iter()
        .map(|(n, decision)| {
            let decision = match decision {
                Decision::Ignore => json!({"ignore": true}),
                Decision::Typed(text) => json!({"text": text}),
                Decision::Picture => json!({"picture": true}),
                Decision::WithoutPictures => json!({"withoutPictures": true}),
                Decision::Confirmed(text) => json!({"scan": text}),
            };
            (n.to_string(), decision)
        })
        .collect::<Map<String, Value>>()
        .into()
}
