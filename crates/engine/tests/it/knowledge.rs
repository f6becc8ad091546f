//! Knowledge: documents from the upload to the search, also when a process dies or a document cannot be read.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use kybern_core::context::Origin;
use kybern_core::error::ErrorCode;
use kybern_core::id::{JobId, KnowledgeId};
use kybern_core::job::NewJob;
use kybern_core::knowledge::{
    Indexed, IndexedPiece, KnowledgeAct, KnowledgeDocument, KnowledgeStatus, MAX_DOCUMENTS, MAX_PIECES,
};
use kybern_core::ports::{BlobStore as _, KnowledgeStore as _};
use kybern_core::time::Millis;
use kybern_engine::knowledge::NewDocument;
use kybern_engine::models::CallContext;
use kybern_testkit::Fault;
use serde_json::json;
use uuid::Uuid;

use crate::live::Live;
use crate::memories::Topics;
use crate::world::World;

fn file(text: &str) -> NewDocument {
    NewDocument {
        title: None,
        filename: "terms.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        bytes: Bytes::from(text.to_owned()),
    }
}

async fn indexed(live: &Live<'_>, id: KnowledgeId) -> KnowledgeDocument {
    live.find(async || {
        let document = live.engine.knowledge().get(live.world.scope(), id).await.ok()?;
        (document.status != KnowledgeStatus::Indexing).then_some(document)
    })
    .await
}

async fn found(live: &Live<'_>, question: &str) -> Vec<String> {
    let caller = CallContext::of(&live.world.actor);
    let found = live.engine.knowledge().search(&caller, question, 10).await.unwrap();
    found.into_iter().map(|one| one.text).collect()
}

#[test]
fn a_document_is_indexed_published_and_found() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let long = format!(
            "{} Trains leave at nine.\n\n{} Boats leave at ten.",
            "Filler one. ".repeat(60),
            "Filler two. ".repeat(60)
        );
        let new = engine.knowledge().add(actor, file(&long)).await.unwrap();
        assert_eq!((new.status, new.title.as_str(), new.published), (KnowledgeStatus::Indexing, "terms.txt", false));
        let early = engine.knowledge().act(actor, new.id, KnowledgeAct::Publish).await.unwrap_err();
        assert_eq!(early.code(), ErrorCode::Conflict);
        let ready = indexed(&live, new.id).await;
        assert_eq!((ready.status, ready.model.as_deref()), (KnowledgeStatus::Ready, Some("builtin/topics")));
        assert!(ready.pieces >= 2);
        assert!(found(&live, "rail").await.is_empty(), "it is a draft");
        engine.knowledge().act(actor, new.id, KnowledgeAct::Publish).await.unwrap();
        let near = found(&live, "rail").await;
        // Perhaps twice: a piece repeats the end of the one before it.
        let all_about_it = near.iter().all(|text| text.contains("Trains leave at nine."));
        assert!(all_about_it && (1..=2).contains(&near.len()), "{near:?}");
        let caller = CallContext::of(actor);
        let whole = engine.knowledge().search(&caller, "boat", 10).await.unwrap();
        assert_eq!(
            (whole[0].origin, whole[0].title.as_str(), whole[0].importance),
            (Origin::Document, "terms.txt", None)
        );
        engine.knowledge().delete(actor, new.id).await.unwrap();
        assert!(found(&live, "rail").await.is_empty());
    });
}

#[test]
fn a_document_that_cannot_be_read_has_failed_and_is_tried_again_by_a_person() {
    let world = World::on_sqlite([]);
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        world.reader.busy.store(true, Ordering::SeqCst);
        let new = engine.knowledge().add(actor, file("Trains leave at nine.")).await.unwrap();
        let failed = indexed(&live, new.id).await;
        assert_eq!(failed.status, KnowledgeStatus::Failed);
        assert!(failed.error.unwrap().contains("too much work"));
        world.reader.busy.store(false, Ordering::SeqCst);
        let again = engine.knowledge().act(actor, new.id, KnowledgeAct::Reindex).await.unwrap();
        assert_eq!((again.version, again.error), (2, None));
        let ready = indexed(&live, new.id).await;
        assert_eq!((ready.status, ready.pieces, ready.model), (KnowledgeStatus::Ready, 1, None), "there is no model");
        engine.knowledge().act(actor, new.id, KnowledgeAct::Publish).await.unwrap();
        assert_eq!(found(&live, "when do trains leave").await, ["Trains leave at nine."], "words are compared");
    });
}

