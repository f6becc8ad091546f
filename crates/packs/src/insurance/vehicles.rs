//! Vehicles and losses as documents list them.

use std::collections::HashMap;

use kybern_core::model::ExtractedField;
use serde_json::{Map, Value, json};

use crate::args::as_text;
use crate::reading::{ReadDocument, rounded};

/// Every vehicle once, by its VIN. One with a wrong check digit is kept and marked; one without a VIN is kept as it
/// stands.
pub(super) fn vehicles(read: &[ReadDocument]) -> Vec<Value> {
    let mut all: Vec<Map<String, Value>> = Vec::new();
    // A paper may list thousands.
    let mut places: HashMap<String, usize> = HashMap::new();
    for (n, item) in items(read, "vehicles") {
        let Some(vin) = item.iter().find(|field| field.name == "vin") else { continue };
        let Some(number) = as_text(&vin.value).map(|text| text.to_uppercase()) else { continue };
        let mut vehicle = plain(&item);
        vehicle.insert("vin".to_owned(), json!(number));
        vehicle.insert("valid".to_owned(), json!(vin.problem.is_none()));
        vehicle.insert("problem".to_owned(), json!(vin.problem));
        vehicle.insert("confidence".to_owned(), json!(rounded(vin.confidence)));
        vehicle.insert("document".to_owned(), json!(n));
        let at = *places.entry(number).or_insert(all.len());
        match all.get_mut(at) {
            Some(known) => vehicle.into_iter().for_each(|(name, value)| {
                known.entry(name).or_insert(value);
            }),
            None => all.push(vehicle),
        }
    }
    all.into_iter().map(Value::Object).collect()
}

/// Every loss, in order of appearance.
pub(super) fn losses(read: &[ReadDocument]) -> Vec<Value> {
    let row = |(n, item): (u32, Vec<&ExtractedField>)| {
        let mut loss = plain(&item);
        loss.insert("document".to_owned(), json!(n));
        Value::Object(loss)
    };
    items(read, "losses").into_iter().map(row).collect()
}

fn items<'a>(read: &'a [ReadDocument], group: &str) -> Vec<(u32, Vec<&'a ExtractedField>)> {
    read.iter().flat_map(|document| document.items(group).into_iter().map(|item| (document.n, item))).collect()
}

fn plain(item: &[&ExtractedField]) -> Map<String, Value> {
    item.iter().map(|field| (field.name.clone(), field.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use kybern_testkit::growth;

    use super::*;
    use crate::tests::listing;

    #[test]
    fn a_list_that_is_longer_takes_as_much_longer() {
        let row = |n| vec![("vehicles", "vin", format!("1FUJGLDR0KLAB{n:04}"))];
        assert_eq!(vehicles(&[listing(3, row), listing(4, row)]).len(), 4);
        assert!(growth(500, |rows| drop(vehicles(&[listing(rows, row)]))) < 24.0);
    }
}
