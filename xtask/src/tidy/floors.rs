//! The engine's floors: a module uses modules of its own floor and of those below, and no two use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::tree::Tree;

/// Where the modules lie.
const HOME: &str = "crates/engine/src/";

/// The floors from the ground up, each with its modules.
const FLOORS: &[(&str, &[&str])] = &[
    (
        "ground",
        &[
            "beside",
            "breaker",
            "check",
            "clock",
            "command",
            "fence",
            "made",
            "meter",
            "schema",
            "size",
            "slots",
            "templates",
            "trouble",
        ],
    ),
    ("kernel", &["events", "executor", "jobs", "plan", "retention", "settings", "worker"]),
    ("tools", &["secret", "tools"]),
    ("models and budget", &["budget", "models"]),
    ("agents", &["agent", "context", "dossier", "knowledge", "memory", "plans", "understanding"]),
    (
        "people",
        &[
            "approval",
            "audit",
            "chat",
            "identity",
            "intake",
            "invocation",
            "lesson",
            "outbox",
            "preference",
            "prompt",
            "readiness",
            "record",
            "task",
        ],
    ),
    ("steps", &["steps"]),
    ("roof", &["Engine", "parts"]),
];

/// Checks every file of the engine.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut uses: BTreeMap<(String, String), (String, usize)> = BTreeMap::new();
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        let Some(rest) = file.path().strip_prefix(HOME).filter(|_| !file.is_test()) else { continue };
        let module = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        if floor(&module).is_none() {
            let message = format!("the module {module} has no floor");
            findings.push(Finding::violation(file.path(), 1, message, "give it one in xtask/src/tidy/floors.rs"));
            continue;
        }
        for (line, used) in used_modules(source.code()) {
            if used != module && floor(&used).is_some() {
                uses.entry((module.clone(), used)).or_insert_with(|| (file.path().to_owned(), line));
            }
        }
    }
    for ((from, to), (path, line)) in &uses {
        let (message, remedy) = if floor(from) < floor(to) {
            let message = format!("{from} ({}) uses {to} ({}), which lies above it", name(from), name(to));
            (message, "let the upper one hand in what is needed, through a trait of the lower one")
        } else if floor(from) == floor(to) && leads_to(&uses, to, from) {
            (format!("{from} uses {to}, which uses {from} in turn"), "move what both need below them")
        } else {
            continue;
        };
        findings.push(Finding::violation(path, *line, message, remedy));
    }
    findings
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|(_, modules)| modules.contains(&module))
}

fn name(module: &str) -> &'static str {
    floor(module).map_or("nowhere", |floor| FLOORS[floor].0)
}

/// Whether a module uses another, itself or through others of their floor.
fn leads_to(uses: &BTreeMap<(String, String), (String, usize)>, from: &str, to: &str) -> bool {
    let (mut seen, mut line_up) = (BTreeSet::new(), vec![from]);
    while let Some(next) = line_up.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            let beside = uses.keys().filter(|(one, other)| one == next && floor(one) == floor(other));
            line_up.extend(beside.map(|(_, other)| other.as_str()));
        }
    }
    false
}

/// The modules that are named behind `crate::`, alone or in braces, each with its line.
fn used_modules<'a>(code: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    let mut in_braces = 0_usize;
    for (line, text) in code {
        if in_braces > 0 {
            in_braces = braces(text, in_braces, line, &mut used);
            continue;
        }
        for (at, _) in text.match_indices("crate::") {
            let before = &text[..at];
            if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let rest = &text[at + "crate::".len()..];
            match rest.strip_prefix('{') {
                Some(rest) => in_braces = braces(rest, 1, line, &mut used),
                None => used.extend(first_name(rest).map(|name| (line, name))),
            }
        }
    }
    used
}

/// The names on the first level of an import's braces; how deep the text ends.
fn braces(text: &str, mut depth: usize, line: usize, used: &mut Vec<(usize, String)>) -> usize {
    let mut begins = depth == 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => begins = true,
            c if c.is_whitespace() => {}
            _ if begins => {
                used.extend(first_name(&text[at..]).map(|name| (line, name)));
                begins = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    depth
}

fn first_name(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let all: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("{HOME}{path}"), *text)).collect();
        let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        check(&Tree::of(&all)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_lies_above_is_not_used() {
        for text in [
            "use crate::chat::answer;\n",
            "use crate::{clock::TaskClock, chat};\n",
            "use crate::{\n    clock::{A, B},\n    chat::answer,\n};\n",
            "fn f() { crate::chat::answer() }\n",
        ] {
            let findings = found(&[("templates/mod.rs", text)]);
            assert!(findings.iter().any(|finding| finding.contains("templates (ground) uses chat (people)")), "{text}");
        }
        assert_eq!(found(&[("chat/say.rs", "use crate::templates::{self, render};\nuse crate::task;\n")]).len(), 0);
        assert_eq!(found(&[("templates/mod.rs", "// use crate::chat\nuse kybern_core::chat::A;\n")]).len(), 0);
        assert_eq!(found(&[("templates/mod.rs", "#[cfg(test)]\nmod tests {\n    use crate::chat::A;\n}\n")]).len(), 0);
    }

    #[test]
    fn no_two_of_a_floor_use_each_other() {
        let one = ("budget/mod.rs", "use crate::models::A;\n");
        assert_eq!(found(&[one, ("models/mod.rs", "use crate::slots::B;\n")]).len(), 0);
        let findings = found(&[one, ("models/mod.rs", "use crate::budget::B;\n")]);
        assert_eq!(findings.len(), 2, "{findings:?}");
        let round = [
            ("agent/mod.rs", "use crate::memory::A;\n"),
            ("memory/mod.rs", "use crate::knowledge::B;\n"),
            ("knowledge/mod.rs", "use crate::agent::C;\n"),
        ];
        assert_eq!(found(&round).len(), 3);
    }

    #[test]
    fn a_module_has_a_floor() {
        assert!(found(&[("odd.rs", "")])[0].contains("has no floor"));
    }
}
