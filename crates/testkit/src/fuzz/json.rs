//! Damage to JSON that leaves it JSON: most of a format's checks lie behind its syntax.

use serde_json::{Map, Value, json};

use super::Chance;

/// How many levels are wrapped around a value at most, all that a parser lets through.
const DEEP: u64 = 110;

/// Damages a value once, somewhere inside. `names` and `texts` matter to the format; `other` lends pieces.
pub fn mutate(value: &mut Value, other: &Value, names: &[&str], texts: &[&str], chance: &Chance) {
    let depth = chance.below(9);
    let place = somewhere(value, depth, chance);
    match (chance.below(8), &mut *place) {
        (0, Value::Object(members)) => {
            let gone = members.keys().nth(chance.index(members.len())).cloned();
            gone.map(|name| members.remove(&name));
        }
        (1 | 2, Value::Object(members)) => {
            let name = if names.is_empty() { "x" } else { chance.one(names) };
            members.insert(name.to_owned(), any(other, names, texts, chance));
        }
        (0, Value::Array(items)) if !items.is_empty() => {
            items.remove(chance.index(items.len()));
        }
        (1, Value::Array(items)) => items.insert(chance.index(items.len()), any(other, names, texts, chance)),
        (2, Value::Array(items)) if !items.is_empty() => {
            let twin = items[chance.index(items.len())].clone();
            items.extend(std::iter::repeat_n(twin, 1 << chance.below(5)));
        }
        (3, place) => {
            for n in 0..chance.below(DEEP) {
                *place = if n % 2 == 0 { json!([place.take()]) } else { json!({"x": place.take()}) };
            }
        }
        (_, place) => *place = any(other, names, texts, chance),
    }
}

/// A value of any type.
fn any(other: &Value, names: &[&str], texts: &[&str], chance: &Chance) -> Value {
    match chance.below(12) {
        0 => Value::Null,
        1 => json!(chance.percent(50)),
        2 => json!(chance.below(20)),
        3 => chance.one(&[json!(-1), json!(0), json!(i64::MAX), json!(u64::MAX), json!(1e308), json!(-0.0)]).clone(),
        4 => json!(["", " ", "\u{0}", "\u{feff}", "\u{1F512}", "é\u{301}", "\n"][chance.index(7)]),
        5 => json!("x".repeat(1 << chance.below(12))),
        6 => json!([]),
        7 => json!({}),
        8 if !names.is_empty() => {
            let name = (*chance.one(names)).to_owned();
            Value::Object(Map::from_iter([(name, json!(chance.below(3)))]))
        }
        9 | 10 if !texts.is_empty() => json!(chance.one(texts)),
        _ => {
            let mut copy = other.clone();
            somewhere(&mut copy, chance.below(6), chance).take()
        }
    }
}

/// A place inside a value, up to `depth` levels down.
fn somewhere<'a>(value: &'a mut Value, depth: u64, chance: &Chance) -> &'a mut Value {
    let mut place = value;
    for _ in 0..depth {
        let inner = match place {
            Value::Array(items) if !items.is_empty() => items.len(),
            Value::Object(members) if !members.is_empty() => members.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                return place;
            }
        };
        let at = chance.index(inner);
        place = match place {
            Value::Array(items) => &mut items[at],
            Value::Object(members) => members.values_mut().nth(at).expect("there are as many members"),
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => return scalar,
        };
    }
    place
}
