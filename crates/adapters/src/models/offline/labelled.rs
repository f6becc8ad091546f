//! Values after, beside, beneath and above their labels.

mod apart;

use kybern_core::model::ValueKind;

use self::apart::{centred, name_of_block, wrapped, wrapped_before};
use super::labels::{LabelHit, Labels};
use super::layout::{self, Cell};
use super::occurrence::{Occurrence, SearchPlace, sure};
use super::page::Page;
use super::sides::{LabelSide, SideVotes, neighbour};
use super::values::{self, ValueShape};
use super::{compound, parties, postal, signs, terms};

/// Lines on which a name may go on.
const MAX_WRAPPED: usize = 2;

/// Words of the label of a pair that nobody knows.
const MAX_PAIR: usize = 3;

/// Words with which no name ends.
const OPEN: [&str; 9] = ["of", "and", "&", "the", "de", "y", "et", "del", "du"];

/// Where the text lies in which a value is expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSpot {
    /// Index of its line.
    pub(super) line: usize,
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// How sure this way of finding is.
    pub(super) sure: f64,
}

/// Every labelled value on a page, tables aside.
///
/// In a message, what may be anybody's is its writer's.
pub(super) fn labelled(page: &Page<'_>, index: usize, labels: &Labels<'_>, writer: Option<&str>) -> Vec<Occurrence> {
    let sides = SideVotes::of(page, labels);
    let mut found = Vec::new();
    for line in 0..page.lines.len() {
        if page.used[line] {
            continue;
        }
        for (place, hit) in page.hits[line].iter().enumerate() {
            if let Some(several) = compound::values(page, index, (line, place), labels, &sides) {
                found.extend(several);
                continue;
            }
            let mut ranged = false;
            let opened = |group: &str| {
                let opens = |field: &usize| {
                    let pattern = labels.fields[*field];
                    pattern.opens_item && pattern.group.as_deref() == Some(group)
                };
                page.hits[line][..place].iter().any(|before| before.fields.iter().any(opens))
            };
            for field in fields_of(hit, labels, writer, opened) {
                let pattern = labels.fields[field];
                if ranged && pattern.value == ValueKind::Date || parties::is_of_another(page, labels, line, hit, field)
                {
                    continue;
                }
                let at = SearchPlace { field, page: index, line, at: hit.start };
                let before = found.len();
                let spot = spot(page, line, place, pattern.into(), labels, &sides);
                if labels.has_terms(field) {
                    terms::labelled(page, at, place, spot, labels, &mut found);
                } else if pattern.value == ValueKind::Address {
                    let named = hit.fields.iter().any(|other| labels.fields[*other].value == ValueKind::Name);
                    found.extend(spot.and_then(|spot| postal::address(page, at, spot, named)));
                } else {
                    found.extend(spot.and_then(|spot| {
                        let text = &page.text[spot.start..spot.end];
                        let read = if pattern.value == ValueKind::Name && !hit.fills && !hit.colon {
                            let cell = page.lines[spot.line].cells[hit.cell];
                            signs::glued_name(labels, field, hit.words, &page.text[spot.start..cell.end])?
                        } else if pattern.value == ValueKind::Person && !hit.fills && !hit.colon {
                            values::leading_person(text)?
                        } else if pattern.value == ValueKind::Person && hit.fields.len() > 1 && values::has_form(text) {
                            // An applicant may be a company, which then drives nothing.
                            return None;
                        } else {
                            let read = values::read(pattern, text)?;
                            if pattern.value == ValueKind::Name {
                                whole_name(page, labels, field, spot, read)
                            } else {
                                read
                            }
                        };
                        if is_signed_by_another(labels, field, &read) {
                            return None;
                        }
                        let other = rival(labels, hit, field, &read).or_else(|| of_signs(labels, hit, field, &read));
                        let at = SearchPlace { field: other.unwrap_or(field), ..at };
                        let many = labels.fields[at.field].many;
                        Some(Occurrence { many, ..Occurrence::new(at, read, spot.start, spot.sure) })
                    }));
                }
                ranged |= pattern.value == ValueKind::DateRange && found.len() > before;
            }
        }
    }
    found
}

