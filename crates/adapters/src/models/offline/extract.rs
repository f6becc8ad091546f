//! The second stage: the fields of the sections that the first stage found.

use std::collections::{HashMap, HashSet};

use kybern_core::document::DocumentText;
use kybern_core::list;
use kybern_core::model::{DocumentAnalysis, ExtractedField, Extraction, FieldPattern, FieldSource, FoundBy, ValueKind};

use super::analyse::round;
use super::labels::Labels;
use super::occurrence::Occurrence;
use super::page::Page;
use super::parties::family;
use super::prepared::PreparedSchema;
use super::{
    MODEL, addressees, amounts, bands, bare, bare_names, dated, decks, items, labelled, ledger, legend, lists,
    numbered, overlaps, paired, pieces, roll, said, sentences, stacks, stops, tables, terms, told, transposed, twins,
    values,
};

/// Fields of one document that are kept.
const MAX_FIELDS: usize = 20_000;
/// What a value loses that stands before the first field of its own family, for instance a telephone number above
/// the name of the insured.
const BEFORE_FAMILY: f64 = 0.75;

/// The fields of one document.
pub(super) fn extract(
    number: u32,
    document: &DocumentText,
    analysis: &DocumentAnalysis,
    known: &PreparedSchema,
) -> Extraction {
    let labels = Labels::new(known, &analysis.sections);
    let mut pages: Vec<Page<'_>> = document.pages.iter().map(|page| Page::new(page, &labels)).collect();
    let mut found = transposed::tables(&mut pages, &labels);
    found.extend(twins::items(&mut pages, &labels));
    found.extend(tables::tables(&mut pages, &labels));
    let broken = pieces::numbers(&pages, &labels);
    found.extend(broken.whole.iter().cloned());
    let writer = labels.writer.filter(|_| number == 0);
    let mut outside = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        outside.extend(labelled::labelled(page, index, &labels, writer));
        outside.extend(lists::names(page, index, &labels));
    }
    let told = pages.iter().enumerate().flat_map(|(index, page)| told::lines(page, index, &labels, &outside));
    outside.extend(told.collect::<Vec<_>>());
    for numbers in [dated::numbers, numbered::numbers, paired::numbers] {
        let pages = pages.iter().enumerate();
        let told = pages.flat_map(|(index, page)| numbers(page, index, &labels, [&found, &outside]));
        outside.extend(told.collect::<Vec<_>>());
    }
    if number == 0 {
        let said = pages.iter().enumerate().flat_map(|(index, page)| sentences::told(page, index, &labels, &outside));
        outside.extend(said.collect::<Vec<_>>());
    }
    let headings = pages.iter().enumerate().flat_map(|(index, page)| terms::headings(page, index, &labels, &outside));
    outside.extend(headings.collect::<Vec<_>>());
    found.extend(outside);
    for (index, page) in pages.iter().enumerate() {
        amounts::beside_terms(page, index, &labels, &mut found);
        bare::vins(page, index, &labels, &mut found);
        bare::ranges(page, index, &labels, &mut found);
        bare::headed(page, index, &labels, &mut found);
    }
    for (index, page) in pages.iter().enumerate() {
        bands::rows(page, index, &labels, &mut found);
        decks::items(page, index, &labels, &mut found);
        stacks::items(page, index, &labels, &mut found);
        roll::people(page, index, &labels, &mut found);
        ledger::rows(page, index, &labels, &mut found);
        legend::resolve(page, index, &labels, &mut found);
    }
    legend::overleaf(&pages, &labels, &mut found);
    bare_names::heading_rows(&pages, &labels, &mut found);
    if number == 0 {
        for (index, page) in pages.iter().enumerate() {
            said::days(page, index, &labels, &mut found);
            said::persons(page, index, &labels, &mut found);
        }
    }
    for (index, page) in pages.iter().enumerate() {
        addressees::names(page, index, &labels, &mut found);
    }
    bare_names::heading_items(&pages, &labels, &mut found);
    stops::places(&pages, &labels, &mut found);
    bare_names::signed(&pages, &labels, &mut found);
    bare::contacts(&pages, &labels, writer, &mut found);
    bare_names::businesses(&pages, &labels, &mut found);
    overlaps::part(&pages, &labels, &mut found);
    found.retain(|value| !broken.has(value, &labels));
    prose(&pages, &labels, &mut found);
    found.retain(|value| {
        let pattern = labels.fields[value.field];
        let is_nobody = pattern.value == ValueKind::Name && is_form(&value.value);
        let is_left_out =
            pattern.group.is_some() && labels.has_terms(value.field) && is_left_out(&pages[value.page], value.end);
        !is_nobody && !is_left_out
    });
    found.iter_mut().for_each(|value| value.weigh(labels.fields[value.field]));
    drop_doubted(&mut found, &labels);
    drop_parts(&mut found, &labels);
    let chosen = choose(found, &labels);
    let fields =
        chosen.into_iter().take(MAX_FIELDS).map(|(item, value)| field(number, &pages, &labels, item, value)).collect();
    Extraction { analysis: analysis.clone(), fields, model: MODEL.to_owned(), ..Extraction::default() }
}

/// What a paper says beside a term that it leaves out.
const LEFT_OUT: &[&str] = list!(
    "not covered, not included, not purchased, not provided, no coverage, excluded, rejected, declined, no cubierto, \
     excluido, non couvert"
);

