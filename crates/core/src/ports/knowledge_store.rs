//! Where the documents of a tenant's knowledge are kept.

use std::sync::Arc;

use async_trait::async_trait;

use super::Page;
use crate::audit::AuditEvent;
use crate::error::Result;
use crate::id::KnowledgeId;
use crate::job::NewJob;
use crate::knowledge::{Indexed, KnowledgeDocument, KnowledgeStatus, PublishedPiece};
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Which documents are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KnowledgeFilter {
    /// How far they are.
    pub status: Option<KnowledgeStatus>,
    /// Whether they may be found.
    pub published: Option<bool>,
}

/// How much a tenant's knowledge is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KnowledgeSize {
    /// Its documents, however they stand.
    pub documents: u32,
    pub pieces: u32,
}

/// Where documents and their pieces are kept.
#[async_trait]
pub trait KnowledgeStore: Send + Sync {
    /// Writes a new document, with the job that indexes it.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when the tenant has as many as it may.
    async fn add_document(
        &self,
        scope: TenantScope,
        document: &KnowledgeDocument,
        job: &NewJob,
        audit: AuditEvent,
    ) -> Result<()>;

    /// How much there is.
    async fn knowledge_size(&self, scope: TenantScope) -> Result<KnowledgeSize>;

    async fn document(&self, scope: TenantScope, id: KnowledgeId) -> Result<Option<KnowledgeDocument>>;

    /// A page of those that pass the filter, the newest first, behind `after`.
    async fn documents(
        &self,
        scope: TenantScope,
        filter: &KnowledgeFilter,
        after: Option<KnowledgeId>,
        limit: u32,
    ) -> Result<Page<KnowledgeDocument>>;

    /// Writes a document in place of the one that was read, with a job where it is to be indexed anew. Holds in every
    /// process when it returns.
    ///
    /// # Errors
    /// `CONFLICT` when it is not stored any more as it was read.
    async fn change_document(
        &self,
        scope: TenantScope,
        change: (&KnowledgeDocument, &KnowledgeDocument),
        job: Option<&NewJob>,
        audit: AuditEvent,
    ) -> Result<()>;

    /// Removes a document with its pieces; `false` when there is none. Holds in every process when it returns.
    async fn delete_document(
        &self,
        scope: TenantScope,
        id: KnowledgeId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool>;

    /// Ends the indexing of that version of a document: its pieces take the place of those before, or it has failed and
    /// keeps those before. `false` when that version is not being indexed any more.
    ///
    /// # Errors
    /// `UNPROCESSABLE` when the tenant would have more pieces than it may.
    async fn end_indexing(
        &self,
        scope: TenantScope,
        of: (KnowledgeId, u32),
        indexed: &Indexed,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool>;

    /// Every piece that may be found, by document and place. Every turn asks for them, so an implementation answers from
    /// memory what it knows to hold.
    async fn published_pieces(&self, scope: TenantScope) -> Result<Arc<Vec<PublishedPiece>>>;
}
