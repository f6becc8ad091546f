//! The suite: two tenants with things, callers of every kind, and the rules that hold for every answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt as _;
use futures::stream;

use crate::server::Client;
use crate::server::client::Ask;
use crate::server::receiver::Receiver;

use super::answer::{Answer, cut, ids_in, is_envelope};
use super::callers::{Caller, Callers};
use super::document::Document;
use super::foreign;
use super::rows::{self, Faults, Input, Row, Who};
use super::things::Things;

/// Stands in every text of the other tenant, and nowhere else.
pub(crate) const THEIR_MARK: &str = "zqforeign";
/// Requests at the same time.
const ABREAST: usize = 12;
/// Faults of one kind that are told; the rest is counted.
const TOLD: usize = 6;

/// The suite at work.
pub(crate) struct Suite {
    pub(crate) document: Document,
    pub(crate) rows: Vec<Row>,
    pub(crate) callers: Callers,
    pub(crate) ours: Things,
    pub(crate) theirs: Things,
    pub(crate) platform: Client,
    url: String,
    http: reqwest::Client,
    /// Every id that the other tenant has and we have not.
    secrets: BTreeSet<String>,
    /// The other tenant, as its admin sees it.
    before: Vec<(String, String)>,
    faults: Mutex<Vec<String>>,
    asked: AtomicUsize,
}

impl Suite {
    /// Makes the tenants and the callers.
    pub(crate) async fn start(url: &str, platform_key: &str, receiver: &Receiver) -> Self {
        let platform = Client::new(url, platform_key);
        let theirs = Things::make(&platform, THEIR_MARK, receiver).await;
        // Under the same idempotency keys, message ids and delivery ids as theirs.
        let ours = Things::make(&platform, "zqours", receiver).await;
        let callers = Callers::of(&platform, &ours).await;
        let document = Document(platform.get("/openapi.json").await);
        let before = foreign::picture(&platform.with_key(&theirs.admin)).await;
        let ids = async |key: &str| -> BTreeSet<String> {
            let picture = foreign::picture(&platform.with_key(key)).await;
            picture.iter().flat_map(|(_, text)| ids_in(text)).collect()
        };
        // A tenant's audit names the platform admin who made it, in both.
        let (mine, makers) = (ids(&ours.admin).await, ids(platform_key).await);
        let all = before.iter().flat_map(|(_, text)| ids_in(text)).chain([theirs.tenant.clone()]);
        let secrets: BTreeSet<String> = all.filter(|id| !makers.contains(id) || *id == theirs.tenant).collect();
        let shared: Vec<&String> = secrets.intersection(&mine).collect();
        assert!(shared.is_empty(), "two tenants have the same things: {shared:?}");
        assert!(secrets.len() > 15, "the other tenant has hardly anything: {secrets:?}");
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let (faults, asked) = (Mutex::default(), AtomicUsize::new(0));
        Self {
            document,
            rows: rows::all(),
            callers,
            ours,
            theirs,
            platform,
            url: url.to_owned(),
            http,
            secrets,
            before,
            faults,
            asked,
        }
    }

    /// The rows are the operations of the document, each once, and the document says the same of their rights.
    pub(crate) fn every_operation_has_a_row(&self) {
        let rows: Vec<(String, String)> =
            self.rows.iter().map(|row| (row.method.to_owned(), row.path.to_owned())).collect();
        let known: BTreeSet<(String, String)> = rows.iter().cloned().collect();
        assert_eq!(known.len(), rows.len(), "an operation has two rows");
        assert_eq!(known, self.document.operations(), "the rows in routes/rows.rs are the operations of the document");
        for row in &self.rows {
            let operation = self.document.operation(row);
            let said = operation["description"].as_str().unwrap_or_default();
            match row.right() {
                Some(right) => self.expect(said.contains(&format!("Needs the right `{right}`.")), || {
                    format!("{}: says {said:?}", row.name())
                }),
                None => self.expect(!said.contains("Needs the right"), || format!("{}: says {said:?}", row.name())),
            }
            let by_key = operation["security"][0].get("key").is_some();
            self.expect(by_key == row.right().is_some(), || {
                format!("{}: its security is not what its row says", row.name())
            });
            assert_eq!(row.names().len(), row.parts.len(), "{}: each varying part is declared", row.name());
            let reads = operation.get("requestBody").is_some();
            assert_eq!(reads, !matches!(row.input, Input::Nothing), "{}: what it reads is declared", row.name());
            let strict = reads && self.document.body(row)["additionalProperties"] == false;
            let declared = matches!(row.input, Input::Json(_, Faults::Refused));
            self.expect(!declared || strict, || format!("{}: takes unknown fields, says the document", row.name()));
        }
    }

    /// Asks, and holds the answer against what goes for every answer. `named` is what the request itself names of the
    /// other tenant's, and so may be repeated to it.
    pub(crate) async fn ask(&self, row: &Row, key: Option<&str>, ask: &Ask, named: &[&str]) -> Answer {
        let mut request = self.http.request(ask.method.clone(), format!("{}{}", self.url, ask.path));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = async {
            let response = request.body(ask.body.clone()).send().await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok::<Answer, reqwest::Error>(Answer { status, headers, body: response.bytes().await?.to_vec() })
        };
        let answer = answer.await.unwrap_or_else(|error| panic!("{} {}: {error:?}", ask.method, ask.path));
        self.hold(row, ask, &answer, named);
        answer
    }

