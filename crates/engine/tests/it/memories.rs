//! Memories: who says, sees and judges them, and which of them a question finds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use kybern_core::actor::{Actor, Role};
use kybern_core::context::{Origin, SearchHit};
use kybern_core::error::ErrorCode;
use kybern_core::id::{JobId, MemoryId, TenantId, UserId};
use kybern_core::job::NewJob;
use kybern_core::memory::{MAX_OF_SUBJECT, Memory, MemoryChange, MemoryStatus, NewMemory, Subject, Trust};
use kybern_core::model::{
    EmbedRequest, Embedded, ListedModel, ModelFailure, ModelFailureKind, ModelKind, ModelReply, ModelRequest,
    ModelSpec, ModelTimeouts, Vector,
};
use kybern_core::ports::{AuditStore as _, JobStore as _, LanguageModel, MemoryFilter, MemoryStore as _, ModelStream};
use kybern_core::time::Millis;
use kybern_engine::models::{CallContext, ProviderParts};
use serde_json::json;
use uuid::Uuid;

use crate::world::World;

/// A model whose vectors say how much a text is about trains, ships and planes.
#[derive(Default)]
pub struct Topics {
    /// How many texts it was given.
    pub texts: AtomicUsize,
    pub down: AtomicBool,
}

#[async_trait]
impl LanguageModel for Topics {
    fn provider(&self) -> &'static str {
        "builtin"
    }

    async fn complete(&self, _: &ModelRequest, _: ModelTimeouts) -> Result<ModelReply, ModelFailure> {
        Err(ModelFailure::new(ModelFailureKind::Request, "it makes vectors only"))
    }

    async fn stream(&self, _: &ModelRequest, _: ModelTimeouts) -> Result<Box<dyn ModelStream>, ModelFailure> {
        Err(ModelFailure::new(ModelFailureKind::Request, "it makes vectors only"))
    }

    async fn embed(&self, request: &EmbedRequest, _: ModelTimeouts) -> Result<Embedded, ModelFailure> {
        self.texts.fetch_add(request.texts.len(), Ordering::SeqCst);
        if self.down.load(Ordering::SeqCst) {
            return Err(ModelFailure::new(ModelFailureKind::Connect, "it is down"));
        }
        let about = |text: &str, topic: &[&str]| if topic.iter().any(|word| text.contains(word)) { 1.0 } else { 0.0 };
        let vector = |text: &String| {
            let text = text.to_lowercase();
            let topics = [["train", "rail"], ["ship", "boat"], ["plane", "fly"]];
            topics.iter().map(|topic| about(&text, topic)).collect::<Vec<f32>>()
        };
        let vectors = request.texts.iter().map(vector).collect();
        Ok(Embedded { model: request.model.clone(), vectors, usage: None })
    }

    async fn models(&self, _: ModelTimeouts) -> Result<Vec<ListedModel>, ModelFailure> {
        Ok(vec![ListedModel::named("topics")])
    }
}

impl Topics {
    /// It as the provider that is built in.
    pub fn provider(self: &Arc<Self>) -> Vec<ProviderParts> {
        let models = vec![ModelSpec { kind: ModelKind::Embedding, ..ModelSpec::unknown("topics") }];
        vec![ProviderParts { model: self.clone(), models, others: false, free: true }]
    }
}

fn own(actor: &Actor) -> Subject {
    Subject::User(actor.user().unwrap())
}

fn texts(found: &[SearchHit]) -> Vec<&str> {
    found.iter().map(|one| one.text.as_str()).collect()
}

#[test]
fn a_question_finds_what_is_near_and_weighs_what_matters() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let caller = CallContext::of(actor);
        for (content, importance) in [("Takes the train", 2), ("Loves rail", 9), ("Owns a boat", 9), ("Likes tea", 9)] {
            let importance = importance.try_into().unwrap();
            engine
                .memories()
                .remember(actor, NewMemory { importance, ..NewMemory::fact(own(actor), content) })
                .await
                .unwrap();
        }
        let found = engine.memories().search(&caller, own(actor), "any railway?", 10).await.unwrap();
        assert_eq!(texts(&found), ["Loves rail", "Takes the train"]);
        let best = &found[0];
        assert_eq!((best.origin, best.title.as_str(), best.similarity.per_mille()), (Origin::Memory, "fact", 1_000));
        assert!(best.importance.is_some() && best.tokens.0 > 0);
        let one = engine.memories().search(&caller, own(actor), "any railway?", 1).await.unwrap();
        assert_eq!(texts(&one), ["Loves rail"]);
        assert_eq!(texts(&engine.memories().search(&caller, own(actor), "  ", 10).await.unwrap()), [""; 0]);
    });
}

