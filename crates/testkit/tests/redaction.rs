//! Planted secrets against the redactor itself; the server's own tests plant them in a running server.

use std::collections::HashSet;

use kybern_core::policy::redact::{redact_text, redact_value};
use kybern_testkit::plants::planted;
use serde_json::{Value, json};

#[test]
fn every_plant_is_taken_out_of_texts_and_values() {
    let plants = planted(2_000);
    let secrets: HashSet<&str> = plants.iter().map(|plant| plant.secret.as_str()).collect();
    assert_eq!(secrets.len(), plants.len(), "each is planted once");
    let mut found = Vec::new();
    for plant in &plants {
        assert!(plant.text.contains(&plant.secret), "{plant:?}");
        let clean = redact_text(&plant.text);
        let mut value =
            json!({"a": [{"b": plant.text}], &plant.text: 1, "line": format!("2026 INFO x: {}\n", plant.text)});
        redact_value(&mut value);
        let mut parsed: Value = serde_json::from_str(&plant.text).unwrap_or_default();
        redact_value(&mut parsed);
        for left in [clean.as_ref(), &value.to_string(), &parsed.to_string()] {
            if left.contains(&plant.secret) {
                found.push(format!("{plant:?}\n   {left}"));
            }
        }
        assert_eq!(redact_text(&clean), clean, "{plant:?}");
    }
    assert!(found.is_empty(), "{} left, such as\n{}", found.len(), found[..found.len().min(20)].join("\n"));
}