/// A name with what of it stands on the next lines of its column: the last of them ends with the legal form.
pub(super) fn whole_name(
    page: &Page<'_>,
    labels: &Labels<'_>,
    field: usize,
    spot: ValueSpot,
    read: values::ReadValue,
) -> values::ReadValue {
    // `Some Insurance Co. of` has its form, and goes on.
    let goes = |name: &&str| is_open(name) || !values::has_form(name);
    let Some(name) = read.value.as_str().filter(goes) else { return read };
    let open = values::has_form(name);
    let here = &page.lines[spot.line];
    let from = spot.start + read.start;
    let Some(cell) = here.cells.iter().find(|cell| (cell.start..cell.end).contains(&from)) else { return read };
    // What of the line stands before the name takes up room too.
    let before = page.text[cell.start..from].chars().count();
    let column = Cell { column: cell.column + before, width: cell.width.saturating_sub(before), ..*cell };
    let mut whole = name.to_owned();
    let mut open_end: Option<values::ReadValue> = None;
    for step in 1..=MAX_WRAPPED {
        let ends_open = is_open(&whole);
        let so_far = (ends_open, !whole.contains(' '));
        let Some(rest) = goes_on(page, labels, (field, spot.line + step), [column, *cell], so_far) else { break };
        if open && let Some(last) = values::read(ValueKind::Name, rest).filter(|last| last.start == 0) {
            let whole = format!("{whole} {}", last.value.as_str().unwrap_or(rest));
            return values::ReadValue { value: whole.into(), ..read };
        }
        let ends = rest.split_whitespace().last().is_some_and(values::has_form);
        let signed = ends && labels.signed(rest).contains(&field);
        let forms = ends && (signed || rest.split_whitespace().all(values::has_form));
        let form = || values::read(ValueKind::Name, rest).filter(|read| forms && read.start == 0);
        let last = values::leading_business(rest).filter(|rest| rest.start == 0).or_else(form);
        // `Fern &` needs another word, whether or not a legal form comes.
        let needed = last.is_none().then(|| values::read(ValueKind::Name, rest)).flatten();
        let needed = needed.filter(|read| ends_open && read.start == 0);
        let next = last.as_ref().or(needed.as_ref()).and_then(|last| last.value.as_str());
        whole = format!("{whole} {}", next.unwrap_or(rest));
        // Of a name on three lines the words say whose it is.
        if let Some(last) = last.filter(|_| step == 1 || ends_open || labels.signed(&whole).contains(&field)) {
            return values::ReadValue { value: whole.into(), fit: last.fit, ..read };
        }
        if let Some(needed) = needed {
            open_end = Some(values::ReadValue { value: whole.clone().into(), fit: needed.fit, ..read.clone() });
        }
    }
    open_end.unwrap_or(read)
}

/// Whether a name ends with a word that joins it to what follows.
pub(super) fn is_open(name: &str) -> bool {
    name.rsplit(' ').next().is_some_and(|last| OPEN.contains(&last.to_lowercase().as_str()))
}

/// The text of a line in the column of a name, where it may belong to the name.
fn goes_on<'t>(
    page: &Page<'t>,
    labels: &Labels<'_>,
    (field, line): (usize, usize),
    [name, cell]: [Cell; 2],
    (ends_open, one_word): (bool, bool),
) -> Option<&'t str> {
    let next = page.lines.get(line).filter(|next| next.number == page.lines[line - 1].number + 1)?;
    let starts =
        |column: Cell| layout::in_column(column, next).filter(|below| below.column.abs_diff(column.column) <= 1);
    // `Messagerie` above `Clairefontaine ltée` is one name on two lines.
    let whole =
        |text: &str| values::leading_business(text).is_some_and(|read| (read.start, read.end) == (0, text.len()));
    let goes = |below: &Cell| one_word && whole(page.cell(*below));
    let signed = |below: &Cell| ends_open || goes(below) || !labels.signed(page.cell(*below)).is_empty();
    let below = starts(name).or_else(|| starts(cell).filter(signed))?;
    // What stands beside a label of its own is another value.
    let place = next.cells.iter().position(|other| *other == below)?;
    let beside = |hit: &LabelHit| {
        let goes_on = hit.fields.is_empty();
        hit.fills && hit.cell + 1 == place && !goes_on && !hit.fields.contains(&field)
    };
    let text = page.cell(below);
    // `Company` alone beneath a name is its last word.
    let form = text.split_whitespace().all(values::has_form);
    let free = (form || !page.is_label(line, below)) && !page.hits[line].iter().any(beside);
    (free && !text.bytes().any(|b| b.is_ascii_digit())).then_some(text)
}

