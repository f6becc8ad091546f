//! What was read out of documents: each value with the file, the page and the words where it stands.

use serde_json::Value;

use super::table::Table;
use super::text::{field, short};

/// The widest that a value and its words are shown.
const WIDTH: usize = 60;

/// A value that was read, with where it stands.
struct ReadValue {
    name: String,
    value: String,
    file: String,
    page: String,
    words: String,
    /// How sure, with a mark at what was read from a picture.
    sure: String,
    /// What is wrong with it although it was found.
    problem: String,
}

/// The values of a task's `extractions`, at most so many of each document, and how many are left out.
pub(crate) fn read_table(extractions: &[Value], most: usize) -> (Table, usize) {
    let fields = |document: &Value| document.get("fields").and_then(Value::as_array).cloned().unwrap_or_default();
    let more = extractions.iter().map(|document| fields(document).len().saturating_sub(most)).sum();
    let rows = extractions.iter().flat_map(|document| {
        fields(document).iter().take(most).map(|found| ReadValue::of(document, found)).collect::<Vec<_>>()
    });
    let rows: Vec<ReadValue> = rows.collect();
    // Most papers have nothing wrong in them.
    let any_problem = rows.iter().any(|row| !row.problem.is_empty());
    let head = ["FIELD", "VALUE", "FILE", "PAGE", "WORDS", "SURE", "PROBLEM"];
    let mut table = Table::new(head.get(..if any_problem { 7 } else { 6 }).unwrap_or_default());
    for one in rows {
        let cells = [one.name, one.value, one.file, one.page, one.words, one.sure, one.problem];
        table.row(cells.into_iter().take(if any_problem { 7 } else { 6 }).map(Into::into));
    }
    (table, more)
}

impl ReadValue {
    fn of(document: &Value, found: &Value) -> Self {
        let source = found.get("source").cloned().unwrap_or_default();
        let item = found.get("item").and_then(Value::as_u64);
        let name = match (field(found, "group"), item) {
            (group, Some(item)) if !group.is_empty() => format!("{group}.{}.{}", item + 1, field(found, "name")),
            _ => field(found, "name"),
        };
        let sure = found.get("confidence").and_then(Value::as_f64).unwrap_or_default();
        let scanned = if source.get("scan").is_some() { ", scan" } else { "" };
        Self {
            name,
            value: found.get("value").map(|value| shown(value, &field(&source, "words"))).unwrap_or_default(),
            file: field(document, "filename"),
            page: field(&source, "page"),
            words: source.get("words").map(|words| short(words, WIDTH)).unwrap_or_default(),
            sure: format!("{sure:.2}{scanned}"),
            problem: field(found, "problem"),
        }
    }
}

/// A value as people read it. Money is kept in nano-dollars; where the words say the same number of dollars, with or
/// without a sign for them, it is money.
fn shown(value: &Value, words: &str) -> String {
    let digits: String = words.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let said = digits.trim_matches('.').parse::<NanoDollars>().ok();
    match (value.as_i64(), said) {
        (Some(nanos), Some(NanoDollars(said)))
            if nanos.checked_abs() == Some(said) && (nanos != 0 || words.contains('$')) =>
        {
            dollars(nanos)
        }
        _other => short(value, WIDTH),
    }
}

/// An amount with its thousands parted, and with cents where it has any.
fn dollars(nanos: i64) -> String {
    let (sign, cents) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs() / 10_000_000);
    let whole = (cents / 100).to_string();
    let mut parted = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            parted.push(',');
        }
        parted.push(digit);
    }
    match cents % 100 {
        0 => format!("{sign}${parted}"),
        cents => format!("{sign}${parted}.{cents:02}"),
    }
}

/// A number of dollars, at most to the cent.
struct NanoDollars(i64);

impl std::str::FromStr for NanoDollars {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, cents) = text.split_once('.').unwrap_or((text, "0"));
        let cents = format!("{cents:0<2}");
        let (whole, cents): (i64, i64) = (whole.parse()?, cents.parse()?);
        Ok(Self(whole.saturating_mul(1_000_000_000).saturating_add(cents.saturating_mul(10_000_000))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::output::paint::Paint;

    fn extractions() -> Vec<Value> {
        let field = |name: &str, value: &str, source: Value| json!({"name": name, "group": "policies", "item": 1, "value": value, "confidence": 0.9, "source": source});
        vec![json!({"n": 1, "filename": "dec.pdf", "fields": [
            field("policies.number", "AL-1", json!({"document": 1, "page": 3, "start": 0, "end": 4, "words": "AL 1"})),
            field("policies.line", "auto", json!({"page": 4, "words": "Auto", "scan": {"x": 1, "confidence": 90}})),
            field("policies.from", "2026-01-01", json!({"page": 4})),
        ]})]
    }

    #[test]
    fn a_value_names_file_page_and_words() {
        let (table, more) = read_table(&extractions(), 2);
        let text = table.render(Paint::new(false));
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["policies.2.policies.number", "AL-1", "dec.pdf", "3", "AL", "1", "0.90"]);
        assert_eq!(rows[1], ["policies.2.policies.line", "auto", "dec.pdf", "4", "Auto", "0.90,", "scan"]);
        assert_eq!((rows.len(), more), (2, 1));
    }

    #[test]
    fn a_problem_has_a_column_where_there_is_one() {
        let mut extractions = extractions();
        extractions[0]["fields"][2]["problem"] = json!("check digit is 4, it should be 9");
        let text = read_table(&extractions, 9).0.render(Paint::new(false));
        assert!(text.lines().next().unwrap().ends_with("PROBLEM") && text.contains("it should be 9"), "{text}");
    }

    #[test]
    fn money_is_shown_in_dollars() {
        assert_eq!(shown(&json!(39_900_000_000_000_i64), "$39,900"), "$39,900");
        assert_eq!(shown(&json!(3_562_500_000_000_i64), "$3562.5"), "$3,562.50");
        assert_eq!(shown(&json!(1_234_567_050_000_000_i64), "$ 1,234,567.05"), "$1,234,567.05");
        assert_eq!(shown(&json!(61_500_000_000_000_i64), "61500"), "$61,500");
        assert_eq!(shown(&json!(-480_000_000_000_i64), "(480.00)"), "-$480");
        assert_eq!((shown(&json!(0), "$0"), shown(&json!(0), "0")), ("$0".to_owned(), "0".to_owned()));
        assert_eq!(shown(&json!(9_171_809), "9171809"), "9171809");
        assert_eq!(shown(&json!("$1"), "$1"), "$1");
    }
}
