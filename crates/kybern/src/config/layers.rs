//! The layers of the configuration, lowest first: the file, the environment, the command line.
//!
//! Serde stops at the first fault. So a faulty value is noted, taken out of every layer, and the rest is read again,
//! until all that remains is sound: the operator sees every fault at once. A section that lacks a key gets an empty text
//! for it, so that the next key that it lacks is found too, and is taken out in the end.

use figment::error::{Actual, Kind};
use figment::value::{Dict, Map, Value};
use figment::{Error, Figment, Metadata, Profile, Provider};

use super::error::{Fault, Faults};
use super::{Config, keys};

const MAX_ROUNDS: usize = 100;

/// One source of settings.
#[derive(Clone)]
pub(super) struct Layer {
    /// How messages call it.
    pub(super) name: String,
    /// What it sets.
    pub(super) dict: Dict,
}

impl Layer {
    /// A layer that sets one key.
    pub(super) fn single(name: &str, path: &[String], value: Value) -> Self {
        let mut layer = Self { name: name.to_owned(), dict: Dict::new() };
        if let Some((last, parents)) = path.split_last() {
            let innermost = Dict::from([(last.clone(), value)]);
            layer.dict =
                parents.iter().rev().fold(innermost, |dict, parent| Dict::from([(parent.clone(), Value::from(dict))]));
        }
        layer
    }

    fn has(&self, path: &[String]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.dict.get(first)?, |value, part| match value {
            Value::Dict(_, dict) => dict.get(part),
            _leaf => None,
        })
    }

    fn remove(&mut self, path: &[String]) {
        let mut dict = &mut self.dict;
        let Some((last, parents)) = path.split_last() else { return };
        for part in parents {
            match dict.get_mut(part) {
                Some(Value::Dict(_, inner)) => dict = inner,
                _missing => return,
            }
        }
        dict.remove(last);
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        Ok(Profile::default().collect(self.dict.clone()))
    }
}

/// Where the value of a key was written last.
pub(super) fn origin(layers: &[Layer], key: &str) -> Option<String> {
    let path: Vec<String> = key.split('.').map(str::to_owned).collect();
    layers.iter().rev().find(|layer| layer.has(&path).is_some()).map(|layer| layer.name.clone())
}

/// Whether a layer alone is refused because a value in it has the wrong type: then a text from the environment is
/// read as a number, a list or a truth value instead.
pub(super) fn wants_other_type(layer: &Layer) -> bool {
    let read: Result<Config, Error> = Figment::from(layer.clone()).extract();
    matches!(read, Err(error) if matches!(error.kind, Kind::InvalidType(..)))
}

/// Reads the layers. What is faulty keeps its default, and is noted.
pub(super) fn read(mut layers: Vec<Layer>, faults: &mut Faults) -> Config {
    // Keys that were missing and put in, each with the path of its section.
    let mut put_in: Vec<(Vec<String>, String)> = Vec::new();
    let mut taken_out: Vec<Vec<String>> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let figment = layers.iter().cloned().fold(Figment::new(), Figment::merge);
        let error = match figment.extract::<Config>() {
            Ok(config) if put_in.is_empty() => return config,
            Ok(_) => {
                put_in.drain(..).for_each(|(section, _)| remove(&mut layers, &section));
                continue;
            }
            Err(error) => error,
        };
        let (fault, path) = explain(&error, &layers);
        if let Some(missing) = missing(&error, &layers).filter(|missing| !put_in.contains(missing)) {
            let (section, name) = &missing;
            let key: Vec<String> = section.iter().chain([name]).cloned().collect();
            // A faulty value that was taken out is told already.
            if !taken_out.contains(&key) {
                faults.add(fault);
            }
            // Every key that a section cannot do without is a text.
            layers.insert(0, Layer::single("", &key, Value::from("")));
            put_in.push(missing);
            continue;
        }
        faults.add(fault);
        if path.is_empty() || !layers.iter().any(|layer| layer.has(&path).is_some()) {
            break;
        }
        remove(&mut layers, &path);
        taken_out.push(path);
    }
    Config::default()
}

