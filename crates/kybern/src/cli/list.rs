//! Lists: their items, and where the next page begins.

use clap::Args;
use serde_json::Value;

use super::{Context, Exit, Format};
use crate::client::{Client, ClientError};
use crate::output::{Cell, Failure, Table, in_full, moment, quoted, short};

/// The widest that a cell of a list is.
const CELL: usize = 60;

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

/// Prints how the next page is read, where there is one, with the command that printed this one.
pub(crate) fn more(list: &Value, command: &str, page: &Page, context: &mut Context) {
    if let Some(cursor) = next_cursor(list) {
        let limit = page.limit.map(|limit| format!(" --limit {limit}")).unwrap_or_default();
        context.screen().line(format!("more: {command}{limit} --cursor {cursor}"));
    }
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

/// What narrowed a page, as it is written on a command line: the page after it belongs to the same filter only.
pub(crate) fn flags<'a>(filter: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let flag = |(name, value): (&str, Option<&str>)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(format!(" --{name} {}", quoted(value)))
    };
    filter.into_iter().filter_map(flag).collect()
}

/// A list that a verb prints as a table.
pub(crate) struct List<'a> {
    /// Where it is.
    pub(crate) path: &'a str,
    /// What narrows it.
    pub(crate) query: Vec<(&'static str, Option<String>)>,
    /// Headings, each with the JSON pointer of what stands below it.
    pub(crate) columns: &'a [(&'static str, &'static str)],
    /// What is printed when there is nothing.
    pub(crate) nothing: &'a str,
    /// The command that prints it, for the page after this one.
    pub(crate) command: String,
}

impl List<'_> {
    /// Prints a page.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn print(mut self, page: &Page, format: Format, context: &mut Context) -> Result<Exit, Failure> {
        self.query.extend(page.query());
        let Some(reply) = context.read(self.path, &self.query, format).await? else { return Ok(Exit::Done) };
        let headings: Vec<&str> = self.columns.iter().map(|(heading, _)| *heading).collect();
        let mut table = Table::new(&headings);
        for item in items(&reply.value) {
            let last = self.columns.len().saturating_sub(1);
            table.row(self.columns.iter().enumerate().map(|(n, (_, at))| match item.pointer(at) {
                Some(Value::String(text)) if n == last => Cell::fitting(moment(text), CELL),
                value if n == last => Cell::fitting(cell(value), CELL),
                value => cell(value).into(),
            }));
        }
        let (paint, is_empty) = (context.screen().paint(), table.is_empty());
        context.screen().line(if is_empty { self.nothing.to_owned() } else { table.render(paint) });
        more(&reply.value, &self.command, page, context);
        Ok(Exit::Done)
    }
}

/// What stands in a cell: lists as words, moments without their milliseconds.
fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::Array(list)) => list.iter().map(|one| short(one, CELL)).collect::<Vec<_>>().join(" "),
        Some(value) => moment(&short(value, CELL)),
        None => String::new(),
    }
}

/// Prints what stands at a path in full.
///
/// # Errors
/// [`Failure`]
pub(crate) async fn show(path: &str, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let reply = client.get(path, &[]).await?;
    Ok(context.told(&reply, format, |value| in_full(value, "")))
}

#[cfg(test)]
mod tests {
    use super::flags;

    #[test]
    fn a_filter_is_written_as_the_shell_reads_it() {
        let filter = [("status", Some("failed")), ("intent", None), ("key", Some("")), ("query", Some("Ann's trains"))];
        assert_eq!(flags(filter), r" --status failed --query 'Ann'\''s trains'");
    }
}
