//! What reached the outside, as the outside knows it. It survives every process, and looks at the store at the moment
//! of each call: what must have been written before is written, or it is noted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use kybern_core::ports::{CallbackOutcome, TaskStore as _, ToolContext};
use kybern_core::task::{JournalEntry, Resolution};
use kybern_testkit::{FaultyStore, MemStore};
use serde_json::{Map, Value};

use super::doom::Doom;
use super::program::Class;

/// A receiver's view of one key.
#[derive(Clone, Default, Debug)]
pub struct Effects {
    /// How often it happened.
    pub happened: u32,
    /// The arguments of the first call.
    pub args: Map<String, Value>,
}

/// A person's answer and what came of it; `None` when nobody knows.
#[derive(Clone, Debug)]
pub struct Reviewed {
    pub wait: String,
    pub corrections: Map<String, Value>,
    pub resolution: Option<Resolution>,
    pub taken: Option<bool>,
}

/// An engine's callback and what came of it; `None` when nobody knows.
#[derive(Clone, Debug)]
pub struct CalledBack {
    pub success: bool,
    pub outcome: Option<CallbackOutcome>,
}

#[derive(Default)]
struct Books {
    effects: BTreeMap<String, Effects>,
    reviews: Vec<Reviewed>,
    callbacks: BTreeMap<String, Vec<CalledBack>>,
    faults: Vec<String>,
    /// The keys of the calls that are on their way, and of those that have come back in the life that runs.
    running: BTreeSet<String>,
    returned: BTreeSet<String>,
}

pub struct Ledger {
    books: Mutex<Books>,
    store: Arc<FaultyStore<MemStore>>,
    pub doom: Arc<Doom>,
    /// Whether there is one process at a time.
    alone: bool,
    /// Whether processes are stopped.
    pub stops: bool,
}

/// A call on its way.
pub struct OnItsWay<'l> {
    ledger: &'l Ledger,
    key: String,
}

impl OnItsWay<'_> {
    /// It comes back with a success.
    pub fn returns(&self) {
        self.ledger.books.lock().unwrap().returned.insert(self.key.clone());
    }
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        self.ledger.books.lock().unwrap().running.remove(&self.key);
    }
}

impl Ledger {
    pub fn new(store: Arc<FaultyStore<MemStore>>, doom: Arc<Doom>, alone: bool, stops: bool) -> Self {
        Self { books: Mutex::default(), store, doom, alone, stops }
    }

    /// A life begins: what the last one had on its way is gone.
    pub fn begin(&self) {
        let mut books = self.books.lock().unwrap();
        books.running.clear();
        books.returned.clear();
    }

    /// A call goes out. A process that is alone makes none beside itself, and none again that has come back.
    pub fn goes_out(&self, class: Class, context: &ToolContext) -> OnItsWay<'_> {
        let key = context.key.clone();
        let mut books = self.books.lock().unwrap();
        let outside = !matches!(class, Class::Read | Class::Local);
        if self.alone && outside && (books.running.contains(&key) || books.returned.contains(&key)) {
            let how = if books.running.contains(&key) { "was still on its way" } else { "had come back" };
            books
                .faults
                .push(format!("{key} was called again, try {}, by the process whose call {how}", context.attempt));
        }
        books.running.insert(key.clone());
        drop(books);
        OnItsWay { ledger: self, key }
    }

    /// Notes that a law was broken.
    pub fn accuse(&self, what: String) {
        self.books.lock().unwrap().faults.push(what);
    }

    pub fn accusations(&self) -> Vec<String> {
        self.books.lock().unwrap().faults.clone()
    }

    /// A call comes in whose effect must have been recorded as begun.
    pub fn arrives(&self, class: Class, context: &ToolContext, args: &Map<String, Value>) {
        if matches!(class, Class::Read | Class::Local) {
            return;
        }
        let (Some(id), Some(step)) = (context.task, context.step.clone()) else { return };
        let generation = generation(&context.key);
        let look = |what: &str| format!("{what}: {} try {}", context.key, context.attempt);
        let attempts = self.doom.look(self.store.attempts(context.scope, id)).unwrap();
        let mine = |at: &&kybern_core::task::Attempt| at.step == step && at.generation == generation;
        if !attempts.iter().filter(mine).any(|at| at.attempt == context.attempt) {
            self.accuse(look("a call began before that was recorded"));
        }
        let rows = self.doom.look(self.store.journal(context.scope, id, 0, 100_000)).unwrap();
        let ended = rows.iter().any(|row| {
            row.step.as_ref() == Some(&step)
                && row.generation == generation
                && matches!(row.entry, JournalEntry::Finished(_))
        });
        if ended {
            self.accuse(look("a call began although its step had ended"));
        }
        let task = self.doom.look(self.store.task(context.scope, id)).unwrap().unwrap();
        if task.cancel_requested {
            self.accuse(look("a call began after somebody had cancelled the task"));
        }
        if task.status.is_terminal() {
            self.accuse(look("a call began after the task had ended"));
        }
        let mut books = self.books.lock().unwrap();
        let known =
            books.effects.entry(context.key.clone()).or_insert_with(|| Effects { happened: 0, args: args.clone() });
        let differs = known.args != *args;
        drop(books);
        if differs {
            self.accuse(look("the same key came with other arguments"));
        }
    }

    /// A call's effect happens now, as far as its receiver lets it.
    pub fn happens(&self, class: Class, context: &ToolContext) {
        if matches!(class, Class::Read | Class::Local) {
            return;
        }
        let mut books = self.books.lock().unwrap();
        let known = books.effects.entry(context.key.clone()).or_default();
        let again = match class {
            Class::Keyed => known.happened == 0,
            Class::Queryable => known.happened == 0 || !context.may_have_happened,
            Class::Read | Class::Local | Class::Unkeyed => true,
        };
        known.happened += u32::from(again);
    }

    pub fn effects(&self) -> BTreeMap<String, Effects> {
        self.books.lock().unwrap().effects.clone()
    }

    pub fn reviewed(&self, review: Reviewed) {
        self.books.lock().unwrap().reviews.push(review);
    }

    pub fn reviews(&self) -> Vec<Reviewed> {
        self.books.lock().unwrap().reviews.clone()
    }

    pub fn called_back(&self, workflow_id: &str, callback: CalledBack) {
        self.books.lock().unwrap().callbacks.entry(workflow_id.to_owned()).or_default().push(callback);
    }

    pub fn callbacks(&self, workflow_id: &str) -> Vec<CalledBack> {
        self.books.lock().unwrap().callbacks.get(workflow_id).cloned().unwrap_or_default()
    }
}

/// The generation at the end of a key.
pub fn generation(key: &str) -> u32 {
    key.rsplit(':').next().and_then(|part| part.parse().ok()).unwrap()
}
