//! What a task's log tells about its steps.

use std::collections::BTreeMap;

use crate::server::Client;
use crate::server::client::text;

/// A task's log, counted.
#[derive(Debug)]
pub(super) struct Told {
    /// How often each step ended well.
    pub(super) completed: BTreeMap<String, usize>,
    /// Tries that failed and were followed by another.
    pub(super) tries: usize,
    /// Workers that died with it.
    pub(super) deaths: usize,
    /// Whether a person let a request be sent again.
    pub(super) possible_duplicate: bool,
}

impl Told {
    /// Reads it.
    pub(super) async fn of(client: &Client, id: &str) -> Self {
        let log = client.get(&format!("/api/tasks/{id}/log?limit=200")).await;
        let log = log["items"].as_array().unwrap();
        let of = |kind: &str| log.iter().filter(|entry| entry["eventType"] == kind).collect::<Vec<_>>();
        let mut completed = BTreeMap::new();
        for entry in of("step_completed") {
            *completed.entry(text(&entry["stepId"])).or_default() += 1;
        }
        let deaths = of("zombie_reset").iter().filter_map(|entry| entry["metadata"]["recoveries"].as_u64()).max();
        Self {
            completed,
            tries: of("step_failed").iter().filter(|entry| entry["metadata"]["willRetryAt"].is_string()).count(),
            deaths: deaths.map_or(0, |deaths| usize::try_from(deaths).unwrap()),
            possible_duplicate: log.iter().any(|entry| entry["metadata"]["possibleDuplicate"] == true),
        }
    }

    /// Exactly these steps ended well, each once.
    pub(super) fn each_step_once(&self, steps: &[&str]) {
        let mut expected: Vec<(&str, usize)> = steps.iter().map(|step| (*step, 1)).collect();
        expected.sort_unstable();
        let found: Vec<(&str, usize)> = self.completed.iter().map(|(step, count)| (step.as_str(), *count)).collect();
        assert_eq!(found, expected);
    }
}
