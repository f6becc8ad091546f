//! The second stage: the fields of the sections that the first stage found.

use std::collections::{HashMap, HashSet};

use kybern_core::document::DocumentText;
use kybern_core::model::{DocumentAnalysis, ExtractedField, Extraction, FieldPattern, FieldSource, FoundBy};

use super::analyse::round;
use super::labels::Labels;
use super::occurrence::Occurrence;
use super::page::Page;
use super::parties::family;
use super::prepared::PreparedSchema;
use super::{
    MODEL, addressees, amounts, bands, bare, bare_names, dated, decks, items, labelled, ledger, legend, lists,
    numbered, overlaps, paired, roll, said, sentences, stacks, stops, tables, terms, told, transposed,
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
    found.extend(tables::tables(&mut pages, &labels));
    let writer = labels.writer.filter(|_| number == 0);
    let mut outside = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        outside.extend(labelled::labelled(page, index, &labels, writer));
        outside.extend(lists::names(page, index, &labels));
    }
    let told: Vec<Occurrence> =
        pages.iter().enumerate().flat_map(|(index, page)| told::lines(page, index, &labels, &outside)).collect();
    outside.extend(told);
    let dated: Vec<Occurrence> = pages
        .iter()
        .enumerate()
        .flat_map(|(index, page)| dated::numbers(page, index, &labels, [&found, &outside]))
        .collect();
    outside.extend(dated);
    let numbered: Vec<Occurrence> = pages
        .iter()
        .enumerate()
        .flat_map(|(index, page)| numbered::numbers(page, index, &labels, [&found, &outside]))
        .collect();
    outside.extend(numbered);
    let paired: Vec<Occurrence> = pages
        .iter()
        .enumerate()
        .flat_map(|(index, page)| paired::numbers(page, index, &labels, [&found, &outside]))
        .collect();
    outside.extend(paired);
    if number == 0 {
        let said = pages.iter().enumerate().flat_map(|(index, page)| sentences::told(page, index, &labels, &outside));
        outside.extend(said.collect::<Vec<_>>());
    }
    let headings: Vec<Occurrence> =
        pages.iter().enumerate().flat_map(|(index, page)| terms::headings(page, index, &labels, &outside)).collect();
    outside.extend(headings);
    found.extend(outside);
    for (index, page) in pages.iter().enumerate() {
        amounts::beside_terms(page, index, &labels, &mut found);
        bare::vins(page, index, &labels, &mut found);
        bare::ranges(page, index, &labels, &mut found);
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
    prose(&pages, &labels, &mut found);
    found.iter_mut().for_each(|value| value.weigh(labels.fields[value.field]));
    let chosen = choose(found, &labels);
    let fields =
        chosen.into_iter().take(MAX_FIELDS).map(|(item, value)| field(number, &pages, &labels, item, value)).collect();
    Extraction { analysis: analysis.clone(), fields, model: MODEL.to_owned(), ..Extraction::default() }
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
