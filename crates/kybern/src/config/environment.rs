//! The environment, read once by `main` and handed down.

use std::collections::BTreeMap;

use super::error::{Fault, Faults};
use super::secret::Secret;

/// How a variable of the configuration begins: `KYBERN_SECTION__KEY`.
const PREFIX: &str = "KYBERN_";

/// Environment variables as they were at the start.
#[derive(Clone, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The environment of this process. Variables that are not UTF-8 are left out.
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// A variable's value; an empty one counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The secret in a variable that a setting names.
    pub(super) fn secret(&self, key: &str, variable: &str, faults: &mut Faults) -> Option<Secret> {
        let secret = self.get(variable).map(Secret::new);
        if secret.is_none() {
            let mut fault = Fault::bad(key, variable, "names an environment variable that is not set");
            fault.remedy = format!("set {variable}, or name another variable");
            faults.add(fault);
        }
        secret
    }

    /// The settings in it: the path of the key, the variable's name, the text. `KYBERN_URL` and its like, which have
    /// no double underscore, are none.
    pub(super) fn settings(&self) -> impl Iterator<Item = (Vec<String>, &str, &str)> {
        self.0.iter().filter_map(|(name, value)| {
            let key = name.strip_prefix(PREFIX).filter(|key| key.contains("__"))?;
            let path = key.split("__").map(str::to_ascii_lowercase).collect();
            Some((path, name.as_str(), value.as_str()))
        })
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}
