//! Redaction: secrets and personal data are taken out of what people read, by their shape and by the name they stand
//! under.
//!
//! It is for the sinks only: the audit, the log of tasks, errors, the server's own log and its spans. What work is
//! done on (a task's input, state and result, the journal) stays exact, because a replay and a reviewer need it.
//!
//! A marker names the kind, `[redacted:email]`, and is never taken out itself. The time is linear in the length of the text, whatever it says: every detector looks ahead a bounded way,
//! or goes on behind what it has looked at.
//!
//! Names are judged word by word, in every spelling (`apiKey`, `API_KEY`, `x-api-key`, "API key"). `inputTokens` and
//! `maxTokens` are counts; `nextPageToken`, and cursors by other names, are places in a list: they stay. A name that
//! only contains such a word (`tokenCount`, `passwordPolicy`, `secretary`) stays too.
//!
//! It errs towards redacting where a value stands under a secret's name, and towards leaving where only the shape
//! speaks: a number is a card or an account only when its check digits hold.

mod assign;
mod bytes;
mod found;
mod iban;
mod keys;
mod kind;
mod links;
mod names;
mod numbers;
#[cfg(test)]
mod tests;
mod values;
mod words;

use std::borrow::Cow;

use found::SecretSpans;
pub use kind::Kind;
pub use values::{redact_members, redact_named, redact_value};

/// The same text without secrets and personal data. Borrowed when there is nothing to take out.
#[must_use]
pub fn redact_text(text: &str) -> Cow<'_, str> {
    found_in(text).apply(text)
}

/// Whether a text holds a [secret](Kind::is_secret): what must neither be remembered nor shown to a model again and
/// again. Addresses, telephone numbers and birthdays are personal and no secrets.
#[must_use]
pub fn has_secret(text: &str) -> bool {
    found_in(text).kinds(text).any(Kind::is_secret)
}

/// Everything in a text that is secret or personal.
fn found_in(text: &str) -> SecretSpans {
    if bytes::is_id(text.as_bytes()) {
        return SecretSpans::default();
    }
    let signs = bytes::TextSigns::of(text);
    let mut found = SecretSpans::default();
    if signs.encoded {
        // What is encoded is read as it is meant, and taken out as it stands.
        let (plain, places) = bytes::decoded(text);
        find(&plain, &bytes::TextSigns::of(&plain), &mut found);
        found.move_to(&places);
    } else {
        find(text, &signs, &mut found);
    }
    found
}

/// Asks every detector that has something to look at.
fn find(text: &str, signs: &bytes::TextSigns, found: &mut SecretSpans) {
    if signs.fence {
        links::private_keys(text, found);
    }
    let in_urls = if signs.slashes { links::credentials(text.as_bytes(), found) } else { Vec::new() };
    if signs.at {
        links::addresses(text.as_bytes(), &in_urls, found);
    }
    if signs.numbers {
        numbers::find(text.as_bytes(), found);
    }
    if signs.letters {
        words::find(text.as_bytes(), found);
    }
}

/// The text as a `String`, for where one is stored.
#[must_use]
pub fn redacted(text: String) -> String {
    match redact_text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    }
}
