//! Lists: their items, and where the next page begins.

use clap::Args;
use serde_json::Value;

use super::{Context, Exit, Format};
use crate::client::{Client, ClientError};
use crate::output::{Cell, Failure, Table, in_full, kybern, moment, quoted, short};

/// The widest that a cell of a list is.
pub(crate) const CELL: usize = 60;

/// The most pages that are read where a verb needs all of a list.
const MAX_PAGES: usize = 1000;

/// Which page of a list, and how it is printed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Page {
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: Option<u32>,
    /// Go on where the last page ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
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
fn flags<'a>(filter: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let flag = |(name, value): (&str, Option<&str>)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(format!(" --{name} {}", quoted(value)))
    };
    filter.into_iter().filter_map(flag).collect()
}

/// A list that a verb prints as a table.
pub(crate) struct List {
    path: String,
    /// The verb that prints it, for the page after this one.
    verb: String,
    flags: Vec<(&'static str, Option<String>)>,
    query: Vec<(&'static str, Option<String>)>,
    nothing: Option<String>,
}

impl List {
    /// What stands at a path, printed by a verb.
    pub(crate) fn at(path: impl Into<String>, verb: impl Into<String>) -> Self {
        Self { path: path.into(), verb: verb.into(), flags: Vec::new(), query: Vec::new(), nothing: None }
    }

    /// Only what fits a flag, which the API knows under the same name.
    pub(crate) fn only(self, name: &'static str, value: Option<String>) -> Self {
        self.only_as(name, value.clone(), [(name, value)])
    }

    /// Only what fits a flag, which the API knows under other names.
    pub(crate) fn only_as(
        mut self,
        flag: &'static str,
        value: Option<String>,
        query: impl IntoIterator<Item = (&'static str, Option<String>)>,
    ) -> Self {
        self.flags.push((flag, value));
        self.query.extend(query);
        self
    }

    /// What is printed when there is nothing; the headings, where nobody says.
    pub(crate) fn or(self, nothing: impl Into<String>) -> Self {
        Self { nothing: Some(nothing.into()), ..self }
    }

    /// Prints a page: headings, each with the JSON pointer of what stands below it.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn print<const N: usize>(
        self,
        page: &Page,
        columns: [(&'static str, &'static str); N],
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let pointers = columns.map(|(_, at)| at);
        let row = |item: &Value| {
            let mut n = 0;
            pointers.map(|at| {
                n += 1;
                match item.pointer(at) {
                    Some(Value::String(text)) if n == N => Cell::fitting(moment(text), CELL),
                    value if n == N => Cell::fitting(cell(value), CELL),
                    value => cell(value).into(),
                }
            })
        };
        self.print_rows(page, columns.map(|(heading, _)| heading), row, context).await
    }

    /// Prints a page: headings, and what `row` makes of an item.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn print_rows<const N: usize>(
        mut self,
        page: &Page,
        headings: [&'static str; N],
        row: impl Fn(&Value) -> [Cell; N],
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        self.query.extend(page.query());
        let Some(reply) = context.read(&self.path, &self.query, page.format).await? else { return Ok(Exit::Done) };
        let mut table = Table::new(&headings);
        items(&reply.value).iter().for_each(|item| table.row(row(item)));
        match self.nothing.filter(|_| table.is_empty()) {
            Some(nothing) => context.screen().line(nothing),
            None => context.table(&table),
        }
        let flags = flags(self.flags.iter().map(|(name, value)| (*name, value.as_deref())));
        more(&reply.value, &format!("{} {}{flags}", kybern(), self.verb), page, context);
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
