//! What stands around an at sign, in front of a host, and between fences: e-mail addresses, credentials in URLs and in
//! connection strings, private keys.

use super::bytes::{at, before, goes_on, run, run_back, slice};
use super::found::SecretSpans;
use super::kind::{Kind, MARKER};

/// The longest local part and the longest domain of an address, after RFC 5321.
const LOCAL: usize = 64;
const DOMAIN: usize = 255;
/// The longest part of a URL between `//` and its path that is looked at.
const AUTHORITY: usize = 4096;

/// Private keys in PEM, from fence to fence; one without its end goes to the end of the text.
pub(super) fn private_keys(text: &str, found: &mut SecretSpans) {
    const BEGIN: &str = "-----BEGIN ";
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find(BEGIN)).map(|n| n + from) {
        let label = start + BEGIN.len();
        let label_end = run(text.as_bytes(), label, 64, |byte| byte.is_ascii_uppercase() || byte == b' ');
        from = label_end;
        if !slice(text.as_bytes(), label, label_end).ends_with(b"PRIVATE KEY") {
            continue;
        }
        let end = text.get(label_end..).and_then(|rest| rest.find("-----END "));
        let end = end.map_or(text.len(), |n| {
            let label = label_end + n + "-----END ".len();
            let dashes = run(text.as_bytes(), label, 64, |byte| byte.is_ascii_uppercase() || byte == b' ');
            run(text.as_bytes(), dashes, 5, |byte| byte == b'-')
        });
        found.add(start, end, Kind::PrivateKey);
        from = end;
    }
}

/// The user and the password in a URL: what stands between `//` and an at sign before the path. Gives
/// where those at signs are.
pub(super) fn credentials(text: &[u8], found: &mut SecretSpans) -> Vec<usize> {
    let (mut n, mut signs) = (0, Vec::new());
    while n + 1 < text.len() {
        if at(text, n) != b'/' || at(text, n + 1) != b'/' {
            n += 1;
            continue;
        }
        let start = n + 2;
        let end = run(text, start, AUTHORITY, |byte| {
            !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'<' | b'>' | b'\\' | b'`')
        });
        n = end.max(start);
        let sign = slice(text, start, end).iter().rposition(|byte| *byte == b'@');
        let Some(sign) = sign.map(|sign| sign + start) else { continue };
        if !slice(text, start, sign).starts_with(MARKER.as_bytes()) {
            found.add(start, sign, Kind::Credentials);
            signs.push(sign);
        }
    }
    signs
}

/// E-mail addresses, and the credentials before `@tcp(`. `taken` are the at signs
/// that belong to URLs.
pub(super) fn addresses(text: &[u8], taken: &[usize], found: &mut SecretSpans) {
    let (mut n, mut taken) = (0, taken.iter().peekable());
    while n < text.len() {
        if at(text, n) != b'@' {
            n += 1;
            continue;
        }
        let (left, right) = (n, n + 1);
        n = right;
        while taken.next_if(|sign| **sign < left).is_some() {}
        if taken.peek() == Some(&&left) {
            continue;
        }
        if goes_on(text, right, b"tcp(") || goes_on(text, right, b"unix(") {
            let start = run_back(text, left, DOMAIN, |byte| !byte.is_ascii_whitespace() && byte != b'"');
            found.add(start, left, Kind::Credentials);
            continue;
        }
        let local = run_back(text, left, LOCAL, is_local);
        // A sentence may end, or a path may begin, in front of it.
        let local = run(text, local, LOCAL, |byte| matches!(byte, b'.' | b'-' | b'\'' | b'%'));
        let end = domain(text, right);
        if local < left
            && let Some(end) = end
        {
            found.add(local, end, Kind::Email);
            n = end;
        }
    }
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'')
}

/// Where a domain ends: labels with full stops between them, the last one of two letters or more.
fn domain(text: &[u8], from: usize) -> Option<usize> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'-');
    let mut end = run(text, from, DOMAIN, fits);
    while end > from && matches!(before(text, end), b'.' | b'-') {
        end -= 1;
    }
    let labels = slice(text, from, end);
    let last = labels.rsplit(|byte| *byte == b'.').next()?;
    let is_top = last.len() >= 2 && (last.iter().all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80));
    let is_top = is_top || last.starts_with(b"xn--");
    (is_top && last.len() < labels.len() && !labels.starts_with(b".")).then_some(end)
}
