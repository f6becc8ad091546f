//! Labels: where in a line a field's label stands, so that a value can be expected after or under it.

mod group;
mod several;

use kybern_core::model::{FieldPattern, ValueKind};

use super::analyse::clip;
use super::compound;
use super::label_text::{asks, bare, is_one, opens, past_letter, past_separator, points_down};
use super::layout::{Cell, Line};
use super::phrases::PhraseMatch;
use super::prepared::PreparedSchema;
use super::signs;
use super::values;
use super::words::{Word, words};

/// Words between two labels of one cell.
const FILLERS: [&str; 18] =
    ["and", "or", "the", "of", "y", "e", "et", "o", "ou", "de", "du", "la", "le", "des", "del", "s", "#", "und"];
/// Words that join two labels.
const JOINTS: [&str; 4] = ["and", "y", "et", "und"];
/// Words with which a label ends whose value must follow.
const OPEN: [&str; 8] = ["for", "to", "of", "para", "pour", "de", "für", "an"];
/// Prepositions with which a label ends that leads to a name: `reports on`.
const LEADING: [&str; 12] = ["for", "on", "from", "of", "with", "to", "para", "de", "por", "pour", "für", "von"];
/// Bytes of a label that in a sentence is hardly one: `to`, `as of`. Some longer words are none either.
const MAX_SMALL: usize = 5;
const SMALL: [&str; 9] = ["through", "beginning", "ending", "hasta", "desde", "jusqu", "depuis", "starts", "begins"];
/// Digits of a number that ends a label.
const MAX_NUMBER: usize = 2;
/// Bytes at the beginning of a text in which a label is looked for.
const MAX_LEAD: usize = 60;
/// Bytes behind a phrase in which a value is looked for that makes it a label.
const MAX_REST: usize = 400;
/// Labels on one line that are looked at.
const MAX_HITS: usize = 200;

/// A schema's labels and terms as far as one document may have them.
#[derive(Debug)]
pub(super) struct Labels<'s> {
    /// The fields that are looked for.
    pub(super) fields: Vec<&'s FieldPattern>,
    /// The family of the fields that tell about whoever writes a message.
    pub(super) writer: Option<&'s str>,
    pub(super) known: &'s PreparedSchema,
    /// For each field of the schema its index in `fields`; `None` for those that are not looked for.
    pub(super) places: Vec<Option<usize>>,
    /// For each of `fields`, whether its values are a closed list.
    closed: Vec<bool>,
}

/// A label on a line.
#[derive(Clone, Debug)]
pub(super) struct LabelHit {
    /// The fields it may announce, as indices of [`Labels::fields`].
    pub(super) fields: Vec<usize>,
    /// Its cell on the line.
    pub(super) cell: usize,
    /// First byte in the page's text.
    pub(super) start: usize,
    /// Where its value may begin: past colon, blanks and remark.
    pub(super) after: usize,
    /// How many words it has.
    pub(super) words: usize,
    /// Whether a colon, an equals sign or a dash follows.
    pub(super) colon: bool,
    /// Whether it fills its cell, so that the value stands beside or beneath it.
    pub(super) fills: bool,
    /// The labels that it consists of, where that is known already.
    pub(super) parts: Vec<Vec<usize>>,
}

impl<'s> Labels<'s> {
    /// The labels of the fields whose section is among `sections`.
    pub(super) fn new(known: &'s PreparedSchema, sections: &[String]) -> Self {
        let present =
            |field: &FieldPattern| field.section.as_ref().is_none_or(|key| sections.iter().any(|other| other == key));
        let mut fields = Vec::new();
        let places: Vec<Option<usize>> = known
            .schema
            .fields
            .iter()
            .map(|field| {
                present(field).then(|| {
                    fields.push(field);
                    fields.len() - 1
                })
            })
            .collect();
        let mut closed = vec![false; fields.len()];
        for place in known.lexicon.meanings.iter().filter_map(|meaning| places[meaning.field]) {
            closed[place] = true;
        }
        Self { fields, writer: known.schema.writer.as_deref(), known, places, closed }
    }