/// The fields that a label announces: of two that want the same kind, the one whose section is present wins, and that of a
/// list whose item the line opened; ranges come before single dates.
fn fields_of(hit: &LabelHit, labels: &Labels<'_>, writer: Option<&str>, opened: impl Fn(&str) -> bool) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let writers = |field: usize| writer.is_some() && parties::family(&labels.fields[field].name) == writer;
    for field in &hit.fields {
        let pattern = labels.fields[*field];
        let rival = chosen.iter().position(|other| labels.fields[*other].value == pattern.value);
        match rival {
            Some(place)
                if writers(*field)
                    || labels.fields[chosen[place]].group.is_none()
                        && pattern.group.as_deref().is_some_and(&opened)
                    || writer.is_none()
                        && !writers(chosen[place])
                        && labels.fields[chosen[place]].section.is_none()
                        && pattern.section.is_some() =>
            {
                chosen[place] = *field
            }
            Some(_) => {}
            None => chosen.push(*field),
        }
    }
    chosen.sort_by_key(|field| labels.fields[*field].value != ValueKind::DateRange);
    chosen
}

/// Whether a name's words give it to another field than the labelled one, which has such words too.
fn is_signed_by_another(labels: &Labels<'_>, field: usize, read: &values::ReadValue) -> bool {
    let pattern = labels.fields[field];
    let known = pattern.value == ValueKind::Name && !pattern.signs.is_empty();
    let signed = || labels.signed(read.value.as_str().unwrap_or_default());
    known && signed().first().is_some_and(|_| !signed().contains(&field))
}

/// The other field of a label for a name whose words speak against the chosen one: `Company: Dry Creek Hauling LLC` tells
/// of no lessor.
fn rival(labels: &Labels<'_>, hit: &LabelHit, field: usize, read: &values::ReadValue) -> Option<usize> {
    let free = |other: &usize| {
        let pattern = labels.fields[*other];
        *other != field && pattern.value == ValueKind::Name && pattern.signs.is_empty()
    };
    let against = labels.fields[field].value == ValueKind::Name
        && read.value.as_str().is_some_and(|name| signs::against(labels, field, name));
    hit.fields.iter().copied().find(free).filter(|_| against)
}

/// The other field of a label that a name's words give it to: `Company` above `Oakmere Insurance Company` names an insurer,
/// whoever writes.
fn of_signs(labels: &Labels<'_>, hit: &LabelHit, field: usize, read: &values::ReadValue) -> Option<usize> {
    let pattern = labels.fields[field];
    let name = read.value.as_str().filter(|_| pattern.value == ValueKind::Name && pattern.signs.is_empty())?;
    let signed = labels.signed(name);
    hit.fields.iter().copied().find(|other| *other != field && signed.contains(other))
}

