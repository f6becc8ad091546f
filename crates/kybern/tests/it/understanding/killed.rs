//! A server that is killed at every boundary of what it asks a language model about a mail, and of what follows: no answer
//! that its journal has is asked for again, and the mail comes to the same end.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{FORMATS, answer, choices, site};
use crate::server::client::{Ask, text, until};
use crate::server::provider::{Provider, Turn};
use crate::server::receiver::Seen;
use crate::server::{Client, KEY, Site};

/// The rules do not know what is wanted, nor what kind of paper it is; what it says is plain.
const WORDS: &str = "Good morning,\r\n\r\nwould you see to the usual for us before the end of the month?\r\n\r\n\
    Insured: Larkspur Valley Bulk Haulers LLC\r\nUSDOT: 3104417\r\n\r\n\
    Policy number: NRC-AL-204417-02\r\nInsurer: Northfield Ridge Insurance Company\r\n\
    Effective: 03/01/2025\r\nExpiration: 03/01/2026\r\n\r\nAda Moor\r\n";

/// What servers die of, one after the other, that ask for the same.
const DEATHS: [Turn; 4] = [Turn::DiesAsking, Turn::DiesReading, Turn::DiesWriting, Turn::DiesAnswered];

/// What a model says first where it has to be asked once more.
const UNFIT: &str = "let me see";

/// What the journal has of a model.
const ANSWERS: &str = "SELECT count(*) FROM step_row WHERE step_id LIKE '\\_answer%' ESCAPE '\\'";
/// Its rows but for those in which a server says that it took over from a dead one.
const ROWS: &str = "SELECT count(*) FROM step_row WHERE kind <> 'recovered'";

fn mail() -> Ask {
    let head = "From: Ada Moor <ada@larkspurvalley.example>\r\nTo: office@agency.example\r\nSubject: The usual\r\n\
        Message-ID: <usual@larkspurvalley.example>\r\nDate: Mon, 2 Mar 2026 09:00:00 +0000\r\n\
        Content-Type: text/plain; charset=utf-8\r\n\r\n";
    Ask::post("/api/inbound/email", "message/rfc822", format!("{head}{WORDS}"))
}

/// A model that has to be asked once more for the values.
fn model(question: &Value) -> Value {
    let is_repaired = question.to_string().contains(UNFIT);
    if choices(question, "category").is_some() {
        let sections = ["insurance/has_insured", "insurance/has_policies"];
        return json!({"category": "other", "confidence": 0.6, "sections": sections});
    }
    if choices(question, "intent").is_some() {
        let reason = "the usual are loss runs";
        return json!({"intent": "insurance.loss_run_request", "confidence": 0.93, "also": [], "reason": reason});
    }
    if !is_repaired {
        return json!({"thought": UNFIT});
    }
    let values =
        [("insured.name", "Larkspur Valley Bulk Haulers LLC"), ("policies[].policy_number", "NRC-AL-204417-02")];
    let values = values.map(|(field, value)| json!({"field": field, "item": 0, "value": value}));
    json!({"values": values})
}

fn said(question: &Seen) -> Value {
    answer(question.path.split('/').nth(1).unwrap(), &model(&question.json()).to_string())
}

/// What is asked, whoever asks, by a name that a person can read.
fn question(seen: &Seen) -> String {
    let asked = seen.json();
    let about = ["intent", "category", "field"].into_iter().find(|name| choices(&asked, name).is_some()).unwrap();
    let again = if asked.to_string().contains(UNFIT) { " again" } else { "" };
    let mut hasher = DefaultHasher::new();
    asked.to_string().hash(&mut hasher);
    format!("{about}{again} {:x}", hasher.finish())
}

/// One server's life on a place.
struct Life {
    /// How many answers its journal had when it began.
    known: usize,
    /// The first of its questions.
    first: usize,
}

/// A task that has come to its end, and what that took.
struct Played {
    site: Arc<Site>,
    provider: Provider,
    client: Client,
    task: Value,
    lives: Vec<Life>,
    _server: crate::server::Server,
}

/// When servers die.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dying {
    Never,
    /// At these moments of each exchange with the model.
    Asking(&'static [Turn]),
    /// Each when the journal has one row more than the last one left.
    Writing,
}

fn number(site: &Site, statement: &str) -> usize {
    usize::try_from(site.count(statement)).unwrap()
}

