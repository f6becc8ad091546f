//! Entities of HTML as the characters they stand for.

use quick_xml::escape::resolve_html5_entity;

/// The longest entity that is looked up.
const MAX_ENTITY: usize = 32;

/// Resolves entities; what is none stays as it is.
pub(super) fn resolve(text: &str) -> String {
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        resolved.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(MAX_ENTITY).position(|byte| byte == b';');
        match end.and_then(|end| entity(&rest[1..end]).map(|text| (end, text))) {
            Some((end, text)) => {
                resolved.push_str(&text);
                rest = &rest[end + 1..];
            }
            None => {
                resolved.push('&');
                rest = &rest[1..];
            }
        }
    }
    resolved.push_str(rest);
    // Zero-width and soft characters only hide words from whoever looks for them.
    resolved.retain(|c| {
        !matches!(c, '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{34f}')
    });
    resolved.replace('\u{a0}', " ")
}

fn entity(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else { return resolve_html5_entity(name).map(str::to_owned) };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    // Pages that name windows-1252 codes mean the characters that Windows shows.
    if let Ok(byte @ 0x80..=0x9f) = u8::try_from(code) {
        return Some(encoding_rs::WINDOWS_1252.decode(&[byte]).0.into_owned());
    }
    char::from_u32(code).filter(|c| *c != '\0').map(String::from)
}