#[test]
fn a_reader_that_has_too_much_to_do_is_asked_again() {
    let world = World::on_sqlite([]);
    world.life(async |live| {
        world.reader.busy.store(true, Ordering::SeqCst);
        let new = live.engine.knowledge().add(&world.actor, file("Trains leave at nine.")).await.unwrap();
        live.find(async || (world.reader.asked.load(Ordering::SeqCst) > 1).then_some(())).await;
        let waiting = live.engine.knowledge().get(world.scope(), new.id).await.unwrap();
        assert_eq!(waiting.status, KnowledgeStatus::Indexing);
        world.reader.busy.store(false, Ordering::SeqCst);
        let ready = indexed(&live, new.id).await;
        assert_eq!((ready.status, ready.version), (KnowledgeStatus::Ready, 1), "nobody had to do anything");
    });
}

#[test]
fn what_has_no_room_is_refused_before_it_is_kept_or_paid_for() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let full = engine.knowledge().add(actor, file("Trains leave at nine.")).await.unwrap();
        let full = indexed(&live, full.id).await;
        let again = engine.knowledge().act(actor, full.id, KnowledgeAct::Reindex).await;
        let again = again.unwrap();
        let paid = model.texts.load(Ordering::SeqCst);
        let one = IndexedPiece { page: 1, text: "x".to_owned(), vector: None };
        let all = Indexed::Ready(vec![one; usize::try_from(MAX_PIECES).unwrap()]);
        let of = (again.id, again.version);
        let event = || kybern_core::audit::AuditEvent::by_executor("knowledge.index", "knowledge:0", json!({}));
        assert!(world.store.end_indexing(world.scope(), of, &all, live.now(), event()).await.unwrap());
        let more = engine.knowledge().add(actor, file("Boats leave at ten.")).await.unwrap();
        let more = indexed(&live, more.id).await;
        assert_eq!(more.status, KnowledgeStatus::Failed);
        assert!(more.error.unwrap().contains("at most 20000 pieces"));
        assert_eq!(model.texts.load(Ordering::SeqCst), paid);

        for n in 2..u128::from(MAX_DOCUMENTS) {
            let document = KnowledgeDocument { id: KnowledgeId::from_uuid(Uuid::from_u128(n)), ..again.clone() };
            let job = NewJob {
                id: JobId::from_uuid(Uuid::from_u128(n)),
                kind: "test.nothing".to_owned(),
                payload: json!({}),
                dedupe_key: None,
                max_attempts: 1,
                due_at: live.now().plus(Millis(1_000_000_000)),
            };
            world.store.add_document(world.scope(), &document, &job, event()).await.unwrap();
        }
        let refused = engine.knowledge().add(actor, file("One too many.")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unprocessable);
        let hash = blake3::hash(b"One too many.").to_hex().to_string();
        assert_eq!(world.store.blob(world.scope(), &hash).await.unwrap(), None);
    });
}

#[test]
fn what_was_uploaded_is_indexed_by_the_next_process_when_one_dies() {
    let world = World::on_sqlite([]);
    let id = world.life(async |live| {
        world.ails(Some(("end_indexing", Fault::CrashBefore)));
        live.engine.knowledge().add(&world.actor, file("Trains leave at nine.")).await.unwrap().id
    });
    world.ails(None);
    world.life(async |live| {
        assert_eq!(indexed(&live, id.unwrap()).await.status, KnowledgeStatus::Ready);
    });
}