/// Hands something in, and starts servers until one of them brings it to its end.
async fn play(site_of: Site, format: (&str, &str, &str), ask: Ask, dying: Dying) -> Played {
    let provider = Provider::bind();
    // Whatever the rules find, the model is asked; and no lease ends before the test says so.
    let place = site_of.with("KYBERN_INTAKE__LANGUAGE_MODEL", "always");
    let place = place.with("KYBERN_WORKER__LEASE_MS", "60000").with("KYBERN_WORKER__HEARTBEAT_MS", "20000");
    // Where rows are what it dies of, each is a commit of its own.
    let place = if dying == Dying::Writing { place.with("KYBERN_WORKER__STEPS_PER_COMMIT", "1") } else { place };
    let place = Arc::new(site(place, &provider.url(), format));
    let asked = std::sync::Mutex::new(BTreeMap::<String, usize>::new());
    provider.serve(
        Arc::clone(&place),
        Arc::new(move |seen: &Seen| {
            let mut asked = asked.lock().unwrap();
            let times = asked.entry(question(seen)).or_default();
            let deaths = if let Dying::Asking(deaths) = dying { deaths } else { &[] };
            let turn = deaths.get(*times).copied().unwrap_or(Turn::Answered);
            *times += 1;
            (turn, said(seen))
        }),
    );
    let mut lives = Vec::new();
    let mut task = None;
    let mut rows = 0;
    loop {
        let known = if task.is_some() { number(&place, ANSWERS) } else { 0 };
        lives.push(Life { known, first: provider.seen().len() });
        let mut server = place.start();
        let client = Client::new(server.url(), KEY);
        if task.is_none() {
            crate::samples::hire(&client).await;
            let budget = json!({"subject": {"type": "tenant"}, "period": "month", "calls": 1000});
            client.post("/api/budgets", &budget).await;
            let taken = client.ok(&ask).await;
            task = Some(if taken["taskId"].is_string() { text(&taken["taskId"]) } else { text(&taken["id"]) });
        }
        provider.aim(&server);
        let id = task.clone().unwrap();
        let dies = async {
            if dying == Dying::Writing {
                while number(&place, ROWS) <= rows {
                    tokio::task::yield_now().await;
                }
                server.kill();
            }
            server.ended().await;
        };
        let rested = tokio::select! {
            biased;
            () = dies => None,
            task = client.rest(&id) => Some(task),
        };
        let Some(task) = rested else {
            place.bury().await;
            rows = number(&place, ROWS);
            continue;
        };
        return Played { site: place, provider, client, task, lives, _server: server };
    }
}

/// Kinds of records that come of the mail.
const KINDS: [&str; 4] = ["network.entity", "insurance.policy", "insurance.deal", "insurance.loss_run_request"];

