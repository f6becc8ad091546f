//! Keys and tokens that show what they are: by the prefix that their maker gives them, or by their parts.

use super::bytes::{at, run, slice};
use super::kind::Kind;

/// The longest token; a longer one is taken out piece by piece.
const LONGEST: usize = 16 * 1024;

/// How much of a token decides whether it is one.
const DECISIVE: usize = 256;

/// How a maker's keys begin, and how many more characters they have at least.
const PREFIXES: [(&str, usize); 46] = [
    ("AGE-SECRET-KEY-1", 20),
    ("AIza", 30),
    ("dckr_pat_", 16),
    ("dop_v1_", 20),
    ("figd_", 20),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glrt-", 16),
    ("gsk_", 20),
    ("hf_", 20),
    ("kyb_", 16),
    ("lin_api_", 20),
    ("npm_", 30),
    ("nvapi-", 20),
    ("pk_live_", 16),
    ("pk_test_", 16),
    ("pplx-", 20),
    ("pypi-", 30),
    ("r8_", 30),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("SG.", 30),
    ("shpat_", 20),
    ("shpss_", 20),
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("sq0atp-", 16),
    ("sq0csp-", 16),
    ("tvly-", 16),
    ("whsec_", 16),
    ("xai-", 20),
    ("xapp-", 10),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("ya29.", 16),
];

/// A key that begins at `from`, and its end.
pub(super) fn starts(text: &[u8], from: usize) -> Option<(usize, Kind)> {
    let first = at(text, from);
    if !may_start(first, at(text, from + 1)) {
        return None;
    }
    if first == b'e' {
        return web_token(text, from).map(|end| (end, Kind::Token));
    }
    if first == b'A'
        && let Some(end) = access_key(text, from)
    {
        return Some((end, Kind::ApiKey));
    }
    let fits = |&&(prefix, _): &&(&str, usize)| {
        at(prefix.as_bytes(), 0) == first && slice(text, from, from + prefix.len()) == prefix.as_bytes()
    };
    let (prefix, least) = PREFIXES.iter().find(fits)?;
    let body = from + prefix.len();
    // Secrets of webhooks are base64.
    let base64 = |byte: u8| *prefix == "whsec_" && matches!(byte, b'+' | b'/' | b'=');
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~') || base64(byte);
    // Its beginning decides: what is refused must not be read to its end again and again.
    let seen = slice(text, body, run(text, body, DECISIVE, fits));
    let seen = slice(seen, 0, trimmed(seen));
    if seen.len() < *least || !is_made_up(seen) {
        return None;
    }
    let end = run(text, body, LONGEST, fits);
    Some((body + trimmed(slice(text, body, end)), Kind::ApiKey))
}

/// How keys begin: all of [`PREFIXES`], the ids of Amazon's keys, and web tokens.
const BEGINNINGS: [&[u8; 2]; 32] = [
    b"AG", b"AI", b"AK", b"AR", b"AS", b"SG", b"dc", b"do", b"ey", b"fi", b"gh", b"gi", b"gl", b"gs", b"hf", b"ky",
    b"li", b"np", b"nv", b"pk", b"pp", b"py", b"r8", b"rk", b"sh", b"sk", b"sq", b"tv", b"wh", b"xa", b"xo", b"ya",
];

/// For each first letter of a key, the second ones, bit for bit. Hardly a word has both, and every word of every line
/// of the log is asked.
static SECONDS: [u64; 256] = {
    let mut seconds = [0; 256];
    let mut n = 0;
    while n < BEGINNINGS.len() {
        let [first, second] = *BEGINNINGS[n];
        seconds[first as usize] |= 1 << (second % 64);
        n += 1;
    }
    seconds
};

/// Whether a key may begin with these two letters. It may say so of others, and leaves out none.
#[inline]
pub(super) fn may_start(first: u8, second: u8) -> bool {
    SECONDS[usize::from(first)] & (1 << (second % 64)) != 0
}

/// How long a token is without the punctuation of the sentence behind it.
fn trimmed(body: &[u8]) -> usize {
    body.len() - body.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-' | b'~')).count()
}

/// Whether it is no row of words: `sk-learn-pipeline-of-models` is one.
fn is_made_up(body: &[u8]) -> bool {
    let varied = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    body.iter().any(varied) || !body.iter().any(|byte| matches!(byte, b'-' | b'.'))
}

/// A JSON web token, signed or sealed: parts of base64 between full stops, the first of which is an object.
fn web_token(text: &[u8], from: usize) -> Option<usize> {
    if slice(text, from, from + 3) != b"eyJ" {
        return None;
    }
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=');
    let (mut end, mut parts) = (run(text, from, 2 * DECISIVE, part), 1);
    while parts < 5 && at(text, end) == b'.' && (part(at(text, end + 1)) || at(text, end + 1) == b'.') {
        end = run(text, end + 1, LONGEST, part);
        parts += 1;
    }
    (parts >= 2 && end - from >= 20).then_some(end)
}

/// The id of a key of Amazon's: 20 characters.
fn access_key(text: &[u8], from: usize) -> Option<usize> {
    let prefixes: [&[u8]; 4] = [b"AKIA", b"ASIA", b"AROA", b"AIDA"];
    if !prefixes.contains(&slice(text, from, from + 4)) {
        return None;
    }
    let end = run(text, from, 21, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (end - from == 20).then_some(end)
}

/// What may be the secret of a key of Amazon's: 40 characters of base64 that are no hash in hex.
pub(super) fn access_secret(text: &[u8], from: usize) -> Option<usize> {
    let end = run(text, from, 41, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'));
    let body = slice(text, from, end);
    let varied = body.iter().any(u8::is_ascii_uppercase) && body.iter().any(u8::is_ascii_lowercase);
    (body.len() == 40 && varied).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_passes_over_no_key() {
        let ids = ["AKIA", "ASIA", "AROA", "AIDA", "eyJ"];
        for prefix in PREFIXES.iter().map(|(prefix, _)| *prefix).chain(ids) {
            let prefix = prefix.as_bytes();
            assert!(may_start(at(prefix, 0), at(prefix, 1)), "{prefix:?}");
        }
    }
}
