//! The environment, read once by `main` and handed down.

use std::collections::BTreeMap;

use super::error::{Fault, Faults};
use super::keys;
use super::secret::Secret;
use super::security::{ADMIN_KEY, MASTER_KEY};

/// How a variable of the configuration begins: `KYBERN_SECTION__KEY`.
const PREFIX: &str = "KYBERN_";

/// Variables that begin so and are no settings.
const OTHERS: &[&str] = &["KYBERN_URL", "KYBERN_API_KEY", ADMIN_KEY, MASTER_KEY];

/// Variables of the project's own tests and tools, which the server does not read.
const OF_THE_TOOLS: &[&str] = &["KYBERN_CACHE", "KYBERN_UPDATE_OPENAPI"];
/// How others of them begin.
const BEGIN_THE_TOOLS: &[&str] = &["KYBERN_TEST_", "KYBERN_FUZZ_", "KYBERN_SIM_"];

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

    /// Takes the secret of a key from the variable that is named for it, which does not stand beside the secret itself.
    pub(super) fn secret_beside(
        &self,
        key: &str,
        secret: &mut Option<Secret>,
        variable: Option<&str>,
        faults: &mut Faults,
    ) {
        let (Some(variable), key_env) = (variable, format!("{key}_env")) else { return };
        if secret.is_some() {
            faults.add(Fault::bad(&key_env, variable, format!("stands beside {key}; keep one of them")));
        } else {
            *secret = self.secret(&key_env, variable, faults);
        }
    }

    /// Refuses variables that begin like a setting and are none: most are a setting with one underscore too few, and
    /// the server would start with something else than was meant. `named` are those that settings name, for secrets.
    pub(super) fn refuse_unknown(&self, named: &[&str], faults: &mut Faults) {
        for name in self.0.keys().filter(|name| name.starts_with(PREFIX)) {
            let begins = |tool: &&str| name.starts_with(*tool);
            let known = [OTHERS, OF_THE_TOOLS, named].iter().any(|names| names.contains(&name.as_str()));
            if known || name[PREFIX.len()..].contains("__") || BEGIN_THE_TOOLS.iter().any(begins) {
                continue;
            }
            let remedy = match meant(name) {
                Some(near) => format!("did you mean {near}?"),
                None => "unset it; docs/configuration.md lists every variable".to_owned(),
            };
            faults.add(Fault::variable(name, "is no variable of Kybern", &remedy));
        }
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

/// The variable that was meant: a setting with one underscore, a setting without its section, or what is written most
/// like it.
fn meant(wrong: &str) -> Option<String> {
    let plain = wrong[PREFIX.len()..].to_ascii_lowercase();
    let settings: Vec<&str> = keys::KEYS.iter().map(|(key, _)| *key).filter(|key| !key.contains('*')).collect();
    let variable = |key: &str| key.replace('.', "__").to_ascii_uppercase();
    let folded = settings.iter().find(|key| key.replace('.', "_") == plain);
    let last = || settings.iter().find(|key| key.rsplit('.').next() == Some(plain.as_str()));
    if let Some(key) = folded.or_else(last) {
        return Some(format!("{PREFIX}{}", variable(key)));
    }
    // What every variable begins with makes none alike.
    let variables: Vec<String> = settings.iter().map(|key| variable(key)).collect();
    let others = OTHERS.iter().filter_map(|name| name.strip_prefix(PREFIX));
    let names: Vec<&str> = variables.iter().map(String::as_str).chain(others).collect();
    keys::closest(&wrong[PREFIX.len()..], &names).map(|near| format!("{PREFIX}{near}"))
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

#[cfg(test)]
impl From<BTreeMap<String, String>> for Environment {
    fn from(variables: BTreeMap<String, String>) -> Self {
        Self(variables)
    }
}
