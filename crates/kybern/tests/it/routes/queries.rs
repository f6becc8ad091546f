//! Parameters of queries, from the document: malformed, out of range, unknown, twice. And headers.

use super::ids::fill;
use super::suite::Suite;

/// Operations whose callers add parameters of their own.
const IGNORING: [&str; 5] = ["/healthz", "/readyz", "/metrics", "/api/inbound/sms", "/api/inbound/webhook/{source}"];

/// Every parameter of every operation.
pub(crate) async fn bad_queries_are_refused_with_the_parameter(suite: &Suite) {
    let mut asks = Vec::new();
    for row in &suite.rows {
        let parameters = suite.document.parameters(row, "query");
        for (name, schema) in &parameters {
            let mut bad = vec!["a%00b".to_owned(), "x".repeat(2001)];
            if schema["type"] == "integer" {
                bad.extend(["ten", "-1", "1.5", "99999999999999999999"].map(str::to_owned));
                bad.extend(schema["minimum"].as_i64().filter(|least| *least > 0).map(|least| (least - 1).to_string()));
                bad.extend(schema["maximum"].as_i64().map(|most| (most + 1).to_string()));
            }
            if matches!(name.as_str(), "cursor" | "status" | "channel") {
                bad.push("nonsense".to_owned());
            }
            asks.extend(bad.into_iter().map(|value| (row, format!("{name}={value}"), format!("/{name}"))));
            asks.push((row, format!("{name}=1&{name}=1"), format!("/{name}")));
        }
        if !IGNORING.contains(&row.path) {
            asks.push((row, "surprise=1".to_owned(), "/surprise".to_owned()));
        }
    }
    suite
        .each(asks, async |(row, query, place)| {
            let path = format!("{}?{query}", fill(row, &suite.ours));
            let key = suite.able(row).map(|caller| caller.key.as_str());
            let answer = suite.ask(row, key, &row.good(&path, &suite.ours, 3), &[]).await;
            let about = || format!("{} ?{}", row.name(), query.chars().take(60).collect::<String>());
            suite.refused(&answer, 400, "VALIDATION_ERROR", about);
            suite.expect(answer.places() == [place.as_str()], || format!("{}: names {:?}", about(), answer.places()));
        })
        .await;
    let creating = suite
        .rows
        .iter()
        .filter(|row| suite.document.parameters(row, "header").iter().any(|(name, _)| name == "Idempotency-Key"));
    suite
        .each(creating, async |row| {
            let key = suite.able(row).map(|caller| caller.key.as_str());
            for bad in [" ".to_owned(), "x".repeat(256)] {
                let ask = row.good(&fill(row, &suite.ours), &suite.ours, 3).header("idempotency-key", &bad);
                let answer = suite.ask(row, key, &ask, &[]).await;
                suite.refused(&answer, 400, "VALIDATION_ERROR", || format!("{} Idempotency-Key", row.name()));
            }
        })
        .await;
}
