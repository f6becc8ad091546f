//! Reading what was typed, and files that were named.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use clap::ValueEnum;
use serde_json::Value;

use crate::output::{Failure, Screen};

/// A value that must be JSON.
///
/// # Errors
/// A sentence for the usage message.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))
}

/// A value that must be a JSON object.
///
/// # Errors
/// A sentence for the usage message.
pub(crate) fn object(text: &str) -> Result<Value, String> {
    let value = json(text)?;
    if value.is_object() { Ok(value) } else { Err("is not a JSON object, as in '{\"name\": 1}'".to_owned()) }
}

/// A choice, as it is typed and as the API spells it.
pub(crate) fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// `KEY=VALUE`, split.
///
/// # Errors
/// A sentence for the usage message.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _other => Err("is not KEY=VALUE".to_owned()),
    }
}

/// When something ends: a moment in RFC 3339, or a number of days from now, as in `90d`.
///
/// # Errors
/// A sentence for the usage message.
pub(crate) fn moment(text: &str) -> Result<jiff::Timestamp, String> {
    if let Some(days) = text.strip_suffix('d') {
        let days: u16 = days.parse().map_err(|_| "is not a number of days, as in 90d".to_owned())?;
        let span = jiff::SignedDuration::from_hours(24 * i64::from(days));
        return now().checked_add(span).map_err(|error| error.to_string());
    }
    text.parse()
        .map_err(|_| "is neither a moment such as 2027-01-31T12:00:00Z nor a number of days such as 90d".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "a person who types 90d means from now on")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Whether a person says yes to `verb` of what they have read: of `this`, without which the `whole` stays as it is. Where
/// nobody can be asked, the command that says so.
///
/// # Errors
/// When what is typed cannot be read.
pub(crate) fn says_yes(
    screen: &mut Screen,
    verb: &str,
    (this, whole): (&str, &str),
    command: &str,
) -> Result<bool, Failure> {
    if !screen.is_interactive() {
        screen.line(format!("to {verb} this {this}: {command}"));
        return Ok(false);
    }
    screen.text(format!("{verb} this {this}? [y/N] "));
    let mut said = String::new();
    std::io::stdin().read_line(&mut said).map_err(|error| Failure::Other(error.into()))?;
    let yes = said.trim().eq_ignore_ascii_case("y");
    if !yes {
        screen.line(format!("nothing was decided: the {whole} stays as it is"));
    }
    Ok(yes)
}

/// A file, to be read.
///
/// # Errors
/// [`Failure::File`]
pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    let failed = |source| Failure::File { path: path.display().to_string(), source };
    let file = File::open(path).map_err(failed)?;
    // A folder opens, and only its reader learns what it is.
    if file.metadata().map_err(failed)?.is_dir() { Err(failed(ErrorKind::IsADirectory.into())) } else { Ok(file) }
}

/// A file's bytes.
///
/// # Errors
/// [`Failure::File`]
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::File { path: path.display().to_string(), source })
}

/// A file's JSON.
///
/// # Errors
/// [`Failure::File`], or [`Failure::Content`] when it is not JSON.
pub(crate) fn json_file(path: &Path) -> Result<Value, Failure> {
    serde_json::from_slice(&bytes(path)?).map_err(|error| Failure::Content {
        path: path.display().to_string(),
        problem: format!("is not JSON: {error}"),
    })
}

/// The content type that a file's name stands for.
pub(crate) fn content_type(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "txt" | "md" => "text/plain",
        "json" => "application/json",
        "eml" => "message/rfc822",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        _unknown => "application/octet-stream",
    }
}

/// That a file was named which is to be new, and is there.
pub(super) fn taken(path: &Path) -> Failure {
    Failure::usage(format!("{} is there already", path.display()), "name a file that does not exist yet")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_read_or_explained() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(pair("a").is_err() && pair("=b").is_err());
        assert!(object("[1]").unwrap_err().contains("JSON object"));
        assert!(json("{").unwrap_err().starts_with("is not JSON"));
    }

    #[test]
    fn an_end_is_a_moment_or_days_away() {
        assert_eq!(moment("2027-01-31T12:00:00Z").unwrap().to_string(), "2027-01-31T12:00:00Z");
        assert!(moment("30d").unwrap() > moment("29d").unwrap());
        assert!(moment("soon").is_err() && moment("xd").is_err());
    }

    #[test]
    fn endings_stand_for_content_types() {
        assert_eq!(content_type(Path::new("a/B.PDF")), "application/pdf");
        assert_eq!(content_type(Path::new("a")), "application/octet-stream");
    }
}
