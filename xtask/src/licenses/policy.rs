//! The three lists of `deny.toml` that this crate understands.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

/// What may enter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Policy {
    /// Licences.
    pub(super) allowed: BTreeSet<String>,
    /// Crates that may not.
    pub(super) banned: BTreeSet<String>,
}

impl Policy {
    /// Reads the file.
    ///
    /// # Errors
    /// When a list is missing, or the file uses a form of exception that is not understood here.
    pub(super) fn read(text: &str) -> Result<Self> {
        let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
        for unknown in ["exceptions", "clarify", "allow-git = [\"", "private ="] {
            if lines().any(|line| line.contains(unknown)) {
                bail!(
                    "deny.toml uses {unknown:?}, which `xtask licenses` does not understand; teach it, or install cargo-deny"
                );
            }
        }
        let allowed = quoted(&array(text, "licenses", "allow"));
        if allowed.is_empty() {
            bail!("deny.toml has no list `allow` under [licenses]");
        }
        // An entry may carry a reason; only the value after `crate =` names the crate.
        let entries = array(text, "bans", "deny");
        let banned = entries.split("crate = ").skip(1).filter_map(|entry| quoted(entry).into_iter().next());
        Ok(Self { allowed: allowed.into_iter().collect(), banned: banned.collect() })
    }
}

/// The text between the brackets of `key = [ … ]` in a table, without comments.
fn array(text: &str, table: &str, key: &str) -> String {
    let mut inside_table = false;
    let mut found = String::new();
    let mut inside_array = false;
    for line in text.lines() {
        let line = if line.trim_start().starts_with('#') { "" } else { line };
        if inside_array {
            if line.trim() == "]" {
                break;
            }
            found.push_str(line);
            found.push('\n');
        } else if line.starts_with('[') {
            inside_table = line.trim() == format!("[{table}]");
        } else if let Some((name, value)) = line.split_once('=')
            && inside_table
            && name.trim() == key
        {
            let value = value.trim().trim_start_matches('[');
            found.push_str(value.trim_end_matches(']'));
            if value.ends_with(']') {
                break;
            }
            inside_array = true;
        }
    }
    found
}

/// Every quoted string in order.
fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_this_project_are_read() {
        let text = std::fs::read_to_string(crate::root::find().unwrap().join("deny.toml")).unwrap();
        let policy = Policy::read(&text).unwrap();
        assert!(policy.allowed.contains("MIT") && policy.allowed.contains("Apache-2.0"));
        assert!(policy.allowed.len() > 5);
        assert_eq!(policy.banned.iter().map(String::as_str).collect::<Vec<_>>(), ["aws-lc-sys", "openssl-sys"]);
    }

    #[test]
    fn lists_on_one_line_and_in_other_tables_are_told_apart() {
        let text = "[bans]\nallow = [\"x\"]\n[licenses]\n# allow = [\"GPL\"]\nallow = [\"MIT\", \"ISC\"]\n";
        let policy = Policy::read(text).unwrap();
        assert_eq!(policy.allowed.len(), 2);
        assert!(policy.banned.is_empty());
    }

    #[test]
    fn a_file_that_is_not_understood_is_refused() {
        assert!(Policy::read("[licenses]\n").is_err());
        assert!(Policy::read("[licenses]\nallow = [\"MIT\"]\nexceptions = []\n").is_err());
        assert!(Policy::read("[licenses]\nallow = [\"MIT\"]\n[[licenses.clarify]]\n").is_err());
    }
}