    /// The fields whose value, a policy's number, opens an item of a list.
    pub(super) fn openers(&self) -> impl Iterator<Item = (usize, &'s FieldPattern)> {
        let fields = self.fields.iter().copied().enumerate();
        fields.filter(|(field, pattern)| self.is_opening_number(*field) && pattern.group.is_some())
    }

    /// Every label that begins at the word `first`, the longest first, each with its field as its number.
    pub(super) fn at<'a>(&'a self, text: &'a [Word], first: usize) -> impl Iterator<Item = PhraseMatch> + 'a {
        let owned = |found: PhraseMatch| {
            Some(PhraseMatch { phrase: self.places[self.known.lexicon.owners[found.phrase]]?, ..found })
        };
        self.known.lexicon.phrases.at(text, first).filter_map(owned)
    }

    /// The fields for whose names a text has a word that speaks, and none that speaks against them; in their order.
    pub(super) fn signed(&self, text: &str) -> Vec<usize> {
        self.known.lexicon.signs.fields(text).into_iter().filter_map(|field| self.places[field]).collect()
    }

    /// Whether a field's values are a closed list.
    pub(super) fn has_terms(&self, field: usize) -> bool {
        self.closed[field]
    }

    /// The labels on a line, from left to right.
    pub(super) fn hits(&self, text: &str, line: &Line) -> Vec<LabelHit> {
        let mut hits: Vec<LabelHit> = Vec::new();
        for (cell_index, cell) in line.cells.iter().enumerate() {
            let inside = words(&text[cell.start..cell.end], cell.start);
            let more = cell_index + 1 < line.cells.len();
            let (from, to) = bare(text, cell.start, cell.end);
            let bared = (from, to) != (cell.start, cell.end);
            let of_bared;
            let within: &[Word] = if bared {
                of_bared = words(&text[from..to], from);
                &of_bared
            } else {
                &inside
            };
            let alone = self.numbered(text, (from, to)).filter(|_| more);
            let whole = || {
                let several = bared || !compound::parts(self, &text[from..to]).is_empty();
                several.then(|| self.joined(&text[from..to])).flatten().map(|hit| LabelHit { after: to, ..hit })
            };
            if let Some(hit) = alone.or_else(|| self.pure(text, (from, to), within)).or_else(whole) {
                let after = if hit.after >= to { cell.end } else { hit.after };
                hits.push(LabelHit { cell: cell_index, start: cell.start, after, ..hit });
                continue;
            }
            let mut first = 0;
            let mut labelled = false;
            while first < inside.len() && hits.len() < MAX_HITS {
                let whole = |found: &PhraseMatch| is_one(&text[inside[first].start..inside[found.last - 1].end]);
                let mut found = self.at(&inside, first).filter(whole).peekable();
                let Some(longest) = found.peek().map(|found| found.last) else {
                    first += 1;
                    continue;
                };
                let fields = found.filter(|found| found.last == longest).map(|found| found.phrase).collect();
                let (start, end) = (inside[first].start, inside[longest - 1].end);
                if is_inside_number(text, start, end) {
                    first += 1;
                    continue;
                }
                let mut hit = self.hit(text, (cell.start, cell.end), (start, end), fields);
                hit.cell = cell_index;
                hit.words = longest - first;
                if let Some((both, last)) = self.slashed(text, cell, &hit, (&inside, longest)) {
                    hits.push(both);
                    first = last;
                    continue;
                }
                // A letter may say which of several it is: `Lessor B: …`
                if let Some(after) =
                    past_letter(text, hit.after, cell.end).filter(|_| start == cell.start && !hit.colon)
                {
                    (hit.after, hit.colon) = (after, true);
                }
                if self.accepts(text, (cell.start, cell.end), &mut hit, labelled) {
                    labelled |= hit.colon;
                    let skip = inside[longest..].iter().take_while(|word| word.start < hit.after).count();
                    first = longest + skip;
                    hits.push(hit);
                } else {
                    first += 1;
                }
            }
        }
        hits
    }

