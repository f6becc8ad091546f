//! An engine in the test's own process on a site's database, under a clock that the test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kybern_adapters::clock::{SystemClock, ThreadRandom};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::{Egress, install_tls};
use kybern_adapters::keys::MasterKey;
use kybern_adapters::models::offline::RulesModel;
use kybern_core::actor::Actor;
use kybern_core::id::RequestId;
use kybern_core::pack::PackRegistry;
use kybern_core::policy::EgressPolicy;
use kybern_core::ports::{Clock, Store, WakeUps};
use kybern_core::task::WorkerId;
use kybern_core::time::{Millis, Timestamp};
use kybern_engine::{Engine, EngineParts, Settings};
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use kybern_testkit::SeededIds;
use uuid::Uuid;

use super::{KEY, Site};

/// The time of this machine, shifted.
#[derive(Debug, Default)]
pub(crate) struct ShiftedClock(AtomicI64);

impl ShiftedClock {
    /// So far behind.
    pub(crate) fn behind(span: Millis) -> Self {
        Self(AtomicI64::new(-i64::try_from(span.0).unwrap()))
    }

    /// Sets it forward.
    pub(crate) fn advance(&self, span: Millis) {
        self.0.fetch_add(i64::try_from(span.0).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn set_right(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().as_millis() + self.0.load(Ordering::SeqCst))
    }

    fn elapsed(&self) -> Millis {
        SystemClock.elapsed()
    }
}

/// Starts an engine, and says who its admin is.
pub(crate) async fn start(site: &Site, clock: Arc<ShiftedClock>, registry: PackRegistry) -> (Engine, Actor) {
    install_tls();
    let keys = Arc::new(MasterKey::load_or_create(&site.key_file()).unwrap());
    let (store, wake_ups): (Arc<dyn Store>, [Arc<dyn WakeUps>; 2]) = if site.postgres.is_some() {
        let options = PostgresOptions::default();
        let store = PostgresStore::connect(&site.database(), options, keys.clone(), clock.clone()).await.unwrap();
        let hints: [Arc<dyn WakeUps>; 2] = [store.wake_ups(), store.wake_ups()];
        (Arc::new(store), hints)
    } else {
        let path = site.folder().join("kybern.db");
        let store = SqliteStore::open(path, SqliteOptions::default(), keys.clone(), clock.clone()).await.unwrap();
        let hints: [Arc<dyn WakeUps>; 2] = [store.wake_ups(), store.wake_ups()];
        (Arc::new(store), hints)
    };
    let [wake_ups, job_wake_ups] = wake_ups;
    let model = Arc::new(RulesModel);
    let engine = Engine::new(EngineParts {
        tool_sources: Vec::new(),
        store,
        wake_ups,
        job_wake_ups,
        registry,
        keys,
        ids: Arc::new(SeededIds::new(u64::from(std::process::id()), clock.clone())),
        clock,
        random: Arc::new(ThreadRandom),
        http: Arc::new(Egress::new(EgressPolicy::default()).unwrap()),
        mail_parser: Arc::new(Reader::new()),
        mail_sender: None,
        documents: Arc::new(Reader::new()),
        intents: model.clone(),
        extractor: model,
        decisions: None,
        models: kybern_engine::models::ModelParts::default(),
        worker: WorkerId::new("inside"),
        settings: Settings { poll: Millis(50), ..Settings::default() },
    })
    .unwrap();
    engine.identity().bootstrap(Some(KEY), String::new).await.unwrap();
    engine.start().await.unwrap();
    let admin = engine.identity().authenticate(KEY, RequestId::from_uuid(Uuid::nil()), None).await.unwrap();
    (engine, admin)
}
