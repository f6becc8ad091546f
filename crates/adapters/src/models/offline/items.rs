//! Which values belong together: one policy, one vehicle, one loss.
//!
//! Values of a group are walked in reading order and cut into **segments**: a table's row is one; elsewhere a new one
//! begins where a field comes a second time. A segment that has the group's opening field is an item. One that has
//! not is passed on: what stands before the first item holds for all of them, what stands later completes the item
//! above it. A second segment with the same opening value is the same item, unless the field says that such rows repeat.

use std::collections::{BTreeMap, HashMap, HashSet};

use kybern_core::model::ValueKind;

use super::labels::Labels;
use super::occurrence::{Occurrence, sure};

/// Items of one group that are kept.
const MAX_ITEMS: usize = 5_000;
/// Values that a field of several values may have, in one item or alone.
const MAX_MANY: usize = 100;
/// Fields that a segment needs to be an item when the whole document has no opening field.
const LEAST_FIELDS: usize = 2;

/// A part of the text whose values belong together.
#[derive(Debug, Default)]
struct Segment {
    values: Vec<Occurrence>,
    row: Option<(usize, usize)>,
}

impl Segment {
    /// What tells its item from others: the value of the opening field or, where rows with the same one are items of
    /// their own, the row.
    fn opener(&self, labels: &Labels<'_>) -> Option<String> {
        let value = self.values.iter().find(|value| labels.fields[value.field].opens_item)?;
        let row = self.row.filter(|_| labels.fields[value.field].repeats);
        Some(row.map_or_else(|| value.value.to_string(), |(table, row)| format!("{} {table} {row}", value.page)))
    }

    /// Whether it is the name that leads items, and the next segment is an item without one.
    fn is_led(&self, leader: Option<usize>, next: &Self, labels: &Labels<'_>) -> bool {
        let leads = self.values.first().is_some_and(|value| Some(value.field) == leader);
        let unled = !next.values.iter().any(|value| Some(value.field) == leader);
        leads && unled && next.opener(labels).is_some()
    }

    /// The number beside a day that opens an item: of two losses on one day each has its own.
    fn number(&self, labels: &Labels<'_>) -> Option<&serde_json::Value> {
        let kind = |value: &&Occurrence| labels.fields[value.field].value;
        let day =
            self.values.iter().any(|value| labels.fields[value.field].opens_item && kind(&value) == ValueKind::Date);
        self.values.iter().find(|value| day && kind(value) == ValueKind::Reference).map(|value| &value.value)
    }
}

