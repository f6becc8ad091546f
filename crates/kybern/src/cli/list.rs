//! Lists: their items, and where the next page begins.

use clap::Args;
use serde_json::Value;

use crate::client::{Client, ClientError};

/// The most pages that are read where a verb needs all of a list.
const MAX_PAGES: usize = 1000;

/// Which page of a list.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Page {
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: Option<u32>,
    /// Go on where the last page ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

impl Page {
    /// The page as a query.
    pub(crate) fn query(&self) -> [(&'static str, Option<String>); 2] {
        [("limit", self.limit.map(|limit| limit.to_string())), ("cursor", self.cursor.clone())]
    }
}

/// The items of a list.
pub(crate) fn items(list: &Value) -> &[Value] {
    list.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Where the next page begins.
pub(crate) fn next_cursor(list: &Value) -> Option<&str> {
    list.get("nextCursor").and_then(Value::as_str)
}

/// All items of a list, page after page.
///
/// # Errors
/// [`ClientError`]
pub(crate) async fn all(client: &Client, path: &str) -> Result<Vec<Value>, ClientError> {
    let mut all = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let reply = client.get(path, &[("limit", Some("200".to_owned())), ("cursor", cursor.clone())]).await?;
        all.extend_from_slice(items(&reply.value));
        match next_cursor(&reply.value) {
            Some(next) if cursor.as_deref() != Some(next) => cursor = Some(next.to_owned()),
            _end => break,
        }
    }
    Ok(all)
}