/// Where the value of a label is expected; for kinds that are checked narrowly only where such a value stands.
fn spot(
    page: &Page<'_>,
    line: usize,
    place: usize,
    shape: ValueShape<'_>,
    labels: &Labels<'_>,
    sides: &SideVotes,
) -> Option<ValueSpot> {
    let kind = shape.kind;
    let hit = &page.hits[line][place];
    let row = &page.lines[line];
    let next = page.hits[line].get(place + 1).map(|next| next.start);
    if !hit.fills {
        let cell_end = if kind == ValueKind::DateRange { row.end } else { row.cells[hit.cell].end };
        let end = next.filter(|next| *next > hit.after).map_or(cell_end, |next| next.min(cell_end));
        let strict = values::is_strict(kind);
        let sure = if hit.colon { sure::COLON } else { sure::GLUED };
        // A label of a name that is led by no colon was accepted for the name behind it.
        let glued = strict || matches!(kind, ValueKind::Name | ValueKind::Person);
        return (hit.after < end && (hit.colon || glued)).then_some(ValueSpot { line, start: hit.after, end, sure });
    }
    let order = sides.order(line);
    let beside = |side: LabelSide| match side {
        LabelSide::Right => {
            let (_, cell) = neighbour(page, line, hit.cell, side)?;
            let end = if kind == ValueKind::DateRange { next.unwrap_or(row.end) } else { cell.end };
            let other = kind == ValueKind::Name && hit.colon && is_of_label_above(page, line, cell, labels);
            // `Name:   Date Prepared: 28 June` is another pair.
            let pair = kind == ValueKind::Name && hit.colon && is_pair(page.cell(cell));
            let free = !other && !pair && !page.is_label(line, cell) && !is_foreign(page, line, cell, kind, labels);
            let fits = free && fits(page, shape, cell.start, end);
            let beside = fits.then_some(ValueSpot { line, start: cell.start, end, sure: sure::BESIDE });
            beside.or_else(|| centred(page, line, cell).filter(|_| free && kind == ValueKind::Name))
        }
        LabelSide::Below => beneath(page, line, place, shape, labels),
        LabelSide::Above | LabelSide::Left => {
            let (at, cell) = neighbour(page, line, hit.cell, side)?;
            // A name with its address stands above as a block.
            let is_address = |cell: Cell| {
                let text = page.cell(cell);
                values::ends_with_zip(text) || !values::find_phones(text).is_empty()
            };
            let block =
                Some(cell).filter(|cell| kind == ValueKind::Name && side == LabelSide::Above && is_address(*cell));
            let (at, cell) =
                block.and_then(|_| name_of_block(page, line, page.lines[line].cells[hit.cell])).unwrap_or((at, cell));
            let free = !page.is_label(at, cell) && !is_foreign(page, at, cell, kind, labels) && !page.used[at];
            let fits = free && !hit.colon && fits(page, shape, cell.start, cell.end);
            fits.then_some(ValueSpot { line: at, start: cell.start, end: cell.end, sure: sure::BENEATH })
        }
    };
    if let Some(before) = wrapped_before(page, (line, hit), shape, labels).filter(|_| sides.trail()) {
        return Some(before);
    }
    // Where labels stand behind their values, what stands on their other sides is another's.
    let trails = sides.trail() && hit.cell > 0 && !hit.colon;
    let usual = order.into_iter().filter(|side| !trails || *side == LabelSide::Left).find_map(&beside);
    // A name with its legal form beside its label is the label's, wherever the page's other values stand.
    let formed = |spot: &ValueSpot| values::has_form(&page.text[spot.start..spot.end]);
    if kind == ValueKind::Name && usual.as_ref().is_some_and(|spot| spot.line != line && !formed(spot)) {
        return beside(LabelSide::Right).filter(formed).or(usual);
    }
    // `First Named Insured   Location` heads a name and an address.
    let is_word = |spot: &ValueSpot| !page.text[spot.start..spot.end].trim().contains(' ');
    let is_beside = |spot: &ValueSpot| spot.line == line && spot.start > hit.start && is_word(spot);
    if kind == ValueKind::Name && !hit.colon && usual.as_ref().is_some_and(|spot| is_beside(spot) && !formed(spot)) {
        return beside(LabelSide::Below).filter(formed).or(usual);
    }
    usual.or_else(|| wrapped(page, (line, hit), shape, labels))
}

/// Whether a text is a label that nobody knows, with its value.
fn is_pair(text: &str) -> bool {
    text.split_once(": ").is_some_and(|(label, value)| {
        let words = label.split(' ').count();
        words <= MAX_PAIR && !label.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_digit())
    })
}

