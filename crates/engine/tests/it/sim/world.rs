//! What outlives the simulated processes, and the processes' lives.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use kybern_core::actor::{Actor, Role};
use kybern_core::audit::AuditEvent;
use kybern_core::id::{KeyId, TaskId, TenantId, UserId};
use kybern_core::identity::{ApiKey, Tenant, User};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::{Clock, IdSource as _, IdentityStore as _};
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use kybern_engine::{Engine, EngineParts, Settings, WorkflowEndpoint};
use kybern_testkit::{FaultyStore, MemStore, SeededIds, SeededRandom, TestKeys};
use serde_json::json;
use uuid::Uuid;

use super::dice::Dice;
use super::doom::{Doom, OwnClock, WrongClock};
use super::hooks::{self, Receiver};
use super::ledger::Ledger;
use super::schedule::{Life, Schedule};
use super::{crowd, old, tools};
use crate::outside::{BusyReader, CountedExtractor, CountedIntent, Letters, NoHints, Wire, Wired};

/// After so many questions everybody waits for the answer.
const MOST_LEAVE: u64 = 120;

/// What persons have done so far, whatever process they told it to.
#[derive(Clone, Default, Debug)]
pub struct Did {
    pub root: Option<TaskId>,
    pub planted: bool,
    pub submitted_again: bool,
    /// They said so at least once, and do not know whether it was heard.
    pub cancel_wanted: bool,
    pub cancelled: bool,
    pub paused: bool,
    pub resumed: bool,
    pub retried: bool,
    /// The tasks of the other tenants.
    pub small: BTreeMap<u32, TaskId>,
    pub hostile: BTreeMap<u32, TaskId>,
    pub spoilt: Option<TaskId>,
    pub harmed: BTreeMap<u32, TaskId>,
    pub harm_done: bool,
    pub purged: bool,
}

/// How a life ended.
#[derive(PartialEq, Eq, Debug)]
pub enum Told {
    Ended,
    Died,
    /// Nothing more happens, and it should.
    Stuck(String),
}

/// Everything that outlives a process.
pub struct SimWorld {
    pub store: Arc<FaultyStore<MemStore>>,
    pub mem: Arc<MemStore>,
    pub clock: Arc<WrongClock>,
    pub wire: Arc<Wire>,
    pub doom: Arc<Doom>,
    pub ledger: Arc<Ledger>,
    pub receiver: Option<Arc<Receiver>>,
    pub actor: Actor,
    pub did: Mutex<Did>,
    ids: Arc<SeededIds>,
    settings: Settings,
    engines: AtomicU64,
    /// By how much the clock of each process is wrong.
    clocks: [i64; 2],
    leaves: Option<u64>,
    left: AtomicU64,
}

impl SimWorld {
    pub fn new(seed: u64, schedule: &Schedule) -> Self {
        let clock = Arc::new(WrongClock::new());
        let ids = Arc::new(SeededIds::new(seed, clock.clone()));
        let doom = Arc::new(Doom::default());
        let strike = doom.clone();
        let keys = Arc::new(TestKeys::new());
        let mem = Arc::new(match schedule.clocks {
            Some(_) => MemStore::new(clock.life.clone(), ids.clone(), keys).keeping_time(),
            None => MemStore::new(clock.clone(), ids.clone(), keys),
        });
        let told: Arc<dyn Clock> = if schedule.clocks.is_some() { clock.life.clone() } else { clock.clone() };
        let store = Arc::new(FaultyStore::new(mem.clone(), told, move |point| strike.strike(point.call)));
        if let Some(leaves) = schedule.leaves {
            doom.hesitate(Dice::of(leaves, 1));
        }
        let endpoint = |name: &str| {
            let url = format!("http://{name}.test/start");
            (name.to_owned(), WorkflowEndpoint { url, secret: None, deadline: None })
        };
        let settings = Settings {
            poll: Millis(150),
            lease: if schedule.sleepy { Millis(900) } else { Millis(5_000) },
            heartbeat: if schedule.sleepy { Millis(100_000_000) } else { Millis(1_500) },
            max_recoveries: 10_000,
            steps_per_commit: schedule.steps_per_commit,
            workflows: [endpoint("open"), endpoint("closed")].into(),
            slots: if schedule.crowd.is_some() { crowd::SLOTS } else { Settings::default().slots },
            ..Settings::default()
        };
        let receiver = schedule.hook.map(|hook| Arc::new(Receiver::new(hook, clock.life.clone())));
        let hears = receiver.clone();
        let wire = Wire::new(move |request, n| match (&hears, request.url.contains("closed"), n % 4) {
            (Some(receiver), ..) if Receiver::is_meant(request) => receiver.answer(request),
            (_, true, _) => Wired::Answer(404, json!({})),
            (_, false, 3) => Wired::Answer(503, json!({})),
            (_, false, _) => Wired::Answer(202, json!({})),
        });
        let ledger = Arc::new(Ledger::new(store.clone(), doom.clone(), schedule.second.is_none(), schedule.stops()));
        let actor = kybern_testkit::actors::admin(TenantId::DEFAULT);
        let world = Self {
            store,
            mem,
            clock,
            wire: Arc::new(wire),
            doom,
            ledger,
            receiver,
            actor,
            did: Mutex::default(),
            ids,
            settings,
            engines: AtomicU64::new(0),
            clocks: schedule.clocks.unwrap_or_default(),
            leaves: schedule.leaves,
            left: AtomicU64::new(0),
        };
        world.settle(TenantId::DEFAULT, "home");
        if schedule.crowd.is_some() {
            world.settle(crowd::hostile().scope().tenant(), "flood");
            world.settle(crowd::bystander().scope().tenant(), "small");
        }
        if schedule.purge.is_some() {
            old::plant(&world);
        }
        if schedule.hook.is_some() {
            hooks::subscribe(&world);
        }
        world
    }

