//! One door: who acts, and for which tenant, is made in few places.

use super::finding::Finding;
use super::tree::Tree;

/// What is made, as it is written, and what to do instead.
const MADE: &[(&str, &str)] = &[
    ("Actor::authenticated(", "take the Actor that authentication made as a parameter"),
    ("Sudo::", "only a platform admin's audited request crosses tenants: take the Sudo as a parameter"),
    ("TenantScope(", "ask an Actor, a lease or a Sudo for its scope"),
    ("TenantScope::", "ask an Actor, a lease or a Sudo for its scope"),
];

/// Where it may be made, and why. A folder ends with `/`. Tests may anywhere.
const DOORS: &[(&str, &str)] = &[
    ("crates/core/", "declares the types, and the leases that carry a scope"),
    ("crates/store/", "reads the tenant from the row that it has just claimed"),
    ("crates/engine/src/identity/authenticate.rs", "proves who holds a key, and audits a platform admin's crossing"),
    ("crates/kybern/", "the command line acts as whoever can write the database file"),
    ("crates/testkit/", "makes actors for tests"),
];

/// Checks every line of code.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        if file.is_test() || !file.path().starts_with("crates/") || is_door(file.path()) {
            continue;
        }
        for (line, code) in source.code() {
            let made = MADE.iter().find(|(needle, _)| calls(code, needle));
            if let Some((needle, remedy)) = made {
                let name = needle.trim_end_matches(['(', ':']);
                let message = format!("{name} is made outside its doors");
                let remedy = format!("{remedy}; the doors are listed in xtask/src/tidy/doors.rs");
                findings.push(Finding::violation(file.path(), line, message, remedy));
            }
        }
    }
    findings
}

fn is_door(path: &str) -> bool {
    DOORS.iter().any(|(door, _)| if door.ends_with('/') { path.starts_with(door) } else { path == *door })
}

/// Whether the needle stands there as a whole name, not as the end of a longer one.
fn calls(code: &str, needle: &str) -> bool {
    code.match_indices(needle).any(|(at, _)| {
        let longer = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        !longer
    })
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
        assert_eq!(count("crates/server/src/api/tasks.rs", text), 1);
        assert_eq!(count("crates/server/src/authority.rs", text), 1);
    }

    #[test]
    fn naming_a_type_is_not_making_it() {
        let path = "crates/engine/src/a.rs";
        assert_eq!(count(path, "fn f(scope: TenantScope, sudo: &Sudo) {} // Sudo::cross\n"), 0);
        assert_eq!(count(path, "fn f() { PseudoSudo::cross(a); }\n"), 0);
        assert_eq!(count(path, "fn f() { Sudo::cross(a); TenantScope::of(t); }\n"), 1);
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
        assert!(DOORS.iter().all(|(_, reason)| reason.len() > 10));
    }
}
