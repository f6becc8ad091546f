//! The same edge over the test kit's store in memory, in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::{Egress, install_tls};
use kybern_adapters::models::offline::RulesModel;
use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::{Provider, ProviderConfig};
use kybern_core::agent::AgentDraft;
use kybern_core::pack::Registry;
use kybern_core::policy::EgressPolicy;
use kybern_core::task::WorkerId;
use kybern_engine::models::{ModelParts, ModelSettings, ProviderParts};
use kybern_engine::{Engine, EngineParts, Settings, WorkflowEndpoint};
use kybern_server::{AppState, Connections, Limits};
use kybern_testkit::{MemStore, TestKeys};
use tokio_util::sync::CancellationToken;

use crate::server::KEY;
use crate::server::receiver::Receiver;

use super::{MAX_BODY, MAX_MAIL};

/// Starts a server that ends with the test's process, and gives its address.
pub(crate) fn start(receiver: &Receiver) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let engine = engine(receiver, &url);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move {
            engine.identity().bootstrap(Some(KEY), String::new).await.unwrap();
            engine.start().await.unwrap();
            let limits = Limits { max_body: MAX_BODY, max_mail: MAX_MAIL, wrong_keys: 0, ..Limits::default() };
            let stop = CancellationToken::new();
            let router = kybern_server::router(AppState::new(engine, limits, BTreeMap::new(), stop.clone(), None));
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            kybern_server::serve(listener, router, Connections::default(), stop).await.unwrap();
        });
    });
    url
}

fn engine(receiver: &Receiver, url: &str) -> Engine {
    install_tls();
    let keys = Arc::new(TestKeys::new());
    let store = Arc::new(MemStore::new(Arc::new(SystemClock), Arc::new(UuidV7Ids), keys.clone()));
    let model = Arc::new(RulesModel);
    let quote = WorkflowEndpoint { url: receiver.url("/quote"), secret: None, deadline: None };
    let policy = EgressPolicy::new(&[receiver.address()]).unwrap();
    let egress = Arc::new(Egress::new(policy).unwrap());
    Engine::new(EngineParts {
        tool_sources: Vec::new(),
        wake_ups: store.clone(),
        job_wake_ups: store.clone(),
        store,
        registry: registry(),
        keys,
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidV7Ids),
        random: Arc::new(ThreadRandom),
        http: egress.clone(),
        mail_parser: Arc::new(Reader::new()),
        mail_sender: None,
        documents: Arc::new(Reader::new()),
        intents: model.clone(),
        extractor: model,
        decisions: None,
        models: fake(receiver, &egress),
        worker: WorkerId::new("route-tests"),
        settings: Settings {
            public_url: url.to_owned(),
            workflows: BTreeMap::from([("quote".to_owned(), quote)]),
            ..Settings::default()
        },
    })
    .unwrap()
}

/// The provider that the real servers have from their environment.
fn fake(receiver: &Receiver, egress: &Arc<Egress>) -> ModelParts {
    let mut config = ProviderConfig::new("fake", ProviderKind::Custom, None);
    config.base_url = Some(receiver.url("/v1"));
    config.trusted = true;
    let model = Arc::new(Provider::new(config, Arc::clone(egress)).unwrap());
    let provider = ProviderParts { model, models: Vec::new(), others: true, free: true };
    ModelParts { providers: vec![provider], settings: ModelSettings::default(), counter: None }
}

/// With an agent that comes with the program.
fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.agent(AgentDraft::named("Writer", "You write.").checked().unwrap()).unwrap();
    registry
}
