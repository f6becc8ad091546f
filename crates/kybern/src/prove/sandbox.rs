//! A server of its own for the proof: the real engine over a temporary database, with nothing real outside. A run lives
//! through lives: each is one process, and ends as with `kill -9` when its runtime is dropped; the database stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::keys::{MasterKey, new_api_key};
use kybern_adapters::models::offline::RulesModel;
use kybern_core::actor::Actor;
use kybern_core::id::RequestId;
use kybern_core::pack::{DuplicateKey, PackRegistry};
use kybern_core::plan::PlanFault;
use kybern_core::ports::{Clock as _, IdSource as _, Keys, Store, WakeUps};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use kybern_core::tool::OwnDefinition;
use kybern_engine::models::ModelParts;
use kybern_engine::tools::own_tool;
use kybern_engine::{Engine, EngineParts, Settings, WorkflowEndpoint};
use kybern_store::{SqliteOptions, SqliteStore};
use serde_json::Value;

use super::stage::{MadeDecision, Receivers, Stage};
use super::time::{Gate, HeldClock, Hints};
use crate::local::ScratchFolder;
use crate::output::Failure;
use crate::packs;

/// So many times in a row a process may die without progress: in a proof each death is one of ours.
const MAX_RECOVERIES: u32 = 50;
/// How long a process may work, in real time, until nothing is left to do but to wait.
const PATIENCE_MS: u32 = 60_000;

/// What outlives the processes of a run.
pub(super) struct Sandbox {
    pub(super) stage: Arc<Stage>,
    pub(super) clock: Arc<HeldClock>,
    pub(super) gate: Arc<Gate>,
    store: Arc<SqliteStore>,
    keys: Arc<dyn Keys>,
    registry: PackRegistry,
    settings: Settings,
    admin_key: String,
    _folder: ScratchFolder,
}

