//! Documents, as people upload, publish and remove them.

use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::document::limits::MAX_BYTES;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{JobId, KnowledgeId};
use kybern_core::job::NewJob;
use kybern_core::knowledge::{KnowledgeAct, KnowledgeDocument, KnowledgeStatus, MAX_DOCUMENTS, MAX_TITLE};
use kybern_core::ports::{KnowledgeFilter, Page};
use kybern_core::tenant::TenantScope;
use serde_json::json;

use super::Knowledge;
use super::index::{JOB, TRIES};
use crate::command::{id_for, once};

/// A file that is to become a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewDocument {
    /// What people call it; the name of the file when nobody says.
    pub title: Option<String>,
    /// The name of the file.
    pub filename: String,
    /// Its declared type.
    pub content_type: String,
    pub bytes: Bytes,
}

impl Knowledge {
    /// Takes in a document as a draft. It is indexed in the background; until then it is `indexing`.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the place; `PAYLOAD_TOO_LARGE`; `UNPROCESSABLE` when the tenant has as many as it may.
    pub async fn add(&self, actor: &Actor, new: NewDocument) -> Result<KnowledgeDocument> {
        let title = new.title.as_deref().unwrap_or(&new.filename).trim().to_owned();
        if title.is_empty() || title.chars().count() > MAX_TITLE {
            return Err(Error::invalid("/title", format!("a title has 1 to {MAX_TITLE} characters")));
        }
        if new.bytes.is_empty() {
            return Err(Error::invalid("/dataBase64", "the file is empty"));
        }
        if new.bytes.len() > MAX_BYTES {
            let message = format!("a document has at most {MAX_BYTES} bytes");
            return Err(Error::new(ErrorCode::PayloadTooLarge, message));
        }
        let id = KnowledgeId::from_uuid(id_for(self.ids.as_ref(), actor, "knowledge"));
        let make = self.store_document(actor, id, title, new);
        once(actor, || self.store.document(actor.scope(), id), make).await
    }

    async fn store_document(
        &self,
        actor: &Actor,
        id: KnowledgeId,
        title: String,
        new: NewDocument,
    ) -> Result<KnowledgeDocument> {
        // Looked at before the bytes are kept, and again when the document is written down.
        if self.store.knowledge_size(actor.scope()).await?.documents >= MAX_DOCUMENTS {
            let message = format!("a tenant has at most {MAX_DOCUMENTS} documents: remove some first");
            return Err(Error::new(ErrorCode::Unprocessable, message));
        }
        let size = u64::try_from(new.bytes.len()).unwrap_or(u64::MAX);
        let hash = self.blobs.put_blob(actor.scope(), new.bytes).await?;
        let at = self.clock.now();
        let document = KnowledgeDocument {
            id,
            title,
            filename: new.filename,
            content_type: new.content_type,
            hash,
            size,
            status: KnowledgeStatus::Indexing,
            published: false,
            error: None,
            pieces: 0,
            model: None,
            version: 1,
            created_by: actor.user(),
            created_at: at,
            updated_at: at,
        };
        let (job, event) = (self.index_job(&document), event(actor, "knowledge.add", &document));
        self.store.add_document(actor.scope(), &document, &job, event).await?;
        Ok(document)
    }

    fn index_job(&self, document: &KnowledgeDocument) -> NewJob {
        NewJob {
            id: JobId::from_uuid(self.ids.next()),
            kind: JOB.to_owned(),
            payload: json!({"id": document.id, "version": document.version}),
            dedupe_key: Some(format!("{}/{}", document.id, document.version)),
            max_attempts: TRIES,
            due_at: document.updated_at,
        }
    }

    /// One document.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, id: KnowledgeId) -> Result<KnowledgeDocument> {
        self.store.document(scope, id).await?.ok_or_else(|| Error::not_found("document", id))
    }

    /// A page of documents, the newest first.
    pub async fn list(
        &self,
        scope: TenantScope,
        filter: &KnowledgeFilter,
        after: Option<KnowledgeId>,
        limit: u32,
    ) -> Result<Page<KnowledgeDocument>> {
        self.store.documents(scope, filter, after, limit).await
    }

    /// Publishes a document, takes it back, or indexes it anew. What was found before an indexing is found until it is
    /// done.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it is not so far, or somebody else acts at the same time.
    pub async fn act(&self, actor: &Actor, id: KnowledgeId, act: KnowledgeAct) -> Result<KnowledgeDocument> {
        let before = self.get(actor.scope(), id).await?;
        let after = before.clone().after(act, self.clock.now())?;
        let job = (act == KnowledgeAct::Reindex).then(|| self.index_job(&after));
        let event = event(actor, act.as_str(), &after);
        self.store.change_document(actor.scope(), (&before, &after), job.as_ref(), event).await?;
        Ok(after)
    }

    /// Removes a document with its pieces.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn delete(&self, actor: &Actor, id: KnowledgeId) -> Result<()> {
        let document = self.get(actor.scope(), id).await?;
        let event = event(actor, "knowledge.delete", &document);
        let gone = self.store.delete_document(actor.scope(), id, self.clock.now(), event).await?;
        if gone { Ok(()) } else { Err(Error::not_found("document", id)) }
    }
}

fn event(actor: &Actor, action: &str, document: &KnowledgeDocument) -> AuditEvent {
    let detail = json!({"version": document.version, "hash": document.hash, "published": document.published});
    AuditEvent::by(actor, action, format!("knowledge:{}", document.id), detail)
}