#[test]
fn what_waits_was_rejected_or_has_expired_is_never_found() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor, caller) = (&live.engine, &world.actor, CallContext::of(&world.actor));
        let suggested = engine.memories().suggest(&caller, NewMemory::fact(own(actor), "Loves rail")).await.unwrap();
        assert_eq!((suggested.status, suggested.trust), (MemoryStatus::Pending, Trust::Model));
        let again = engine.memories().suggest(&caller, NewMemory::fact(own(actor), "loves RAIL ")).await.unwrap();
        assert_eq!(again.id, suggested.id, "the same words are noted once");
        let search = async || {
            let found = engine.memories().search(&caller, own(actor), "trains", 10).await.unwrap();
            found.into_iter().map(|one| one.text).collect::<Vec<_>>()
        };
        assert!(search().await.is_empty());
        engine.memories().judge(actor, suggested.id, true).await.unwrap();
        assert_eq!(search().await, ["Loves rail"]);
        let twice = engine.memories().judge(actor, suggested.id, false).await.unwrap_err();
        assert_eq!(twice.code(), ErrorCode::Conflict);
        let other = engine.memories().suggest(&caller, NewMemory::fact(own(actor), "Hates trains")).await.unwrap();
        engine.memories().judge(actor, other.id, false).await.unwrap();
        assert_eq!(search().await, ["Loves rail"]);

        let soon = live.now().plus(Millis(1_000));
        let change = MemoryChange { expires_at: Some(Some(soon)), ..MemoryChange::default() };
        engine.memories().change(actor, suggested.id, change).await.unwrap();
        assert_eq!(search().await, ["Loves rail"]);
        let gone = async || search().await.is_empty().then_some(());
        live.find(gone).await;
    });
}

#[test]
fn vectors_of_another_model_are_made_anew_once() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor, caller) = (&live.engine, &world.actor, CallContext::of(&world.actor));
        let new = NewMemory::fact(own(actor), "Loves rail");
        let old = Memory::of(new, MemoryId::from_uuid(Uuid::from_u128(4)), Trust::Tool, live.now()).unwrap();
        let vector = Vector { model: "former/model".to_owned(), values: vec![0.0, 1.0] };
        let event = kybern_core::audit::AuditEvent::by_executor("memory.add", "memory:4", serde_json::json!({}));
        world.store.add_memory(world.scope(), &old, Some(&vector), event).await.unwrap();
        for asked in [2, 3, 4] {
            let found = engine.memories().search(&caller, own(actor), "trains", 10).await.unwrap();
            assert_eq!(texts(&found), ["Loves rail"]);
            // The first time the question and the memory, then the question only.
            assert_eq!(model.texts.load(Ordering::SeqCst), asked);
        }
        let kept = world.store.memories_of(world.scope(), own(actor)).await.unwrap();
        assert_eq!(kept[0].1.as_ref().map(|vector| vector.model.as_str()), Some("builtin/topics"));
    });
}

#[test]
fn a_memory_is_kept_while_no_vector_can_be_made_and_found_afterwards() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor, caller) = (&live.engine, &world.actor, CallContext::of(&world.actor));
        model.down.store(true, Ordering::SeqCst);
        let kept = engine.memories().remember(actor, NewMemory::fact(own(actor), "Loves boats")).await.unwrap();
        engine.memories().suggest(&caller, NewMemory::fact(own(actor), "Hates rail")).await.unwrap();
        let change = MemoryChange { content: Some("Loves rail".to_owned()), ..MemoryChange::default() };
        engine.memories().change(actor, kept.id, change).await.unwrap();
        assert!(engine.memories().search(&caller, own(actor), "trains", 10).await.is_err());
        model.down.store(false, Ordering::SeqCst);
        // It was left alone for a while.
        let found = async || engine.memories().search(&caller, own(actor), "trains", 10).await.ok();
        assert_eq!(texts(&live.find(found).await), ["Loves rail"]);
    });
}

