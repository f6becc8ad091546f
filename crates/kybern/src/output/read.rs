//! What was read out of documents: each value with the file, the page and the words where it stands.

use kybern_core::money::NanoUsd;
use serde_json::Value;

use super::command::kybern;
use super::table::Table;
use super::text::{field, short};

/// The widest that a value and its words are shown.
const WIDTH: usize = 60;

/// A value that was read, with where it stands.
struct Read {
    name: String,
    value: String,
    file: String,
    page: String,
    words: String,
    /// How sure, with a mark at what was read from a picture.
    sure: String,
}

/// The values of a task's `extractions`, at most so many of each document, and how many are left out.
pub(crate) fn read_table(extractions: &[Value], most: usize) -> (Table, usize) {
    let mut table = Table::new(&["FIELD", "VALUE", "FILE", "PAGE", "WORDS", "SURE"]);
    let mut more = 0;
    for document in extractions {
        let fields = document.get("fields").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        more += fields.len().saturating_sub(most);
        for one in fields.iter().take(most).map(|found| Read::of(document, found)) {
            table.row([
                one.name.into(),
                one.value.into(),
                one.file.into(),
                one.page.into(),
                one.words.into(),
                one.sure.into(),
            ]);
        }
    }
    (table, more)
}

impl Read {
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
        }
    }
}

/// The pictures with which a person compares what was read from them, a line each.
pub(crate) fn pictures(wait: &Value) -> Vec<String> {
    let scans = wait.pointer("/details/scans").and_then(Value::as_array).into_iter().flatten();
    let pages = |scan: &Value| -> Vec<String> {
        let pages = scan.get("pages").and_then(Value::as_array).into_iter().flatten();
        let line = |page: &Value| {
            let sure = match (page.get("read").and_then(Value::as_bool), page.get("confidence")) {
                (Some(false), _) => ", not read".to_owned(),
                (_, None | Some(Value::Null)) => String::new(),
                (_, Some(sure)) => format!(", least sure word {sure}"),
            };
            let of = |name: &str| field(page, name);
            format!(
                "{} page {}{sure}: look at it with {}",
                field(scan, "filename"),
                of("page"),
                fetching(&of("picture"))
            )
        };
        pages.map(line).collect()
    };
    scans.flat_map(pages).collect()
}

/// The command that fetches a picture of which the API tells the place.
fn fetching(picture: &str) -> String {
    let parts = picture.strip_prefix("/api/tasks/").and_then(|rest| rest.split_once("/attachments/"));
    let parts = parts.and_then(|(task, rest)| rest.split_once("?page=").map(|(n, page)| (task, n, page)));
    match parts {
        Some((task, n, page)) => format!("{kybern} task attachment {task} {n} --page {page}", kybern = kybern()),
        None => format!("GET {picture}"),
    }
}

/// A value as people read it. Money is kept in nano-dollars; where the words say the same number, it is money.
fn shown(value: &Value, words: &str) -> String {
    let digits: String = words.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let said = digits.parse::<NanoDollars>().ok();
    match (value.as_i64(), said) {
        (Some(nanos), Some(NanoDollars(said))) if nanos == said && words.contains('$') => NanoUsd(nanos).to_string(),
        _other => short(value, WIDTH),
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

/// What was read from pictures and waits for a person, as rows; `None` where nothing was.
pub(crate) fn read_of_wait(wait: &Value, most: usize) -> Option<Table> {
    wait.pointer("/details/scans")?;
    let extractions = wait.pointer("/details/extractions").and_then(Value::as_array)?;
    let (table, _more) = read_table(extractions, most);
    (!table.is_empty()).then_some(table)
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
    fn money_is_shown_in_dollars() {
        assert_eq!(shown(&json!(39_900_000_000_000_i64), "$39,900"), "$39900");
        assert_eq!(shown(&json!(39_900_500_000_000_i64), "$ 39,900.50"), "$39900.5");
        assert_eq!(shown(&json!(9_171_809), "9171809"), "9171809");
        assert_eq!(shown(&json!("$1"), "$1"), "$1");
    }

    #[test]
    fn a_question_about_a_scan_names_its_pictures() {
        let page = |n: u32, read: bool, sure: Value| {
            let picture = format!("/api/tasks/t1/attachments/3?page={n}");
            json!({"page": n, "picture": picture, "read": read, "confidence": sure})
        };
        let pages = [page(2, true, json!(0.41)), page(3, false, Value::Null), page(4, true, Value::Null)];
        let wait = json!({"details": {"extractions": extractions(),
            "scans": [{"filename": "a.tif", "pages": pages}]}});
        let lines = [
            "a.tif page 2, least sure word 0.41: look at it with kybern task attachment t1 3 --page 2",
            "a.tif page 3, not read: look at it with kybern task attachment t1 3 --page 3",
            "a.tif page 4: look at it with kybern task attachment t1 3 --page 4",
        ];
        assert_eq!(pictures(&wait), lines);
        assert!(read_of_wait(&wait, 9).is_some());
        assert!(pictures(&json!({"details": {"files": []}})).is_empty());
        assert!(read_of_wait(&json!({"details": {"extractions": extractions()}}), 9).is_none());
    }
}
