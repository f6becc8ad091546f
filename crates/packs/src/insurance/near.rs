//! The known insurers that a written name may mean though it is none of theirs: cut short, or with a slip of the pen.
//!
//! A request goes to an insurer's own address, and insurers have names that are a letter apart, so what is near is never
//! taken for the same: it is what a person chooses from.

use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::ToolFailure;
use serde_json::{Value, json};

use super::insurers::{ALL, COMMON};
use super::kinds::ENTITY;
use crate::args::text;
use crate::company;

/// Insurers that one name may mean at most.
const MAX: usize = 10;
/// The least letters of a word in which one may be wrong, and two.
const ONE_SLIP: usize = 5;
const TWO_SLIPS: usize = 8;

/// The names of the known insurers, as names are compared.
pub(super) struct KnownInsurers(Vec<(RecordId, String)>);

impl KnownInsurers {
    /// Reads them, once for all names that are compared.
    pub(super) async fn read(context: &ToolContext) -> Result<Self, ToolFailure> {
        Ok(Self(context.records()?.lookup_values(context.scope, ENTITY, ALL, "name").await?))
    }

    /// The known insurers near a name, the oldest first; none when the name is a known one's. One with another code than
    /// `naic` is another insurer.
    pub(super) async fn near(
        &self,
        context: &ToolContext,
        name: &str,
        naic: Option<&str>,
    ) -> Result<Vec<Record>, ToolFailure> {
        let records = context.records()?;
        let name = company::normal_name(name);
        if name.is_empty() || self.0.iter().any(|(_, other)| *other == name) {
            return Ok(Vec::new());
        }
        let mut found: Vec<Record> = Vec::new();
        for (id, _) in self.0.iter().filter(|(_, other)| is_near(&name, other)) {
            let Some(record) = records.record_by_id(context.scope, *id).await? else { continue };
            let is_another =
                naic.is_some_and(|said| company::recorded_number(&record, "NAIC").is_some_and(|has| has != said));
            if !is_another {
                found.push(record);
            }
            if found.len() == MAX {
                break;
            }
        }
        Ok(found)
    }
}

/// What a person is shown of an insurer.
pub(super) fn shown(insurer: &Record) -> Value {
    json!({"id": insurer.id, "name": text(&insurer.props, "name"), "naic": company::recorded_number(insurer, "NAIC")})
}

/// Whether a name, as names are compared, may be the beginning or the end of a known one, or that with a slip of the pen.
fn is_near(written: &str, known: &str) -> bool {
    let (words, all): (Vec<&str>, Vec<&str>) = (written.split(' ').collect(), known.split(' ').collect());
    let tells = words.iter().any(|word| !COMMON.contains(word));
    let (head, tail) = (all.get(..words.len()), all.len().checked_sub(words.len()).and_then(|from| all.get(from..)));
    let begins = head.is_some_and(|head| tells && (head == words || is_slip(&words, head)));
    begins || tail == Some(&words) || is_slip_of_space(written, known)
}

/// Whether the words are the same but for one letter in a word, or two in a long one or in two words. Words that many
/// insurers have are written right: `southern` is not `northern`.
fn is_slip(one: &[&str], other: &[&str]) -> bool {
    let mut wrong = 0;
    for (a, b) in one.iter().zip(other).filter(|(a, b)| a != b) {
        let letters = strsim::osa_distance(a, b);
        let may = match a.chars().count().min(b.chars().count()) {
            TWO_SLIPS.. => 2,
            ONE_SLIP.. => 1,
            _ => 0,
        };
        let both_common = COMMON.contains(a) && COMMON.contains(b);
        let numbers = [a, b].iter().any(|word| word.contains(|c: char| c.is_ascii_digit()));
        if letters > may || both_common || numbers {
            return false;
        }
        wrong += letters;
    }
    one.len() == other.len() && (1..=2).contains(&wrong)
}

/// Whether only blanks tell two names apart.
fn is_slip_of_space(one: &str, other: &str) -> bool {
    one != other && one.replace(' ', "") == other.replace(' ', "")
}

/// Whether a name is a known one cut short: its beginning, perhaps with a word cut off or the initials of some that follow
/// (`Halyard RRG` for `Halyard Risk Retention Group`).
pub(super) fn is_short_for(read: &str, own: &str) -> bool {
    let (read, own) = (company::normal_name(read), company::normal_name(own));
    let (read, own): (Vec<&str>, Vec<&str>) = (read.split(' ').collect(), own.split(' ').collect());
    let same = read.iter().zip(&own).take_while(|(one, other)| one == other).count();
    let left = own.get(same..).unwrap_or_default();
    match read.get(same..).unwrap_or_default() {
        [] => true,
        [last] => {
            let has_initials = |run: &[&str]| last.chars().eq(run.iter().filter_map(|word| word.chars().next()));
            let length = last.chars().count();
            left.first().is_some_and(|word| word.starts_with(last))
                || (same > 0 && length > 1 && left.windows(length).any(has_initials))
        }
        _several => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_when_it_is_cut_short_or_has_a_slip() {
        for (written, known) in [
            ("quilfeather insurance", "quillfeather insurance"),
            ("quillfaether insurance", "quillfeather insurance"),
            ("quilfeathr insurance", "quillfeather insurance"),
            ("quillfeather insurence", "quillfeather insurance"),
            ("quilfeather", "quillfeather insurance"),
            ("quillfeather", "quillfeather insurance"),
            ("quill feather insurance", "quillfeather insurance"),
            ("transportation insurance", "prairie lantern transportation insurance"),
            ("arcadia mutual", "acadia mutual"),
        ] {
            assert!(is_near(written, known), "{written} {known}");
        }
        for (written, known) in [
            ("blue heron", "quillfeather insurance"),
            ("quill insurance", "quillfeather insurance"),
            ("great southern casualty", "great northern casualty"),
            ("great", "great northern casualty"),
            ("acme mutual", "acne mutual"),
            ("plan 1234567 mutual", "plan 1234568 mutual"),
            ("quilfathr insurance", "quillfeather insurance"),
            ("quillfeather insurance texas", "quillfeather insurance"),
        ] {
            assert!(!is_near(written, known), "{written} {known}");
        }
    }
}
