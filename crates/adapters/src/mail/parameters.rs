//! Names of files that are cut into pieces (RFC 2231): `filename*0*=utf-8''r%C3; filename*1*=%A9sum%C3%A9.pdf`.
//!
//! The character set is named once and holds for all pieces that are encoded, so they are put together before they are
//! decoded: senders cut between the bytes of one character.

use encoding_rs::{Encoding, UTF_8};
use mail_parser::{HeaderName, Message, MessagePart};
use percent_encoding::percent_decode;

/// Pieces of one name.
const MAX_PIECES: usize = 100;

/// The name of a part that its headers give in pieces; `None` when they do not.
pub(super) fn name_in_pieces(message: &Message<'_>, part: &MessagePart<'_>) -> Option<String> {
    let of = |wanted: &HeaderName<'_>, parameter: &str| {
        let header = part.headers.iter().find(|header| header.name == *wanted)?;
        let raw = message.raw_message.get(header.offset_start as usize..header.offset_end as usize)?;
        joined(raw, parameter)
    };
    of(&HeaderName::ContentDisposition, "filename").or_else(|| of(&HeaderName::ContentType, "name"))
}

/// The pieces of a parameter as one text.
fn joined(header: &[u8], parameter: &str) -> Option<String> {
    let pieces = split(header);
    let find = |key: &str| pieces.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_slice());
    let mut charset = UTF_8;
    // Neighbours that are encoded are one run of bytes.
    let mut runs: Vec<(bool, Vec<u8>)> = Vec::new();
    for n in 0..MAX_PIECES {
        let encoded = find(&format!("{parameter}*{n}*"));
        let Some(mut value) = encoded.or_else(|| find(&format!("{parameter}*{n}"))) else { break };
        if n == 0 && encoded.is_some() {
            let mut parts = value.splitn(3, |byte| *byte == b'\'');
            if let (Some(label), Some(_language), Some(rest)) = (parts.next(), parts.next(), parts.next()) {
                charset = Encoding::for_label(label).unwrap_or(UTF_8);
                value = rest;
            }
        }
        let bytes = if encoded.is_some() { percent_decode(value).collect() } else { value.to_vec() };
        match runs.last_mut() {
            Some((is_encoded, run)) if *is_encoded == encoded.is_some() => run.extend(bytes),
            _ => runs.push((encoded.is_some(), bytes)),
        }
    }
    let text = |(encoded, bytes): &(bool, Vec<u8>)| {
        let charset = if *encoded { charset } else { UTF_8 };
        charset.decode_without_bom_handling(bytes).0.into_owned()
    };
    (!runs.is_empty()).then(|| runs.iter().map(text).collect())
}

/// The parameters of a header, their names in lower case, their values without quotes.
fn split(header: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut pieces = Vec::new();
    let (mut piece, mut quoted, mut escaped) = (Vec::new(), false, false);
    for byte in header.iter().copied().chain([b';']) {
        match byte {
            _ if escaped => {
                piece.push(byte);
                escaped = false;
            }
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'\r' | b'\n' => {}
            // Between names and values; inside of quotes they belong to the value.
            _ if byte.is_ascii_whitespace() && !quoted => {}
            b';' if !quoted => {
                let piece = std::mem::take(&mut piece);
                if let Some(at) = piece.iter().position(|byte| *byte == b'=') {
                    let name = String::from_utf8_lossy(&piece[..at]).to_ascii_lowercase();
                    pieces.push((name, piece[at + 1..].to_vec()));
                }
            }
            _ => piece.push(byte),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_one_name() {
        let joined = |header: &str| joined(header.as_bytes(), "filename");
        let cut = "attachment; filename*0*=UTF-8'fr'r%C3; FILENAME*1*=%A9sum%C3%A9.pdf";
        assert_eq!(joined(cut).as_deref(), Some("résumé.pdf"));
        let latin = "attachment;\r\n filename*1=\" of \\\"May\\\".pdf\";\r\n filename*0*=iso-8859-1''r%E9sum%E9";
        assert_eq!(joined(latin).as_deref(), Some("résumé of \"May\".pdf"));
        assert_eq!(joined("attachment; filename*0=\"a;b \"; filename*1=c.pdf").as_deref(), Some("a;b c.pdf"));
        assert_eq!(joined("attachment; filename=a.pdf; filename*=utf-8''b.pdf"), None);
        assert_eq!(joined("attachment; filename*1=b.pdf"), None);
    }
}