#[test]
fn where_no_memory_has_room_nothing_is_paid_for_and_what_was_rejected_takes_none() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (engine, actor, caller) = (&live.engine, &world.actor, CallContext::of(&world.actor));
        let mut last = None;
        for n in 0..MAX_OF_SUBJECT {
            let fact = NewMemory::fact(own(actor), &format!("fact {n}"));
            let memory = Memory::of(fact, MemoryId::from_uuid(Uuid::from_u128(n.into())), Trust::Model, live.now());
            let memory = memory.unwrap();
            let event = kybern_core::audit::AuditEvent::by_executor("memory.add", "memory:0", serde_json::json!({}));
            world.store.add_memory(world.scope(), &memory, None, event).await.unwrap();
            last = Some(memory.id);
        }
        let new = || NewMemory::fact(own(actor), "Loves rail");
        assert_eq!(engine.memories().suggest(&caller, new()).await.unwrap_err().code(), ErrorCode::Unprocessable);
        assert_eq!(model.texts.load(Ordering::SeqCst), 0);
        engine.memories().judge(actor, last.unwrap(), false).await.unwrap();
        engine.memories().suggest(&caller, new()).await.unwrap();
        let other = NewMemory::fact(own(actor), "Loves ships");
        assert_eq!(engine.memories().remember(actor, other).await.unwrap_err().code(), ErrorCode::Unprocessable);
    });
}

#[test]
fn a_suggestion_that_cannot_be_kept_loses_no_other() {
    let world = World::on_sqlite([]);
    world.life(async |live| {
        let user = world.actor.user().unwrap();
        let (long, none) = ("x".repeat(201), Uuid::nil());
        let job = NewJob {
            id: JobId::from_uuid(Uuid::from_u128(7)),
            kind: "memory.suggest".to_owned(),
            payload: json!({"task": none, "user": user,
                "turn": {"chatId": none, "messageId": none, "answerId": none},
                "memories": [long, "Loves rail", " ", "Owns a boat"]}),
            dedupe_key: None,
            max_attempts: 8,
            due_at: live.now(),
        };
        world.store.enqueue(world.scope(), &job, live.now()).await.unwrap();
        let noted = async || {
            let noted = world.store.memories_of(world.scope(), own(&world.actor)).await.ok()?;
            let noted: Vec<String> = noted.into_iter().map(|(memory, _)| memory.content).collect();
            (noted.len() > 1).then_some(noted)
        };
        assert_eq!(live.find(noted).await, ["Loves rail", "Owns a boat"]);
        let ended = live.find(async || world.jobs_in_file().into_iter().find(|job| job.1 != "pending")).await;
        assert_eq!((ended.1.as_str(), ended.2), ("done", 1), "what no other try mends is not tried again");
    });
}

#[test]
fn without_a_model_words_are_compared() {
    let world = World::on_sqlite([]);
    world.life(async |live| {
        let (engine, actor, caller) = (&live.engine, &world.actor, CallContext::of(&world.actor));
        for content in ["Loves night trains", "Owns a boat"] {
            engine.memories().remember_for_tool(&caller, NewMemory::fact(own(actor), content)).await.unwrap();
        }
        let found = engine.memories().search(&caller, own(actor), "night trains to Lisbon", 10).await.unwrap();
        assert_eq!(texts(&found), ["Loves night trains"]);
    });
}

#[test]
fn users_see_their_own_and_administrators_all() {
    let world = World::on_sqlite([]);
    world.life(async |live| {
        let (engine, admin) = (&live.engine, &world.actor);
        let viewer =
            kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(6)), &[Role::Operator]);
        let mine = engine.memories().remember(admin, NewMemory::fact(own(admin), "Loves rail")).await.unwrap();
        let code = |error: kybern_core::error::Error| error.code();
        let not_found = Err(ErrorCode::NotFound);
        assert_eq!(engine.memories().get(&viewer, mine.id).await.map_err(code), not_found);
        assert_eq!(engine.memories().judge(&viewer, mine.id, true).await.map_err(code), not_found);
        assert_eq!(engine.memories().forget(&viewer, mine.id).await.map_err(code), Err(ErrorCode::NotFound));
        let denied = Err(ErrorCode::PermissionDenied);
        let write = NewMemory::fact(own(admin), "Hates rail");
        assert_eq!(engine.memories().remember(&viewer, write).await.map_err(code), denied);
        assert_eq!(engine.memories().export(&viewer, Some(own(admin))).await.map(drop).map_err(code), denied.map(drop));
        let page = engine.memories().list(&viewer, MemoryFilter::default(), None, 10).await.unwrap();
        assert!(page.items.is_empty());
        let page = engine.memories().list(admin, MemoryFilter::default(), None, 10).await.unwrap();
        assert_eq!(page.items, [mine]);
        let events = world.store.audit_events(world.scope(), 0, 100).await.unwrap();
        let acts: Vec<&str> = events.iter().map(|link| link.event.action.as_str()).collect();
        assert_eq!(acts, ["tenant.create", "memory.add"]);
        assert!(!events.iter().any(|link| link.event.detail.to_string().contains("rail")), "not what it says");
    });
}