    fn hold(&self, row: &Row, ask: &Ask, answer: &Answer, named: &[&str]) {
        let about =
            |what: &str| format!("{} as {}: {what}: {} {}", row.name(), ask.path, answer.status, cut(&answer.text()));
        self.expect(answer.status < 500, || about("a fault of the server"));
        let responses = &self.document.operation(row)["responses"];
        self.expect(responses.get(answer.status.to_string()).is_some(), || about("a status that is not documented"));
        if answer.status >= 400 {
            self.expect(is_envelope(answer), || about("not the envelope"));
        }
        if row.right() == Some("platform") {
            return;
        }
        let whole = format!("{:?} {}", answer.headers, answer.text());
        let whole = named.iter().fold(whole, |text, name| text.replace(name, "NAMED"));
        let leaked: Vec<String> = ids_in(&whole).filter(|id| self.secrets.contains(id)).collect();
        self.expect(leaked.is_empty(), || about(&format!("leaks {leaked:?}")));
        self.expect(!whole.to_lowercase().contains(THEIR_MARK), || about("leaks the other tenant's mark"));
    }

    /// Records a fault.
    #[track_caller]
    pub(crate) fn expect(&self, holds: bool, about: impl FnOnce() -> String) {
        if !holds {
            let place = std::panic::Location::caller();
            let mut faults = self.faults.lock().unwrap();
            faults.push(format!(
                "{}:{} {}",
                place.file().rsplit('/').next().unwrap_or_default(),
                place.line(),
                about()
            ));
        }
    }

    /// Expects an error of that kind.
    #[track_caller]
    pub(crate) fn refused(&self, answer: &Answer, status: u16, code: &str, about: impl FnOnce() -> String) {
        let holds = answer.status == status && answer.code() == code;
        self.expect(holds, || {
            format!("{}: is {} {}, not {status} {code}", about(), answer.status, cut(&answer.text()))
        });
    }

    /// Does something for each of many, several at a time.
    pub(crate) async fn each<T, F: Future<Output = ()>>(
        &self,
        all: impl IntoIterator<Item = T>,
        act: impl FnMut(T) -> F,
    ) {
        stream::iter(all).map(act).buffer_unordered(ABREAST).collect::<Vec<()>>().await;
    }

    /// The weakest caller who may use a route; nobody where no key is asked for.
    pub(crate) fn able(&self, row: &Row) -> Option<&Caller> {
        row.right().map(|right| self.callers.weakest(right))
    }

    pub(crate) async fn nothing_of_theirs_has_changed(&self) {
        let after = foreign::picture(&self.platform.with_key(&self.theirs.admin)).await;
        for ((path, before), (_, now)) in self.before.iter().zip(&after) {
            self.expect(before == now, || format!("the other tenant's {path} has changed\nfrom {before}\nto   {now}"));
        }
        self.expect(after.len() == self.before.len(), || "the other tenant has more or less than before".to_owned());
        for things in [&self.theirs, &self.ours] {
            self.platform.with_key(&things.admin).audit_is_whole().await;
        }
    }

    /// Tells what was wrong.
    pub(crate) fn finish(self) {
        let (faults, asked) = (self.faults.into_inner().unwrap(), self.asked.into_inner());
        println!("{asked} requests, {} faults", faults.len());
        let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for fault in &faults {
            kinds.entry(fault.split(' ').next().unwrap_or_default()).or_default().push(fault);
        }
        let told: Vec<&str> = kinds.values().flat_map(|kind| kind.iter().take(TOLD).copied()).collect();
        assert!(faults.is_empty(), "{} faults in {asked} requests:\n{}", faults.len(), told.join("\n"));
    }
}

impl Row {
    /// A request to that path which is right in everything but who asks.
    pub(crate) fn good(&self, path: &str, things: &Things, n: u32) -> Ask {
        let ask = self.bare(path);
        match self.input {
            Input::Nothing => ask,
            Input::Json(good, _) => with_body(ask, "application/json", good(things, n).to_string()),
            Input::Other(kind, good) => with_body(ask, kind, good(n)),
        }
    }

    /// A request that nothing is done for, whoever asks: its body is broken, or its path leads nowhere.
    pub(crate) fn bad(&self, things: &Things) -> Ask {
        let path = self.path_with(|part| part.unknown().unwrap_or_else(|| part.value(things)));
        match self.input {
            Input::Nothing => self.bare(&path),
            Input::Json(..) | Input::Other(..) => with_body(self.bare(&path), "application/json", "{broken"),
        }
    }

    /// A request without a body.
    pub(crate) fn bare(&self, path: &str) -> Ask {
        let method = reqwest::Method::from_bytes(self.method.as_bytes()).unwrap();
        let ask = Ask { method, path: path.to_owned(), headers: Vec::new(), body: Vec::new() };
        if self.who == Who::Secret { ask.header("x-callback-secret", "guessed") } else { ask }
    }
}

/// The same request with that body; without a type none is declared.
pub(crate) fn with_body(ask: Ask, kind: &str, body: impl Into<Vec<u8>>) -> Ask {
    let ask = if kind.is_empty() { ask } else { ask.header("content-type", kind) };
    Ask { body: body.into(), ..ask }
}