    /// How often the next one who asks for something looks for the answer before they leave; `None` when they stay.
    pub fn patience(&self) -> Option<u32> {
        let n = self.left.fetch_add(1, Ordering::SeqCst) + 2;
        let dice = Dice::of(self.leaves?, n);
        (n < MOST_LEAVE && dice.percent(50)).then(|| u32::try_from(dice.below(6)).unwrap())
    }

    fn settle(&self, id: TenantId, slug: &str) {
        let (user, now) = (UserId::from_uuid(Uuid::nil()), self.clock.now());
        let tenant = Tenant { id, name: slug.to_owned(), slug: slug.to_owned(), created_at: now };
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
        self.doom.look(self.store.create_tenant(&tenant, &admin, &key, &format!("hash-{slug}"), audit)).unwrap();
    }

    /// An engine that is a worker of its own.
    pub fn engine(&self) -> Engine {
        let number = self.engines.fetch_add(1, Ordering::SeqCst) + 1;
        let mut registry = PackRegistry::default();
        for tool in tools::all(&self.ledger) {
            registry.tool(tool).unwrap();
        }
        let handler = Arc::new(tools::handler(&self.ledger));
        Engine::new(EngineParts {
            tool_sources: Vec::new(),
            store: self.store.clone(),
            wake_ups: Arc::new(NoHints),
            job_wake_ups: Arc::new(NoHints),
            registry,
            keys: Arc::new(TestKeys::new()),
            clock: Arc::new(OwnClock { of: self.clock.clone(), by: self.clocks[(number % 2) as usize] }),
            ids: self.ids.clone(),
            random: Arc::new(SeededRandom::new(number)),
            http: self.wire.clone(),
            mail_parser: Arc::new(Letters::default()),
            mail_sender: None,
            documents: Arc::new(BusyReader::default()),
            intents: Arc::new(CountedIntent::default()),
            extractor: Arc::new(CountedExtractor::default()),
            decisions: Some(handler),
            models: Default::default(),
            worker: WorkerId::new(&format!("worker-{number}")),
            settings: self.settings.clone(),
        })
        .unwrap()
    }

    /// One life of the process, from its start to the end of `story` or to the stroke of doom. Whatever still runs is
    /// gone afterwards.
    pub fn life<'w>(&'w self, life: &Life, story: impl AsyncFnOnce(&'w Self) -> Told) -> Told {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        self.doom.begin(life);
        self.ledger.begin();
        let told = runtime.block_on(async {
            self.clock.life.run();
            self.doom.run();
            let told = tokio::select! {
                biased;
                () = self.doom.struck.notified() => Told::Died,
                told = story(self) => told,
            };
            self.clock.life.stop(self.clock.life.now());
            told
        });
        drop(runtime);
        if self.doom.is_restless() {
            return Told::Stuck("a process never rested".to_owned());
        }
        told
    }

    pub fn did(&self) -> Did {
        self.did.lock().unwrap().clone()
    }

    pub fn note(&self, change: impl FnOnce(&mut Did)) {
        change(&mut self.did.lock().unwrap());
    }
}
