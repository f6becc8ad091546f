//! What rules and model found in one document, put together. Both can be thousands of values, so every look-up goes by
//! an index.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kybern_core::document::DocumentText;
use kybern_core::model::{ExtractedField, ExtractionSchema, FieldPattern, FieldSource, FoundBy};
use serde_json::Value;

use super::rows::Rows;
use super::{UNSURE, rounded, together};

/// What the surer of two readings is worth when the other one contradicts it.
const CONTRADICTED: f64 = 0.7;

/// Adds what the model found to what the rules did. Where both read the same, both are surer; where they contradict, the
/// surer one stays and is less sure. Two that read the same words and part only where they end do not contradict; and
/// what the rules took over from another item counts less than what the model found at a place of its own. The fields
/// come in the order in which the document has them. What the model gives to one item of a list and stands in the row of
/// another is not added, but given back.
pub(super) fn merge_model_fields(
    fields: &mut Vec<ExtractedField>,
    found: Vec<ExtractedField>,
    schema: &ExtractionSchema,
    document: &DocumentText,
) -> Vec<ExtractedField> {
    let rows = Rows::new(document, fields, schema);
    let mut merged = MergedFields::new(schema, std::mem::take(fields));
    let (singles, listed): (Vec<_>, Vec<_>) = found.into_iter().partition(|field| field.group.is_none());
    for field in singles {
        merged.add(field);
    }
    let (mut items, mut misplaced): (BTreeMap<(String, u32), Vec<ExtractedField>>, _) = (BTreeMap::new(), Vec::new());
    for field in listed {
        let key = (field.group.clone().unwrap_or_default(), field.item.unwrap_or_default());
        items.entry(key).or_default().push(field);
    }
    for ((group, _), item) in items {
        let number = merged.same_item(&group, &item).unwrap_or_else(|| merged.next_item(&group));
        let keys: Vec<FieldSource> =
            item.iter().filter(|field| merged.is_key(field)).map(|field| field.source.clone()).collect();
        for field in item {
            if !merged.is_key(&field) && rows.is_of_another(&field, number, &keys) {
                misplaced.push(field);
            } else {
                merged.add(ExtractedField { item: Some(number), ..field });
            }
        }
    }
    *fields = merged.fields;
    fields.sort_by_key(|field| (field.source.page, field.source.start));
    misplaced
}

/// A field's list and its name.
type Path = (Option<String>, String);

/// Places on a page by their first byte: the byte behind the last, and the items that have their value there.
type Spans = BTreeMap<usize, (usize, BTreeSet<u32>)>;

fn path(field: &ExtractedField) -> Path {
    (field.group.clone(), field.name.clone())
}

/// A value as it is compared: case, punctuation and blanks do not matter.
fn key(value: &Value) -> String {
    let letters = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    value.as_str().map_or_else(|| value.to_string(), letters)
}

/// Whether two values are one reading of the same words, of which one goes on longer.
fn is_same_words(one: &ExtractedField, other: &ExtractedField) -> bool {
    let (left, right) = (key(&one.value), key(&other.value));
    one.value.is_string()
        && other.value.is_string()
        && one.source.page == other.source.page
        && one.source.start < other.source.end
        && other.source.start < one.source.end
        && (left.contains(&right) || right.contains(&left))
}

fn is_sure(field: &ExtractedField) -> bool {
    field.confidence >= UNSURE && field.problem.is_none()
}

struct MergedFields<'s> {
    patterns: HashMap<(Option<&'s str>, &'s str), &'s FieldPattern>,
    fields: Vec<ExtractedField>,
    /// The places of a field's values in `fields`, by its item.
    places: HashMap<(Path, Option<u32>), Vec<usize>>,
    /// The items that have a value.
    items: HashMap<(Path, String), BTreeSet<u32>>,
    /// Where the values of a list's field stand on each page.
    spans: HashMap<(Path, u32), Spans>,
    /// The number of the next item of each list.
    next: HashMap<String, u32>,
}

