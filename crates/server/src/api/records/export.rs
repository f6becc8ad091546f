//! Records as CSV, a page at a time, however many there are.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures::stream;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::RecordId;
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;
use kybern_engine::record::{RecordFilter, Records};
use serde_json::Value;

use crate::error::ApiResult;

/// Records that are read at once.
const CHUNK: u32 = 200;
/// The columns before the props.
const COLUMNS: [&str; 6] = ["id", "key", "version", "createdAt", "updatedAt", "unreadable"];

/// What is still to be written.
enum Rest {
    Heads,
    After(Option<RecordId>),
    Nothing,
}

/// The records of a kind as a download.
pub(super) async fn answer(
    records: Records,
    scope: TenantScope,
    kind: String,
    filter: RecordFilter,
) -> ApiResult<Response> {
    let props = records.prop_names(scope, &kind, &filter).await?;
    let rows = stream::try_unfold(Rest::Heads, move |rest| {
        let (records, kind, filter, props) = (records.clone(), kind.clone(), filter.clone(), props.clone());
        async move {
            let after = match rest {
                Rest::Nothing => return Ok(None),
                Rest::Heads => {
                    let heads = COLUMNS.into_iter().map(str::to_owned).chain(props.iter().map(|prop| guarded(prop)));
                    return lines([heads.collect()]).map(|text| Some((text, Rest::After(None))));
                }
                Rest::After(after) => after,
            };
            let page = records.list(scope, &kind, &filter, after, CHUNK).await?;
            let next = page.next.and_then(|next| next.parse().ok());
            let text = lines(page.items.iter().map(|record| line(record, &props)))?;
            Ok::<_, Error>(Some((text, next.map_or(Rest::Nothing, |next| Rest::After(Some(next))))))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"records.csv\"")),
    ];
    Ok((headers, Body::from_stream(rows)).into_response())
}

fn line(record: &Record, props: &[String]) -> Vec<String> {
    let mut cells = vec![
        record.id.to_string(),
        guarded(&record.key),
        record.version.to_string(),
        record.created_at.to_string(),
        record.updated_at.to_string(),
        record.unreadable.as_deref().map(guarded).unwrap_or_default(),
    ];
    cells.extend(props.iter().map(|name| match record.props.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => guarded(text),
        Some(other) => other.to_string(),
    }));
    cells
}

/// A text that no spreadsheet runs: strangers have written some of them.
fn guarded(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

fn lines(rows: impl IntoIterator<Item = Vec<String>>) -> Result<Bytes> {
    let failed = |error: csv::Error| Error::new(ErrorCode::Internal, "a line could not be written").caused_by(error);
    // What is quoted is not cut at the separator of another language, behind which a formula may stand.
    let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(failed)?;
    }
    let text = writer.into_inner();
    text.map(Bytes::from).map_err(|_| Error::new(ErrorCode::Internal, "a line could not be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_texts() {
        let row = ["=1+1", "-5", "a,b", "he said \"no\"", "plain"].map(guarded).to_vec();
        let text = lines([row]).unwrap();
        assert_eq!(text, "\"'=1+1\",\"'-5\",\"a,b\",\"he said \"\"no\"\"\",\"plain\"\n");
    }
}
