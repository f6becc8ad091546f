//! Standard error: what is said beside the output. Where it cannot be written there is nobody to tell.

use std::io::{self, Write as _};

use super::failure::Failure;

/// Says a line. One that cannot be written is lost, and nothing ends by it.
pub(crate) fn aside(text: impl AsRef<str>) {
    write(text.as_ref()).unwrap_or_default();
}

/// Says a line with a secret that cannot be shown again.
///
/// # Errors
/// [`Failure::Output`] with the remedy, where the line could not be written.
pub(crate) fn secret_aside(text: impl AsRef<str>, remedy: impl Into<String>) -> Result<(), Failure> {
    write(text.as_ref()).map_err(|error| Failure::Output { problem: error.to_string(), remedy: Some(remedy.into()) })
}

fn write(text: &str) -> io::Result<()> {
    let mut error = io::stderr().lock();
    error.write_all(text.as_bytes())?;
    error.write_all(b"\n")
}
