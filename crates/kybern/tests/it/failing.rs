//! Providers that fail again and again: what is asked of them stays near what callers asked, every call ends with a
//! reason, and none of it is lost to the accounts.

use futures::future::join_all;
use kybern_adapters::models::quirks::ProviderKind;
use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::receiver::{Receiver, Seen};
use crate::server::{Client, Server, Site};

/// Calls of a storm, and how many at a time.
const CALLS: usize = 100;
const AT_A_TIME: usize = 10;
/// A fifth more than callers asked for is what tries may add.
const MOST: usize = CALLS * 6 / 5;

/// Every kind of provider; between them they speak all wire formats.
fn kinds() -> impl Iterator<Item = &'static str> {
    ProviderKind::ALL.into_iter().map(ProviderKind::as_str)
}

/// A server whose providers, one of each kind, are all at that address: each under a path of its own.
fn asking(site: &Site, provider: &Receiver) -> Server {
    let providers: String = kinds()
        .map(|kind| {
            format!(
                "[providers.{kind}]\nkind = \"{kind}\"\nbase_url = \"{}\"\napi_key = \"none\"\n\
                 models = [{{ name = \"m\", input_price = 1000000, output_price = 2000000 }}]\n",
                provider.url(&format!("/{kind}/v1"))
            )
        })
        .collect();
    site.file("kybern.toml", format!("[egress]\nallow = [\"{}\"]\n{providers}", provider.address()));
    site.start()
}

/// A hundred questions to one model, ten at a time: the status and the code of each.
async fn storm(client: &Client, kind: &str, streams: bool) -> Vec<(u16, String)> {
    let body = json!({"model": format!("{kind}/m"), "stream": streams, "max_tokens": 20,
        "messages": [{"role": "user", "content": "How many boxes?"}]});
    let ask = Ask::json("/v1/chat/completions", &body);
    let one = async || {
        let mut answers = Vec::new();
        for _ in 0..CALLS / AT_A_TIME {
            let (status, body) = client.send(&ask).await;
            answers.push((status.as_u16(), text(&body["error"]["code"])));
        }
        answers
    };
    join_all((0..AT_A_TIME).map(|_| one())).await.concat()
}

fn asked(seen: &[Seen], kind: &str) -> usize {
    seen.iter().filter(|seen| seen.path.starts_with(&format!("/{kind}/"))).count()
}

/// The answer of a provider that has no time, or is broken, in words that every format has.
fn failing(status: u16) -> Receiver {
    Receiver::answering(move |_, _| Some((status, json!({"error": {"message": "not now", "type": "overloaded"}}))))
}

async fn no_storm_grows(status: u16, streams: bool, code: &str) {
    let (provider, site) = (failing(status), Site::sqlite());
    let server = asking(&site, &provider);
    let client = server.client();
    let budget = json!({"subject": {"type": "tenant"}, "period": "day", "calls": 1_000_000});
    let budget = text(&client.post("/api/budgets", &budget).await["id"]);
    for kind in kinds() {
        let answers = storm(&client, kind, streams).await;
        let odd: Vec<_> = answers.iter().filter(|(_, said)| said != code && said != "MODEL_ERROR").collect();
        assert!(answers.len() == CALLS && odd.is_empty(), "{kind}: {odd:?}");
        assert!(answers.iter().any(|(_, said)| said == code), "{kind}: {:?}", answers.first());
        let asked = asked(&provider.seen(), kind);
        assert!((1..=MOST).contains(&asked), "{kind} was asked {asked} times for {CALLS} calls");
    }
    // Refused calls cost nothing, and nothing stays reserved for them.
    let stands = crate::server::client::until("everything is given back", || async {
        let budget: Value = client.get(&format!("/api/budgets/{budget}")).await;
        (budget["reserved"]["calls"] == 0).then_some(budget)
    })
    .await;
    assert_eq!(stands["used"]["costNanos"], 0, "{stands}");
}

#[tokio::test]
async fn a_storm_of_429_does_not_grow_at_any_kind_of_provider() {
    no_storm_grows(429, false, "RATE_LIMITED").await;
}

#[tokio::test]
async fn a_storm_of_500_does_not_grow_at_any_kind_of_provider() {
    no_storm_grows(500, false, "MODEL_ERROR").await;
}

#[tokio::test]
async fn a_storm_of_503_does_not_grow_when_streams_are_asked_for() {
    no_storm_grows(503, true, "MODEL_ERROR").await;
}
