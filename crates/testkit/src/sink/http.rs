//! As much HTTP/1.1 as a test's sender speaks: a length or chunks, one request after the other on a connection.

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::ReceivedRequest;

/// The most bytes of a request; a sender that sends more is cut off.
const MOST: usize = 64 * 1024 * 1024;

/// The next request; `None` when the connection ends, or what comes is no HTTP. `rest` is what was read too much.
pub(super) async fn read(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<ReceivedRequest> {
    let end = loop {
        if let Some(at) = find(rest, b"\r\n\r\n") {
            break at;
        }
        more(stream, rest).await?;
    };
    let head = String::from_utf8(rest.drain(..end + 4).collect()).ok()?;
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let parse = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers: Vec<(String, String)> = lines.filter_map(parse).collect();
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let body = if header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        chunks(stream, rest).await?
    } else {
        let length = header("content-length").map_or(Some(0), |length| length.parse().ok())?;
        exactly(stream, rest, length).await?
    };
    Some(ReceivedRequest { n: 0, method, path, headers, body: Bytes::from(body), took_effect: true })
}

/// Sends an answer with a JSON body.
pub(super) async fn answer(stream: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.flush().await
}

async fn chunks(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = find(rest, b"\r\n") {
                break at;
            }
            more(stream, rest).await?;
        };
        let line = String::from_utf8(rest.drain(..end + 2).collect()).ok()?;
        let size = usize::from_str_radix(line.trim().split(';').next()?, 16).ok()?;
        let chunk = exactly(stream, rest, size.checked_add(2)?).await?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

async fn exactly(stream: &mut TcpStream, rest: &mut Vec<u8>, length: usize) -> Option<Vec<u8>> {
    while rest.len() < length {
        more(stream, rest).await?;
    }
    Some(rest.drain(..length).collect())
}

async fn more(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<()> {
    let read = stream.read_buf(rest).await.ok()?;
    (read > 0 && rest.len() <= MOST).then_some(())
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
