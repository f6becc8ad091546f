//! Packs know the core and no other pack, and nobody but the binary's `packs.rs` knows a pack.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::rust_source::RustSource;
use super::tree::Tree;

/// Where the packs live: one folder each.
const HOME: &str = "crates/packs/src/";

/// The only file that may name a pack.
const DOOR: &str = "crates/kybern/src/packs.rs";

/// Crates in which a literal such as `insurance.create_deal` would mean that the core knows a domain.
const DOMAIN_FREE: &[&str] = &["crates/core/", "crates/engine/", "crates/store/", "crates/adapters/", "crates/server/"];

/// Checks all three rules.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let packs = names(tree);
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        let path = file.path();
        if let Some(own) = path.strip_prefix(HOME).and_then(|rest| pack_of(rest, &packs)) {
            findings.extend(siblings(path, source, own, &packs));
        } else if !path.starts_with("crates/packs/") && !path.starts_with("xtask/") && path != DOOR {
            findings.extend(namings(path, source));
        }
        if !file.is_test() && DOMAIN_FREE.iter().any(|folder| path.starts_with(folder)) {
            findings.extend(keys(path, source, &packs));
        }
    }
    findings
}

/// The packs: the folders below [`HOME`].
fn names(tree: &Tree) -> BTreeSet<String> {
    let inside = tree.below(HOME).filter_map(|file| file.path()[HOME.len()..].split_once('/'));
    inside.map(|(folder, _)| folder.to_owned()).collect()
}

/// The pack to which a file belongs, given its path below [`HOME`].
fn pack_of<'a>(rest: &str, packs: &'a BTreeSet<String>) -> Option<&'a str> {
    let name = rest.split_once('/').map_or_else(|| rest.trim_end_matches(".rs"), |(folder, _)| folder);
    packs.get(name).map(String::as_str)
}

fn siblings(path: &str, source: &RustSource, own: &str, packs: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, name) in module_names(source) {
        if name != own && packs.contains(&name) {
            findings.push(Finding::violation(
                path,
                line,
                format!("the pack {own} must not use the pack {name}"),
                "share by record key, or move what both need into core",
            ));
        }
    }
    findings
}

/// The names that follow `crate::` and `super::`, also inside a group of braces over several lines.
fn module_names(source: &RustSource) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for (line, code) in source.code() {
        for (word, before, after) in words(code) {
            if depth > 0 {
                // At depth one a name that opens a path or stands alone is a top-level name of the group.
                if depth == 1 && !before.ends_with("::") {
                    names.push((line, word.to_owned()));
                }
            } else if before.ends_with("crate::") || before.ends_with("super::") {
                names.push((line, word.to_owned()));
            }
            depth = braces(depth, after, matches!(word, "crate" | "super"));
        }
        if depth > 0 && code.trim_start().starts_with('}') {
            depth = braces(depth, code.trim_start(), false);
        }
    }
    names
}

/// The depth after the punctuation that follows a word. A group opens after `crate::{` or inside one.
fn braces(depth: usize, after: &str, opens_group: bool) -> usize {
    let punctuation: String = after.chars().take_while(|c| !is_word(*c)).collect();
    let mut depth = depth;
    for c in punctuation.chars() {
        match c {
            '{' if depth > 0 || (opens_group && punctuation.starts_with("::{")) => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

/// Each word of a line with what stands before and after it.
fn words(code: &str) -> Vec<(&str, &str, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in code.char_indices().chain([(code.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((&code[from..at], &code[..from], &code[at..]));
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn namings(path: &str, source: &RustSource) -> Vec<Finding> {
    let lines = source.code().filter(|(_, code)| words(code).iter().any(|(word, _, _)| *word == "kybern_packs"));
    let found = lines.map(|(line, _)| {
        Finding::violation(path, line, "names a pack's crate", format!("only {DOOR} does; go through the registry"))
    });
    found.collect()
}

fn keys(path: &str, source: &RustSource, packs: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for literal in source.literals() {
        let Some((pack, verb)) = literal.text.split_once('.') else {
            continue;
        };
        let is_key = verb.contains('_') && verb.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if is_key && packs.contains(pack) {
            findings.push(Finding::violation(
                path,
                literal.line,
                format!("names {}, which belongs to a pack", literal.text),
                "the core knows no domain; let the pack register it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: (&str, &str) = ("crates/packs/src/network/mod.rs", "");

    fn findings(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[NETWORK, ("crates/packs/src/insurance/mod.rs", ""), (path, text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pack_that_uses_another_is_found() {
        let path = "crates/packs/src/insurance/deal.rs";
        for text in [
            "use crate::network::Entity;\n",
            "use crate::{\n    fields::Field,\n    network,\n};\n",
            "fn f() { super::super::network::resolve(); }\n",
        ] {
            assert_eq!(findings(path, text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_pack_may_use_itself_the_shared_files_and_deeper_names() {
        let path = "crates/packs/src/insurance/deal.rs";
        for text in [
            "use crate::insurance::policy;\n",
            "use crate::fields::network;\n",
            "use crate::{fields::{a, network}, other};\nfn network() { let network = 1; }\n",
            "// use crate::network;\n",
        ] {
            assert_eq!(findings(path, text), Vec::<String>::new(), "{text}");
        }
        assert!(findings("crates/packs/src/lib.rs", "mod network;\nuse crate::network::N;\n").is_empty());
    }

    #[test]
    fn only_the_binary_names_packs() {
        let text = "use kybern_packs::insurance;\n";
        assert_eq!(findings("crates/kybern/src/wiring.rs", text).len(), 1);
        assert!(findings(DOOR, text).is_empty());
    }

    #[test]
    fn the_core_knows_no_key_of_a_pack() {
        let text = "fn f() { call(\"insurance.create_deal\"); }\n";
        assert_eq!(findings("crates/engine/src/a.rs", text).len(), 1);
        assert!(findings("crates/engine/tests/a.rs", text).is_empty());
        assert!(findings("crates/engine/src/a.rs", "fn f() { a(\"network.peer\"); }\n").is_empty());
    }
}
