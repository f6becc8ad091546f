//! A whole engine with the real packs and the offline rules over a store in memory, in the test's own process.

use std::sync::Arc;

use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::{Egress, install_tls};
use kybern_adapters::models::offline::RulesModel;
use kybern_core::pack::PackRegistry;
use kybern_core::policy::EgressPolicy;
use kybern_core::ports::Store;
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use kybern_engine::{Engine, EngineParts, Settings};
use kybern_testkit::{MemStore, TestKeys};

use crate::server::KEY;

/// An empty store.
pub(crate) fn store() -> MemStore {
    MemStore::new(Arc::new(SystemClock), Arc::new(UuidV7Ids), Arc::new(TestKeys::new()))
}

/// Starts an engine over that store, which tells it what is due; `work` says whether it works on tasks.
pub(crate) async fn start(store: Arc<dyn Store>, hints: &Arc<MemStore>, registry: PackRegistry, work: bool) -> Engine {
    install_tls();
    let model = Arc::new(RulesModel);
    let engine = Engine::new(EngineParts {
        tool_sources: Vec::new(),
        wake_ups: hints.clone(),
        job_wake_ups: hints.clone(),
        store,
        registry,
        keys: Arc::new(TestKeys::new()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidV7Ids),
        random: Arc::new(ThreadRandom),
        http: Arc::new(Egress::new(EgressPolicy::new::<String>(&[]).unwrap()).unwrap()),
        mail_parser: Arc::new(Reader::new()),
        mail_sender: None,
        documents: Arc::new(Reader::new()),
        intents: model.clone(),
        extractor: model,
        decisions: None,
        models: Default::default(),
        worker: WorkerId::new("in-memory"),
        settings: Settings {
            work,
            poll: Millis(20),
            trusted_authserv: Some("mx.example.com".to_owned()),
            ..Settings::default()
        },
    })
    .unwrap();
    engine.identity().bootstrap(Some(KEY), String::new).await.unwrap();
    engine.start().await.unwrap();
    engine
}
