//! Every route that reads JSON, with a caller who may use it: whatever the body is, it is taken or refused with a code,
//! never an error of ours and never without an answer. What was taken can be read again: the tenant's lists are read
//! before the application is replaced.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kybern_core::time::Millis;
use kybern_server::router::Route;
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cases::{Case, Input};
use crate::fixture::Fixture;
use crate::harness::{App, Ask};
use crate::routes::{allowed, routed};

/// Bodies that one application sees, so that its memory stays small.
const MOST: u32 = 200;
/// No route takes longer, whatever it is told.
const PATIENCE: Duration = Duration::from_secs(30);
const TEXTS: &[&str] = &[
    "{{ state.x }}",
    "{{ 'x' * 100000 }}",
    "[[[[",
    "../../etc/passwd",
    "00000000-0000-0000-0000-000000000000",
    "0 0 31 2 *",
    "*/0 * * * *",
    "PT99999999H",
    "9999-12-31T23:59:59Z",
    "http://[::ffff:127.0.0.1]:1/",
    "https://example.com:99999/",
    "sk-\u{0}",
    "(a+)+$",
    "#/$defs/a",
    "base64,AAAA",
    "admin",
    "core.noop",
    "\u{202e}",
];
/// What is read in the end.
const LISTS: &[&str] = &["/api/tasks", "/api/plans", "/api/agents", "/api/approvals", "/api/users", "/api/keys"];

/// The routes, in an order that an input can name.
fn doors() -> Vec<(Route, Case)> {
    let json = |case: &Case| matches!(case.input, Input::Json { .. });
    routed().into_iter().filter(|(_, case)| json(case)).collect()
}

fn good(case: &Case) -> Value {
    match &case.input {
        Input::Json { good, .. } => good.clone(),
        Input::None | Input::Other(..) => Value::Null,
    }
}

/// The names of all members of all good bodies.
fn names(value: &Value, found: &mut Vec<&'static str>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if !found.contains(&name.as_str()) {
                    found.push(Box::leak(name.clone().into_boxed_str()));
                }
                names(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

/// An application with one thing of each kind.
pub(super) struct House {
    pub(super) app: App,
    pub(super) fixture: Fixture,
    asked: u32,
}

impl House {
    async fn new() -> Self {
        let app = App::start().await;
        let fixture = Fixture::of(&app, &app.ours).await;
        Self { app, fixture, asked: 0 }
    }

    async fn ask(&mut self, about: &str, ask: Ask) -> Result<(), String> {
        self.asked += 1;
        let sent = self.app.send(ask);
        let answer = tokio::time::timeout(PATIENCE, sent).await.map_err(|_| format!("{about} gives no answer"))?;
        let told = serde_json::from_slice::<Value>(&answer.body);
        match (answer.status, told) {
            (500.., _) => Err(format!("{about}: {} {}", answer.status, answer.text())),
            (400.., Ok(told)) if told["error"]["code"].is_string() || told["error"]["type"].is_string() => Ok(()),
            (400.., _) if about.ends_with(" /mcp") => Ok(()),
            (400.., _) => Err(format!("{about}: an error without a code: {}", answer.text())),
            _ => Ok(()),
        }
    }

    /// Reads what is there by now.
    async fn read(&self) -> Result<(), String> {
        for list in LISTS {
            let answer = self.app.send(Ask::get(list).key(&self.app.ours.admin)).await;
            if answer.status >= 500 {
                return Err(format!("GET {list} after all that: {}", answer.text()));
            }
        }
        Ok(())
    }
}

/// Sends each input to an application, as `asks` says.
pub(super) fn housed(
    asks: impl Fn(&House, &[u8]) -> Option<(String, Ask)> + Send + Sync + 'static,
) -> impl Fn(&[u8]) -> Result<(), String> + Send + Sync + 'static {
    let (runtime, house) = (Runtime::new().unwrap(), Mutex::new(None::<House>));
    move |input| {
        let mut held = house.lock().unwrap_or_else(PoisonError::into_inner);
        runtime.block_on(async {
            if let Some(worn) = held.take_if(|house| house.asked > MOST) {
                worn.read().await?;
                // An engine that works keeps itself in memory.
                worn.app.engine.drain(Millis(0)).await;
            }
            if held.is_none() {
                *held = Some(House::new().await);
            }
            let house = held.as_mut().unwrap();
            let Some((about, ask)) = asks(house, input) else { return Ok(()) };
            let outcome = house.ask(&about, ask).await;
            if outcome.is_err() {
                *held = None;
            }
            outcome
        })
    }
}

#[test]
fn doors_of_json() {
    let doors = Arc::new(doors());
    let goods: Vec<Value> = doors.iter().map(|(_, case)| good(case)).collect();
    let mut known = Vec::new();
    goods.iter().for_each(|good| names(good, &mut known));
    let written = |(door, good): (usize, &Value)| [vec![u8::try_from(door).unwrap()], good.to_string().into()].concat();
    let seeds: Vec<Vec<u8>> = goods.iter().enumerate().map(written).collect();
    let make = move |chance: &Chance| {
        let door = chance.index(goods.len());
        let (mut body, other) = (goods[door].clone(), chance.one(&goods).clone());
        for _ in 0..=chance.below(4) {
            damage::mutate(&mut body, &other, &known, TEXTS, chance);
        }
        written((door, &body))
    };
    let asks = move |house: &House, input: &[u8]| {
        let (door, body) = input.split_first()?;
        let (route, case) = &doors[usize::from(*door) % doors.len()];
        let ask = Ask::new(case.route.0, &case.path(&house.fixture)).body("application/json", body.to_vec());
        let about = format!("{} {}", case.route.0, case.route.1);
        Some((about, allowed(ask, route.access, &house.app.ours)))
    };
    Target::new("doors", 3_000, housed(asks))
        .seeds(seeds)
        .words(&["null", "true", "-1", "1e999", "\\u0000", "\\ud800", "{", "}", "[", "]", ",", "\"\"", "[[[[[[[["])
        .made_by(make)
        .within_megabytes(768)
        .play();
}
