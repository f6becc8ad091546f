//! The documents of a tenant's knowledge, and the pieces in which they are found.

use kybern_core::error::ErrorCode;
use kybern_core::id::KnowledgeId;
use kybern_core::job::NewJob;
use kybern_core::knowledge::{Indexed, IndexedPiece, KnowledgeAct, KnowledgeDocument, KnowledgeStatus};
use kybern_core::model::Vector;
use kybern_core::ports::{KnowledgeFilter, KnowledgeSize};
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::WorkerId;
use serde_json::json;

use super::fixture::{LONG, code, pages};
use super::{FullHarness, Home, World};

fn document(w: &World, home: &Home, title: &str) -> KnowledgeDocument {
    KnowledgeDocument {
        id: KnowledgeId::from_uuid(w.id()),
        title: title.to_owned(),
        filename: "terms.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        hash: "00ff".to_owned(),
        size: 5,
        status: KnowledgeStatus::Indexing,
        published: false,
        error: None,
        pieces: 0,
        model: None,
        version: 1,
        created_by: Some(home.user),
        created_at: w.now(),
        updated_at: w.now(),
    }
}

fn job(w: &World, of: &KnowledgeDocument) -> NewJob {
    NewJob { payload: json!({"id": of.id}), dedupe_key: Some(format!("{}/{}", of.id, of.version)), ..w.job() }
}

fn pieces(texts: &[&str]) -> Indexed {
    let piece = |(page, text): (u32, &&str)| IndexedPiece {
        page,
        text: (*text).to_owned(),
        vector: Some(Vector { model: "test/embed".to_owned(), values: vec![0.5, 0.25] }),
    };
    Indexed::Ready((1..).zip(texts).map(piece).collect())
}

async fn add(w: &World, home: &Home, title: &str) -> KnowledgeDocument {
    let new = document(w, home, title);
    w.store().add_document(home.scope, &new, &job(w, &new), w.event("knowledge.add")).await.unwrap();
    new
}

async fn end(w: &World, home: &Home, of: &KnowledgeDocument, indexed: &Indexed) -> bool {
    let event = w.event("knowledge.index");
    w.store().end_indexing(home.scope, (of.id, of.version), indexed, w.now(), event).await.unwrap()
}

async fn act(w: &World, home: &Home, id: KnowledgeId, act: KnowledgeAct) -> KnowledgeDocument {
    let before = w.store().document(home.scope, id).await.unwrap().unwrap();
    let after = before.clone().after(act, w.now()).unwrap();
    let job = (act == KnowledgeAct::Reindex).then(|| job(w, &after));
    let event = w.event(act.as_str());
    w.store().change_document(home.scope, (&before, &after), job.as_ref(), event).await.unwrap();
    after
}

async fn found(w: &World, home: &Home) -> Vec<(String, u32, String)> {
    let all = w.store().published_pieces(home.scope).await.unwrap();
    all.iter().map(|piece| (piece.title.clone(), piece.n, piece.piece.text.clone())).collect()
}

pub async fn a_document_comes_with_its_job_and_is_found_when_it_is_published(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let new = add(&w, &home, "Terms \"2026\"").await;
    assert_eq!(w.store().document(home.scope, new.id).await.unwrap(), Some(new.clone()));
    let jobs = w.store().claim_jobs(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.payload.clone()).collect::<Vec<_>>(), [json!({"id": new.id})]);
    assert!(end(&w, &home, &new, &pieces(&["first", "second"])).await);
    let ready = w.store().document(home.scope, new.id).await.unwrap().unwrap();
    assert_eq!((ready.status, ready.pieces, ready.model.as_deref()), (KnowledgeStatus::Ready, 2, Some("test/embed")));
    assert!(found(&w, &home).await.is_empty(), "it is a draft");
    add(&w, &home, "Another").await;
    let size = w.store().knowledge_size(home.scope).await.unwrap();
    assert_eq!(size, KnowledgeSize { documents: 2, pieces: 2 });
    let other = w.tenant("sizes").await;
    assert_eq!(w.store().knowledge_size(other.scope).await.unwrap(), KnowledgeSize::default());
    act(&w, &home, new.id, KnowledgeAct::Publish).await;
    let told = |n, text: &str| ("Terms \"2026\"".to_owned(), n, text.to_owned());
    assert_eq!(found(&w, &home).await, [told(0, "first"), told(1, "second")]);
    let whole = w.store().published_pieces(home.scope).await.unwrap();
    assert_eq!((whole[1].document, whole[1].piece.page), (new.id, 2));
    assert_eq!(whole[1].piece.vector.as_ref().map(|vector| vector.values.as_slice()), Some(&[0.5, 0.25][..]));
    act(&w, &home, new.id, KnowledgeAct::Unpublish).await;
    assert!(found(&w, &home).await.is_empty());
}