impl<'s> MergedFields<'s> {
    fn new(schema: &'s ExtractionSchema, fields: Vec<ExtractedField>) -> Self {
        let patterns =
            schema.fields.iter().map(|field| ((field.group.as_deref(), field.name.as_str()), field)).collect();
        let (places, items, spans) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut merged = Self { patterns, fields: Vec::new(), places, items, spans, next: HashMap::new() };
        for field in fields {
            merged.push(field);
        }
        merged
    }

    fn pattern(&self, field: &ExtractedField) -> Option<&FieldPattern> {
        self.patterns.get(&(field.group.as_deref(), field.name.as_str())).copied()
    }

    /// Whether a field tells the items of its list apart.
    fn is_key(&self, field: &ExtractedField) -> bool {
        self.pattern(field).is_some_and(|known| known.opens_item && !known.repeats)
    }

    fn push(&mut self, field: ExtractedField) {
        if let (Some(group), Some(item)) = (&field.group, field.item) {
            let next = self.next.entry(group.clone()).or_default();
            *next = (*next).max(item.saturating_add(1));
            self.items.entry((path(&field), key(&field.value))).or_default().insert(item);
            let spans = self.spans.entry((path(&field), field.source.page)).or_default();
            let (end, items) = spans.entry(field.source.start).or_default();
            *end = (*end).max(field.source.end);
            items.insert(item);
        }
        self.places.entry((path(&field), field.item)).or_default().push(self.fields.len());
        self.fields.push(field);
    }

    fn next_item(&self, group: &str) -> u32 {
        self.next.get(group).copied().unwrap_or_default()
    }

    /// The items that have a value of the same field where this one stands.
    fn items_at(&self, field: &ExtractedField) -> Option<&BTreeSet<u32>> {
        let spans = self.spans.get(&(path(field), field.source.page))?;
        let (_, (end, items)) = spans.range(..field.source.end.max(field.source.start + 1)).next_back()?;
        (*end > field.source.start).then_some(items)
    }

    /// The item that has the same words under the same field, read longer or shorter.
    fn same_words(&self, field: &ExtractedField) -> Option<u32> {
        let has = |item: &u32| {
            let places = self.places.get(&(path(field), Some(*item))).into_iter().flatten();
            places.filter_map(|place| self.fields.get(*place)).any(|known| is_same_words(known, field))
        };
        self.items_at(field)?.iter().copied().find(has)
    }

    /// The existing item that a new one matches: by its key, else by the words of its key; without a key, an item that
    /// shares a value with it and contradicts none.
    fn same_item(&self, group: &str, item: &[ExtractedField]) -> Option<u32> {
        let with = |field: &ExtractedField| self.items.get(&(path(field), key(&field.value)));
        let mut keys = item.iter().filter(|field| self.is_key(field)).peekable();
        if keys.peek().is_some() {
            let same = |field: &ExtractedField| with(field)?.first().copied();
            return keys.find_map(|field| same(field).or_else(|| self.same_words(field)));
        }
        let shared: BTreeSet<u32> = item.iter().filter_map(with).flatten().copied().collect();
        let agrees = |number: &u32| {
            item.iter().all(|field| {
                let known = self.places.get(&((Some(group.to_owned()), field.name.clone()), Some(*number)));
                let same =
                    |place: &usize| self.fields.get(*place).is_some_and(|known| key(&known.value) == key(&field.value));
                known.is_none_or(|places| places.iter().any(same))
            })
        };
        shared.into_iter().find(agrees)
    }

