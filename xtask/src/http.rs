//! As much HTTP as the chores need: one request, one connection, one answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// No answer takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request with a body of that type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) method: &'r str,
    pub(crate) path: &'r str,
    pub(crate) key: &'r str,
    pub(crate) content_type: &'r str,
    pub(crate) headers: &'r str,
    pub(crate) body: &'r [u8],
}

/// Sends it, and answers the status and what follows the headers.
///
/// # Errors
/// When the server cannot be reached, or answers in another language.
pub(crate) fn send(port: u16, request: Request<'_>) -> Result<(u16, String)> {
    let Request { method, path, key, content_type, headers, body } = request;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("the server cannot be reached")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {key}\r\nconnection: \
         close\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).with_context(|| format!("no answer to {method} {path}"))?;
    parse(&String::from_utf8_lossy(&answer)).with_context(|| format!("{method} {path}"))
}

fn parse(answer: &str) -> Result<(u16, String)> {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    match (status, answer.split_once("\r\n\r\n")) {
        (Some(status), Some((_, body))) => Ok((status, body.to_owned())),
        _ => bail!("not an HTTP response: {:?}", answer.chars().take(200).collect::<String>()),
    }
}

/// The first text that a JSON document has under a name.
pub(crate) fn text<'j>(json: &'j str, name: &str) -> Option<&'j str> {
    texts(json, name).into_iter().next()
}

/// Every text without escapes that a JSON document has under a name, at any depth.
pub(crate) fn texts<'j>(json: &'j str, name: &str) -> Vec<&'j str> {
    let mark = format!("\"{name}\":\"");
    json.match_indices(&mark).filter_map(|(at, _)| json[at + mark.len()..].split('"').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status_and_its_body() {
        let (status, body) = parse("HTTP/1.1 202 Accepted\r\na: b\r\n\r\n{\"id\":\"x\"}").unwrap();
        assert_eq!((status, body.as_str()), (202, "{\"id\":\"x\"}"));
        assert!(parse("SSH-2.0-OpenSSH").is_err());
    }

    #[test]
    fn texts_are_found_by_name() {
        let json = r#"{"items":[{"id":"a","n":1},{"id":"b"}]}"#;
        assert_eq!((texts(json, "id"), text(json, "none")), (vec!["a", "b"], None));
    }
}
