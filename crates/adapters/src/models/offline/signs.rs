//! Words that give a name away: whose it is though no label says so.

use super::analyse::clip;
use super::labels::{LabelHit, Labels};
use super::parties;
use super::phrases::Phrases;
use super::values::{self, ReadValue};
use super::words::words;

/// Bytes of a text in which signs are looked for.
const MAX_SIGNED: usize = 300;

/// The words that speak for names of a field, and those that speak against them.
#[derive(Debug, Default)]
pub(super) struct FieldSigns {
    phrases: Phrases,
    /// For each phrase its field, and whether it speaks for it.
    spoken: Vec<(usize, bool)>,
}

impl FieldSigns {
    /// Adds a sign of a field; one after `-` speaks against it.
    pub(super) fn add(&mut self, field: usize, sign: &str) {
        self.phrases.add(sign.trim_start_matches('-'), self.spoken.len());
        self.spoken.push((field, !sign.starts_with('-')));
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.phrases.bytes() + size_of_val(self.spoken.as_slice())
    }

    /// Whether a text has a word that speaks against a field.
    pub(super) fn speak_against(&self, field: usize, text: &str) -> bool {
        let found = self.phrases.find_all(&words(clip(text, MAX_SIGNED), 0));
        found.iter().any(|found| self.spoken[found.phrase] == (field, false))
    }

    /// Whether a text has any word that speaks for a field.
    pub(super) fn speak(&self, text: &str) -> bool {
        let all = words(text, 0);
        (0..all.len()).any(|first| self.phrases.at(&all, first).any(|found| self.spoken[found.phrase].1))
    }

    /// The fields for which a text has a word that speaks, and none that speaks against them; in their order.
    pub(super) fn fields(&self, text: &str) -> Vec<usize> {
        let found = self.phrases.find_all(&words(clip(text, MAX_SIGNED), 0));
        let spoken = || found.iter().map(|found| self.spoken[found.phrase]);
        let mut fields: Vec<usize> = spoken().filter(|(_, speaks_for)| *speaks_for).map(|(field, _)| field).collect();
        fields.sort_unstable();
        fields.dedup();
        fields.retain(|field| !spoken().any(|spoken| spoken == (*field, false)));
        fields
    }
}

/// The name that follows a label of so many words without a colon: one with a legal form, one that its words give away
/// or, behind a label of several words, a run of words with capitals that is nobody else's.
pub(super) fn glued_name(labels: &Labels<'_>, field: usize, words_of_label: usize, rest: &str) -> Option<ReadValue> {
    let signed = || parties::signed_name(labels, field, rest);
    let run = || {
        // Behind a single word a run of capitals is a name where another label follows it: `Dealer Fern Hollow, MC 12345`.
        let parted = |read: &ReadValue| rest[read.end..].strip_prefix(", ").is_some_and(|after| labels.leads(after));
        let read = values::leading_run(rest).filter(|read| words_of_label >= 2 || parted(read))?;
        let other = labels.begin(rest.get(read.start..read.end)?) || values::is_date_like(&rest[read.start..]);
        (!other).then_some(read)
    };
    let read = values::leading_business(rest).or_else(signed).or_else(run)?;
    let name = read.value.as_str()?;
    let theirs = labels.fields[field].signs.is_empty() && labels.is_anybodys(name);
    (!theirs).then_some(read)
}

/// Whether the number of what a label names is put in behind a comma: `the new contract, LX-4401, began …`
pub(super) fn inserts(labels: &Labels<'_>, hit: &LabelHit, rest: &str) -> bool {
    let is_number = |field: &usize| {
        let read = || values::read(labels.fields[*field], rest).filter(|read| read.start == 0 && read.fit >= 1.0);
        labels.is_opening_number(*field)
            && read().is_some_and(|read| {
                rest[..read.end].bytes().any(|b| b.is_ascii_uppercase()) && rest[read.end..].starts_with(',')
            })
    };
    hit.fields.iter().any(is_number)
}

/// Whether a name has a word that speaks against a field.
pub(super) fn against(labels: &Labels<'_>, field: usize, name: &str) -> bool {
    let of_schema = labels.places.iter().position(|place| *place == Some(field));
    of_schema.is_some_and(|index| labels.known.lexicon.signs.speak_against(index, name))
}
