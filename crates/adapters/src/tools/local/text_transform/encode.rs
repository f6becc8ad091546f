//! Base64 and percent-encoding.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use kybern_core::tool::ToolFailure;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::super::refuse;
use super::options::Options;

/// What is not encoded in a URL's part: the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Reads with and without padding.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// The text's UTF-8 in base64.
pub(super) fn base64(text: &str, options: &Options<'_>) -> String {
    if options.flag("urlSafe") {
        return base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    }
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The text that base64 holds: either alphabet, with or without padding, on one line or several.
///
/// # Errors
/// When it is no base64, or holds no UTF-8.
pub(super) fn from_base64(text: &str) -> Result<String, ToolFailure> {
    let packed: String = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let alphabet = if packed.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let bytes = GeneralPurpose::new(alphabet, LENIENT)
        .decode(packed)
        .map_err(|problem| refuse(format!("the text is no base64: {}", problem.to_string().to_lowercase())))?;
    String::from_utf8(bytes)
        .map_err(|_| refuse("the base64 holds no UTF-8 text, but other bytes: this tool returns text"))
}

/// The text as a part of a URL.
pub(super) fn url(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The text that a part of a URL stands for. A `+` stays one.
///
/// # Errors
/// When a percent sign has no two digits behind it, or the bytes are no UTF-8.
pub(super) fn from_url(text: &str) -> Result<String, ToolFailure> {
    let bytes = text.as_bytes();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%') {
        if !bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            return Err(refuse(format!("the percent sign at byte {} has no two digits behind it: write %25", at + 1)));
        }
    }
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| refuse("the decoded bytes are no UTF-8 text"))?;
    Ok(decoded.into_owned())
}
