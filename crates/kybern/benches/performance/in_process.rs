//! One client in one process: the engine over a SQLite file, or over nothing but memory, without HTTP.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::Egress;
use kybern_adapters::keys::MasterKey;
use kybern_adapters::models::offline::RulesModel;
use kybern_core::actor::Actor;
use kybern_core::id::RequestId;
use kybern_core::pack::PackRegistry;
use kybern_core::policy::EgressPolicy;
use kybern_core::ports::{Clock, Keys, Store, WakeUps};
use kybern_core::task::{TaskStatus, WorkerId};
use kybern_core::time::Millis;
use kybern_engine::task::SubmitRequest;
use kybern_engine::{Engine, EngineParts, Settings};
use kybern_store::{SqliteOptions, SqliteStore};
use kybern_testkit::MemStore;
use serde_json::{Value, json};

use crate::over_http::ALONE;
use crate::table::line;
use crate::{Bench, kit};

async fn engine(folder: &Path, steps_per_commit: u32) -> Engine {
    let keys: Arc<dyn Keys> = Arc::new(MasterKey::load_or_create(&folder.join("master.key")).unwrap());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let path = folder.join(format!("one-{steps_per_commit}.db"));
    let store = SqliteStore::open(path, SqliteOptions::default(), keys.clone(), clock.clone()).await.unwrap();
    let wake_ups = [store.wake_ups(), store.wake_ups()];
    over(Arc::new(store), wake_ups, keys, steps_per_commit)
}

/// An engine with the local tools over that store.
fn over(store: Arc<dyn Store>, wake_ups: [Arc<dyn WakeUps>; 2], keys: Arc<dyn Keys>, steps_per_commit: u32) -> Engine {
    let [wake_ups, job_wake_ups] = wake_ups;
    let mut registry = PackRegistry::default();
    kybern_adapters::tools::local::register(&mut registry).unwrap();
    let model = Arc::new(RulesModel);
    Engine::new(EngineParts {
        tool_sources: Vec::new(),
        wake_ups,
        job_wake_ups,
        store,
        registry,
        keys,
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
        worker: WorkerId::new("bench"),
        settings: Settings { steps_per_commit, ..Settings::default() },
    })
    .unwrap()
}

/// One client in one process beside the floor of the same.
pub(crate) fn measure(bench: &Bench) {
    let floor = kit::floor_of_one_client(&bench.folder, 5, bench.seconds);
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
    let actor = begin(&engine).await;
    engine.plans().put(&actor, &json!({"key": "bench.five", "steps": kit::five_steps()})).await.unwrap();
    let median = of_tasks(&engine, &actor, "bench.five", Duration::from_secs(seconds)).await;
    engine.drain(Millis(1_000)).await;
    median
}

/// Starts an engine, and answers its admin.
async fn begin(engine: &Engine) -> Actor {
    let key = "kyb_0123456789012345678901234567890123456789";
    engine.identity().bootstrap(Some(key), String::new).await.unwrap();
    engine.start().await.unwrap();
    let request = RequestId::from_uuid(uuid::Uuid::now_v7());
    engine.identity().authenticate(key, request, None).await.unwrap()
}

/// The median of a task of that plan, from the submission to its end, in milliseconds.
async fn of_tasks(engine: &Engine, actor: &Actor, plan: &str, span: Duration) -> f64 {
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < span {
        let begun = Instant::now();
        let request = SubmitRequest { plan_key: Some(plan.to_owned()), ..SubmitRequest::text("") };
        let task = engine.tasks().submit(actor, request, Some(Millis(10_000))).await.unwrap();
        times.push(begun.elapsed());
        assert_eq!(task.status, TaskStatus::Completed);
    }
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

/// What one more call of the calculator adds to a task, in milliseconds: the walk, the templates of its arguments, the
/// door to the tools, the tool, and a row of the journal that is kept in memory only. A task of many calls and one of
/// few are compared, so that what a task costs by itself falls away.
pub(crate) fn tool_call(bench: &Bench) -> f64 {
    const FEW: u32 = 1;
    const MANY: u32 = 41;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let keys: Arc<dyn Keys> = Arc::new(MasterKey::load_or_create(&bench.folder.join("memory.key")).unwrap());
        let store = Arc::new(MemStore::new(Arc::new(SystemClock), Arc::new(UuidV7Ids), keys.clone()));
        let engine = over(store.clone(), [store.clone(), store], keys, Settings::default().steps_per_commit);
        let actor = begin(&engine).await;
        let mut medians = Vec::new();
        for (plan, calls) in [("bench.few", FEW), ("bench.many", MANY)] {
            let call =
                |n| json!({"id": format!("s{n}"), "tool": "calculator", "args": {"expression": "(19.99 + 24.5) / 2"}});
            let steps: Vec<Value> = (0..calls).map(call).collect();
            engine.plans().put(&actor, &json!({"key": plan, "steps": steps})).await.unwrap();
            medians.push(of_tasks(&engine, &actor, plan, Duration::from_secs(1)).await);
        }
        engine.drain(Millis(1_000)).await;
        (medians[1] - medians[0]) / f64::from(MANY - FEW)
    })
}