pub async fn what_is_indexed_anew_is_found_as_it_was_until_it_is_done(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let new = add(&w, &home, "Terms").await;
    assert!(end(&w, &home, &new, &pieces(&["old", "older"])).await);
    assert!(!end(&w, &home, &new, &pieces(&["again"])).await, "it is done");
    act(&w, &home, new.id, KnowledgeAct::Publish).await;
    let second = act(&w, &home, new.id, KnowledgeAct::Reindex).await;
    assert_eq!((second.status, second.version), (KnowledgeStatus::Indexing, 2));
    assert_eq!(found(&w, &home).await.len(), 2);
    assert!(!end(&w, &home, &new, &pieces(&["late"])).await, "of the version before");
    assert!(end(&w, &home, &second, &Indexed::Failed("it rained".to_owned())).await);
    let failed = w.store().document(home.scope, new.id).await.unwrap().unwrap();
    assert_eq!(
        (failed.status, failed.error.as_deref(), failed.pieces),
        (KnowledgeStatus::Failed, Some("it rained"), 2)
    );
    assert_eq!(found(&w, &home).await.len(), 2, "what there was stays");
    let third = act(&w, &home, new.id, KnowledgeAct::Reindex).await;
    assert!(end(&w, &home, &third, &pieces(&["new"])).await);
    assert_eq!(found(&w, &home).await, [("Terms".to_owned(), 0, "new".to_owned())]);
}

pub async fn a_document_is_changed_as_it_was_read_and_removed_with_its_pieces(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let new = add(&w, &home, "Terms").await;
    assert!(end(&w, &home, &new, &pieces(&["text"])).await);
    act(&w, &home, new.id, KnowledgeAct::Publish).await;
    let event = || w.event("knowledge.publish");
    let stale = w.store().change_document(home.scope, (&new, &new), None, event()).await;
    assert_eq!(code(stale), ErrorCode::Conflict);
    let remove = async || w.store().delete_document(home.scope, new.id, w.now(), w.event("knowledge.delete")).await;
    assert!(remove().await.unwrap());
    assert!(!remove().await.unwrap());
    assert!(found(&w, &home).await.is_empty());
    assert_eq!(w.store().document(home.scope, new.id).await.unwrap(), None);
    assert!(!end(&w, &home, &new, &pieces(&["text"])).await, "it is gone");
    let expected = ["knowledge.add", "knowledge.index", "knowledge.publish", "knowledge.delete"];
    assert!(w.acts(&home).await.ends_with(&expected.map(str::to_owned)));
}

pub async fn pages_of_documents_visit_each_once_newest_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut made = Vec::new();
    for n in 0..5 {
        let new = add(&w, &home, &format!("Terms {n}")).await;
        if n < 3 {
            assert!(end(&w, &home, &new, &pieces(&["text"])).await);
        }
        if n == 1 {
            act(&w, &home, new.id, KnowledgeAct::Publish).await;
        }
        made.insert(0, new.id);
    }
    let filter = |status, published| KnowledgeFilter { status, published };
    for (wanted, places) in [
        (filter(None, None), vec![0, 1, 2, 3, 4]),
        (filter(Some(KnowledgeStatus::Ready), None), vec![2, 3, 4]),
        (filter(Some(KnowledgeStatus::Indexing), None), vec![0, 1]),
        (filter(None, Some(true)), vec![3]),
        (filter(Some(KnowledgeStatus::Ready), Some(false)), vec![2, 4]),
    ] {
        let seen = pages(async |after| w.store().documents(home.scope, &wanted, after, 2).await.unwrap()).await;
        let seen: Vec<KnowledgeId> = seen.iter().map(|document| document.id).collect();
        assert_eq!(seen, places.iter().map(|n: &usize| made[*n]).collect::<Vec<_>>(), "{wanted:?}");
    }
}

pub async fn another_tenant_neither_sees_nor_changes_a_document(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let mine = add(&w, &home, "Mine").await;
    assert!(!end(&w, &other, &mine, &pieces(&["theirs"])).await);
    assert!(end(&w, &home, &mine, &pieces(&["mine"])).await);
    let mine = act(&w, &home, mine.id, KnowledgeAct::Publish).await;
    let store = w.store();
    assert_eq!(store.document(other.scope, mine.id).await.unwrap(), None);
    assert!(store.documents(other.scope, &KnowledgeFilter::default(), None, 10).await.unwrap().items.is_empty());
    assert!(found(&w, &other).await.is_empty());
    let refused = store.change_document(other.scope, (&mine, &mine), None, w.event("knowledge.publish")).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    assert!(!store.delete_document(other.scope, mine.id, w.now(), w.event("knowledge.delete")).await.unwrap());
    assert_eq!(found(&w, &home).await.len(), 1);
}
