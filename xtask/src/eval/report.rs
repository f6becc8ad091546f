//! The result, for people and for programs.

use serde_json::{Value, json};

use super::score::{Counts, Reliability, Score, share};

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// The result as a text, with the worst mails.
pub(super) fn text(score: &Score, worst: usize) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("mails                  {}", score.mails));
    line(format!(
        "intents when sure      {} right, {} of {}",
        percent(share(score.right, score.decided)),
        score.right,
        score.decided
    ));
    line(format!("confidently wrong      {}", score.decided - score.right));
    score.confused.iter().for_each(|confused| line(format!("    {confused}")));
    line(format!(
        "reviews missed         {} of {}   {}",
        score.missed.len(),
        score.reviews_needed,
        score.missed.join(" ")
    ));
    line(format!("reviews needless       {}   {}", score.needless.len(), score.needless.join(" ")));
    let requests = &score.requests;
    line(format!(
        "loss-run requests      {} of {} made, with {} of {} policies; unwanted {}, twice {}",
        requests.made,
        requests.expected,
        requests.policies_right,
        requests.policies_expected,
        requests.unwanted.len(),
        requests.twice
    ));
    requests.missing.iter().for_each(|missing| line(format!("    missing: {missing}")));
    requests.unwanted.iter().for_each(|unwanted| line(format!("    unwanted: {unwanted}")));
    if !score.wrong_vins.is_empty() {
        line(format!("wrong VINs passed on   {}", score.wrong_vins.join("; ")));
    }
    line(format!("mean F1 of a mail      {}", percent(score.mean_f1())));
    let (middle, most) = score.times();
    line(format!("time of a mail         {} ms, the slowest {} ms", middle.as_millis(), most.as_millis()));
    line(String::new());
    line(format!(
        "{:<20}{:>8}{:>8}{:>9}{:>8}{:>8}{:>12}{:>10}",
        "field", "wanted", "found", "claimed", "wrong", "traps", "precision", "recall"
    ));
    let all = [("all".to_owned(), score.all)];
    for (field, counts) in score.fields.iter().map(|(field, counts)| (field.clone(), *counts)).chain(all) {
        if counts.wanted > 0 || counts.claimed > 0 {
            line(row(&field, counts));
        }
    }
    line(String::new());
    line("confidence of intents and of fields, and how many were right".to_owned());
    for bin in 0..10 {
        let of = |reliability: &Reliability| {
            let (count, sum, right) = reliability.bins[bin];
            let mean = if count > 0 { sum / count as f64 } else { 0.0 };
            if count > 0 {
                format!("{count:>5}  {mean:.2}  {:>8}", percent(share(right, count)))
            } else {
                " ".repeat(21)
            }
        };
        line(format!("0.{bin} to {:.1}   {}   {}", (bin + 1) as f64 / 10.0, of(&score.intents), of(&score.values)));
    }
    for mail in score.notes.iter().filter(|mail| !mail.notes.is_empty()).take(worst) {
        line(format!("\n{}  ({})", mail.mail, mail.about));
        mail.notes.iter().for_each(|note| line(format!("    {note}")));
    }
    out
}

fn row(field: &str, counts: Counts) -> String {
    let Counts { wanted, found, claimed, wrong, traps } = counts;
    let (precision, recall) = (percent(counts.precision()), percent(counts.recall()));
    format!("{field:<20}{wanted:>8}{found:>8}{claimed:>9}{wrong:>8}{traps:>8}{precision:>12}{recall:>10}")
}

/// The result as JSON.
pub(super) fn json(score: &Score) -> Value {
    let counts = |counts: &Counts| {
        json!({
            "wanted": counts.wanted, "found": counts.found, "claimed": counts.claimed, "wrong": counts.wrong,
            "traps": counts.traps, "precision": counts.precision(), "recall": counts.recall(),
        })
    };
    let reliability = |reliability: &Reliability| {
        let bin = |(at, (count, sum, right)): (usize, &(usize, f64, usize))| json!({"from": at as f64 / 10.0, "answers": count, "sum": sum, "right": right});
        reliability.bins.iter().enumerate().map(bin).collect::<Value>()
    };
    let requests = &score.requests;
    json!({
        "mails": score.mails,
        "intents": {
            "decided": score.decided, "right": score.right, "accuracy": share(score.right, score.decided),
            "confidentlyWrong": score.confused, "reliability": reliability(&score.intents),
        },
        "reviews": {"needed": score.reviews_needed, "missed": score.missed, "needless": score.needless},
        "requests": {
            "expected": requests.expected, "made": requests.made, "missing": requests.missing,
            "unwanted": requests.unwanted, "twice": requests.twice, "policiesExpected": requests.policies_expected,
            "policiesRight": requests.policies_right,
        },
        "fields": {
            "byName": score.fields.iter().map(|(name, field)| (name.clone(), counts(field))).collect::<serde_json::Map<_, _>>(),
            "all": counts(&score.all), "meanF1": score.mean_f1(), "wrongVins": score.wrong_vins,
            "reliability": reliability(&score.values),
        },
        "timeMs": score.times().0.as_millis(),
    })
}