    /// Adds one field to those of its item, or of none.
    fn add(&mut self, field: ExtractedField) {
        let known = self.places.get(&(path(&field), field.item)).cloned().unwrap_or_default();
        let is_same =
            |place: &usize| self.fields.get(*place).is_some_and(|known| key(&known.value) == key(&field.value));
        if let Some(same) = known.iter().copied().find(is_same).and_then(|place| self.fields.get_mut(place)) {
            if same.found_by != FoundBy::Model {
                same.confidence = together(same.confidence, field.confidence);
                same.found_by = FoundBy::Both;
            }
            return;
        }
        let has_several = self.pattern(&field).is_some_and(|pattern| pattern.many);
        let is_shared = |field: &ExtractedField| self.items_at(field).map_or(0, BTreeSet::len) > 1;
        let rival = known.first().filter(|_| !has_several).copied();
        let is_taken_over = rival.and_then(|place| self.fields.get(place)).is_some_and(is_shared);
        let has_own_place = self.items_at(&field).is_none();
        let is_number = self.pattern(&field).is_some_and(|pattern| pattern.value.identifies());
        let Some(rival) = rival.and_then(|place| self.fields.get_mut(place)) else { return self.push(field) };
        if is_same_words(rival, &field) {
            // Of a number the rules leave out what may be the next word; a name is no better for being longer.
            let longer = key(&field.value).len() > key(&rival.value).len();
            if if is_number { longer } else { field.confidence > rival.confidence } {
                *rival = field;
            }
            return;
        }
        let gives_way = is_taken_over && has_own_place;
        let is_surer = field.confidence > rival.confidence || gives_way;
        let both_stand =
            !gives_way && rival.found_by == FoundBy::Rules && [&*rival, &field].iter().all(|field| is_sure(field));
        let (mut stays, other) = if is_surer { (field, rival.clone()) } else { (rival.clone(), field) };
        stays.confidence = rounded(stays.confidence * CONTRADICTED);
        stays.rival = both_stand.then_some(other.value).or(stays.rival);
        *rival = stays;
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::document::{DocumentFormat, PageText};
    use kybern_core::model::ValueKind;
    use serde_json::json;

    use super::*;

    fn schema() -> ExtractionSchema {
        let field = |name: &str, group: Option<&str>, opens_item, many| FieldPattern {
            name: name.to_owned(),
            group: group.map(str::to_owned),
            opens_item,
            many,
            value: if opens_item { ValueKind::PolicyNumber } else { ValueKind::Name },
            ..FieldPattern::default()
        };
        let fields = [
            field("owner", None, false, false),
            field("tag", None, false, true),
            field("number", Some("cars"), true, false),
            field("make", Some("cars"), false, false),
        ];
        ExtractionSchema { fields: fields.into(), ..ExtractionSchema::default() }
    }

    fn field(name: &str, item: Option<u32>, value: &str, confidence: f64, found_by: FoundBy) -> ExtractedField {
        ExtractedField {
            name: name.to_owned(),
            group: item.map(|_| "cars".to_owned()),
            item,
            value: json!(value),
            confidence,
            problem: None,
            source: FieldSource { document: 1, page: 1, end: 1, ..FieldSource::default() },
            found_by,
            rival: None,
        }
    }

    fn paper(text: &str) -> DocumentText {
        let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
        DocumentText { format: DocumentFormat::Text, pages: vec![page] }
    }

    /// Merges on a paper of which no place is looked at.
    fn into(fields: &mut Vec<ExtractedField>, found: Vec<ExtractedField>, schema: &ExtractionSchema) {
        assert_eq!(super::merge_model_fields(fields, found, schema, &paper("")), []);
    }

    fn merged(rules: &[(&str, Option<u32>, &str, f64)], model: &[(&str, Option<u32>, &str)]) -> Vec<String> {
        let of = |(name, item, value, sure): &(&str, Option<u32>, &str, f64)| {
            field(name, *item, value, *sure, FoundBy::Rules)
        };
        let mut fields: Vec<ExtractedField> = rules.iter().map(of).collect();
        let found = model.iter().map(|(name, item, value)| field(name, *item, value, 0.85, FoundBy::Model)).collect();
        into(&mut fields, found, &schema());
        let told = |field: &ExtractedField| {
            let (item, by) = (field.item.map_or("-".to_owned(), |item| item.to_string()), json!(field.found_by));
            format!(
                "{} {item} {} {:.2} {}",
                field.name,
                field.value.as_str().unwrap(),
                field.confidence,
                by.as_str().unwrap()
            )
        };
        fields.iter().map(told).collect()
    }

    #[test]
    fn two_that_read_the_same_are_surer_and_two_that_do_not_are_less_sure() {
        let rules = [("owner", None, "Fern Hall", 0.5), ("tag", None, "red", 0.9)];
        assert_eq!(
            merged(&rules, &[("owner", None, "FERN hall."), ("tag", None, "blue")]),
            ["owner - Fern Hall 0.93 both", "tag - red 0.90 rules", "tag - blue 0.85 model"]
        );
        assert_eq!(merged(&rules[..1], &[("owner", None, "Oak Hall")]), ["owner - Oak Hall 0.60 model"]);
        assert_eq!(
            merged(&[("owner", None, "Fern Hall", 0.9)], &[("owner", None, "Oak Hall")]),
            ["owner - Fern Hall 0.63 rules"]
        );
    }

    #[test]
    fn an_item_is_the_one_with_its_key_whatever_its_number() {
        let rules = [("number", Some(0), "A-1", 0.9), ("number", Some(1), "B-2", 0.9), ("make", Some(1), "Volvo", 0.9)];
        assert_eq!(
            merged(&rules, &[("number", Some(0), "b2"), ("make", Some(0), "Volvo"), ("number", Some(1), "C-3")]),
            ["number 0 A-1 0.90 rules", "number 1 B-2 0.99 both", "make 1 Volvo 0.99 both", "number 2 C-3 0.85 model"]
        );
    }

    /// `field`, at these bytes.
    fn at(field: ExtractedField, start: usize, end: usize) -> ExtractedField {
        ExtractedField { source: FieldSource { start, end, ..field.source }, ..field }
    }

    fn told(fields: &[ExtractedField]) -> Vec<String> {
        let item = |field: &ExtractedField| field.item.map_or("-".to_owned(), |item| item.to_string());
        let tell = |field: &ExtractedField| format!("{} {} {:.2}", item(field), field.value, field.confidence);
        fields.iter().map(tell).collect()
    }

    #[test]
    fn the_same_words_read_longer_or_shorter_are_no_contradiction() {
        let owner = |value: &str, sure, by, start, end| at(field("owner", None, value, sure, by), start, end);
        let mut fields = vec![owner("Jo Fern DBA Fern Hall", 0.97, FoundBy::Rules, 10, 31)];
        into(&mut fields, vec![owner("Fern Hall", 0.85, FoundBy::Model, 22, 31)], &schema());
        assert_eq!(told(&fields), ["- \"Jo Fern DBA Fern Hall\" 0.97"]);
        let mut fields = vec![owner("41 = Fern Hall", 0.75, FoundBy::Rules, 10, 24)];
        into(&mut fields, vec![owner("Fern Hall", 0.85, FoundBy::Model, 15, 24)], &schema());
        assert_eq!(told(&fields), ["- \"Fern Hall\" 0.85"]);
        let mut fields = vec![owner("Jo Fern DBA Fern Hall", 0.97, FoundBy::Rules, 10, 31)];
        into(&mut fields, vec![owner("Fern Hall", 0.85, FoundBy::Model, 80, 89)], &schema());
        assert_eq!(told(&fields), ["- \"Jo Fern DBA Fern Hall\" 0.68"], "elsewhere it is another one");
    }

    #[test]
    fn a_key_at_the_same_place_is_the_same_item() {
        let number = |value: &str, item, sure, by, end| at(field("number", Some(item), value, sure, by), 20, end);
        let mut fields = vec![number("AB 5540", 4, 0.9, FoundBy::Rules, 27)];
        into(&mut fields, vec![number("AB 5540 B", 0, 0.85, FoundBy::Model, 29)], &schema());
        assert_eq!(told(&fields), ["4 \"AB 5540 B\" 0.85"]);
        into(&mut fields, vec![number("AB 5540", 0, 0.9, FoundBy::Model, 27)], &schema());
        assert_eq!(told(&fields), ["4 \"AB 5540 B\" 0.85"]);
    }

    #[test]
    fn what_the_rules_took_over_from_another_item_counts_less_than_a_place_of_its_own() {
        let number = |value: &str, item, by, start| at(field("number", Some(item), value, 0.97, by), start, start + 3);
        let make =
            |value: &str, item, sure, by, start| at(field("make", Some(item), value, sure, by), start, start + 5);
        let rules = |second| {
            let by = FoundBy::Rules;
            vec![
                number("A-1", 0, by, 30),
                make("Volvo", 0, 0.97, by, 10),
                number("B-2", 1, by, 60),
                make("Volvo", 1, 0.87, by, second),
            ]
        };
        let model = |start| vec![number("B-2", 0, FoundBy::Model, 60), make("Mack1", 0, 0.85, FoundBy::Model, start)];
        let mut fields = rules(10);
        into(&mut fields, model(50), &schema());
        assert_eq!(told(&fields), ["0 \"Volvo\" 0.97", "0 \"A-1\" 0.97", "1 \"Mack1\" 0.60", "1 \"B-2\" 0.99"]);
        let mut fields = rules(55);
        into(&mut fields, model(50), &schema());
        assert_eq!(told(&fields)[2..], ["1 \"Volvo\" 0.61", "1 \"B-2\" 0.99"], "both have a place of their own");
    }

    #[test]
    fn two_that_contradict_each_other_are_both_told_unless_one_guesses() {
        let number = |by| field("number", Some(0), "A-1", 0.97, by);
        let rules = |sure| vec![field("make", Some(0), "Volvo", sure, FoundBy::Rules), number(FoundBy::Rules)];
        let model = |says: &[&str]| {
            let makes = says.iter().map(|make| field("make", Some(0), make, 0.85, FoundBy::Model));
            makes.chain([number(FoundBy::Model)]).collect::<Vec<_>>()
        };
        let rival = |sure, says: &[&str]| {
            let mut fields = rules(sure);
            into(&mut fields, model(says), &schema());
            (fields[0].value.clone(), fields[0].rival.clone())
        };
        assert_eq!(rival(0.9, &["Mack"]), (json!("Volvo"), Some(json!("Mack"))));
        assert_eq!(rival(0.6, &["Mack"]), (json!("Mack"), Some(json!("Volvo"))));
        assert_eq!(rival(0.4, &["Mack"]), (json!("Mack"), None), "the rules only guessed");
        assert_eq!(rival(0.9, &["VOLVO"]), (json!("Volvo"), None));
        assert_eq!(rival(0.9, &["Volvo", "Mack"]), (json!("Volvo"), None), "a model that says both agrees");
    }

    #[test]
    fn what_stands_in_the_row_of_another_item_is_not_this_ones() {
        let text = "No.\tMake\nA-1\tVolvo\nB-2\tMack\n";
        let of = |name: &str, item, value: &str, by| {
            let start = text.find(value).unwrap();
            at(field(name, Some(item), value, 0.9, by), start, start + value.len())
        };
        let rules = || vec![of("number", 0, "A-1", FoundBy::Rules), of("number", 1, "B-2", FoundBy::Rules)];
        let mut fields = rules();
        let model = [of("number", 0, "A-1", FoundBy::Model), of("make", 0, "Mack", FoundBy::Model)];
        let misplaced = super::merge_model_fields(&mut fields, model.to_vec(), &schema(), &paper(text));
        assert_eq!((told(&misplaced), fields.len()), (vec!["0 \"Mack\" 0.90".to_owned()], 2));
        let mut fields = rules();
        let model = [of("number", 0, "B-2", FoundBy::Model), of("make", 0, "Mack", FoundBy::Model)];
        assert_eq!(super::merge_model_fields(&mut fields, model.to_vec(), &schema(), &paper(text)), []);
        assert_eq!(told(&fields)[2], "1 \"Mack\" 0.90");
        // A line of running text is no row.
        let prose = text.replace('\t', " ");
        let mut fields = rules();
        let model = [of("number", 0, "A-1", FoundBy::Model), of("make", 0, "Mack", FoundBy::Model)];
        assert_eq!(super::merge_model_fields(&mut fields, model.to_vec(), &schema(), &paper(&prose)), []);
    }

    #[test]
    fn an_item_without_a_key_is_one_that_it_does_not_contradict() {
        let rules = [("number", Some(0), "A-1", 0.9), ("make", Some(0), "Volvo", 0.9)];
        let found = merged(&rules, &[("make", Some(3), "Volvo")]);
        assert_eq!(found, ["number 0 A-1 0.90 rules", "make 0 Volvo 0.99 both"]);
        let found = merged(&rules, &[("make", Some(3), "Mack")]);
        assert_eq!(found[2], "make 1 Mack 0.85 model");
    }
}