    /// A label with another one behind a stroke, before the first one's value: `Policy No / Policy Period AB-1234`. With it
    /// the word behind the labels.
    fn slashed(
        &self,
        text: &str,
        cell: &Cell,
        hit: &LabelHit,
        (inside, last): (&[Word], usize),
    ) -> Option<(LabelHit, usize)> {
        let end = inside.get(last.checked_sub(1)?)?.end;
        if hit.colon || !text.get(end..cell.end)?.trim_start().starts_with('/') {
            return None;
        }
        let second = self.at(inside, last).next()?;
        let after = inside[second.last - 1].end;
        let after = after + text[after..cell.end].len() - text[after..cell.end].trim_start().len();
        let mut both = LabelHit { after, ..hit.clone() };
        let opens = hit.start == cell.start && after < cell.end && !text[after..].starts_with([':', '=']);
        (opens && self.accepts(text, (cell.start, cell.end), &mut both, false)).then_some((both, second.last))
    }

    /// The label that a cell is when a number ends it: a form that asks for several has `Option 1` and `Option 2`.
    fn numbered(&self, text: &str, cell: (usize, usize)) -> Option<LabelHit> {
        let whole = text.get(cell.0..cell.1)?.trim_end_matches([':', ' ']);
        let (label, number) = whole.rsplit_once(' ')?;
        if number.len() > MAX_NUMBER || !number.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let end = cell.0 + label.trim_end().len();
        let inside = words(&text[cell.0..end], cell.0);
        let hit = self.pure(text, (cell.0, end), &inside).or_else(|| {
            let (fields, words) = (self.whole(&inside), inside.len());
            let (start, after, parts) = (cell.0, cell.1, Vec::new());
            (!fields.is_empty()).then_some(LabelHit {
                fields,
                cell: 0,
                start,
                after,
                words,
                colon: false,
                fills: true,
                parts,
            })
        })?;
        // A single word and a number are as often a thing and its number: `Unit 12`.
        let listed = |field: &usize| self.has_terms(*field) || self.fields[*field].value == ValueKind::Money;
        let colon = text[..cell.1].ends_with(':');
        (hit.words > 1 || hit.fields.iter().all(listed)).then_some(LabelHit { after: cell.1, colon, ..hit })
    }

    /// The fields of the label that so many words are.
    fn whole(&self, inside: &[Word]) -> Vec<usize> {
        let whole = |found: &PhraseMatch| found.last == inside.len();
        self.at(inside, 0).filter(whole).map(|found| found.phrase).collect()
    }

    /// Whether a text is a label and nothing else.
    pub(super) fn is_label(&self, text: &str) -> bool {
        !self.whole(&words(text, 0)).is_empty()
    }

    /// The label of a cell that goes on in the cell beneath: `Contract` above `Number`.
    pub(super) fn joined(&self, text: &str) -> Option<LabelHit> {
        let inside = words(text, 0);
        let fields = self.whole(&inside);
        let parts = compound::parts(self, text);
        let fields = if fields.is_empty() { parts.first().cloned()? } else { fields };
        let parts = if parts.len() > 1 { parts } else { Vec::new() };
        let colon = text.ends_with(':');
        Some(LabelHit { fields, cell: 0, start: 0, after: 0, words: inside.len(), colon, fills: true, parts })
    }

    /// The fields of a label that a text is, but for one word.
    pub(super) fn exactly(&self, text: &str) -> Option<Vec<usize>> {
        let inside = words(text.trim_end_matches(':'), 0);
        let all = (0..inside.len().min(2)).flat_map(|first| self.at(&inside, first));
        let near = all.filter(|found| inside.len() <= found.last - found.first + 1);
        let longest = near.max_by_key(|found| found.last - found.first)?;
        let same = self.at(&inside, longest.first).filter(|found| found.last == longest.last);
        Some(same.map(|found| found.phrase).collect())
    }