impl Sandbox {
    /// A sandbox in which these own tools can be called, and every workflow that is named can be handed over to.
    ///
    /// # Errors
    /// When the temporary database cannot be made, or a definition is none.
    pub(super) fn new(
        runtime: &tokio::runtime::Handle,
        own: Vec<OwnDefinition>,
        workflows: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Self> {
        let stage = Arc::<Stage>::default();
        let stand_in = {
            let stage = Arc::clone(&stage);
            Arc::new(move |tool| stage.recorder(tool))
        };
        let mut registry = PackRegistry::standing_in(stand_in);
        packs::register(&mut registry, packs::DOMAINS)?;
        for definition in own {
            let (key, output) = (definition.key.clone(), definition.output_schema.clone());
            let tool = own_tool(definition).map_err(|faults| {
                let said: Vec<String> =
                    faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
                Failure::usage(format!("the tool {key} cannot be used: {}", said.join("; ")), "correct its definition")
            })?;
            let twice =
                |error: DuplicateKey| Failure::usage(error.to_string(), "give each tool once, under a key of its own");
            registry.tool(tool).map_err(twice)?;
            stage.returns(&key, output);
        }
        let folder = ScratchFolder::new()?;
        let keys: Arc<dyn Keys> = Arc::new(MasterKey::load_or_create(&folder.path().join("kybern.key"))?);
        let clock = Arc::new(HeldClock::at(SystemClock.now()));
        let path = folder.path().join("kybern.db");
        let options = SqliteOptions { readers: 1, ..SqliteOptions::default() };
        let store = runtime.block_on(SqliteStore::open(path, options, Arc::clone(&keys), clock.clone()))?;
        let endpoint = |name: String| {
            let url = format!("https://workflow.example.com/{name}");
            (name, WorkflowEndpoint { url, secret: None, deadline: None })
        };
        let settings = Settings {
            workflows: workflows.into_iter().map(endpoint).collect::<BTreeMap<_, _>>(),
            max_recoveries: MAX_RECOVERIES,
            // Nobody else works here: what a process leaves is taken over when the next one starts.
            lease: Millis(u64::from(u32::MAX) * 1_000),
            ..Settings::default()
        };
        let admin_key = new_api_key()?;
        let gate = Arc::default();
        let store = Arc::new(store);
        Ok(Self { stage, clock, gate, store, keys, registry, settings, admin_key, _folder: folder })
    }

    /// The next process.
    ///
    /// # Errors
    /// When the program itself is faulty.
    pub(super) fn engine(&self) -> anyhow::Result<Engine> {
        let hints = |loop_number: usize| -> Arc<dyn WakeUps> {
            Arc::new(Hints { gate: Arc::clone(&self.gate), loop_number, store: self.store.wake_ups() })
        };
        let (model, reader) = (Arc::new(RulesModel), Arc::new(Reader::with_ocr(None)));
        let worker = WorkerId::new(&UuidV7Ids.next().simple().to_string());
        Ok(Engine::new(EngineParts {
            store: Arc::clone(&self.store) as Arc<dyn Store>,
            wake_ups: hints(0),
            job_wake_ups: hints(1),
            registry: self.registry.clone(),
            keys: Arc::clone(&self.keys),
            clock: self.clock.clone(),
            ids: Arc::new(UuidV7Ids),
            tool_sources: Vec::new(),
            random: Arc::new(ThreadRandom),
            http: Arc::new(Receivers(Arc::clone(&self.stage))),
            mail_parser: reader.clone(),
            mail_sender: None,
            documents: reader,
            intents: model.clone(),
            extractor: model,
            decisions: Some(Arc::new(MadeDecision(Arc::clone(&self.stage)))),
            models: ModelParts::default(),
            worker,
            settings: self.settings.clone(),
        })?)
    }

    /// One life of a process, until `story` has been told or the process dies: then `None`. Whatever still runs is gone
    /// afterwards.
    ///
    /// # Errors
    /// When the process cannot start, or the story fails.
    pub(super) fn life<T>(
        &self,
        story: impl AsyncFnOnce(&Engine, &Actor) -> anyhow::Result<T>,
    ) -> anyhow::Result<Option<T>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let told = runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.stage.struck.notified() => Ok(None),
                told = async {
                    let engine = self.engine()?;
                    engine.start().await?;
                    let key = self.admin_key.clone();
                    engine.identity().bootstrap(Some(&key), || key.clone()).await?;
                    let request = RequestId::from_uuid(engine.ids().next());
                    let actor = engine.identity().authenticate(&key, request, None).await?;
                    story(&engine, &actor).await
                } => told.map(Some),
            }
        });
        drop(runtime);
        self.stage.revive();
        told
    }

    /// Waits until nothing can be done here before time passes or somebody answers.
    ///
    /// # Errors
    /// When that does not come.
    pub(super) async fn rest(&self, engine: &Engine) -> anyhow::Result<()> {
        for n in 0..PATIENCE_MS {
            if self.gate.is_quiet() && engine.is_idle() {
                return Ok(());
            }
            if n < 20 {
                tokio::task::yield_now().await;
            } else {
                drop(tokio::time::timeout(Millis(1).as_duration(), std::future::pending::<()>()).await);
            }
        }
        bail!("the engine did not come to rest within {PATIENCE_MS} ms")
    }

    /// Makes a call that answers once what it causes has been taken in: those who take it in keep looking meanwhile.
    ///
    /// # Errors
    /// What the call says.
    pub(super) async fn steer<T>(
        &self,
        call: impl Future<Output = kybern_core::error::Result<T>>,
    ) -> anyhow::Result<T> {
        tokio::pin!(call);
        loop {
            match tokio::time::timeout(Millis(1).as_duration(), &mut call).await {
                Ok(done) => return Ok(done?),
                Err(_elapsed) => self.gate.open(),
            }
        }
    }

    /// Stores plans, those that others need first.
    ///
    /// # Errors
    /// When the store fails; the faults of the first plan that is refused are the answer.
    pub(super) fn put(&self, plans: &[Value]) -> anyhow::Result<Vec<PlanFault>> {
        let stored = self.life(async |engine: &Engine, actor: &Actor| {
            for plan in plans {
                let faults = engine.plans().check(actor.scope(), plan).await?;
                if !faults.is_empty() {
                    return Ok(faults);
                }
                engine.plans().put(actor, plan).await?;
            }
            Ok(Vec::new())
        })?;
        stored.context("no process dies while plans are stored")
    }
}
