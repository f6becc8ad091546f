//! What is wrong with the configuration: every fault at once, each with the key, the value and the remedy.

use std::fmt;
use std::ops::RangeInclusive;

use kybern_core::policy::place::is_http;

use super::keys;

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) struct ConfigError {
    faults: Vec<Fault>,
}

impl ConfigError {
    /// What is wrong, one by one. Never empty.
    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn one(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.faults.len() {
            1 => f.write_str("the configuration has a fault"),
            n => write!(f, "the configuration has {n} faults"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// The key, as in `server.listen`; or a file, or an environment variable.
    pub(crate) key: String,
    /// The value as it stands in a file, a text in quotes and a number without; `None` where there is none, or where it is
    /// a secret.
    pub(crate) value: Option<String>,
    /// Where the value was written: a file's name or an environment variable.
    pub(crate) origin: Option<String>,
    /// What is wrong with it, to be read after the value.
    pub(crate) problem: String,
    /// What to do.
    pub(crate) remedy: String,
}

impl Fault {
    /// A value that is not allowed for its key. The remedy is what the key expects.
    pub(crate) fn bad<V: fmt::Debug + ?Sized>(key: &str, value: &V, problem: impl Into<String>) -> Self {
        Self::written(key, format!("{value:?}"), problem)
    }

    /// The same of a value that is told as it stands in a file.
    pub(super) fn written(key: &str, value: String, problem: impl Into<String>) -> Self {
        let value = (!keys::is_secret(key)).then_some(value);
        Self { key: key.to_owned(), value, origin: None, problem: problem.into(), remedy: keys::remedy(key) }
    }

    /// A key that must be there and is not.
    pub(crate) fn missing(key: &str, problem: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            value: None,
            origin: None,
            problem: problem.into(),
            remedy: format!("set it: {}", keys::remedy(key)),
        }
    }

    /// Something about an environment variable that is no key.
    pub(crate) fn variable(name: &str, problem: &str, remedy: &str) -> Self {
        Self { key: name.to_owned(), value: None, origin: None, problem: problem.to_owned(), remedy: remedy.to_owned() }
    }

    /// A file that cannot be read.
    pub(super) fn file(path: &std::path::Path, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            key: path.display().to_string(),
            value: None,
            origin: None,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The fault and what to do, in one line.
    pub(crate) fn told(&self) -> String {
        format!("{self}; {}", self.remedy)
    }

    pub(super) fn from(mut self, origin: Option<String>) -> Self {
        self.origin = origin.or(self.origin);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if let Some(value) = &self.value {
            write!(f, " = {value}")?;
        }
        if let Some(origin) = &self.origin {
            write!(f, " ({origin})")?;
        }
        match &self.value {
            Some(_) => write!(f, " {}", self.problem),
            None => write!(f, ": {}", self.problem),
        }
    }
}

/// Faults as they are found.
#[derive(Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// Notes a fault; the first one for a key wins, because the others often follow from it.
    pub(crate) fn add(&mut self, fault: Fault) {
        let known = |found: &Fault| found.key == fault.key && found.value == fault.value;
        if !self.0.iter().any(known) {
            self.0.push(fault);
        }
    }

    /// Notes a number that is not in its range.
    pub(super) fn between<T: fmt::Display + PartialOrd>(&mut self, key: &str, value: T, range: RangeInclusive<T>) {
        if !range.contains(&value) {
            let problem = format!("is not between {} and {}", range.start(), range.end());
            self.add(Fault::written(key, value.to_string(), problem));
        }
    }

    /// Notes a URL that is none of the web.
    pub(super) fn web(&mut self, key: &str, url: Option<&String>) {
        if let Some(url) = url.filter(|url| !is_http(url)) {
            self.add(Fault::bad(key, url, "is not an http or https URL"));
        }
    }

    /// The error, when there is one.
    pub(crate) fn into_error(self) -> Option<ConfigError> {
        (!self.0.is_empty()).then_some(ConfigError { faults: self.0 })
    }

    pub(super) fn name_origins(&mut self, origin: impl Fn(&str) -> Option<String>) {
        for fault in &mut self.0 {
            if fault.origin.is_none() {
                fault.origin = origin(&fault.key);
            }
        }
    }
}
