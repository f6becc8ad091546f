//! E-mail addresses, URLs, phones, dates and amounts, by what they look like and a check of each.

use std::sync::LazyLock;

use kybern_core::tool::ToolFailure;
use regex::Regex;
use serde_json::{Map, Value, json};
use url::Url;

use super::super::{datetime, refuse};
use super::options::Options;
use crate::models::offline::{emails_in, phones_in};

/// The kinds, as the answer calls them.
pub(super) const KINDS: [&str; 5] = ["emails", "urls", "phones", "dates", "amounts"];

/// How many of a kind are listed.
const MAX_FOUND: usize = 1_000;

static URLS: LazyLock<Result<Regex, regex::Error>> =
    LazyLock::new(|| Regex::new(r#"(?i)\bhttps?://[^\s<>"'`]{1,2000}"#));
static DATES: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    let month = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|\
                 oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    Regex::new(&format!(
        r"(?ix)\b(?:
            \d{{4}}-\d{{2}}-\d{{2}}
            |\d{{4}}/\d{{1,2}}/\d{{1,2}}
            |\d{{1,2}}[/.-]\d{{1,2}}[/.-]\d{{4}}
            |{month}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}
            |\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{month}\.?,?\s+\d{{4}}
        )\b"
    ))
});
static AMOUNTS: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    let number = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,9})?";
    let codes = "USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|INR|RWF|KES|UGX|TZS|NGN|ZAR|BRL|MXN|SEK|NOK|DKK|PLN";
    Regex::new(&format!(
        r"(?x)(?P<minus>-)?(?P<sign>[$€£¥₹])\s?(?P<a>{number})
        |\b(?P<before>{codes})\s?(?P<b>{number})
        |\b(?P<c>{number})\s?(?:(?P<after>(?:{codes})\b)|(?P<behind>[€£]))"
    ))
});

/// Finds them: `emails`, `urls`, `phones`, `dates`, `amounts`, each once, in the order of the text.
///
/// # Errors
/// When a pattern is broken: a fault of this tool.
pub(super) fn extract(text: &str, options: &Options<'_>) -> Result<Map<String, Value>, ToolFailure> {
    let kinds = options.list("kinds").unwrap_or_else(|| KINDS.to_vec());
    let mut data = Map::new();
    for kind in KINDS.iter().filter(|kind| kinds.contains(kind)) {
        let mut found = match *kind {
            "emails" => once(emails_in(text).into_iter().map(Value::from)),
            "urls" => urls(text)?,
            "phones" => {
                once(phones_in(text).into_iter().map(|(written, digits)| json!({"text": written, "digits": digits})))
            }
            "dates" => dates(text)?,
            _ => amounts(text)?,
        };
        found.truncate(MAX_FOUND);
        data.insert((*kind).to_owned(), Value::Array(found));
    }
    data.insert("method".to_owned(), json!("patterns"));
    Ok(data)
}

fn once(found: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    found.filter(|value| seen.insert(value.to_string())).take(MAX_FOUND).collect()
}

fn pattern(of: &'static LazyLock<Result<Regex, regex::Error>>) -> Result<&'static Regex, ToolFailure> {
    LazyLock::force(of).as_ref().map_err(|problem| refuse(format!("a pattern of the tool is broken: {problem}")))
}

fn urls(text: &str) -> Result<Vec<Value>, ToolFailure> {
    Ok(once(pattern(&URLS)?.find_iter(text).filter_map(|found| {
        let mut url = found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '|', ']', '}']);
        // A parenthesis belongs to the URL only when it was opened there.
        let mut stray = url.matches(')').count().saturating_sub(url.matches('(').count());
        while stray > 0 && url.ends_with(')') {
            url = url[..url.len() - 1].trim_end_matches(['.', ',', ';', ':', '!', '?']);
            stray -= 1;
        }
        let parsed = Url::parse(url).ok()?;
        parsed.host_str().filter(|host| host.contains('.') || *host == "localhost" || host.starts_with('['))?;
        Some(json!(url))
    })))
}

fn dates(text: &str) -> Result<Vec<Value>, ToolFailure> {
    Ok(once(pattern(&DATES)?.find_iter(text).filter_map(|found| {
        let written = found.as_str();
        let spaced = written.split_whitespace().collect::<Vec<_>>().join(" ");
        match datetime::day_of(&spaced) {
            Ok(day) => Some(json!({"text": written, "date": day.to_string()})),
            Err(failure) if failure.message.contains("day and month or month and day") => {
                Some(json!({"text": written, "date": null, "ambiguous": true}))
            }
            Err(_) => None,
        }
    })))
}

fn amounts(text: &str) -> Result<Vec<Value>, ToolFailure> {
    Ok(once(pattern(&AMOUNTS)?.captures_iter(text).filter_map(|groups| {
        let whole = groups.get(0)?;
        // Digits that go on are another number.
        let glued = text[whole.end()..].starts_with(|c: char| c.is_ascii_digit());
        let continued = text[whole.end()..]
            .strip_prefix([',', '.'])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let number = ["a", "b", "c"].iter().find_map(|name| groups.name(name))?.as_str().replace(',', "");
        let mark = ["sign", "before", "after", "behind"].iter().find_map(|name| groups.name(name))?.as_str();
        let currency = match mark {
            "$" => "USD",
            "€" => "EUR",
            "£" => "GBP",
            "¥" => "JPY",
            "₹" => "INR",
            code => code,
        };
        let minus = if groups.name("minus").is_some() { "-" } else { "" };
        (!glued && !continued)
            .then(|| json!({"text": whole.as_str(), "value": format!("{minus}{number}"), "currency": currency}))
    })))
}
