//! Bodies, from the schemas of the document: none, no JSON, the wrong type in every place, unknown and missing
//! members, too large.

use serde_json::{Value, json};

use crate::server::client::Ask;

use super::ids::fill;
use super::rows::{Faults, Input, Row};
use super::suite::{Suite, with_body};
use super::{MAX_BODY, MAX_MAIL};

/// A bad body, and what has to be answered.
struct Bad<'a> {
    row: &'a Row,
    about: String,
    kind: &'static str,
    body: Vec<u8>,
    status: u16,
    /// The place that is to be named; any when `None`.
    place: Option<String>,
}

/// Every body of every operation, wrong in every way.
pub(crate) async fn bad_bodies_are_refused_with_the_place(suite: &Suite) {
    let all: Vec<Bad<'_>> = suite.rows.iter().flat_map(|row| bad(suite, row)).collect();
    suite.expect(all.len() > 200, || format!("the document gives only {} bad bodies", all.len()));
    suite
        .each(all, async |bad| {
            let ask = with_body(bare(bad.row, suite), bad.kind, bad.body);
            let key = suite.able(bad.row).map(|caller| caller.key.as_str());
            let answer = suite.ask(bad.row, key, &ask, &[]).await;
            let about = || format!("{}: {}", bad.row.name(), bad.about);
            if bad.status == 200 {
                suite.expect(answer.json()["valid"] == false, || format!("{}: {}", about(), answer.text()));
            }
            suite.expect(answer.status == bad.status, || format!("{}: {} {}", about(), answer.status, answer.text()));
            if let Some(place) = &bad.place {
                let named = answer.places().iter().any(|found| found.starts_with(place.as_str()));
                suite.expect(named, || {
                    format!("{}: names {:?}, not {place}: {}", about(), answer.places(), answer.text())
                });
            }
        })
        .await;
}

fn bare(row: &Row, suite: &Suite) -> Ask {
    row.bare(&fill(row, &suite.ours))
}

fn bad<'a>(suite: &Suite, row: &'a Row) -> Vec<Bad<'a>> {
    let mut all = Vec::new();
    let mut add = |about: String, kind: &'static str, body: Vec<u8>, status: u16, place: Option<String>| {
        all.push(Bad { row, about, kind, body, status, place });
    };
    match row.input {
        Input::Nothing => {}
        Input::Other(kind, _) => {
            let limit = if kind == "message/rfc822" { MAX_MAIL } else { MAX_BODY };
            add("nothing".into(), kind, Vec::new(), 400, None);
            add("declared as JSON".into(), "application/json", b"{}".to_vec(), 400, None);
            add("zeros".into(), kind, vec![0; 40], 400, None);
            add("too large".into(), kind, vec![b' '; limit + 1], 413, None);
        }
        Input::Json(good, faults) => {
            let json = "application/json";
            let good = good(&suite.ours, 3);
            let broken =
                [("cut", "{\"a\": "), ("no JSON", "nope"), ("a mark before it", "\u{feff}{}"), ("two", "{} {}")];
            for (about, text) in broken {
                add(about.to_owned(), json, text.into(), 400, None);
            }
            add("no UTF-8".into(), json, b"{\"a\": \"\xff\"}".to_vec(), 400, None);
            add(
                "too deep".into(),
                json,
                format!("{{\"x\":{}{}}}", "[".repeat(5000), "]".repeat(5000)).into(),
                400,
                None,
            );
            add("declared as text".into(), "text/plain", good.to_string().into(), 400, None);
            add("too large".into(), json, vec![b' '; MAX_BODY + 1], 413, None);
            if suite.document.needs_body(row) {
                add("nothing".into(), json, Vec::new(), 400, None);
                add("spaces".into(), json, b" \r\n".to_vec(), 400, None);
            }
            if faults == Faults::None {
                return all;
            }
            for (about, text) in [("null", "null"), ("a list", "[]"), ("a text", "\"a\""), ("a number", "7")] {
                add(about.to_owned(), json, text.into(), 400, None);
            }
            let unknown_is_refused = faults != Faults::Lenient;
            for (about, body, place) in misshapen(suite, row, &good, unknown_is_refused) {
                let status = match faults {
                    Faults::Listed => 422,
                    Faults::Answered => 200,
                    Faults::Refused | Faults::Lenient | Faults::None => 400,
                };
                add(about, json, body.to_string().into(), status, Some(place));
            }
        }
    }
    all
}

/// JSON objects that do not fit the schema: what is wrong, the object, the place.
fn misshapen(suite: &Suite, row: &Row, good: &Value, unknown_is_refused: bool) -> Vec<(String, Value, String)> {
    let schema = suite.document.body(row);
    let with = |name: &str, value: &Value| {
        let mut body = good.clone();
        body[name] = value.clone();
        body
    };
    let mut all = Vec::new();
    if unknown_is_refused {
        all.push(("an unknown member".to_owned(), with("surprise", &json!(1)), "/surprise".to_owned()));
    }
    for needed in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(needed);
        all.push((format!("no {needed}"), body, format!("/{needed}")));
    }
    for wrong in suite.document.wrong(schema) {
        let name = wrong.place.trim_start_matches('/');
        let shown: String = wrong.value.to_string().chars().take(60).collect();
        all.push((format!("{name} is {shown}"), with(name, &wrong.value), wrong.place.clone()));
    }
    all
}