/// Whether the paper leaves the thing out whose term ends at a byte: `Motor Truck Cargo   Not covered`.
fn is_left_out(page: &Page<'_>, end: usize) -> bool {
    let Some(line) = page.line_at(end.saturating_sub(1)).map(|line| &page.lines[line]) else { return false };
    let beside = line.cells.iter().find(|cell| cell.start >= end);
    beside.is_some_and(|cell| LEFT_OUT.contains(&page.cell(*cell).trim_end_matches('.').to_lowercase().as_str()))
}

/// Leaves out the amounts that cannot be right where the same line has one that can: a number of vehicles stands before
/// the limit.
fn drop_doubted(found: &mut Vec<Occurrence>, labels: &Labels<'_>) {
    let is_listed = |value: &Occurrence| value.many && labels.fields[value.field].value == ValueKind::Money;
    let place = |value: &Occurrence| (value.page, value.field, value.line, value.row);
    let sound = found.iter().filter(|value| is_listed(value) && value.problem.is_none());
    let sound: HashSet<_> = sound.map(place).collect();
    found.retain(|value| !is_listed(value) || value.problem.is_none() || !sound.contains(&place(value)));
}

/// Leaves out the numbers of items that are a part of a longer one in the same place.
fn drop_parts(found: &mut Vec<Occurrence>, labels: &Labels<'_>) {
    let opens = |value: &Occurrence| labels.is_opening_number(value.field);
    let mut longest: HashMap<(usize, usize, usize), usize> = HashMap::new();
    for value in found.iter().filter(|value| opens(value)) {
        let end = longest.entry((value.field, value.page, value.end)).or_insert(value.start);
        *end = (*end).min(value.start);
    }
    found.retain(|value| !opens(value) || longest.get(&(value.field, value.page, value.end)) == Some(&value.start));
}

/// Whether a name is nothing but a legal form, such as the `Corp.` that a line break has left: it names nobody.
fn is_form(name: &serde_json::Value) -> bool {
    name.as_str().is_some_and(|name| name.split_whitespace().all(values::has_form))
}

/// Terms in sentences, for single fields that nothing else led to.
fn prose(pages: &[Page<'_>], labels: &Labels<'_>, found: &mut Vec<Occurrence>) {
    let labelled: HashSet<usize> = found.iter().map(|value| value.field).collect();
    for (index, page) in pages.iter().enumerate() {
        found.extend(terms::in_prose(page, index, labels).into_iter().filter(|value| !labelled.contains(&value.field)));
    }
}

/// One value for each single field, items for each group; in reading order.
fn choose(found: Vec<Occurrence>, labels: &Labels<'_>) -> Vec<(Option<u32>, Occurrence)> {
    let mut groups: Vec<(&str, Vec<Occurrence>)> = Vec::new();
    let mut single: Vec<Occurrence> = Vec::new();
    for value in found {
        let Some(group) = labels.fields[value.field].group.as_deref() else {
            single.push(value);
            continue;
        };
        match groups.iter_mut().find(|(other, _)| *other == group) {
            Some((_, values)) => values.push(value),
            None => groups.push((group, vec![value])),
        }
    }
    let mut chosen: Vec<(Option<u32>, Occurrence)> = Vec::new();
    for (_, values) in groups {
        chosen.extend(items::items(values, labels).into_iter().map(|(item, value)| (Some(item), value)));
    }
    chosen.extend(singles(single, labels).into_iter().map(|value| (None, value)));
    chosen.sort_by_key(|(_, value)| (value.page, value.start, value.field));
    chosen
}

fn singles(mut values: Vec<Occurrence>, labels: &Labels<'_>) -> Vec<Occurrence> {
    values.sort_by_key(|value| (value.page, value.at));
    let mut leaders: HashMap<&str, (usize, usize)> = HashMap::new();
    for (index, field) in labels.fields.iter().enumerate() {
        // The first field of a family that was found leads it.
        if let Some(family) = family(&field.name)
            && !leaders.contains_key(family)
            && let Some(value) = values.iter().find(|value| value.field == index)
        {
            leaders.insert(family, (value.page, value.at));
        }
    }
    let mut best: Vec<Occurrence> = Vec::new();
    for mut value in values {
        // A field may be declared twice, with labels that hold on some papers only.
        let name = &labels.fields[value.field].name;
        let first = |field: &&FieldPattern| field.group.is_none() && field.name == *name;
        value.field = labels.fields.iter().position(first).unwrap_or(value.field);
        let leader = family(&labels.fields[value.field].name).and_then(|family| leaders.get(family));
        if leader.is_some_and(|leader| (value.page, value.at) < *leader) {
            value.confidence *= BEFORE_FAMILY;
        }
        items::keep(&mut best, value);
    }
    best
}

fn field(number: u32, pages: &[Page<'_>], labels: &Labels<'_>, item: Option<u32>, value: Occurrence) -> ExtractedField {
    let pattern = labels.fields[value.field];
    ExtractedField {
        name: pattern.name.clone(),
        group: pattern.group.clone(),
        item,
        value: value.value,
        confidence: round(value.confidence),
        problem: value.problem,
        source: FieldSource {
            document: number,
            page: pages[value.page].number,
            start: value.start,
            end: value.end,
            ..FieldSource::default()
        },
        found_by: FoundBy::Rules,
        rival: None,
    }
}
