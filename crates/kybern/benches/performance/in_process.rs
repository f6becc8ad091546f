//! One client in one process: the engine over a SQLite file, without HTTP.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::Egress;
use kybern_adapters::keys::MasterKey;
use kybern_adapters::mail::parse::Mime;
use kybern_adapters::models::offline::RulesModel;
use kybern_core::id::RequestId;
use kybern_core::pack::Registry;
use kybern_core::policy::EgressPolicy;
use kybern_core::ports::{Clock, Keys};
use kybern_core::task::{TaskStatus, WorkerId};
use kybern_core::time::Millis;
use kybern_engine::task::SubmitRequest;
use kybern_engine::{Engine, EngineParts, Settings};
use kybern_store::{SqliteOptions, SqliteStore};
use serde_json::json;

use crate::over_http::ALONE;
use crate::table::line;
use crate::{Bench, kit};

async fn engine(folder: &Path, steps_per_commit: u32) -> Engine {
    let keys: Arc<dyn Keys> = Arc::new(MasterKey::load_or_create(&folder.join("master.key")).unwrap());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let path = folder.join(format!("one-{steps_per_commit}.db"));
    let store = SqliteStore::open(path, SqliteOptions::default(), keys.clone(), clock.clone()).await.unwrap();
    let model = Arc::new(RulesModel);
    Engine::new(EngineParts {
        wake_ups: store.wake_ups(),
        job_wake_ups: store.wake_ups(),
        store: Arc::new(store),
        registry: Registry::default(),
        keys,
        clock,
        ids: Arc::new(UuidV7Ids),
        random: Arc::new(ThreadRandom),
        http: Arc::new(Egress::new(EgressPolicy::new::<String>(&[]).unwrap()).unwrap()),
        mail_parser: Arc::new(Mime),
        mail_sender: None,
        documents: Arc::new(Reader::new()),
        intents: model.clone(),
        extractor: model,
        agents: None,
        decisions: None,
        models: Default::default(),
        worker: WorkerId::new("bench"),
        settings: Settings { steps_per_commit, ..Settings::default() },
    })
    .unwrap()
}

/// One client in one process beside the floor of the same.
pub(crate) fn measure(bench: &Bench) {
    let floor = kit::floor_of_one_client(&bench.folder, bench.seconds);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let median = |together| runtime.block_on(median(&bench.folder, bench.seconds, together));
    let (ours, alone) = (median(Settings::default().steps_per_commit), median(1));
    let goal = floor.mul_add(1.5, 0.2);
    let goal_text = format!("at most {goal:.2} ms: 1.5 × the floor's {floor:.2} ms + 0.2 ms");
    line("one client in process: p50 of a task", &format!("{ours:.2} ms"), &goal_text, Some(ours <= goal));
    line(&format!("one client in process, {ALONE}"), &format!("{alone:.2} ms"), "", None);
}

/// The median of a task of five steps that do nothing, from the submission to its end, in milliseconds.
async fn median(folder: &Path, seconds: u64, steps_per_commit: u32) -> f64 {
    let engine = engine(folder, steps_per_commit).await;
    let key = "kyb_0123456789012345678901234567890123456789";
    engine.bootstrap(Some(key), String::new).await.unwrap();
    engine.start().await.unwrap();
    let request = RequestId::from_uuid(uuid::Uuid::now_v7());
    let actor = engine.authenticate(key, request, None).await.unwrap();
    engine.put_plan(&actor, &json!({"key": "bench.five", "steps": kit::five_steps()})).await.unwrap();
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < Duration::from_secs(seconds) {
        let begun = Instant::now();
        let request = SubmitRequest { plan_key: Some("bench.five".to_owned()), ..SubmitRequest::text("") };
        let task = engine.submit(&actor, request, Some(Millis(10_000))).await.unwrap();
        times.push(begun.elapsed());
        assert_eq!(task.status, TaskStatus::Completed);
    }
    engine.drain(Millis(1_000)).await;
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}
