//! The job that reads a document, cuts it into pieces and embeds them.
//!
//! It asks nothing twice that was paid for once within a try, and writes only at its end: a try that is cut off leaves
//! the document as it was. After its last try the document has failed, with the reason.

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::audit::AuditEvent;
use kybern_core::document::{DocumentFault, DocumentText};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::KnowledgeId;
use kybern_core::job::ClaimedJob;
use kybern_core::knowledge::{Indexed, IndexedPiece, KnowledgeDocument, KnowledgeStatus, MAX_PIECES, pieces};
use kybern_core::policy::redact;
use kybern_core::trace::traceparent_of;
use serde_json::json;

use super::Knowledge;
use crate::jobs::{JobFailure, JobHandler};
use crate::models::CallContext;

/// The kind of the job.
pub(crate) const JOB: &str = "knowledge.index";
/// How often it is tried.
pub(super) const TRIES: u32 = 5;
/// The most texts that are embedded at once.
const BATCH: usize = crate::models::embedding::BATCH;

/// The document and the version that a job is about.
fn about(job: &ClaimedJob) -> Option<(KnowledgeId, u32)> {
    let id = job.payload.get("id")?.as_str()?.parse().ok()?;
    let version = u32::try_from(job.payload.get("version")?.as_u64()?).ok()?;
    Some((id, version))
}

#[async_trait]
impl JobHandler for Knowledge {
    async fn run(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let Some(of) = about(job) else { return Err(JobFailure::permanent("the job names no document")) };
        let Some(document) = self.store.document(job.scope(), of.0).await? else { return Ok(()) };
        if document.version != of.1 || document.status != KnowledgeStatus::Indexing {
            return Ok(());
        }
        let indexed = match self.read_document(job, &document).await? {
            Ok(text) => Indexed::Ready(self.embedded_pieces(job, &document, &text).await.map_err(failure)?),
            Err(fault) if fault.kind.is_transient() => return Err(JobFailure::transient(fault.to_string())),
            Err(fault) => Indexed::Failed(fault.to_string()),
        };
        self.end_indexing(job, of, &indexed).await.map(|_| ()).map_err(failure)
    }

    /// Says of a document that it could not be indexed.
    async fn wind_up(&self, job: &ClaimedJob, reason: &str) -> Result<bool, JobFailure> {
        let Some(of) = about(job) else { return Ok(false) };
        let reason = redact::redacted(reason.to_owned());
        self.end_indexing(job, of, &Indexed::Failed(reason)).await?;
        Ok(false)
    }
}

impl Knowledge {
    async fn read_document(
        &self,
        job: &ClaimedJob,
        document: &KnowledgeDocument,
    ) -> Result<Result<DocumentText, DocumentFault>, JobFailure> {
        let bytes: Option<Bytes> = self.blobs.blob(job.scope(), &document.hash).await?;
        let missing = || JobFailure::permanent("the bytes of the document are missing or damaged");
        let bytes = bytes.ok_or_else(missing)?;
        Ok(self.documents.read(job.scope().tenant(), &document.filename, &document.content_type, bytes).await)
    }

    async fn embedded_pieces(
        &self,
        job: &ClaimedJob,
        document: &KnowledgeDocument,
        text: &DocumentText,
    ) -> Result<Vec<IndexedPiece>> {
        let caller = CallContext::executor(job.scope(), document.created_by, traceparent_of(job.id.as_uuid()));
        let page = |page: &kybern_core::document::PageText| {
            let number = page.number;
            let of = pieces(&page.text).into_iter();
            of.map(move |text| IndexedPiece { page: number, text: text.to_owned(), vector: None }).collect::<Vec<_>>()
        };
        let mut all: Vec<IndexedPiece> = text.pages.iter().flat_map(page).collect();
        self.has_room(job, document, all.len()).await?;
        for some in all.chunks_mut(BATCH) {
            let texts = some.iter().map(|piece| piece.text.clone()).collect();
            let Some(vectors) = self.models.vectors_of(&caller, texts).await? else { break };
            for (piece, vector) in some.iter_mut().zip(vectors) {
                piece.vector = Some(vector);
            }
        }
        Ok(all)
    }

    /// Refuses what would be refused at the end, before it is paid for.
    async fn has_room(&self, job: &ClaimedJob, document: &KnowledgeDocument, pieces: usize) -> Result<()> {
        let there = self.store.knowledge_size(job.scope()).await?.pieces.saturating_sub(document.pieces);
        match u32::try_from(pieces).ok().and_then(|pieces| there.checked_add(pieces)) {
            Some(all) if all <= MAX_PIECES => Ok(()),
            _ => {
                let message = format!(
                    "the documents of a tenant have at most {MAX_PIECES} pieces: there are {there}, and this one has \
                     {pieces}: remove some first"
                );
                Err(Error::new(ErrorCode::Unprocessable, message))
            }
        }
    }

    async fn end_indexing(&self, job: &ClaimedJob, of: (KnowledgeId, u32), indexed: &Indexed) -> Result<bool> {
        let detail = match indexed {
            Indexed::Ready(pieces) => json!({"version": of.1, "pieces": pieces.len()}),
            Indexed::Failed(reason) => json!({"version": of.1, "error": reason}),
        };
        let event = AuditEvent::by_executor("knowledge.index", format!("knowledge:{}", of.0), detail);
        self.store.end_indexing(job.scope(), of, indexed, self.clock.now(), event).await
    }
}

/// What no other try mends ends the job.
fn failure(error: Error) -> JobFailure {
    match error.code() {
        ErrorCode::Unprocessable | ErrorCode::Validation | ErrorCode::PermissionDenied => {
            JobFailure::permanent(error.to_string())
        }
        _ => error.into(),
    }
}