/// The values of one group, with the number of the item that each belongs to.
pub(super) fn items(mut values: Vec<Occurrence>, labels: &Labels<'_>) -> Vec<(u32, Occurrence)> {
    let opens = |value: &Occurrence| labels.fields[value.field].opens_item;
    to_rows(&mut values);
    // What was found for an item is ordered by its opening value, and comes behind it.
    values.sort_by_key(|value| (value.page, value.at, value.row.is_none() && !opens(value), value.start));
    let leader = leader(&values, labels).or_else(|| giver(&values, labels));
    let segments = segments(values, leader, labels);
    let opened = segments.iter().any(|segment| segment.values.iter().any(opens));
    let mut shared: Vec<Occurrence> = Vec::new();
    let mut found: Vec<Vec<Occurrence>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut last: Option<(usize, Option<usize>)> = None;
    let mut segments = segments.into_iter().peekable();
    let mut ahead: Vec<Occurrence> = Vec::new();
    while let Some(mut segment) = segments.next() {
        segment.values.splice(0..0, std::mem::take(&mut ahead));
        let opener = segment.opener(labels);
        let table = segment.row.map(|(table, _)| table);
        match (opener, last) {
            (Some(opener), _) => {
                let number = segment.number(labels);
                let opener = match number {
                    Some(number)
                        if known.get(&opener).is_some_and(|item| tells_other(&found[*item], number, labels)) =>
                    {
                        format!("{opener} {number}")
                    }
                    _ => opener,
                };
                let item = *known.entry(opener).or_insert_with(|| {
                    found.push(Vec::new());
                    found.len() - 1
                });
                if item < MAX_ITEMS {
                    join(&mut found[item], segment.values, 1.0);
                    last = Some((item, table));
                }
            }
            (None, _) if !opened => {
                let mut fields: Vec<usize> = segment.values.iter().map(|value| value.field).collect();
                fields.dedup();
                let known = |field: &usize| !labels.fields[*field].signs.is_empty();
                let plain = segment.values.iter().any(|value| value.many && value.confidence >= sure::AMOUNT);
                let tells = fields.len() >= LEAST_FIELDS
                    || plain
                    || fields.iter().any(|field| labels.fields[*field].value == ValueKind::Name && known(field));
                if tells && found.len() < MAX_ITEMS {
                    found.push(segment.values);
                }
            }
            (None, None) => shared.extend(segment.values),
            // Who leads the items stands above the next one's number, not beneath the last one.
            (None, Some(_)) if segments.peek().is_some_and(|next| segment.is_led(leader, next, labels)) => {
                ahead = segment.values;
            }
            (None, Some((item, table))) => {
                if let Some(item) = found.get_mut(item) {
                    // Beneath a table's row stands what the row has no room for, or a sum.
                    let new = segment.values.into_iter();
                    let new =
                        new.filter(|value| table.is_none() || !item.iter().any(|other| other.field == value.field));
                    let new = new.collect();
                    join(item, new, 1.0);
                }
            }
        }
    }
    share_first(&mut found, labels);
    if found.len() > 1 {
        shared = for_all(shared);
    }
    for item in &mut found {
        let missing: Vec<Occurrence> =
            shared.iter().filter(|value| !item.iter().any(|other| other.field == value.field)).cloned().collect();
        join(item, missing, sure::SHARED);
    }
    let numbered = found.into_iter().enumerate().take(MAX_ITEMS);
    numbered
        .flat_map(|(item, values)| {
            values.into_iter().map(move |value| (u32::try_from(item).unwrap_or(u32::MAX), value))
        })
        .collect()
}

/// A page and a line of it.
type LineAt = (usize, usize);
/// A table and its row, and the byte by which the row is ordered.
type RowAt = ((usize, usize), usize);

/// Gives to a table's row what was found on its line without the help of a label, where the row has no such value. A
/// sentence may hold several rows on a line; it says by itself what belongs to which.
fn to_rows(values: &mut [Occurrence]) {
    let mut rows: HashMap<LineAt, Option<RowAt>> = HashMap::new();
    let mut told: HashSet<(LineAt, usize)> = HashSet::new();
    for value in values.iter() {
        if let Some(row) = value.row {
            let known = rows.entry((value.page, value.line)).or_insert(Some((row, value.at)));
            *known = known.filter(|(other, _)| *other == row);
            told.insert(((value.page, value.line), value.field));
        }
    }
    for value in values.iter_mut().filter(|value| value.row.is_none()) {
        let line = (value.page, value.line);
        if let Some((row, at)) = rows.get(&line).copied().flatten().filter(|_| told.insert((line, value.field))) {
            (value.row, value.at) = (Some(row), at);
        }
    }
}

/// Whether an item has another number.
fn tells_other(item: &[Occurrence], number: &serde_json::Value, labels: &Labels<'_>) -> bool {
    item.iter().any(|value| labels.fields[value.field].value == ValueKind::Reference && value.value != *number)
}

/// What holds for several items: what is said in one way, and no heading. Of a field that is said in two ways nobody knows
/// which holds for which item.
fn for_all(shared: Vec<Occurrence>) -> Vec<Occurrence> {
    let mut said: BTreeMap<usize, Option<Occurrence>> = BTreeMap::new();
    for value in shared {
        let known = said.entry(value.field).or_insert_with(|| Some(value.clone()));
        match known {
            Some(other) if other.value != value.value => *known = None,
            Some(other) if value.confidence > other.confidence => *other = value,
            _ => {}
        }
    }
    said.into_values().flatten().filter(|value| !value.many).collect()
}

/// Passes on what the first item says before its opening field and no other item says: it stood above all of them.
fn share_first(found: &mut [Vec<Occurrence>], labels: &Labels<'_>) {
    let Some((first, others)) = found.split_first_mut() else { return };
    let Some(opener) =
        first.iter().find(|value| labels.fields[value.field].opens_item).map(|value| (value.page, value.at))
    else {
        return;
    };
    let above = first.iter().filter(|value| {
        let pattern = labels.fields[value.field];
        let common =
            matches!(pattern.value, ValueKind::Name | ValueKind::Naic | ValueKind::Date | ValueKind::DateRange);
        common && !value.many && value.row.is_none() && !pattern.opens_item && (value.page, value.at) < opener
    });
    let above: Vec<Occurrence> =
        above.filter(|value| !others.iter().flatten().any(|other| other.field == value.field)).cloned().collect();
    for item in others {
        join(item, above.clone(), sure::SHARED);
    }
}