    /// The fields of the longest label inside a cell of a row of labels.
    pub(super) fn inside(&self, text: &str, cell: &Cell) -> Vec<usize> {
        let inside = words(&text[cell.start..cell.end], cell.start);
        let all: Vec<PhraseMatch> = (0..inside.len()).flat_map(|first| self.at(&inside, first)).collect();
        let Some(longest) = all.iter().map(|found| found.last - found.first).max() else { return Vec::new() };
        let last = all.iter().filter(|found| found.last - found.first == longest).map(|found| found.first).max();
        // Two labels in one cell are two columns that stand too close.
        let apart = all.iter().any(|found| {
            let disjoint = all.iter().any(|other| found.last <= other.first);
            disjoint && !FILLERS.contains(&inside[found.first].text.as_str())
        });
        if apart && !text[cell.start..cell.end].contains(['/', '(']) {
            // What `and` joins is one column, whose first label says what its cells begin with.
            let joint = |word: &Word| JOINTS.contains(&word.text.as_str());
            let first = all.iter().max_by_key(|found| (std::cmp::Reverse(found.first), found.last));
            let joined = first.filter(|found| inside.get(found.last).is_some_and(joint));
            let same =
                |found: &&PhraseMatch| joined.is_some_and(|one| (found.first, found.last) == (one.first, one.last));
            return all.iter().filter(same).map(|found| found.phrase).collect();
        }
        let best = all.iter().filter(|found| found.last - found.first == longest && Some(found.first) == last);
        best.map(|found| found.phrase).collect()
    }

    fn hit(&self, text: &str, cell: (usize, usize), found: (usize, usize), fields: Vec<usize>) -> LabelHit {
        let (after, colon) = past_separator(text, found.1, cell.1);
        // `Insurer /` goes on in another language beneath, and `Your DOT number?` has its answer there.
        let rest = text[after.min(cell.1)..cell.1].trim();
        let after = if matches!(rest, "/" | "?") { cell.1 } else { after };
        let asked = text[..cell.1].ends_with('?') && asks(&text[cell.0..found.0]);
        let fills = after >= cell.1 && (asked || opens(text[cell.0..found.0].trim_end()));
        // A sentence may stand beneath a question; only what can be nothing else answers it.
        let narrow = |field: &usize| !asked || values::is_strict(self.fields[*field].value);
        let fields: Vec<usize> = fields.into_iter().filter(narrow).collect();
        let fills = fills && !fields.is_empty();
        LabelHit { fields, cell: 0, start: found.0, after, words: 0, colon, fills, parts: Vec::new() }
    }

