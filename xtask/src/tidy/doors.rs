//! One door: who acts, and for which tenant, is made in few places.
//!
//! The types see to it that nobody has a scope who was not given one: it has no public constructor, and what carries one
//! along is made of a scope. What is left is checked here: the few functions that make an actor, a crossing, a store's
//! witness or a scope out of nothing, each by its own list of files.

use super::finding::Finding;
use super::tree::Tree;

/// What is made, and where.
struct Made {
    /// As it is written.
    needle: &'static str,
    /// What to do instead.
    remedy: &'static str,
    /// Files and folders (which end with `/`) that may, and why. Tests may anywhere.
    doors: &'static [(&'static str, &'static str)],
}

const MADE: &[Made] = &[
    Made {
        needle: "Actor::authenticated(",
        remedy: "take the Actor that authentication made as a parameter",
        doors: &[
            ("crates/engine/src/identity/authenticate.rs", "proves who holds a key"),
            ("crates/testkit/src/actors.rs", "makes actors for tests"),
        ],
    },
    Made {
        needle: "Sudo::",
        remedy: "only a platform admin's audited request crosses tenants: take the Sudo as a parameter",
        doors: &[("crates/engine/src/identity/authenticate.rs", "audits a platform admin's crossing")],
    },
    Made { needle: "Sudo {", remedy: "ask Sudo::cross, which asks for the right", doors: SCOPES },
    Made {
        needle: "StoreWitness::",
        remedy: "only a store knows whose a row is: take the scope of the lease, the job or the actor",
        doors: &[("crates/store/src/db/witness.rs", "reads the tenant from the row that it has just read")],
    },
    Made {
        needle: "StoreWitness(",
        remedy: "only a store knows whose a row is: take the scope of the lease, the job or the actor",
        doors: SCOPES,
    },
    Made { needle: "scope_of_row(", remedy: "take the scope as a parameter", doors: ROWS },
    Made {
        needle: "TenantScope::of(",
        remedy: "ask an Actor, a lease or a Sudo for its scope",
        doors: &[
            ("crates/core/src/tenant.rs", "declares it, for a store's witness and for a crossing"),
            ("crates/core/src/actor.rs", "an authenticated actor has a scope"),
        ],
    },
    Made { needle: "TenantScope(", remedy: "ask an Actor, a lease or a Sudo for its scope", doors: SCOPES },
];

const SCOPES: &[(&str, &str)] = &[("crates/core/src/tenant.rs", "declares the type")];

/// The store's own places: each reads the tenant from a row, or writes a tenant's first.
const ROWS: &[(&str, &str)] = &[
    ("crates/store/src/db/witness.rs", "declares it"),
    ("crates/store/src/tasks/claim.rs", "claims tasks of all tenants"),
    ("crates/store/src/tasks/read.rs", "finds the tenant's row of a task that a callback names"),
    ("crates/store/src/jobs.rs", "claims jobs of all tenants"),
    ("crates/store/src/reservations.rs", "finds what workers that died have left"),
    ("crates/store/src/plans.rs", "reads the plans of all tenants at the start"),
    ("crates/store/src/identity.rs", "writes a new tenant's first rows"),
    ("crates/store/src/retention/mod.rs", "goes through all tenants"),
    ("crates/store/src/archive/", "backs up, restores and examines all tenants"),
];

/// Checks every line of code.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust_files() {
        if file.is_test() || !file.path().starts_with("crates/") {
            continue;
        }
        let shut = |made: &&Made| !is_door(made.doors, file.path());
        for (line, code) in source.code() {
            let made = MADE.iter().filter(shut).find(|made| calls(code, made.needle));
            if let Some(Made { needle, remedy, .. }) = made {
                let name = needle.trim_end_matches(['(', '{', ':', ' ']);
                let message = format!("{name} is made outside its doors");
                let remedy = format!("{remedy}; the doors are listed in xtask/src/tidy/doors.rs");
                findings.push(Finding::violation(file.path(), line, message, remedy));
            }
        }
    }
    findings
}

fn is_door(doors: &[(&str, &str)], path: &str) -> bool {
    doors.iter().any(|(door, _)| if door.ends_with('/') { path.starts_with(door) } else { path == *door })
}

/// Whether the needle stands there as a whole name, not as the end of a longer one, and not where it is declared.
fn calls(code: &str, needle: &str) -> bool {
    code.match_indices(needle).any(|(at, _)| {
        let before = &code[..at];
        let longer = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let declared = ["struct ", "impl ", "fn ", "-> "].iter().any(|word| before.ends_with(word));
        !longer && !declared
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
        ];
        let bad = [
            "crates/core/src/task/lease.rs",
            "crates/core/src/job.rs",
            "crates/store/src/records.rs",
            "crates/engine/src/worker.rs",
            "crates/kybern/src/doctor.rs",
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
        let doors: Vec<_> = MADE.iter().flat_map(|made| made.doors).collect();
        assert!(doors.len() > MADE.len() && doors.iter().all(|(_, reason)| reason.len() > 10));
    }
}