fn remove(layers: &mut [Layer], path: &[String]) {
    layers.iter_mut().for_each(|layer| layer.remove(path));
}

/// The key that a section lacks, with the section's path.
fn missing(error: &Error, layers: &[Layer]) -> Option<(Vec<String>, String)> {
    let Kind::MissingField(name) = &error.kind else { return None };
    let is_section = layers.iter().any(|layer| matches!(layer.has(&error.path), Some(Value::Dict(..))));
    is_section.then(|| (error.path.clone(), name.to_string()))
}

/// The fault, and the path that must go for the rest to be read.
fn explain(error: &Error, layers: &[Layer]) -> (Fault, Vec<String>) {
    let mut path = error.path.clone();
    let fault = match &error.kind {
        Kind::UnknownField(name, expected) => {
            if path.last() != Some(name) {
                path.push(name.clone());
            }
            unknown(&path, name, expected)
        }
        Kind::MissingField(name) => {
            let key = join(&path, name);
            Fault::missing(&key, "is not set")
        }
        Kind::InvalidType(actual, _) | Kind::InvalidValue(actual, _) => {
            let key = path.join(".");
            Fault::written(&key, show(actual), format!("is {}", describe(actual)))
        }
        Kind::UnknownVariant(name, _) => Fault::bad(&path.join("."), name, "is not one of its values"),
        Kind::Message(message) => {
            let key = path.join(".");
            let written = layers.iter().rev().find_map(|layer| layer.has(&path)).map(|value| show(&value.to_actual()));
            let problem = format!("cannot be used: {message}");
            match written {
                Some(value) => Fault::written(&key, value, problem),
                None => Fault::missing(&key, problem),
            }
        }
        other => Fault::missing(&path.join("."), other.to_string()),
    };
    let origin = origin(layers, &path.join("."));
    (fault.from(origin), path)
}

fn unknown(path: &[String], name: &str, expected: &[&'static str]) -> Fault {
    let table = path.split_last().map(|(_, parents)| parents.join(".")).unwrap_or_default();
    let names = keys::siblings(&table);
    // Inside a list the keys are known to what reads them only.
    let names = if names.is_empty() { expected.to_vec() } else { names };
    let mut fault = Fault::missing(&path.join("."), "is no setting");
    fault.remedy = match keys::closest(name, &names) {
        Some(near) if table.is_empty() => format!("did you mean [{near}]?"),
        Some(near) => format!("did you mean {table}.{near}?"),
        None if table.is_empty() => format!("the sections are {}", names.join(", ")),
        None => format!("the keys of [{table}] are {}", names.join(", ")),
    };
    fault
}

fn join(path: &[String], name: &str) -> String {
    let mut parts: Vec<&str> = path.iter().map(String::as_str).collect();
    parts.push(name);
    parts.join(".")
}

fn describe(actual: &Actual) -> &'static str {
    match actual {
        Actual::Bool(_) => "a truth value",
        Actual::Unsigned(_) | Actual::Signed(_) | Actual::Float(_) => "a number that does not fit here",
        Actual::Str(_) | Actual::Char(_) => "a text",
        Actual::Seq => "a list",
        Actual::Map => "a table",
        _other => "of another type",
    }
}

fn show(actual: &Actual) -> String {
    match actual {
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(value) => value.to_string(),
        Actual::Signed(value) => value.to_string(),
        Actual::Float(value) => value.to_string(),
        Actual::Str(value) => format!("{value:?}"),
        Actual::Char(value) => format!("{:?}", value.to_string()),
        Actual::Seq => "[…]".to_owned(),
        Actual::Map => "{…}".to_owned(),
        other => other.to_string(),
    }
}
