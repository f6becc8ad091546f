//! One door: who acts, and for which tenant, is made in few places; what a tenant can call is read in one.
//!
//! The types see to it that nobody has a scope who was not given one: it has no public constructor, and what carries one
//! along is made of a scope. What is left is checked here: the few functions that make an actor, a crossing, a store's
//! witness or a scope out of nothing, each by its own list of files. Standard output has such a list too: what is written
//! past it is lost without a word when it does not arrive.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::tree::Tree;

/// What is made, and where.
struct Maker {
    /// As it is written, without blanks between its tokens.
    needle: &'static str,
    /// What to do instead.
    remedy: &'static str,
    /// Files and folders (which end with `/`) that may, and why. Tests may anywhere.
    doors: &'static [(&'static str, &'static str)],
}

const MADE: &[Maker] = &[
    Maker {
        needle: "Actor::authenticated",
        remedy: "take the Actor that authentication made as a parameter",
        doors: &[
            ("crates/engine/src/identity/authenticate.rs", "proves who holds a key"),
            ("crates/testkit/src/actors.rs", "makes actors for tests"),
        ],
    },
    Maker {
        needle: "Sudo::",
        remedy: "only a platform admin's audited request crosses tenants: take the Sudo as a parameter",
        doors: &[("crates/engine/src/identity/authenticate.rs", "audits a platform admin's crossing")],
    },
    Maker { needle: "Sudo{", remedy: "ask Sudo::cross, which asks for the right", doors: SCOPES },
    // Even the name: whoever may not say it can give it no other one either.
    Maker { needle: "StoreWitness", remedy: WITNESS, doors: STORES },
    Maker { needle: "of_a_store", remedy: WITNESS, doors: STORES },
    Maker { needle: "scope_of_row", remedy: "take the scope as a parameter", doors: ROWS },
    Maker {
        needle: "TenantScope::of",
        remedy: "ask an Actor, a lease or a Sudo for its scope",
        doors: &[
            ("crates/core/src/tenant.rs", "declares it, for a store's witness and for a crossing"),
            ("crates/core/src/actor.rs", "an authenticated actor has a scope"),
        ],
    },
    Maker { needle: "registered_tool(", remedy: CATALOGUE, doors: TOOLS },
    Maker { needle: "registered_tools(", remedy: CATALOGUE, doors: TOOLS },
    Maker {
        needle: "io::stdout(",
        remedy: "print through the binary's Screen, which notices what does not arrive",
        doors: &[
            ("crates/kybern/src/output/screen.rs", "writes it, checked"),
            ("crates/adapters/src/documents/process/worker.rs", "answers the server that started this process"),
            ("crates/kybern/src/cli/mod.rs", "hands a picture to the server that started this process for it"),
        ],
    },
    Maker { needle: "TenantScope(", remedy: "ask an Actor, a lease or a Sudo for its scope", doors: SCOPES },
];

/// Types that keep their names, because what makes them is found by it.
const NAMED: &[&str] = &["Actor", "Sudo", "TenantScope"];

const WITNESS: &str = "only a store knows whose a row is: take the scope of the lease, the job or the actor";

const CATALOGUE: &str = "what a tenant can call, its snapshot says: take a ToolSnapshot as a parameter";

const TOOLS: &[(&str, &str)] = &[
    ("crates/engine/src/tools/catalogue.rs", "makes snapshots of the bundled tools and the tenants' sources"),
    ("crates/kybern/src/doctor.rs", "counts what the program brings, without a tenant"),
];

const STORES: &[(&str, &str)] = &[
    ("crates/core/src/tenant.rs", "declares the type"),
    ("crates/store/src/db/witness.rs", "reads the tenant from the row that it has just read"),
];

const SCOPES: &[(&str, &str)] = &[("crates/core/src/tenant.rs", "declares the type")];

/// The store's own places: each reads the tenant from a row, or writes a tenant's first.
const ROWS: &[(&str, &str)] = &[
    ("crates/store/src/db/witness.rs", "declares it"),
    ("crates/store/src/db/mod.rs", "shows it to the store's other files"),
    ("crates/store/src/tasks/claim.rs", "claims tasks of all tenants"),
    ("crates/store/src/tasks/read.rs", "finds the tenant's row of a task that a callback names"),
    ("crates/store/src/jobs.rs", "claims jobs of all tenants"),
    ("crates/store/src/reservations.rs", "finds what workers that died have left"),
    ("crates/store/src/plans.rs", "reads the plans of all tenants at the start"),
    (
        "crates/store/src/identity/mod.rs",
        "writes a new tenant's first rows, and finds a user's own tenant for those who act elsewhere",
    ),
    ("crates/store/src/identity/keys.rs", "tells the other tenants whose keys fall with one"),
    ("crates/store/src/retention/mod.rs", "goes through all tenants"),
    ("crates/store/src/archive/", "backs up, restores and examines all tenants"),
];