    /// Whether a phrase is used as a label here, and of which of its fields.
    fn accepts(&self, text: &str, cell: (usize, usize), hit: &mut LabelHit, labelled: bool) -> bool {
        let before = text[cell.0..hit.start].trim_end();
        let opens = opens(before);
        if hit.fills {
            return true;
        }
        // A sentence that ends with a label and a colon, or in the middle of one: `Please send it to our client:`
        let last = text[hit.start..cell.1].trim_end().rsplit(' ').next().unwrap_or_default();
        if hit.after >= cell.1 && hit.words > 1 && (hit.colon || OPEN.contains(&last)) {
            hit.fills = true;
            return true;
        }
        // Or one that says that what is wanted stands beneath: `the holder is`, `a certificate for the company below`.
        if hit.words > 1 && points_down(&text[hit.after.min(cell.1)..cell.1]) {
            (hit.after, hit.fills) = (cell.1, true);
            return true;
        }
        let parted = before.ends_with(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
        if hit.colon && hit.after <= cell.1 && (opens || parted || labelled) {
            return true;
        }
        // Without a colon only a value that cannot be anything else makes it a label.
        let mut rest = clip(&text[hit.after.min(cell.1)..cell.1], MAX_REST);
        if let Some(inserted) = rest.strip_prefix(", ").filter(|inserted| signs::inserts(self, hit, inserted)) {
            (hit.after, rest) = (hit.after + rest.len() - inserted.len(), inserted);
        }
        let named = self.ends_name(before, &text[hit.start..hit.after.min(cell.1)]);
        hit.fields.retain(|field| {
            let pattern = self.fields[*field];
            let kind = pattern.value;
            // `Please order reports on. The other one …` names nobody.
            if kind == ValueKind::Name && (named || ends_sentence(&text[hit.start..hit.after.min(cell.1)])) {
                return false;
            }
            if kind == ValueKind::Name && (opens || hit.words >= 2) {
                return signs::glued_name(self, *field, hit.words, rest).is_some();
            }
            if kind == ValueKind::Person {
                return values::leading_person(rest).is_some();
            }
            // Small words such as `to` are a label of a date at the beginning only.
            let label = text[hit.start..hit.after.min(cell.1)].trim_end();
            let small = label.len() <= MAX_SMALL || SMALL.contains(&label.to_lowercase().as_str());
            let dated = matches!(kind, ValueKind::Date | ValueKind::DateRange) && small;
            values::is_strict(kind)
                && (opens || !dated)
                && values::read(pattern, rest).is_some_and(|read| {
                    let is_value = kind != ValueKind::Money || values::is_marked(&rest[read.start..read.end]);
                    read.fit > 0.8 || read.problem.is_some() && is_value
                })
        });
        !hit.fields.is_empty()
    }

    /// Whether a label ends a name: `Some Leasing Company`, where `leasing company` is a label too.
    fn ends_name(&self, before: &str, label: &str) -> bool {
        let capital = |word: Option<&str>| word.is_some_and(|word| word.starts_with(char::is_uppercase));
        let last = before.rsplit(' ').next().filter(|word| !word.ends_with([':', ',', ';', '.', '-', '/', '|']));
        capital(last) && capital(label.split(' ').next()) && !self.signed(label).is_empty()
    }

    /// Whether a name belongs to some field by its words, also to one whose section is not present.
    pub(super) fn is_anybodys(&self, name: &str) -> bool {
        let is_anybodys = |field: &usize| match self.known.schema.fields[*field].value {
            ValueKind::Name => true,
            // The words of days and persons say nothing of a name.
            ValueKind::Date | ValueKind::Person => false,
            _ => self.places[*field].is_some(),
        };
        self.known.lexicon.signs.fields(name).iter().any(is_anybodys)
    }

    /// The length of the longest label of a field that a text begins with.
    pub(super) fn leading(&self, text: &str, field: usize) -> Option<usize> {
        let inside = words(clip(text, MAX_LEAD), 0);
        let ours = self.at(&inside, 0).find(|found| found.phrase == field)?;
        inside.get(ours.last - 1).filter(|_| inside[0].start == 0).map(|word| word.end)
    }

    pub(super) fn ends_with_label(&self, text: &str, field: usize) -> bool {
        let last = text.rsplit([' ', '\n']).next().unwrap_or_default();
        self.leading(last, field) == Some(last.len())
    }

    /// Whether a text begins with a label.
    pub(super) fn leads(&self, text: &str) -> bool {
        self.at(&words(clip(text, MAX_LEAD), 0), 0).next().is_some()
    }

    /// Whether a text begins with a label or a term.
    pub(super) fn begin(&self, text: &str) -> bool {
        let inside = words(text, 0);
        self.at(&inside, 0).next().is_some() || self.begins_with_term(&inside)
    }
}

/// Whether a label that ends with a preposition ends its sentence too.
fn ends_sentence(label: &str) -> bool {
    let label = label.trim_end().to_lowercase();
    label.strip_suffix('.').and_then(|label| label.rsplit(' ').next()).is_some_and(|last| LEADING.contains(&last))
}

/// Whether letters stand in the middle of a number, and are no label of what follows: `QRS-MC-350044`.
fn is_inside_number(text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    before.next() == Some('-')
        && before.next().is_some_and(char::is_alphanumeric)
        && after.next() == Some('-')
        && after.next().is_some_and(|c| c.is_ascii_digit())
}
