//! Every sample, delivered to a running server, reaches its right end.

pub(crate) mod check;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::{Client, Site};

/// A sample as it is delivered, with its right end.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) file: String,
    pub(crate) expected: Value,
    pub(crate) ask: Ask,
}

/// Which task each sample became, by the sample's file.
pub(crate) type Tasks = BTreeMap<String, String>;

/// The folder of the samples.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

/// Every sample of `expected.json`, in its order.
pub(crate) fn all() -> Vec<Sample> {
    let expected: Value = serde_json::from_slice(&fs::read(folder().join("expected.json")).unwrap()).unwrap();
    let samples: Vec<Sample> = expected["samples"].as_array().unwrap().iter().map(sample).collect();
    assert!(samples.len() >= 12);
    samples
}

fn sample(expected: &Value) -> Sample {
    let file = text(&expected["file"]);
    let body = fs::read(folder().join(&file)).unwrap();
    let ask = match file.split_once('/').unwrap() {
        ("mail", _) => Ask::post("/api/inbound/email", "message/rfc822", body),
        ("sms", _) => Ask::post("/api/inbound/sms", "application/x-www-form-urlencoded", body),
        ("webhook", _) => {
            Ask::post("/api/inbound/webhook/forms", "application/json", body).header("x-delivery-id", &file)
        }
        (channel, _) => panic!("no way to deliver {channel}"),
    };
    Sample { file, expected: expected.clone(), ask }
}

/// Somebody with an address, so that there is a person to notify.
pub(crate) async fn hire(client: &Client) {
    let clerk = json!({"name": "Clerk", "email": "clerk@agency.example", "roles": ["operator"]});
    client.post("/api/users", &clerk).await;
}

async fn every_sample_ends_right(site: &Site) {
    let server = site.start();
    let client = server.client();
    hire(&client).await;
    let samples = all();
    let mut tasks = Tasks::new();
    for sample in &samples {
        let received = client.ok(&sample.ask).await;
        let duplicate = sample.expected["duplicateOf"].is_string();
        assert_eq!(received["duplicate"], duplicate, "{}: {received}", sample.file);
        tasks.insert(sample.file.clone(), text(&received["taskId"]));
    }
    check::all(&client, &samples, &tasks).await;
    drop(server);
    // A new process on the same database tells the same.
    check::all(&site.start().client(), &samples, &tasks).await;
}

#[tokio::test]
async fn every_sample_ends_right_on_sqlite() {
    every_sample_ends_right(&Site::sqlite()).await;
}

#[tokio::test]
async fn every_sample_ends_right_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    every_sample_ends_right(&site).await;
}