/// A value of another field: a term cannot be a name.
fn is_foreign(page: &Page<'_>, line: usize, cell: Cell, kind: ValueKind, labels: &Labels<'_>) -> bool {
    let free = matches!(kind, ValueKind::Name | ValueKind::Text | ValueKind::Address);
    let labelled = || page.hits[line].iter().any(|hit| hit.start == cell.start && !hit.fills);
    // `Tel (555) 555-0101` is nobody called Tel.
    let names_label = || {
        let read = values::read(ValueKind::Name, page.cell(cell));
        // One word before a label makes a name of it when its form does: `Oakmere Insurance Company`.
        let is_label = |name: &str| {
            labels.is_label(name)
                || labels.exactly(name).is_some() && !values::has_form(name) && labels.signed(name).is_empty()
        };
        read.is_some_and(|read| read.value.as_str().is_some_and(is_label))
    };
    free && (terms::fills(page, cell, labels) || kind == ValueKind::Name && (labelled() || names_label()))
}

fn fits(page: &Page<'_>, shape: ValueShape<'_>, start: usize, end: usize) -> bool {
    values::read(shape, &page.text[start..end]).is_some()
}

/// Whether a label ends with a word behind which it goes on.
fn ends_open(label: &str) -> bool {
    const ARTICLES: [&str; 8] = ["the", "la", "el", "le", "los", "las", "les", "der"];
    let last = label.rsplit(' ').next().unwrap_or_default().to_lowercase();
    is_open(label) || ARTICLES.contains(&last.as_str())
}

/// Whether a name beside a label is that of the label right above it.
fn is_of_label_above(page: &Page<'_>, line: usize, cell: Cell, labels: &Labels<'_>) -> bool {
    let Some(above) = line.checked_sub(1).filter(|above| page.lines[*above].number + 1 == page.lines[line].number)
    else {
        return false;
    };
    page.hits[above].iter().any(|hit| {
        let over = page.lines[above].cells[hit.cell];
        let names = hit.fields.iter().any(|field| labels.fields[*field].value == ValueKind::Name);
        hit.fills && hit.colon && names && over.column.abs_diff(cell.column) <= 1
    })
}

fn beneath(
    page: &Page<'_>,
    line: usize,
    place: usize,
    shape: ValueShape<'_>,
    labels: &Labels<'_>,
) -> Option<ValueSpot> {
    let kind = shape.kind;
    let hit = &page.hits[line][place];
    let cell = page.lines[line].cells[hit.cell];
    let (index, mut candidate) = neighbour(page, line, hit.cell, LabelSide::Below)?;
    let below = &page.lines[index];
    // `Dealer Fern Hollow` beneath `Client` is no client.
    let of_another = |candidate: Cell| {
        let text = page.cell(candidate);
        kind == ValueKind::Name && labels.leads(text) && !values::has_form(text)
    };
    // Of the names of a list nobody knows which one is meant.
    if kind == ValueKind::Name && page.heads_list(line) {
        return None;
    }
    // A label that ends with a preposition goes on in small letters: `Holder of the` above `contract`.
    let is_broken = ends_open(page.cell(cell)) && page.cell(candidate).starts_with(char::is_lowercase);
    if kind == ValueKind::Name && is_broken {
        let next = page.lines.get(index + 1).filter(|next| next.number == below.number + 1)?;
        let rest = layout::in_column(cell, next).filter(|rest| !page.is_label(index + 1, *rest))?;
        let fit = fits(page, shape, rest.start, rest.end);
        return fit.then_some(ValueSpot { line: index + 1, start: rest.start, end: rest.end, sure: sure::BENEATH });
    }
    let blocked = |candidate: Cell| {
        page.is_label(index, candidate)
            || of_another(candidate)
            || (hit.colon && page.is_pair(index))
            || is_foreign(page, index, candidate, kind, labels)
    };
    if !fits(page, shape, candidate.start, candidate.end) || blocked(candidate) {
        candidate = layout::in_column(cell, below)?;
    }
    if blocked(candidate) || page.used[index] {
        return None;
    }
    let fit = fits(page, shape, candidate.start, candidate.end) || kind == ValueKind::Address;
    fit.then_some(ValueSpot { line: index, start: candidate.start, end: candidate.end, sure: sure::BENEATH })
}
