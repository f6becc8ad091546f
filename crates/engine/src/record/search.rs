//! Finding records: by what they are found by, by a value of a prop, and by words anywhere in them.

use kybern_core::error::Result;
use kybern_core::id::RecordId;
use kybern_core::json;
use kybern_core::ports::{MAX_PAGE_BYTES, Page};
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;
use serde_json::Value;

use super::{CHUNK, Records};

/// Reads that are made for one page, each of at most [`CHUNK`] records and [`MAX_PAGE_BYTES`]: the next page goes on behind
/// them.
const MAX_READS: usize = 10;

/// Which records of a kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordFilter {
    /// Those with a lookup of that name and value.
    pub lookup: Option<(String, String)>,
    /// Those whose prop of that name, or way of names with `.` between them, is that value, as text.
    pub field: Option<(String, String)>,
    /// Those with that text in their key or in a text of their props, capitals or not.
    pub text: Option<String>,
}

impl Records {
    /// A page of a kind's records, oldest first, after the record `after`. Where what is looked for is rare, a page may
    /// hold fewer than `limit`, or none, and another follow all the same.
    pub async fn list(
        &self,
        scope: TenantScope,
        kind: &str,
        filter: &RecordFilter,
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>> {
        let (mut items, mut after, mut reads, mut bytes) = (Vec::new(), after, 0, 0);
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let test = Test::of(filter);
        loop {
            // Without a test every record that is read is one of the page.
            let most = if test.is_any() { limit } else { CHUNK };
            let page = match &filter.lookup {
                None => self.store.records(scope, kind, after, most).await?,
                Some((name, value)) => self.admin.records_found(scope, kind, (name, value), after, most).await?,
            };
            reads += 1;
            let mut rest = page.items.into_iter();
            while items.len() < wanted
                && bytes < MAX_PAGE_BYTES
                && let Some(record) = rest.next()
            {
                after = Some(record.id);
                if test.fits(&record) {
                    bytes += json::bytes_of(&record.props);
                    items.push(record);
                }
            }
            if rest.len() == 0 {
                // Rows that cannot be read may lie behind the last record.
                after = page.next.and_then(|next| next.parse().ok());
            }
            let is_full = items.len() == wanted || bytes >= MAX_PAGE_BYTES;
            if after.is_none() || test.is_any() || is_full || reads == MAX_READS {
                return Ok(Page { items, next: after.map(|id| id.to_string()) });
            }
        }
    }
}

/// What a record has to fit beside its lookup.
struct Test<'a> {
    field: Option<(Vec<&'a str>, &'a str)>,
    text: Option<String>,
}

impl<'a> Test<'a> {
    fn of(filter: &'a RecordFilter) -> Self {
        let field = filter.field.as_ref().map(|(way, value)| (way.split('.').collect(), value.as_str()));
        Self { field, text: filter.text.as_ref().map(|text| text.to_lowercase()) }
    }

    fn is_any(&self) -> bool {
        self.field.is_none() && self.text.is_none()
    }

    fn fits(&self, record: &Record) -> bool {
        let has_field = |(way, value): &(Vec<&str>, &str)| {
            let props = way.split_first().and_then(|(first, rest)| Some((record.props.get(*first)?, rest)));
            let found = props.and_then(|(prop, rest)| rest.iter().try_fold(prop, |at, name| at.get(*name)));
            // A name may hold points itself.
            let found = found.or_else(|| record.props.get(&way.join(".")));
            found.is_some_and(|found| is_value(found, value))
        };
        let has_text = |text: &String| {
            record.key.to_lowercase().contains(text) || record.props.values().any(|prop| contains_text(prop, text))
        };
        self.field.as_ref().is_none_or(has_field) && self.text.as_ref().is_none_or(has_text)
    }
}

/// Whether a prop is that value, or a list that holds it.
fn is_value(prop: &Value, value: &str) -> bool {
    match prop {
        Value::String(text) => text == value,
        Value::Array(items) => items.iter().any(|item| !item.is_array() && is_value(item, value)),
        Value::Null => value == "null",
        Value::Bool(is_true) => value == if *is_true { "true" } else { "false" },
        Value::Number(number) => number.to_string() == value,
        Value::Object(_) => false,
    }
}

/// Whether a text of a prop contains `text`, which is in small letters. No deeper than what is stored is nested.
fn contains_text(prop: &Value, text: &str) -> bool {
    match prop {
        Value::String(said) => said.to_lowercase().contains(text),
        Value::Array(items) => items.iter().any(|item| contains_text(item, text)),
        Value::Object(members) => members.values().any(|member| contains_text(member, text)),
        Value::Number(number) => number.to_string().contains(text),
        Value::Null | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::time::Timestamp;
    use serde_json::json;

    use super::*;

    fn fits(filter: &RecordFilter) -> bool {
        let props = json!({
            "status": "requested", "amount": 12, "urgent": true, "note": null,
            "lines": ["AUTO", "CARGO"], "to": {"name": "Éclair Desk", "floors": [{"n": 7}]}
        });
        let record = Record {
            id: RecordId::from_uuid(uuid::Uuid::nil()),
            kind: "test.thing".to_owned(),
            key: "K-1".to_owned(),
            props: props.as_object().cloned().unwrap_or_default(),
            version: 1,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
            unreadable: None,
        };
        Test::of(filter).fits(&record)
    }

    #[test]
    fn a_field_is_compared_as_text_and_a_list_by_what_it_holds() {
        let is = |way: &str, value: &str| {
            fits(&RecordFilter { field: Some((way.to_owned(), value.to_owned())), ..RecordFilter::default() })
        };
        for (way, value) in [
            ("status", "requested"),
            ("amount", "12"),
            ("urgent", "true"),
            ("lines", "CARGO"),
            ("to.name", "Éclair Desk"),
            ("note", "null"),
        ] {
            assert!(is(way, value), "{way} {value}");
        }
        for (way, value) in [
            ("status", "request"),
            ("lines", "CAR"),
            ("to", "Éclair Desk"),
            ("to.name.x", "a"),
            ("", ""),
            ("gone", "null"),
        ] {
            assert!(!is(way, value), "{way} {value}");
        }
    }

    #[test]
    fn a_text_is_found_anywhere_whatever_its_capitals() {
        let has = |text: &str| fits(&RecordFilter { text: Some(text.to_owned()), ..RecordFilter::default() });
        assert!(has("k-1") && has("éCLAIR") && has("argo") && has("7"));
        assert!(!has("status") && !has("true") && !has("nothing"));
    }
}