/// What differs between two servers that do the same: ids, and times of today.
fn without_chance(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let lasting = members.iter().filter(|(name, _)| !name.ends_with("At") && !name.ends_with("Ms"));
            Value::Object(lasting.map(|(name, value)| (name.clone(), without_chance(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_chance).collect(),
        Value::String(text) => without_ids(text).into(),
        other => other.clone(),
    }
}

fn without_ids(text: &str) -> String {
    let is_id = |at: usize| text.get(at..at + 36).is_some_and(|id| uuid::Uuid::try_parse(id).is_ok());
    match (0..text.len()).find(|at| is_id(*at)) {
        Some(at) => format!("{}ID{}", &text[..at], without_ids(&text[at + 36..])),
        None => text.to_owned(),
    }
}

impl Played {
    fn id(&self) -> String {
        text(&self.task["id"])
    }

    fn questions(&self) -> Vec<String> {
        self.provider.seen().iter().map(|(seen, _)| question(seen)).collect()
    }

    /// The questions, each once, in the order in which they were asked first.
    fn distinct(&self) -> Vec<String> {
        let mut distinct = Vec::new();
        for question in self.questions() {
            if !distinct.contains(&question) {
                distinct.push(question);
            }
        }
        distinct
    }

    /// The task, the records and what is to be sent, without what chance decides.
    async fn end(&self) -> Value {
        let mut records = Vec::new();
        for kind in KINDS {
            records.push(json!(self.client.list(&format!("/api/records/{kind}")).await));
        }
        let outbox = self.client.list("/api/outbox").await;
        let task = ["status", "detectedIntent", "confidence", "planKey", "usage", "state", "result", "waits", "error"];
        let task: Value = task.map(|name| json!([name, self.task[name]])).into_iter().collect();
        without_chance(&json!([task, records, outbox.iter().map(|sent| sent["channel"].clone()).collect::<Vec<_>>()]))
    }

    /// The steps that ended well, and how often.
    async fn steps(&self) -> BTreeMap<String, usize> {
        let log = self.client.get(&format!("/api/tasks/{}/log?limit=200", self.id())).await;
        let completed = log["items"].as_array().unwrap().iter().filter(|entry| entry["eventType"] == "step_completed");
        let mut steps = BTreeMap::new();
        for entry in completed {
            *steps.entry(text(&entry["stepId"])).or_default() += 1;
        }
        steps
    }

    /// What the tenant's budget says: calls and nano-dollars that were used, once nothing is reserved any more.
    async fn spent(&self) -> (usize, u64) {
        until("all calls are settled", || async {
            let budget = &self.client.get("/api/budgets").await["items"][0];
            let of = |what: &str, unit: &str| budget[what][unit].as_u64().unwrap();
            let used = (usize::try_from(of("used", "calls")).unwrap(), of("used", "costNanos"));
            (of("reserved", "calls") == 0).then_some(used)
        })
        .await
    }

    /// Whatever died, it came to the end that it comes to without, and nothing was asked that the journal had answered.
    async fn came_to_the_same_as(&self, undisturbed: &Self) {
        let (asked, distinct) = (self.questions(), undisturbed.distinct());
        assert_eq!(undisturbed.questions(), distinct, "without a kill each is asked once");
        assert_eq!(self.distinct(), distinct, "the same is asked, in the same order");
        assert_eq!(number(&self.site, ANSWERS), distinct.len(), "each answer is journaled once");
        for (n, life) in self.lives.iter().enumerate() {
            let end = self.lives.get(n + 1).map_or(asked.len(), |next| next.first);
            let lived = &asked[life.first..end];
            let open = &distinct[life.known..];
            assert!(
                open.starts_with(lived),
                "life {n} of {} asked what was answered, or one thing twice",
                self.lives.len()
            );
        }
        assert_eq!(self.end().await, undisturbed.end().await);
        assert_eq!(self.steps().await, undisturbed.steps().await);
        assert!(self.steps().await.values().all(|times| *times == 1), "{:?}", self.steps().await);
        self.client.replays(&self.id()).await;
        self.client.audit_is_whole().await;
        self.is_charged_right(undisturbed).await;
    }

    /// The task has used what its answers took, each once. The budget has counted every question, at its estimate where
    /// nobody knows what came of it.
    async fn is_charged_right(&self, undisturbed: &Self) {
        let used = |played: &Self| played.task["usage"].clone();
        assert_eq!(used(self), used(undisturbed));
        let ((calls, cost), (answers, known)) = (self.spent().await, undisturbed.spent().await);
        assert_eq!(known, used(undisturbed)["costNanos"].as_u64().unwrap());
        let (asked, deaths) = (self.questions().len(), self.lives.len() - 1);
        assert!((asked..=asked + deaths).contains(&calls), "{asked} questions, {deaths} deaths, {calls} calls counted");
        let mean = known / u64::try_from(answers).unwrap();
        let least = known + mean * u64::try_from(asked - answers).unwrap();
        assert!(cost >= least, "{cost} of at least {least} nano-dollars are counted");
    }
}

/// What is handed in comes to its end without a death, and to the same with these deaths in each exchange.
async fn dies_asking(
    place: impl Fn() -> Site,
    format: (&str, &str, &str),
    ask: Ask,
    deaths: &'static [Turn],
) -> Played {
    let undisturbed = play(place(), format, ask.clone(), Dying::Never).await;
    let killed = play(place(), format, ask, Dying::Asking(deaths)).await;
    killed.came_to_the_same_as(&undisturbed).await;
    for asked in undisturbed.distinct() {
        let seen = killed.provider.seen();
        let turns: Vec<Turn> = seen.iter().filter(|(seen, _)| question(seen) == asked).map(|(_, turn)| *turn).collect();
        // The last death may have come after the answer was journaled, or before.
        assert!(turns.starts_with(deaths) && turns.len() <= deaths.len() + 1, "{asked}: {turns:?}");
    }
    undisturbed
}

/// Every question of a mail dies at each moment of its exchange, and what follows row by row.
async fn a_mail_dies_everywhere(place: impl Fn() -> Site, format: (&str, &str, &str)) {
    let undisturbed = dies_asking(&place, format, mail(), &DEATHS).await;
    let killed = play(place(), format, mail(), Dying::Writing).await;
    killed.came_to_the_same_as(&undisturbed).await;
}

#[tokio::test]
async fn a_mail_whose_server_dies_at_every_boundary_asks_nothing_twice() {
    a_mail_dies_everywhere(Site::sqlite, FORMATS[2]).await;
}

#[tokio::test]
async fn a_mail_whose_server_dies_at_every_boundary_asks_nothing_twice_on_postgres_either() {
    if Site::postgres().is_some() {
        a_mail_dies_everywhere(|| Site::postgres().unwrap(), FORMATS[1]).await;
    }
}