/// Checks all code, a file at a time: a call may be broken over lines.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        if file.is_test() || !file.path().starts_with("crates/") {
            continue;
        }
        let squeezed = Squeezed::of(source.code());
        let mut found = BTreeMap::new();
        for Maker { needle, remedy, .. } in MADE.iter().filter(|made| !is_door(made.doors, file.path())) {
            let name = needle.trim_end_matches(['(', '{', ':']);
            for line in squeezed.lines_of(|text| makes(text, needle)) {
                found.entry(line).or_insert_with(|| (format!("{name} is used outside its doors"), *remedy));
            }
        }
        for name in NAMED {
            for line in squeezed.lines_of(|text| renames(text, name)) {
                let remedy = "a type that proves something is called by its own name";
                found.entry(line).or_insert_with(|| (format!("{name} gets another name"), remedy));
            }
        }
        findings.extend(found.into_iter().map(|(line, (message, remedy))| {
            let remedy = format!("{remedy}; the doors are listed in xtask/src/tidy/doors.rs");
            Finding::violation(file.path(), line, message, remedy)
        }));
    }
    findings
}

/// Code with a blank only where two names would run together, and where its lines begin in it.
struct Squeezed {
    text: String,
    begins: Vec<(usize, usize)>,
}

impl Squeezed {
    fn of<'a>(code: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let mut squeezed = Self { text: String::new(), begins: Vec::new() };
        for (line, code) in code {
            squeezed.begins.push((squeezed.text.len(), line));
            let mut apart = true;
            for c in code.chars() {
                if c.is_whitespace() {
                    apart = true;
                    continue;
                }
                if apart && is_of_a_name(c) && squeezed.text.ends_with(is_of_a_name) {
                    squeezed.text.push(' ');
                }
                squeezed.text.push(c);
                apart = false;
            }
        }
        squeezed
    }

    /// The lines of the places in the text that `find` knows.
    fn lines_of(&self, find: impl Fn(&str) -> Vec<usize>) -> Vec<usize> {
        let line = |at| self.begins[..self.begins.partition_point(|(begin, _)| *begin <= at)].last();
        find(&self.text).into_iter().filter_map(|at| Some(line(at)?.1)).collect()
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_door(doors: &[(&str, &str)], path: &str) -> bool {
    doors.iter().any(|(door, _)| if door.ends_with('/') { path.starts_with(door) } else { path == *door })
}

/// Where the needle stands as a whole name, also as `<Type>::name`, and not where it is declared.
fn makes(text: &str, needle: &str) -> Vec<usize> {
    let qualified = needle.replacen("::", ">::", 1);
    let mut places = whole(text, needle);
    if qualified != needle {
        places.extend(whole(text, &qualified));
    }
    let declared = |at: &usize| ["struct ", "impl ", "fn ", "->"].iter().any(|word| text[..*at].ends_with(word));
    places.retain(|at| !declared(at));
    places
}

/// Where the type gets another name: `Type as Other`, or `type Other = path::Type;`.
fn renames(text: &str, name: &str) -> Vec<usize> {
    let mut places = whole(text, &format!("{name} as "));
    places.extend(whole(text, &format!("{name};")).into_iter().filter(|at| {
        let path = text[..*at].trim_end_matches(|c| is_of_a_name(c) || c == ':');
        let named = path.strip_suffix('=').map(|before| before.trim_end_matches(is_of_a_name));
        named.is_some_and(|before| before.ends_with("type "))
    }));
    places
}

/// Where the needle begins and ends with whole names.
fn whole(text: &str, needle: &str) -> Vec<usize> {
    let places = text.match_indices(needle).filter(|(at, _)| {
        let after = &text[at + needle.len()..];
        let goes_on = needle.ends_with(is_of_a_name) && after.starts_with(is_of_a_name);
        !goes_on && !text[..*at].ends_with(is_of_a_name)
    });
    places.map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn actors_are_made_at_the_doors_only() {
        let text = "fn f() { let a = Actor::authenticated(t, p); }\n";
        assert_eq!(count("crates/engine/src/identity/authenticate.rs", text), 0);
        for path in ["crates/server/src/api/tasks.rs", "crates/server/src/authority.rs", "crates/kybern/src/local.rs"] {
            assert_eq!(count(path, text), 1, "{path}");
        }
    }

    #[test]
    fn scopes_and_witnesses_are_made_at_their_own_doors_only() {
        let samples = [
            ("TenantScope::of(tenant)", "crates/core/src/actor.rs"),
            ("TenantScope(tenant)", "crates/core/src/tenant.rs"),
            ("StoreWitness::of_a_store().scope(tenant)", "crates/store/src/db/witness.rs"),
            ("StoreWitness(())", "crates/core/src/tenant.rs"),
            ("scope_of_row(tenant)", "crates/store/src/retention/mod.rs"),
            ("Sudo { tenant, reason }", "crates/core/src/tenant.rs"),
            ("registry.registered_tool(name)", "crates/engine/src/tools/catalogue.rs"),
            ("registry().registered_tools()", "crates/engine/src/tools/catalogue.rs"),
        ];
        let bad = [
            "crates/core/src/task/lease.rs",
            "crates/core/src/job.rs",
            "crates/store/src/records.rs",
            "crates/engine/src/worker.rs",
            "crates/kybern/src/backup.rs",
            "crates/testkit/src/conformance/jobs.rs",
        ];
        for (code, door) in samples {
            let text = format!("fn f() {{ let made = {code}; }}\n");
            assert_eq!(count(door, &text), 0, "{code}");
            for path in bad {
                assert_eq!(count(path, &text), 1, "{code} in {path}");
            }
        }
    }

    #[test]
    fn naming_a_type_is_not_making_it() {
        let path = "crates/engine/src/a.rs";
        assert_eq!(count(path, "fn f(scope: TenantScope, sudo: &Sudo) {} // Sudo::cross\n"), 0);
        assert_eq!(count(path, "pub struct Sudo {\nimpl Sudo {\nfn f() -> Sudo {\n"), 0);
        assert_eq!(count(path, "fn f() { PseudoSudo::cross(a); }\n"), 0);
        assert_eq!(count(path, "fn f(a: Actor) { let count = 3; let actor = a as Any; TenantScope::offset(t); }\n"), 0);
        assert_eq!(count(path, "fn f() { Sudo::cross(a); TenantScope::of(t); }\n"), 1);
    }

    #[test]
    fn no_way_of_writing_it_is_a_way_round() {
        let path = "crates/engine/src/a.rs";
        for code in [
            "use kybern_core::tenant::StoreWitness as W;\nfn f() { W::of_a_store() }\n",
            "use kybern_core::tenant::*;\nfn f(w: fn() -> W) { let w = <W>::of_a_store; }\n",
            "use crate::db::scope_of_row as whose;\n",
            "fn f() { rows.map(scope_of_row) }\n",
            "use kybern_core::tenant::{\n    Sudo as Crossing,\n};\n",
            "use kybern_core::actor::Actor as A;\n",
            "type Who = kybern_core::actor::Actor;\n",
            "fn f() {\n    let made = Actor\n        ::authenticated(t);\n}\n",
            "fn f() {\n    let made = Sudo ::\n        cross(a);\n}\n",
            "fn f() { ids.map(TenantScope::of) }\n",
            "fn f() { <kybern_core::actor::Actor>::authenticated(t) }\n",
        ] {
            assert!(count(path, code) > 0, "{code}");
        }
        let broken = "fn f() {\n    let made = Actor\n        ::authenticated(t);\n}\n";
        assert!(check(&Tree::of(&[(path, broken)]))[0].to_string().contains("a.rs:2"));
    }

    #[test]
    fn tests_are_free() {
        assert_eq!(count("crates/engine/tests/a.rs", "fn f() { Sudo::cross(a); }\n"), 0);
        assert_eq!(
            count("crates/engine/src/a.rs", "#[cfg(test)]\nmod tests {\n    fn f() { Sudo::cross(a); }\n}\n"),
            0
        );
    }

    #[test]
    fn every_door_has_a_reason() {
        let doors: Vec<_> = MADE.iter().flat_map(|made| made.doors).collect();
        assert!(doors.len() > MADE.len() && doors.iter().all(|(_, reason)| reason.len() > 10));
    }
}