/// The name of whom the items come from, such as the insurer of each policy, where the first one's stands before
/// everything else of it.
fn giver(values: &[Occurrence], labels: &Labels<'_>) -> Option<usize> {
    // What the title of the paper names leads nothing.
    let titles = |value: &&Occurrence| value.many && labels.has_terms(value.field) && value.confidence <= sure::HEADING;
    let first = values.iter().find(|value| !titles(value)).filter(|first| first.row.is_none())?;
    let pattern = labels.fields[first.field];
    (pattern.value == ValueKind::Name && !pattern.signs.is_empty()).then_some(first.field)
}

/// Cuts values, in reading order, where a field comes a second time, and before the field that leads every block.
fn segments(values: Vec<Occurrence>, leader: Option<usize>, labels: &Labels<'_>) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    for value in values {
        let leads = value.row.is_none() && leader == Some(value.field);
        let current = found.last_mut().filter(|segment| segment.row == value.row && !leads);
        if leads {
            let mut values = found.last_mut().map(|above| headings(above, &value, labels)).unwrap_or_default();
            values.push(value);
            found.push(Segment { row: None, values });
            continue;
        }
        match current {
            Some(segment) if value.row.is_some() || !repeats(segment, &value) => segment.values.push(value),
            _ => found.push(Segment { row: value.row, values: vec![value] }),
        }
    }
    found
}

/// Takes the terms of a heading away from what stands above: they end on the line right before the field that leads the
/// next block.
fn headings(above: &mut Segment, leader: &Occurrence, labels: &Labels<'_>) -> Vec<Occurrence> {
    let heads = |value: &Occurrence| {
        let near = value.page == leader.page && value.line + 1 == leader.line;
        value.many && near && labels.has_terms(value.field) && value.confidence <= sure::HEADING
    };
    let kept = above.values.iter().rposition(|value| !heads(value)).map_or(0, |last| last + 1);
    if above.row.is_none() { above.values.split_off(kept) } else { Vec::new() }
}

/// The field with which each block of labels begins: the first one of all, where it stands once before each opening
/// field.
fn leader(values: &[Occurrence], labels: &Labels<'_>) -> Option<usize> {
    let opens = |value: &Occurrence| labels.fields[value.field].opens_item;
    let mut labelled = values.iter().filter(|value| value.row.is_none() && !value.many);
    let first = labelled.clone().next().filter(|value| !opens(value))?.field;
    let mut turns = labelled.by_ref().filter(|value| value.field == first || opens(value)).map(opens);
    let mut blocks = 0;
    while let Some(turn) = turns.next() {
        if turn || turns.next() != Some(true) {
            return None;
        }
        blocks += 1;
    }
    (blocks >= 2).then_some(first)
}

/// Whether a field comes a second time: several terms of one line are one time.
fn repeats(segment: &Segment, value: &Occurrence) -> bool {
    let same = segment.values.iter().rev().find(|other| other.field == value.field);
    same.is_some_and(|other| !(value.many && other.many && other.line == value.line && other.page == value.page))
}

/// Adds values to an item.
fn join(item: &mut Vec<Occurrence>, values: Vec<Occurrence>, factor: f64) {
    for mut value in values {
        value.confidence *= factor;
        keep(item, value);
    }
}

/// Keeps a value: the surer one of a field stays, of a field of several values every different one.
pub(super) fn keep(kept: &mut Vec<Occurrence>, value: Occurrence) {
    let of_field = |other: &Occurrence| other.field == value.field;
    let same = kept.iter().position(|other| of_field(other) && (!value.many || other.value == value.value));
    match same {
        Some(at) if value.confidence > kept[at].confidence => kept[at] = value,
        Some(_) => {}
        None if value.many && kept.iter().filter(|other| of_field(other)).count() >= MAX_MANY => {}
        None => kept.push(value),
    }
}
