//! The gateway: OpenAI's API before a model that answers at once, beside the floor before the same one, in one run.
//! Keys, policy, a budget, the audit and the ledger are on, and what is reserved is on the disk before a model is asked.

use serde_json::{Value, json};

use crate::kit::{self, Load, Process, Server, Site, Target};
use crate::table::{at_least, at_most, line};
use crate::{Bench, in_process};

/// Clients at a time.
const CLIENTS: usize = 32;
/// How often the three are measured in turn; the medians count.
const ROUNDS: usize = 3;
/// The last word of every answer: one that was cut is an error.
const LAST_WORD: &str = "w31";
/// What is paid for a million tokens, in nano-dollars, so that the budget is one of money.
const PRICE: i64 = 150_000_000;

/// The model, the floor and the server.
struct Place {
    model: (Process, String),
    floor: (Process, String),
    server: Server,
}

/// What was measured of the three.
struct Three {
    model: Load,
    floor: Load,
    ours: Load,
}

fn body(model: &str, streams: bool) -> String {
    let mut body = json!({"model": model, "messages": [{"role": "user", "content": "hello"}]});
    if streams {
        body["stream"] = Value::Bool(true);
    }
    body.to_string()
}

impl Place {
    fn new(bench: &Bench) -> Self {
        let model = kit::model();
        let floor = kit::floor(&bench.folder, Some(&format!("{}/v1", model.1)));
        let settings = format!(
            "[providers.mock]\nkind = \"custom\"\nbase_url = \"{}/v1\"\n\
             models = [{{ name = \"plain\", input_price = {PRICE}, output_price = {PRICE} }}]\n",
            model.1
        );
        std::fs::write(bench.folder.join("kybern.toml"), settings).unwrap();
        let server = Site::new(&bench.folder, "sqlite:gateway.db").start();
        // So much money that it lasts, and a row that every call is held against.
        let budget = json!({"subject": {"type": "tenant"}, "period": "day", "costNanos": 1_000_000_000_000_000_i64});
        server.client().post("/api/budgets", &budget);
        Self { model, floor, server }
    }

    /// Each of the three in turn, so often, and the medians.
    fn measure(&self, streams: bool, clients: usize, seconds: u64) -> Three {
        let (plain, ours) = (body("plain", streams), body("mock/plain", streams));
        let path = "/v1/chat/completions";
        let [model, floor, server] = [&self.model.1, &self.floor.1, &self.server.url].map(|url| format!("{url}{path}"));
        let target = |url, key, body, pid| Target { url, each: "", key, body, expect: LAST_WORD, streams, pid };
        let targets = [
            target(&model, None, &plain, self.model.0.id()),
            target(&floor, None, &plain, self.floor.0.id()),
            target(&server, Some(self.server.key.as_str()), &ours, self.server.process.id()),
        ];
        let rounds: Vec<[Load; 3]> =
            (0..ROUNDS).map(|_| targets.map(|target| kit::drive(&target, clients, seconds))).collect();
        let [model, floor, ours] = [0, 1, 2].map(|which| kit::median(&rounds, which));
        Three { model, floor, ours }
    }
}

/// Everything about the gateway, and a call of a tool.
pub(crate) fn measure(bench: &Bench) {
    let place = Place::new(bench);
    let commit = kit::floor_of_one_client(&bench.folder, 1, bench.seconds);
    line("a commit of one row, one client: p50", &format!("{commit:.3} ms"), "", None);
    let peaks =
        [one_client(&place, bench, commit), many(&place, bench)].into_iter().chain(streams(&place, bench, commit));
    at_most("gateway: resident memory, the highest of all these", peaks.fold(0.0, f64::max), "MB", 60.0);
    at_most("a call of a local tool in a task, beside its commit", in_process::tool_call(bench) * 1_000.0, "µs", 100.0);
}

fn one_client(place: &Place, bench: &Bench, commit: f64) -> f64 {
    let Three { model, floor, ours } = place.measure(false, 1, bench.seconds);
    let [least, added] = [&floor, &ours].map(|load| load.p50 - model.p50);
    let goal = least.mul_add(3.0, commit);
    let goal_text = format!("at most {goal:.3} ms: 3 × the floor's {least:.3} ms and a commit of {commit:.3} ms");
    line("gateway, 1 client: p50 added to the model's", &format!("{added:.3} ms"), &goal_text, Some(added <= goal));
    ours.peak_mb
}

fn many(place: &Place, bench: &Bench) -> f64 {
    let Three { floor, ours, .. } = place.measure(false, CLIENTS, bench.seconds);
    let measured = format!(
        "{:.0} of {:.0} requests/s; p50 {:.2} of {:.2} ms, p99 {:.2} of {:.2} ms; {:.2} KB written a request",
        ours.per_second,
        floor.per_second,
        ours.p50,
        floor.p50,
        ours.p99,
        floor.p99,
        ours.written / 1_024.0
    );
    line(&format!("gateway, {CLIENTS} clients: ours of the floor's"), &measured, "", None);
    at_least("gateway: share of the floor's rate", ours.per_second / floor.per_second * 100.0, "%", 25.0);
    at_most("gateway: CPU a request", ours.cpu_ms, "ms", 0.15);
    ours.peak_mb
}

fn streams(place: &Place, bench: &Bench, commit: f64) -> [f64; 2] {
    let alone = place.measure(true, 1, bench.seconds);
    let later = alone.ours.first - alone.model.first;
    let goal = 0.25 + commit;
    let goal_text = format!("at most {goal:.3} ms: 0.25 ms and a commit of {commit:.3} ms");
    line(
        "gateway, streams of 32 tokens, 1 client: first token later than the model's, p50",
        &format!("{later:.3} ms"),
        &goal_text,
        Some(later <= goal),
    );
    let Three { floor, ours, .. } = place.measure(true, CLIENTS, bench.seconds);
    let measured = format!(
        "{:.0} of {:.0} streams/s; p50 {:.2} of {:.2} ms; CPU {:.3} of {:.3} ms a stream",
        ours.per_second, floor.per_second, ours.p50, floor.p50, ours.cpu_ms, floor.cpu_ms
    );
    line(&format!("gateway, streams of 32 tokens, {CLIENTS} clients: ours of the floor's"), &measured, "", None);
    at_least("gateway: share of the floor's streams", ours.per_second / floor.per_second * 100.0, "%", 60.0);
    [alone.ours.peak_mb, ours.peak_mb]
}
