//! The documents of tenants' knowledge, and the pieces in which they are found.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{KnowledgeId, UserId};
use kybern_core::job::NewJob;
use kybern_core::knowledge::{
    Indexed, IndexedPiece, KnowledgeDocument, KnowledgeStatus, MAX_DOCUMENTS, MAX_PIECES, PublishedPiece,
};
use kybern_core::ports::{KnowledgeFilter, KnowledgeSize, KnowledgeStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use uuid::Uuid;

use crate::db::{Revision, Row, Tx, args, count, statements};
use crate::error::{Result, StoreError};
use crate::page::ListQuery;
use crate::store::SqlStore;
use crate::{audit, jobs, page, reservations, vectors};

statements! {
    INSERT = part "knowledge" "insert";
    COUNT = shared "knowledge_count";
    GET = part "knowledge" "get";
    LIST = part "knowledge" "list";
    UPDATE = part "knowledge" "update";
    DELETE = part "knowledge" "delete";
    PIECE_INSERT = part "knowledge" "piece_insert";
    PIECES_CLEAR = part "knowledge" "piece_clear";
    PIECES_COUNT = shared "knowledge_piece_count";
    PIECES_PUBLISHED = shared "knowledge_piece_published";
    REVISION = shared "knowledge_revision";
}

fn document(row: &mut Row) -> Result<KnowledgeDocument> {
    Ok(KnowledgeDocument {
        id: KnowledgeId::from_uuid(row.uuid()?),
        title: row.text()?,
        filename: row.text()?,
        content_type: row.text()?,
        hash: row.text()?,
        size: row.u64()?,
        status: row.named(KnowledgeStatus::parse)?,
        published: row.flag()?,
        error: row.opt_text()?,
        pieces: row.u32()?,
        model: row.opt_text()?,
        version: row.u32()?,
        created_by: row.opt_uuid()?.map(UserId::from_uuid),
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

async fn get(tx: &mut Tx, scope: TenantScope, id: KnowledgeId) -> Result<Option<KnowledgeDocument>> {
    tx.find(&GET, args![scope, id.as_uuid()], document).await
}

/// A document to be stored, or a change of one.
struct WriteDocument {
    scope: TenantScope,
    before: Option<KnowledgeDocument>,
    document: KnowledgeDocument,
    job: Option<NewJob>,
    audit: AuditEvent,
}

async fn add(tx: &mut Tx, writing: &WriteDocument) -> Result<()> {
    let WriteDocument { scope, document, .. } = writing;
    let scope = *scope;
    reservations::lock_tenant(tx, scope).await?;
    let there = tx.count(&COUNT, args![scope]).await?;
    if there >= i64::from(MAX_DOCUMENTS) {
        return Err(StoreError::Full(format!("a tenant has at most {MAX_DOCUMENTS} documents: remove some first")));
    }
    let row = args![
        scope,
        document.id.as_uuid(),
        document.title.as_str(),
        document.filename.as_str(),
        document.content_type.as_str(),
        document.hash.as_str(),
        count(document.size),
        document.status.as_str(),
        document.published,
        document.error.as_deref(),
        document.pieces,
        document.model.as_deref(),
        document.version,
        document.created_by.map(UserId::as_uuid),
        document.created_at,
        document.updated_at,
    ];
    tx.execute(&INSERT, row).await?;
    finish(tx, writing).await
}

async fn size(tx: &mut Tx, scope: TenantScope) -> Result<KnowledgeSize> {
    let documents = tx.count(&COUNT, args![scope]).await?;
    let pieces = tx.count(&PIECES_COUNT, args![scope]).await?;
    let number = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(KnowledgeSize { documents: number(documents), pieces: number(pieces) })
}

/// What goes with every write of a document.
async fn finish(tx: &mut Tx, WriteDocument { scope, document, job, audit, .. }: &WriteDocument) -> Result<()> {
    if let Some(job) = job {
        jobs::insert(tx, *scope, job, document.updated_at).await?;
    }
    audit::append(tx, *scope, document.updated_at, audit).await
}

async fn update(tx: &mut Tx, scope: TenantScope, document: &KnowledgeDocument) -> Result<()> {
    let (id, status, error) = (document.id.as_uuid(), document.status.as_str(), document.error.as_deref());
    let (pieces, model, version) = (document.pieces, document.model.as_deref(), document.version);
    let row = args![scope, id, status, document.published, error, pieces, model, version, document.updated_at];
    tx.execute(&UPDATE, row).await.map(|_| ())
}

async fn change(tx: &mut Tx, writing: &WriteDocument) -> Result<()> {
    let WriteDocument { scope, before, document, .. } = writing;
    reservations::lock_tenant(tx, *scope).await?;
    if get(tx, *scope, document.id).await? != *before {
        return Err(StoreError::Conflict(format!("somebody else has changed document {} meanwhile", document.id)));
    }
    update(tx, *scope, document).await?;
    tx.outdates_what_is_known();
    finish(tx, writing).await
}

type DeleteDocument = (TenantScope, KnowledgeId, Timestamp, AuditEvent);

async fn delete(tx: &mut Tx, (scope, id, at, event): &DeleteDocument) -> Result<bool> {
    reservations::lock_tenant(tx, *scope).await?;
    tx.execute(&PIECES_CLEAR, args![*scope, id.as_uuid()]).await?;
    let there = tx.execute(&DELETE, args![*scope, id.as_uuid()]).await? > 0;
    if there {
        tx.outdates_what_is_known();
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

/// An indexing that has ended.
struct IndexingEnd {
    scope: TenantScope,
    of: (KnowledgeId, u32),
    indexed: Indexed,
    at: Timestamp,
    audit: AuditEvent,
}

async fn end(tx: &mut Tx, IndexingEnd { scope, of: (id, version), indexed, at, audit }: &IndexingEnd) -> Result<bool> {
    let scope = *scope;
    reservations::lock_tenant(tx, scope).await?;
    let Some(mut document) = get(tx, scope, *id).await? else { return Ok(false) };
    if document.version != *version || document.status != KnowledgeStatus::Indexing {
        return Ok(false);
    }
    document.updated_at = *at;
    match indexed {
        Indexed::Failed(reason) => {
            (document.status, document.error) = (KnowledgeStatus::Failed, Some(reason.clone()));
        }
        Indexed::Ready(pieces) => {
            let all = tx.count(&PIECES_COUNT, args![scope]).await?;
            let many = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
            if all - i64::from(document.pieces) + i64::from(many) > i64::from(MAX_PIECES) {
                let message = format!("the documents of a tenant have at most {MAX_PIECES} pieces: remove some first");
                return Err(StoreError::Full(message));
            }
            tx.execute(&PIECES_CLEAR, args![scope, id.as_uuid()]).await?;
            for (n, piece) in (0_u32..).zip(pieces) {
                let (model, values) = vectors::columns(piece.vector.as_ref());
                let row = args![scope, id.as_uuid(), n, piece.page, piece.text.as_str(), model, values];
                tx.execute(&PIECE_INSERT, row).await?;
            }
            document.model = pieces.iter().find_map(|piece| piece.vector.as_ref()).map(|vector| vector.model.clone());
            (document.status, document.error, document.pieces) = (KnowledgeStatus::Ready, None, many);
        }
    }
    update(tx, scope, &document).await?;
    tx.outdates_what_is_known();
    audit::append(tx, scope, *at, audit).await?;
    Ok(true)
}

async fn list(
    tx: &mut Tx,
    ListQuery { scope, filter, after, limit }: &ListQuery<KnowledgeFilter, KnowledgeId>,
) -> Result<Page<KnowledgeDocument>> {
    let status = filter.status.map_or("", KnowledgeStatus::as_str);
    let published = filter.published.map_or(-1, i64::from);
    let before = after.map_or(Uuid::max(), KnowledgeId::as_uuid);
    let rows = tx.fetch_all(&LIST, args![*scope, before, status, published, *limit + 1]).await?;
    page::cut_readable(rows, *limit, document)
}

/// What tells whether the published documents are those that were read before.
async fn revision(tx: &mut Tx, scope: TenantScope) -> Result<Revision> {
    let revision = |row: &mut Row| Ok([row.i64()?, row.i64()?, row.i64()?, row.i64()?]);
    Ok(tx.find(&REVISION, args![scope], revision).await?.unwrap_or_default())
}

/// The pieces, unless they are those of that revision. The revision is read first: what changes between the two is
/// read once more the next time.
async fn published(tx: &mut Tx, (scope, known): &(TenantScope, Option<Revision>)) -> Result<PublishedPieces> {
    let now = revision(tx, *scope).await?;
    let pieces = if *known == Some(now) { None } else { Some(pieces(tx, *scope).await?) };
    Ok((now, pieces))
}

type PublishedPieces = (Revision, Option<Vec<PublishedPiece>>);

async fn pieces(tx: &mut Tx, scope: TenantScope) -> Result<Vec<PublishedPiece>> {
    let piece = |row: &mut Row| {
        let (document, title, n) = (KnowledgeId::from_uuid(row.uuid()?), row.text()?, row.u32()?);
        let piece = IndexedPiece { page: row.u32()?, text: row.text()?, vector: vectors::read(row)? };
        Ok(PublishedPiece { document, title, n, piece })
    };
    tx.list(&PIECES_PUBLISHED, args![scope], piece).await
}

#[async_trait]
impl<D: 'static> KnowledgeStore for SqlStore<D> {
    async fn add_document(
        &self,
        scope: TenantScope,
        document: &KnowledgeDocument,
        job: &NewJob,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let writing = WriteDocument { scope, before: None, document: document.clone(), job: Some(job.clone()), audit };
        Ok(self.write(scope, writing, |tx, writing| Box::pin(add(tx, writing))).await?)
    }

    async fn knowledge_size(&self, scope: TenantScope) -> PortResult<KnowledgeSize> {
        Ok(self.read_few(scope, scope, |tx, scope| Box::pin(size(tx, *scope))).await?)
    }

    async fn document(&self, scope: TenantScope, id: KnowledgeId) -> PortResult<Option<KnowledgeDocument>> {
        Ok(self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(get(tx, *scope, *id))).await?)
    }

    async fn documents(
        &self,
        scope: TenantScope,
        filter: &KnowledgeFilter,
        after: Option<KnowledgeId>,
        limit: u32,
    ) -> PortResult<Page<KnowledgeDocument>> {
        let listing = ListQuery { scope, filter: *filter, after, limit };
        Ok(self.read(scope, listing, |tx, listing| Box::pin(list(tx, listing))).await?)
    }

    async fn change_document(
        &self,
        scope: TenantScope,
        (before, after): (&KnowledgeDocument, &KnowledgeDocument),
        job: Option<&NewJob>,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let (before, document) = (Some(before.clone()), after.clone());
        let writing = WriteDocument { scope, before, document, job: job.cloned(), audit };
        self.write(scope, writing, |tx, writing| Box::pin(change(tx, writing))).await?;
        // Whoever is told that a document is not found any more may rely on it in every process.
        self.shared.known.outlived().await;
        Ok(())
    }

    async fn delete_document(
        &self,
        scope: TenantScope,
        id: KnowledgeId,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<bool> {
        let there = self.write(scope, (scope, id, at, audit), |tx, args| Box::pin(delete(tx, args))).await?;
        if there {
            self.shared.known.outlived().await;
        }
        Ok(there)
    }

    async fn end_indexing(
        &self,
        scope: TenantScope,
        of: (KnowledgeId, u32),
        indexed: &Indexed,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<bool> {
        let ending = IndexingEnd { scope, of, indexed: indexed.clone(), at, audit };
        Ok(self.write(scope, ending, |tx, ending| Box::pin(end(tx, ending))).await?)
    }

    async fn published_pieces(&self, scope: TenantScope) -> PortResult<Arc<Vec<PublishedPiece>>> {
        let known = &self.shared.known;
        // Taken before reading, so what changes meanwhile does not fit it.
        let stamp = known.stamp();
        if let Some(pieces) = known.pieces(scope.tenant(), stamp) {
            return Ok(pieces);
        }
        // They are many: what is not sure to hold any more is read again only when something has changed.
        let before = known.earlier_pieces(scope.tenant());
        let args = (scope, before.as_ref().map(|(revision, _)| *revision));
        // Boxed, so that who finds them known does not carry the reading along.
        let (revision, read) = Box::pin(self.read(scope, args, |tx, args| Box::pin(published(tx, args)))).await?;
        let pieces = match (read, before) {
            (None, Some((_, pieces))) => pieces,
            (read, _) => Arc::new(read.unwrap_or_default()),
        };
        known.keep_pieces(scope.tenant(), stamp, revision, &pieces);
        Ok(pieces)
    }
}
