//! What tasks came to, compared with the samples' right ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use serde_json::Value;

use super::{Sample, Tasks};
use crate::server::Client;
use crate::server::client::text;

/// Compares every sample with its task, and the tenant's records and messages with all of them together. Fails with
/// everything that is wrong.
pub(crate) async fn all(client: &Client, samples: &[Sample], tasks: &Tasks) {
    let mut faults = Vec::new();
    for sample in samples {
        let task = client.rest(&tasks[&sample.file]).await;
        let mut look = Look { client, file: &sample.file, expected: &sample.expected, task, faults: &mut faults };
        match sample.expected["duplicateOf"].as_str() {
            Some(first) => look.same("task", &tasks[&sample.file], &tasks[first]),
            None => look.records().await,
        }
        look.status();
        look.wait();
        // Of a task that failed there is nothing to look at.
        if look.task["status"] == look.expected["status"] {
            look.findings().await;
        }
        if look.task["status"] == "completed" {
            client.replays(&tasks[&sample.file]).await;
        }
    }
    let distinct: BTreeSet<&String> = tasks.values().collect();
    let duplicates = samples.iter().filter(|sample| sample.expected["duplicateOf"].is_string()).count();
    compare(&mut faults, "all", "tasks", &distinct.len(), &(samples.len() - duplicates));
    compare(&mut faults, "all", "tasks of the tenant", &client.list("/api/tasks").await.len(), &distinct.len());
    totals(client, samples, &mut faults).await;
    messages(client, samples, tasks, &mut faults).await;
    client.audit_is_whole().await;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The tenant holds what the samples make one by one, and nothing twice.
async fn totals(client: &Client, samples: &[Sample], faults: &mut Vec<String>) {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for (kind, count) in samples.iter().filter_map(|sample| sample.expected["records"].as_object()).flatten() {
        *expected.entry(kind.clone()).or_default() += count.as_u64().unwrap();
    }
    let kinds = client.get("/api/records").await;
    let found: BTreeMap<String, u64> = kinds["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (text(&item["kind"]), item["count"].as_u64().unwrap()))
        .collect();
    compare(faults, "all", "records", &found, &expected);
    for kind in expected.keys() {
        let records = client.list(&format!("/api/records/{kind}")).await;
        let keys: BTreeSet<String> = records.iter().map(|record| text(&record["key"])).collect();
        compare(faults, "all", &format!("different keys of {kind}"), &keys.len(), &records.len());
    }
}

/// No task notifies twice, and a new lead notifies the clerk who got it.
async fn messages(client: &Client, samples: &[Sample], tasks: &Tasks, faults: &mut Vec<String>) {
    let outbox = client.list("/api/outbox").await;
    let keys: BTreeSet<String> = outbox.iter().map(|message| text(&message["key"])).collect();
    compare(faults, "all", "different messages", &keys.len(), &outbox.len());
    for sample in samples.iter().filter(|sample| sample.expected["duplicateOf"].is_null()) {
        let of_task = outbox.iter().filter(|message| message["taskId"] == tasks[&sample.file].as_str());
        let mails: Vec<String> =
            of_task.filter(|message| message["channel"] == "email").map(|mail| text(&mail["target"])).collect();
        let lead = sample.expected["intent"] == "insurance.new_lead" && sample.expected["status"] == "completed";
        if lead {
            compare(faults, &sample.file, "notifications", &mails, &vec!["clerk@agency.example".to_owned()]);
        } else if mails.len() > 1 {
            faults.push(format!("{}: it notified {mails:?}", sample.file));
        }
    }
}

fn compare<T: PartialEq + Debug>(faults: &mut Vec<String>, file: &str, what: &str, found: &T, expected: &T) {
    if found != expected {
        faults.push(format!("{file}: {what}: found {found:?}, expected {expected:?}"));
    }
}

fn texts(values: &Value) -> BTreeSet<String> {
    values.as_array().into_iter().flatten().map(text).collect()
}

/// One sample and its task.
struct Look<'a> {
    client: &'a Client,
    file: &'a str,
    expected: &'a Value,
    task: Value,
    faults: &'a mut Vec<String>,
}

impl Look<'_> {
    fn same<T: PartialEq + Debug>(&mut self, what: &str, found: &T, expected: &T) {
        compare(self.faults, self.file, what, found, expected);
    }

    fn status(&mut self) {
        for (name, key) in [("status", "status"), ("channel", "channel")] {
            self.same(name, &self.task[key].clone(), &self.expected[key].clone());
        }
        if self.task["status"] == "failed" {
            self.faults.push(format!("{}: failed: {}", self.file, text(&self.task["errorMessage"])));
        }
        self.same("intent", &self.task["detectedIntent"].clone(), &self.expected["intent"].clone());
        if self.expected["waitKind"] == "intent" {
            self.same("plan", &self.task["selectedPlan"].clone(), &Value::Null);
        }
        if self.expected["status"] == "completed" {
            self.same("waits", &self.task["waits"].as_array().map_or(0, Vec::len), &0);
        }
    }

    fn wait(&mut self) {
        let Some(expected) = self.expected["waitKind"].as_str() else { return };
        let waits = self.task["waits"].as_array().cloned().unwrap_or_default();
        self.same("number of waits", &waits.len(), &1);
        let Some(wait) = waits.first() else { return };
        let kind = text(&wait["kind"]);
        self.same("what it waits for", &kind.as_str(), &expected);
        let reason = text(&wait["reason"]);
        self.same("whether a reason is given", &reason.trim().is_empty(), &false);
        let named: BTreeSet<String> =
            wait["details"]["files"].as_array().into_iter().flatten().map(|file| text(&file["filename"])).collect();
        self.same("files that are waited for", &named, &texts(&self.expected["waitNames"]));
        for file in named.iter().filter(|file| !reason.contains(*file)) {
            self.faults.push(format!("{}: the reason does not name {file}: {reason}", self.file));
        }
    }

    /// What the sample created, by kind.
    async fn records(&mut self) {
        let links = self.client.get(&format!("/api/tasks/{}/artifacts", text(&self.task["id"]))).await;
        let mut created: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for link in links["items"].as_array().unwrap().iter().filter(|link| link["role"] == "created") {
            created.entry(text(&link["kind"])).or_default().insert(text(&link["recordId"]));
        }
        let counts: BTreeMap<String, u64> =
            created.into_iter().map(|(kind, ids)| (kind, u64::try_from(ids.len()).unwrap())).collect();
        let expected = self.expected["records"].as_object().cloned().unwrap_or_default();
        let expected = expected.into_iter().map(|(kind, count)| (kind, count.as_u64().unwrap())).collect();
        self.same("created records", &counts, &expected);
    }

    /// What was understood: in the records, and in the task's state.
    async fn findings(&mut self) {
        if let Some(expected) = self.expected["entity"].as_object() {
            let entity = self.record("network.entity", &self.task["result"]["entity_id"].clone()).await;
            let props = &entity["props"];
            let identifier = |kind: &str| {
                let all = props["identifiers"].as_array().into_iter().flatten();
                all.filter(|one| one["type"] == kind).map(|one| one["value"].clone()).next().unwrap_or_default()
            };
            let found =
                [("name", props["name"].clone()), ("dotNumber", identifier("DOT")), ("mcNumber", identifier("MC"))];
            for (name, value) in found {
                self.same(name, &value, &expected.get(name).cloned().unwrap_or_default());
            }
        }
        if self.expected["policies"].is_array() {
            self.policies().await;
        }
        if let Some(expected) = self.expected["vins"].as_array() {
            let expected: BTreeSet<_> = expected.iter().map(|vin| (text(&vin["vin"]), vin["valid"] == true)).collect();
            let found = self.task["state"]["extracted_vehicles"].as_array().into_iter().flatten();
            let found: BTreeSet<_> = found.map(|one| (text(&one["vin"]), one["valid"] == true)).collect();
            self.same("VINs", &found, &expected);
        }
    }

    async fn policies(&mut self) {
        let shape = |policy: &Value, number: &str| {
            let value = |name: &str| text(&policy[name]);
            (value(number), (value("insurer"), texts(&policy["lines"]), value("effective"), value("expiration")))
        };
        let expected = self.expected["policies"].as_array().unwrap();
        let expected: BTreeMap<_, _> = expected.iter().map(|policy| shape(policy, "policyNumber")).collect();
        let mut found = BTreeMap::new();
        for id in self.ids("policy_ids") {
            let policy = self.record("insurance.policy", &id).await;
            self.same("policy's entity", &policy["props"]["entity_id"].clone(), &self.result("entity_id"));
            found.extend([shape(&policy["props"], "policy_number")]);
        }
        self.same("policies", &found, &expected);
        let mut insurers = Vec::new();
        for id in self.ids("request_ids") {
            let request = self.record("insurance.loss_run_request", &id).await;
            self.same("request's deal", &request["props"]["deal_id"].clone(), &self.result("deal_id"));
            insurers.push(text(&request["props"]["insurer"]));
        }
        insurers.sort();
        let expected: Vec<String> = texts(&self.expected["insurers"]).into_iter().collect();
        self.same("insurers", &insurers, &expected);
    }

    fn result(&self, name: &str) -> Value {
        self.task["result"][name].clone()
    }

    fn ids(&self, name: &str) -> Vec<Value> {
        self.result(name).as_array().cloned().unwrap_or_default()
    }

    async fn record(&self, kind: &str, id: &Value) -> Value {
        self.client.get(&format!("/api/records/{kind}/{}", text(id))).await
    }
}
