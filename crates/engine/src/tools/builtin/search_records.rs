//! `core.search_records`: looks through the records of a kind.

use kybern_core::actor::Right;
use kybern_core::count::count;
use kybern_core::id::RecordId;
use kybern_core::json_schema::object;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::Record;
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::given::{limit, maybe, maybe_id, refused};
use super::text;

/// Records that are looked at in one call, and the bytes of them. Whoever wants more goes on behind the last one.
const MOST_READ: usize = 1_000;
const MOST_BYTES_READ: usize = 8 * 1024 * 1024;
/// Bytes of the records that are answered.
const MOST_BYTES: usize = 256 * 1024;
/// Records that are read at once.
const PAGE: u32 = 200;

pub(super) fn tool() -> StatelessTool {
    let properties = json!({
        "kind": {
            "type": "string", "minLength": 1, "maxLength": 100,
            "description": "The kind of record, for instance note or network.entity.",
        },
        "text": {
            "type": "string", "minLength": 1, "maxLength": 200,
            "description": "Words that must all stand in the record's key or values, in any order and case.",
        },
        "lookup": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 100},
                "value": {"type": "string", "minLength": 1, "maxLength": 300},
            },
            "required": ["name", "value"],
            "additionalProperties": false,
            "description": "An identifier of the kind, such as the number it is registered under, and its exact value.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Records, 20 when left out."},
        "after": {
            "type": "string", "maxLength": 36,
            "description": "next of the answer before, to go on behind it.",
        },
    });
    let description = "Finds records of a kind by words in them or by an identifier, oldest first. Answers records \
                       with record_id, key, props and version, and next when there is more to look at.";
    let example = json!({"kind": "note", "text": "renewal", "limit": 5});
    // A record may hold what a document once said.
    let spec = ToolSpec {
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        untrusted_output: true,
        right: Right::Read,
        ..ToolSpec::read("core.search_records", description, object(properties, ["kind"]))
    }
    .shown(&["record", "find", "look up", "database"], example);
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

/// Whether all words stand in a record, which are lower case.
fn says(record: &Record, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let body = format!("{} {}", record.key, json!(record.props)).to_lowercase();
    words.iter().all(|word| body.contains(word.as_str()))
}

fn shown(record: &Record) -> Value {
    json!({
        "record_id": record.id,
        "key": record.key,
        "props": record.props,
        "version": record.version,
        "updated_at": record.updated_at,
    })
}

/// What has been found so far.
#[derive(Default)]
struct FoundRecords {
    records: Vec<Value>,
    bytes: usize,
    read: usize,
    bytes_read: usize,
    last: Option<RecordId>,
}

impl FoundRecords {
    /// Looks at a record; `false` when it is to be looked at in the next call.
    fn take(&mut self, record: &Record, words: &[String], limit: usize) -> bool {
        let size = kybern_core::json::bytes_of(&record.props);
        if self.read >= MOST_READ || (self.read > 0 && self.bytes_read + size > MOST_BYTES_READ) {
            return false;
        }
        if says(record, words) {
            if self.records.len() >= limit || (!self.records.is_empty() && self.bytes + size > MOST_BYTES) {
                return false;
            }
            self.records.push(shown(record));
            self.bytes += size;
        }
        (self.read, self.bytes_read, self.last) = (self.read + 1, self.bytes_read + size, Some(record.id));
        true
    }

    fn outcome(self, has_more: bool) -> ToolOutcome {
        let summary = format!("found {} of {}", self.records.len(), count(self.read, "record"));
        let (found, next) = (json!(self.records.len()), json!(self.last.filter(|_| has_more)));
        let data = [("records_found", found), ("records", Value::Array(self.records)), ("next", next)];
        ToolOutcome::new(data, summary)
    }
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let (records, kind) = (context.records()?, text(&args, "kind")?);
    let words: Vec<String> =
        maybe(&args, "text").unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let most = usize::try_from(limit(&args, 20)).unwrap_or(1);
    let mut after: Option<RecordId> = maybe_id(&args, "after")?;
    let mut found = FoundRecords::default();
    if let Some(lookup) = args.get("lookup").and_then(Value::as_object) {
        let (name, value) = (text(lookup, "name")?, text(lookup, "value")?);
        let mut known = records.records_by_lookup(context.scope, kind, name, value).await.map_err(refused)?;
        known.sort_by_key(|record| record.id);
        let mut rest = known.iter().filter(|record| after.is_none_or(|after| record.id > after));
        let has_more = rest.any(|record| !found.take(record, &words, most));
        return Ok(found.outcome(has_more));
    }
    loop {
        let page = records.records(context.scope, kind, after, PAGE).await.map_err(refused)?;
        if page.items.iter().any(|record| !found.take(record, &words, most)) {
            return Ok(found.outcome(true));
        }
        after = page.items.last().map(|record| record.id);
        if page.next.is_none() || after.is_none() {
            return Ok(found.outcome(false));
        }
    }
}
