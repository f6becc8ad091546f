//! Which providers a tenant's words may go to.

use serde::{Deserialize, Serialize};

/// The providers that a tenant allows.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelPolicy {
    /// Their names in the configuration; `None` allows all of them, also those that are configured later.
    pub providers: Option<Vec<String>>,
}

impl ModelPolicy {
    #[must_use]
    pub fn allows(&self, provider: &str) -> bool {
        self.providers.as_ref().is_none_or(|allowed| allowed.iter().any(|name| name == provider))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_list_allows_all_and_an_empty_one_nobody() {
        let of = |providers: Option<&[&str]>| ModelPolicy {
            providers: providers.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
        };
        for (policy, allowed) in [(of(None), true), (of(Some(&[])), false), (of(Some(&["b", "a"])), true)] {
            assert_eq!(policy.allows("a"), allowed, "{policy:?}");
        }
        assert!(!of(Some(&["ab"])).allows("a"));
    }
}
