//! One walk over a text's words: keys that show what they are, and names with what stands under them.

use super::assign;
use super::bytes::{self, at, beginnings, is_word, run, slice};
use super::found::SecretSpans;
use super::keys;
use super::kind::{Kind, MARKER};
use super::names;

/// The longest name that is looked at as one.
const LONGEST_NAME: usize = 128;

/// Last words of names that only several words make: `API key`, `date of birth`.
const JOINED: [&[u8]; 14] = [
    b"key",
    b"keys",
    b"number",
    b"code",
    b"id",
    b"license",
    b"licence",
    b"birth",
    b"security",
    b"string",
    b"header",
    b"account",
    b"card",
    b"passe",
];

pub(super) fn find(text: &[u8], found: &mut SecretSpans) {
    // Where the words before this one began, as far as only single spaces lie between.
    let mut earlier: [Option<usize>; 3] = [None; 3];
    let (mut n, mut word_end, mut has_key, mut has_access_key) = (0, 0, false, false);
    while n < text.len() {
        let byte = at(text, n);
        if byte == 0x1b {
            n = assign::skip_colour(text, n).max(n + 1);
            continue;
        }
        if let Some(end) = marker(text, n) {
            n = end;
            earlier = [None; 3];
            continue;
        }
        if !is_word(byte) {
            if byte != b' ' || at(text, n + 1) == b' ' {
                earlier = [None; 3];
            }
            n += 1;
            continue;
        }
        // What follows a key in the same word is not measured again.
        if n >= word_end {
            (word_end, has_key) = bytes::word(text, n, keys::may_start);
        }
        let end = word_end;
        let begin = n.max(end.saturating_sub(LONGEST_NAME));
        if has_key && let Some((start, stop, kind)) = key_in(text, n, end) {
            has_access_key |= stop - start == 20;
            found.add(start, stop, kind);
            n = stop;
        } else if let Some(stop) = scheme(text, n, end) {
            found.add(end + 1, stop, Kind::Authorization);
            n = stop;
        } else if let Some((start, stop)) = assign::parameter(text, begin, end) {
            found.add(start, stop, Kind::ApiKey);
            n = stop;
        } else if let Some((begin, name)) = name(text, begin, end, &earlier)
            && let Some((start, stop)) = assign::value(text, begin, end, name)
        {
            found.add(start, stop, name.kind);
            n = stop.max(end);
        } else {
            n = end;
        }
        earlier = [Some(begin), earlier[0], earlier[1]];
    }
    if has_access_key {
        access_secrets(text, found);
    }
}

/// Behind the marker that stands at `from`: what it says is no name.
fn marker(text: &[u8], from: usize) -> Option<usize> {
    if at(text, from) != b'[' || slice(text, from, from + MARKER.len()) != MARKER.as_bytes() {
        return None;
    }
    let end = run(text, from + MARKER.len(), 16, |byte| byte.is_ascii_lowercase() || byte == b'_');
    (at(text, end) == b']').then_some(end + 1)
}

/// What the word from `begin` to `end` says as a name, alone or with the words before it, and where the name begins.
fn name(text: &[u8], begin: usize, end: usize, earlier: &[Option<usize>; 3]) -> Option<(usize, names::NameKind)> {
    let word = slice(text, begin, end);
    if is_contrasena(text, begin, word) {
        return Some((begin, names::NameKind { kind: Kind::Password, several: false }));
    }
    if !names::may_say(word) {
        return None;
    }
    if let Some(name) = names::named(word) {
        return Some((begin, name));
    }
    let is_joined = JOINED.iter().any(|last| word.eq_ignore_ascii_case(last));
    let begins = earlier.iter().flatten().filter(|begin| is_joined && end - **begin <= LONGEST_NAME);
    begins.into_iter().find_map(|begin| Some((*begin, names::named(slice(text, *begin, end))?)))
}

/// Whether the word is the end of `contraseña` or `contraseñas`, a name with a letter that no word of ours has.
fn is_contrasena(text: &[u8], begin: usize, word: &[u8]) -> bool {
    const BEFORE: [&[u8]; 2] = ["contraseñ".as_bytes(), "CONTRASEÑ".as_bytes()];
    let is_end = word.eq_ignore_ascii_case(b"a") || word.eq_ignore_ascii_case(b"as");
    let before = slice(text, begin.saturating_sub(BEFORE[0].len()), begin);
    is_end && BEFORE.iter().any(|start| before.eq_ignore_ascii_case(start))
}

/// A key that begins somewhere in the word from `from` to `end`: at its beginning, or behind a hyphen or the like.
fn key_in(text: &[u8], from: usize, end: usize) -> Option<(usize, usize, Kind)> {
    beginnings(text, from, end).find_map(|n| keys::starts(text, n).map(|(stop, kind)| (n, stop, kind)))
}

/// Where what is proven by follows `Bearer` or `Basic`, and no word does.
fn scheme(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let word = slice(text, from, end);
    if !word.eq_ignore_ascii_case(b"bearer") && !word.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=');
    let stop = run(text, end + 1, usize::MAX, fits);
    let proof = slice(text, end + 1, stop);
    let varied = proof.iter().skip(1).any(u8::is_ascii_uppercase) || proof.iter().any(u8::is_ascii_digit);
    let is_proof = proof.len() >= 6 && (varied || proof.ends_with(b"=") || proof.len() >= 24);
    (at(text, end) == b' ' && is_proof).then_some(stop)
}

/// Beside the id of a key of Amazon's, what may be its secret.
fn access_secrets(text: &[u8], found: &mut SecretSpans) {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
    let mut n = 0;
    while n < text.len() {
        let end = run(text, n, usize::MAX, fits);
        if let Some(stop) = keys::access_secret(text, n).filter(|stop| *stop == end) {
            found.add(n, stop, Kind::Secret);
        }
        n = end + 1;
    }
}
