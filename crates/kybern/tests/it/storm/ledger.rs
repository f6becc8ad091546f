//! The receiver of the storm's requests, and what its log on the disk says about them afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use kybern_core::time::Millis;
use kybern_testkit::sink::{EffectSink, ReceivedRequest, Reply};
use serde_json::Value;

use crate::server::client::{pause, text};

/// A sink whose log outlives everything that is killed.
pub(super) struct Ledger {
    sink: EffectSink,
    folder: tempfile::TempDir,
}

/// A request, as the log holds it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) key: String,
    pub(super) took_effect: bool,
    pub(super) body: String,
}

impl Ledger {
    /// A receiver that drops repeats of a key, and is slow, unwell or gone every few requests to `/keyed`.
    pub(super) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sink = EffectSink::builder().deduplicating().answering(reply).logging_to(&folder.path().join("log"));
        Self { sink: sink.start().await, folder }
    }

    /// `host:port`.
    pub(super) fn authority(&self) -> String {
        self.sink.authority()
    }

    pub(super) fn url(&self, path: &str) -> String {
        self.sink.url(path)
    }

    /// Waits for a request about an order that is meant.
    pub(super) async fn hears(&self, is_meant: impl Fn(u64) -> bool) {
        // The last line may not be whole yet.
        let orders = || -> Vec<u64> {
            let lines = self.log();
            let lines = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
            lines.map(|line: Value| order(&line)).collect()
        };
        while !orders().into_iter().any(&is_meant) {
            pause(Duration::from_millis(2)).await;
        }
    }

    /// What the log on the disk holds, by the order's number in the body.
    pub(super) fn read(&self) -> BTreeMap<u64, Vec<Line>> {
        let mut lines: BTreeMap<u64, Vec<Line>> = BTreeMap::new();
        for line in self.log().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            lines.entry(order(&line)).or_default().push(Line {
                key: text(&line["key"]),
                took_effect: line["tookEffect"].as_bool().unwrap(),
                body: text(&line["body"]),
            });
        }
        lines
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

/// The number of the order that a line of the log is about.
fn order(line: &Value) -> u64 {
    let body: Value = serde_json::from_str(line["body"].as_str().unwrap()).unwrap();
    body["n"].as_u64().unwrap()
}

/// Requests to `/once` take a moment, so that kills find them on their way.
fn reply(request: &ReceivedRequest) -> Reply {
    match request.n {
        _ if request.path == "/once" => Reply::Late(Millis(80), 200),
        n if n % 11 == 0 => Reply::Close,
        n if n % 7 == 0 => Reply::Status(503, "{}".to_owned()),
        n if n % 2 == 0 => Reply::Late(Millis(40), 200),
        _ => Reply::ok(),
    }
}
