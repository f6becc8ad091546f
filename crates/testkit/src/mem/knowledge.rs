//! The documents of tenants' knowledge.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::KnowledgeId;
use kybern_core::job::NewJob;
use kybern_core::knowledge::{Indexed, KnowledgeDocument, KnowledgeStatus, MAX_DOCUMENTS, MAX_PIECES, PublishedPiece};
use kybern_core::ports::{KnowledgeFilter, KnowledgeSize, KnowledgeStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::state::conflict;
use super::task::page;

fn full(message: String) -> Error {
    Error::new(ErrorCode::Unprocessable, message)
}

#[async_trait]
impl KnowledgeStore for MemStore {
    async fn add_document(
        &self,
        scope: TenantScope,
        document: &KnowledgeDocument,
        job: &NewJob,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("add_document", |state| {
            let tenant = scope.tenant();
            let there = state.documents.keys().filter(|(of, _)| *of == tenant).count();
            if there >= usize::try_from(MAX_DOCUMENTS).unwrap_or(usize::MAX) {
                return Err(full(format!("a tenant has at most {MAX_DOCUMENTS} documents")));
            }
            state.documents.insert((tenant, document.id), (document.clone(), Vec::new()));
            state.insert_job(tenant, job.clone(), job.due_at);
            state.append_audit(tenant, document.updated_at, audit);
            Ok(())
        })
        .await
    }

    async fn knowledge_size(&self, scope: TenantScope) -> Result<KnowledgeSize> {
        self.run("knowledge_size", |state| {
            let own = || state.documents.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let pieces: usize = own().map(|(_, (_, pieces))| pieces.len()).sum();
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            Ok(KnowledgeSize { documents: number(own().count()), pieces: number(pieces) })
        })
        .await
    }

    async fn document(&self, scope: TenantScope, id: KnowledgeId) -> Result<Option<KnowledgeDocument>> {
        self.run("document", |state| {
            Ok(state.documents.get(&(scope.tenant(), id)).map(|(document, _)| document.clone()))
        })
        .await
    }

    async fn documents(
        &self,
        scope: TenantScope,
        filter: &KnowledgeFilter,
        after: Option<KnowledgeId>,
        limit: u32,
    ) -> Result<Page<KnowledgeDocument>> {
        self.run("documents", |state| {
            let wanted = |document: &&KnowledgeDocument| {
                filter.status.is_none_or(|status| document.status == status)
                    && filter.published.is_none_or(|published| document.published == published)
                    && after.is_none_or(|after| document.id < after)
            };
            let own = state.documents.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let found = own.rev().map(|(_, (document, _))| document).filter(wanted).cloned();
            Ok(page(found, limit, |document| document.id.to_string()))
        })
        .await
    }

    async fn change_document(
        &self,
        scope: TenantScope,
        (before, after): (&KnowledgeDocument, &KnowledgeDocument),
        job: Option<&NewJob>,
        audit: AuditEvent,
    ) -> Result<()> {
        self.run("change_document", |state| {
            let known = state.documents.get_mut(&(scope.tenant(), before.id)).filter(|(known, _)| known == before);
            let Some((document, _)) = known else {
                return Err(conflict(format!("somebody else has changed document {} meanwhile", before.id)));
            };
            *document = after.clone();
            if let Some(job) = job {
                state.insert_job(scope.tenant(), job.clone(), job.due_at);
            }
            state.append_audit(scope.tenant(), after.updated_at, audit);
            Ok(())
        })
        .await
    }

    async fn delete_document(
        &self,
        scope: TenantScope,
        id: KnowledgeId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool> {
        self.run("delete_document", |state| {
            let there = state.documents.remove(&(scope.tenant(), id)).is_some();
            if there {
                state.append_audit(scope.tenant(), at, audit);
            }
            Ok(there)
        })
        .await
    }

    async fn end_indexing(
        &self,
        scope: TenantScope,
        (id, version): (KnowledgeId, u32),
        indexed: &Indexed,
        at: Timestamp,
        audit: AuditEvent,
    ) -> Result<bool> {
        self.run("end_indexing", |state| {
            let tenant = scope.tenant();
            let all = state.documents.iter().filter(|((of, known), _)| *of == tenant && *known != id);
            let others: usize = all.map(|(_, (_, pieces))| pieces.len()).sum();
            let Some((document, pieces)) = state.documents.get_mut(&(tenant, id)) else { return Ok(false) };
            if document.version != version || document.status != KnowledgeStatus::Indexing {
                return Ok(false);
            }
            match indexed {
                Indexed::Failed(reason) => {
                    (document.status, document.error) = (KnowledgeStatus::Failed, Some(reason.clone()));
                }
                Indexed::Ready(found) => {
                    if others + found.len() > usize::try_from(MAX_PIECES).unwrap_or(usize::MAX) {
                        return Err(full(format!("the documents of a tenant have at most {MAX_PIECES} pieces")));
                    }
                    let vector = found.iter().find_map(|piece| piece.vector.as_ref());
                    document.model = vector.map(|vector| vector.model.clone());
                    (document.status, document.error) = (KnowledgeStatus::Ready, None);
                    document.pieces = u32::try_from(found.len()).unwrap_or(u32::MAX);
                    pieces.clone_from(found);
                }
            }
            document.updated_at = at;
            state.append_audit(tenant, at, audit);
            Ok(true)
        })
        .await
    }

    async fn published_pieces(&self, scope: TenantScope) -> Result<Arc<Vec<PublishedPiece>>> {
        self.run("published_pieces", |state| {
            let own = state.documents.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let published = own.filter(|(_, (document, _))| document.published);
            let pieces = published.flat_map(|(_, (document, pieces))| {
                (0_u32..).zip(pieces).map(|(n, piece)| PublishedPiece {
                    document: document.id,
                    title: document.title.clone(),
                    n,
                    piece: piece.clone(),
                })
            });
            Ok(Arc::new(pieces.collect()))
        })
        .await
    }
}
