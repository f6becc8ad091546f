//! A whole engine in simulated time, over the in-memory store or, with nouns that are not the kernel's, over SQLite. A world lives through lives: each is one process with a
//! runtime of its own, and ends as with `kill -9` when it is dropped; the store, the tools and the clock stay.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use kybern_core::actor::{Actor, Role};
use kybern_core::agent::AgentDraft;
use kybern_core::audit::AuditEvent;
use kybern_core::id::{KeyId, TaskId, TenantId, UserId};
use kybern_core::identity::{ApiKey, Tenant, User};
use kybern_core::model::ExtractionSchema;
use kybern_core::pack::{Pack, PackRegistry};
use kybern_core::ports::{Clock, Extractor, IdSource, IdentityStore as _, Store, TaskStore as _, Tool};
use kybern_core::task::{JournalEntry, JournalRow, StepOutcome, WorkerId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_engine::models::{ModelParts, ModelSettings, ProviderParts};
use kybern_engine::{Engine, EngineParts, Settings};
use kybern_store::{SqliteOptions, SqliteStore};
use kybern_testkit::fakes::RecordingMailSender;
use kybern_testkit::tools::{InjectTool, PutTool, ScriptedTool};
use kybern_testkit::{Fault, FaultPoint, FaultyStore, MemStore, SeededIds, SeededRandom, TestKeys};
use serde_json::{Value, json};
use tokio::runtime::{Handle, Runtime};
use uuid::Uuid;

use crate::live::Live;
use crate::outside::{BusyReader, CountedExtractor, CountedIntent, Letters, LifeClock, NoHints, Wire};

/// When, and how, the process dies.
#[derive(Default)]
pub struct Doom {
    calls: AtomicU64,
    left: AtomicU64,
    how: Mutex<Fault>,
    dead: AtomicBool,
    struck: tokio::sync::Notify,
    /// The test itself looks: that is no call of the process.
    looking: AtomicBool,
    /// The calls that do not go well now, by their names, and how they go.
    ill: Mutex<Vec<(&'static str, Fault)>>,
}

impl Doom {
    fn strike(&self, call: &str) -> Fault {
        if self.looking.load(Ordering::SeqCst) {
            return Fault::None;
        }
        if let Some((_, how)) = self.ill.lock().unwrap().iter().find(|(ill, _)| *ill == call) {
            return *how;
        }
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.dead.load(Ordering::SeqCst) {
            return Fault::CrashBefore;
        }
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            return Fault::None;
        }
        self.left.store(left - 1, Ordering::SeqCst);
        if left > 1 {
            return Fault::None;
        }
        let how = *self.how.lock().unwrap();
        if matches!(how, Fault::CrashBefore | Fault::CrashAfter) {
            self.dead.store(true, Ordering::SeqCst);
            self.struck.notify_one();
        }
        how
    }
}

/// What is stored, whatever holds it, which fails as the world says.
pub type Stored = FaultyStore<dyn Store>;

/// Everything that outlives a process.
pub struct World {
    pub store: Arc<Stored>,
    /// The same, where it is in memory.
    mem: Option<Arc<MemStore>>,
    /// Where it lies otherwise.
    file: Option<PathBuf>,
    pub clock: Arc<LifeClock>,
    pub wire: Arc<Wire>,
    pub mail: Arc<RecordingMailSender>,
    pub intents: Arc<CountedIntent>,
    pub extractor: Arc<CountedExtractor>,
    /// What reads documents in place of it.
    reads: Option<Arc<dyn Extractor>>,
    pub reader: Arc<BusyReader>,
    pub letters: Arc<Letters>,
    pub settings: Settings,
    /// How often a test looks whether a thing has happened.
    pub tick: Millis,
    /// Whether a mail server is configured.
    pub has_mail: bool,
    pub actor: Actor,
    tools: Vec<Arc<dyn Tool>>,
    pub tool_sources: Vec<Arc<dyn kybern_core::ports::ToolSource>>,
    providers: Vec<ProviderParts>,
    counter: Option<Arc<dyn kybern_core::ports::TokenCounter>>,
    fallback: Vec<String>,
    agents: Vec<AgentDraft>,
    packs: Vec<Arc<dyn Pack>>,
    /// The tool that the processes started from now on do not have.
    pub missing: Mutex<Option<&'static str>>,
    ids: Arc<SeededIds>,
    doom: Arc<Doom>,
    lives: AtomicU64,
}

impl World {
    /// A world with these tools, and `t.put`, `t.inject` and `t.echo`, that keeps in memory what the kernel needs.
    pub fn with(tools: impl IntoIterator<Item = Arc<ScriptedTool>>) -> Self {
        let clock = Arc::new(LifeClock::new());
        let ids = Arc::new(SeededIds::new(7, clock.clone()));
        let mem = Arc::new(MemStore::new(clock.clone(), ids.clone(), Arc::new(TestKeys::new())));
        let world = Self::over(clock, ids, tools, |clock, hook| FaultyStore::new(mem.clone() as _, clock, hook));
        Self { mem: Some(mem), ..world }
    }

    /// The same, that keeps every noun in a SQLite file.
    pub fn on_sqlite(tools: impl IntoIterator<Item = Arc<ScriptedTool>>) -> Self {
        let clock = Arc::new(LifeClock::new());
        let ids = Arc::new(SeededIds::new(7, clock.clone()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kybern.db");
        let open = SqliteStore::open(path.clone(), SqliteOptions::default(), Arc::new(TestKeys::new()), clock.clone());
        let store = Arc::new(block_on(open).unwrap());
        let world = Self::over(clock, ids, tools, |clock, hook| {
            FaultyStore::new(store as _, clock, hook).stopping_time().keeping(folder)
        });
        Self { file: Some(path), ..world }
    }

    fn over(
        clock: Arc<LifeClock>,
        ids: Arc<SeededIds>,
        tools: impl IntoIterator<Item = Arc<ScriptedTool>>,
        store: impl FnOnce(Arc<LifeClock>, Box<dyn Fn(FaultPoint) -> Fault + Send + Sync>) -> Stored,
    ) -> Self {
        let doom = Arc::new(Doom::default());
        let strike = doom.clone();
        let store = store(clock.clone(), Box::new(move |point| strike.strike(point.call)));
        let mut all: Vec<Arc<dyn Tool>> = vec![
            Arc::new(PutTool::new("t.put")),
            Arc::new(InjectTool::new("t.inject")),
            Arc::new(ScriptedTool::echo("t.echo")),
        ];
        all.extend(tools.into_iter().map(|tool| tool as Arc<dyn Tool>));
        let world = Self {
            store: Arc::new(store),
            mem: None,
            file: None,
            clock,
            wire: Arc::default(),
            mail: Arc::default(),
            intents: Arc::default(),
            extractor: Arc::default(),
            reads: None,
            reader: Arc::default(),
            letters: Arc::default(),
            settings: Settings {
                poll: Millis(20),
                workflows: [("flow".to_owned(), endpoint("http://flow.test/start"))].into(),
                ..Settings::default()
            },
            tick: Millis(1),
            has_mail: true,
            actor: kybern_testkit::actors::admin(TenantId::DEFAULT),
            tools: all,
            tool_sources: Vec::new(),
            providers: Vec::new(),
            counter: None,
            fallback: Vec::new(),
            agents: Vec::new(),
            packs: Vec::new(),
            missing: Mutex::default(),
            ids,
            doom,
            lives: AtomicU64::new(0),
        };
        world.settle_tenant(TenantId::DEFAULT, "home");
        world
    }

    /// What the in-memory store shows beside its ports.
    pub fn mem(&self) -> &MemStore {
        self.mem.as_ref().unwrap()
    }

    /// The kind, status and attempts of every job in the SQLite file, oldest first.
    pub fn jobs_in_file(&self) -> Vec<(String, String, u32)> {
        let conn = rusqlite::Connection::open(self.file.as_ref().unwrap()).unwrap();
        let mut jobs = conn.prepare("SELECT kind, status, attempts FROM job ORDER BY id").unwrap();
        let rows = jobs.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Makes a record in the SQLite file one that cannot be read.
    pub fn spoil_record(&self, kind: &str, key: &str) {
        let conn = rusqlite::Connection::open(self.file.as_ref().unwrap()).unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        let spoil = "UPDATE record SET props = '{\"broken\": ' WHERE kind = ?1 AND key = ?2";
        assert_eq!(conn.execute(spoil, [kind, key]).unwrap(), 1);
    }

    /// A world with no tools of its own.
    pub fn new() -> Self {
        Self::with([])
    }

    /// The same world with another end of the wire.
    pub fn on(mut self, wire: Wire) -> Self {
        self.wire = Arc::new(wire);
        self
    }

    /// The same world with other settings.
    pub fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// The same world, whose model knows these intents.
    pub fn knowing(mut self, intents: CountedIntent) -> Self {
        self.intents = Arc::new(intents);
        self
    }

    /// The same world, in which this reads documents.
    pub fn reading(mut self, extractor: Arc<dyn Extractor>) -> Self {
        self.reads = Some(extractor);
        self
    }

    /// The same world with these language models.
    pub fn asking(mut self, providers: Vec<ProviderParts>) -> Self {
        self.providers = providers;
        self
    }

    /// The same world, in which these models are asked when the chosen one fails.
    pub fn falling_back(mut self, models: impl IntoIterator<Item = &'static str>) -> Self {
        self.fallback = models.into_iter().map(str::to_owned).collect();
        self
    }

    /// The same world, in which these agents come with the program.
    pub fn employing(mut self, agents: impl IntoIterator<Item = AgentDraft>) -> Self {
        self.agents = agents.into_iter().map(|agent| agent.checked().unwrap()).collect();
        self
    }

    /// The same world with this pack.
    pub fn bringing(mut self, pack: impl Pack + 'static) -> Self {
        self.packs.push(Arc::new(pack));
        self
    }

    /// The same world, in which tokens can be counted.
    pub fn counting(mut self, counter: Arc<dyn kybern_core::ports::TokenCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Now.
    pub fn clock(&self) -> kybern_core::time::Timestamp {
        kybern_core::ports::Clock::now(self.clock.as_ref())
    }

    /// Another tenant moves in.
    pub fn settle_tenant(&self, id: TenantId, slug: &str) {
        let user = UserId::from_uuid(Uuid::nil());
        let now = self.clock.now();
        let tenant = Tenant { id, name: format!("Tenant {slug}"), slug: slug.to_owned(), created_at: now };
        let admin = User {
            id: user,
            name: "An Admin".to_owned(),
            email: format!("admin@{slug}.example"),
            roles: vec![Role::Admin],
            timezone: "UTC".to_owned(),
            created_at: now,
            made_by_user_id: None,
        };
        let key = ApiKey {
            id: KeyId::from_uuid(self.ids.next()),
            user_id: user,
            name: "a key".to_owned(),
            prefix: "kyb_1234".to_owned(),
            roles: Vec::new(),
            scopes: Vec::new(),
            expires_at: None,
            revoked_at: None,
            created_at: now,
            made_by_key_id: None,
            made_by_user_id: None,
        };
        let audit = AuditEvent::by_executor("tenant.create", format!("tenant:{id}"), json!({}));
        block_on(self.store.create_tenant(&tenant, &admin, &key, &format!("hash-{slug}"), audit)).unwrap();
    }

    /// A platform admin whose account lies in another tenant, as they act in this one, and that other tenant.
    pub fn visitor(&self) -> (Actor, TenantScope) {
        let home = TenantId::from_uuid(Uuid::from_u128(77));
        self.settle_tenant(home, "platform");
        let scope = kybern_testkit::actors::scope(home);
        let user = User {
            id: UserId::from_uuid(Uuid::from_u128(5)),
            name: "A Visitor".to_owned(),
            email: "visitor@platform.example".to_owned(),
            roles: vec![Role::PlatformAdmin],
            timezone: "UTC".to_owned(),
            created_at: self.clock.now(),
            made_by_user_id: None,
        };
        let audit = AuditEvent::by_executor("user.create", format!("user:{}", user.id), json!({}));
        block_on(self.store.create_user(scope, &user, audit)).unwrap();
        (kybern_testkit::actors::user(self.scope().tenant(), user.id, &user.roles), scope)
    }

    pub fn scope(&self) -> TenantScope {
        self.actor.scope()
    }

    /// An engine that is a process of its own.
    pub fn engine(&self, settings: Settings) -> Engine {
        self.lives.fetch_add(1, Ordering::SeqCst);
        let mut registry = PackRegistry::default();
        let missing = *self.missing.lock().unwrap();
        for tool in self.tools.iter().filter(|tool| Some(tool.spec().key.as_str()) != missing) {
            registry.tool(tool.clone()).unwrap();
        }
        for agent in &self.agents {
            registry.agent(agent.clone()).unwrap();
        }
        for pack in &self.packs {
            pack.register(&mut registry).unwrap();
        }
        registry.tool_group("echoes", ["t.echo".to_owned(), "t.later".to_owned()]);
        registry.extraction("nothing", ExtractionSchema::default()).unwrap();
        Engine::new(self.parts(registry, settings)).unwrap()
    }

    /// What an engine with that registry is made of.
    pub fn parts(&self, registry: PackRegistry, settings: Settings) -> EngineParts {
        let life = self.lives.load(Ordering::SeqCst);
        EngineParts {
            tool_sources: self.tool_sources.clone(),
            store: self.store.clone(),
            wake_ups: Arc::new(NoHints),
            job_wake_ups: Arc::new(NoHints),
            registry,
            keys: Arc::new(TestKeys::new()),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            random: Arc::new(SeededRandom::new(life)),
            http: self.wire.clone(),
            mail_parser: self.letters.clone(),
            mail_sender: self.has_mail.then(|| self.mail.clone() as _),
            documents: self.reader.clone(),
            intents: self.intents.clone(),
            extractor: self.reads.clone().unwrap_or_else(|| self.extractor.clone()),
            decisions: None,
            models: ModelParts {
                providers: self.providers.clone(),
                settings: ModelSettings { fallback: self.fallback.clone(), ..ModelSettings::default() },
                counter: self.counter.clone(),
            },
            worker: WorkerId::new(&format!("worker-{life}")),
            settings,
        }
    }

    /// The process of the next life dies like this at its `n`th call of the store, or the call fails like this.
    pub fn doom(&self, n: u64, how: Fault) {
        *self.doom.how.lock().unwrap() = how;
        self.doom.left.store(n, Ordering::SeqCst);
    }

    /// The store cannot take this call until it is told that it can take all again.
    pub fn lacks(&self, call: Option<&'static str>) {
        self.ails(call.map(|call| (call, Fault::Unavailable)));
    }

    /// These calls of the store go like this until it is told otherwise.
    pub fn ails(&self, calls: impl IntoIterator<Item = (&'static str, Fault)>) {
        *self.doom.ill.lock().unwrap() = calls.into_iter().collect();
    }

    /// Looks at what is stored, unseen: such a call is not counted and does not fail. In-memory calls never yield, so
    /// nobody else's is taken for one.
    pub async fn look<T>(&self, look: impl Future<Output = T>) -> T {
        self.doom.looking.store(true, Ordering::SeqCst);
        let seen = look.await;
        self.doom.looking.store(false, Ordering::SeqCst);
        seen
    }

    /// How many calls of the store all processes have made.
    pub fn calls(&self) -> u64 {
        self.doom.calls.load(Ordering::SeqCst)
    }

    /// One life of the process, from its start to the end of `story` or to the stroke of doom: then `None`. Whatever
    /// still runs is gone afterwards.
    pub fn life<'w, T>(&'w self, story: impl AsyncFnOnce(Live<'w>) -> T) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let told = runtime.block_on(async {
            self.clock.run();
            let told = tokio::select! {
                biased;
                () = self.doom.struck.notified() => None,
                told = async {
                    let engine = self.engine(self.settings.clone());
                    engine.start().await.unwrap();
                    story(Live::new(self, engine)).await
                } => Some(told),
            };
            self.clock.stop(self.clock.now());
            told
        });
        drop(runtime);
        self.doom.dead.store(false, Ordering::SeqCst);
        self.doom.left.store(0, Ordering::SeqCst);
        told
    }

    /// One undisturbed life.
    pub fn run<'w, T>(&'w self, story: impl AsyncFnOnce(Live<'w>) -> T) -> T {
        self.life(story).unwrap()
    }

    /// A task's journal, read between two lives or during one.
    pub fn journal(&self, id: TaskId) -> Vec<JournalRow> {
        block_on(self.look(self.store.journal(self.scope(), id, 0, 100_000))).unwrap()
    }
}

/// Waits for a call of the store outside of a life, or within one.
pub fn block_on<T>(call: impl Future<Output = T>) -> T {
    static THREADS: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    let _threads = Handle::try_current().is_err().then(|| THREADS.enter());
    futures::executor::block_on(call)
}

fn endpoint(url: &str) -> kybern_engine::WorkflowEndpoint {
    kybern_engine::WorkflowEndpoint { url: url.to_owned(), secret: None, deadline: None }
}

/// A plan with these steps.
pub fn plan(steps: Value) -> Value {
    json!({"key": "test.plan", "steps": steps})
}

pub fn step(id: &str, tool: &str, args: Value) -> Value {
    json!({"id": id, "tool": tool, "args": args})
}

impl World {
    /// How a step ended.
    pub fn outcome(&self, id: TaskId, step: &str) -> StepOutcome {
        let of_step = |row: &JournalRow| row.step.as_ref().is_some_and(|known| known.as_str() == step);
        let outcomes = self.journal(id).into_iter().filter(of_step).filter_map(|row| match row.entry {
            JournalEntry::Finished(outcome) => Some(Arc::unwrap_or_clone(outcome)),
            _ => None,
        });
        outcomes.last().unwrap()
    }

    /// Brings a plan into use, or takes it out.
    pub async fn set_active(&self, live: &Live<'_>, key: &str, active: bool) {
        live.engine.plans().set_active(&self.actor, key, active).await.unwrap();
    }
}
