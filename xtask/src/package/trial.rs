//! The trial: `docs/production.md`, typed word for word on a machine that is thrown away, with checks in between.
//!
//! Three things differ from what a reader does. The name is `kybern.localhost`, for which Caddy makes the certificate
//! itself, and curl is told of that authority's root by a variable. The packages of the distribution are there already,
//! because the machine has no network. The second package is the first one with another version and another
//! `kybern.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::machine::{Base, INSIDE, Machine, Missing};
use super::page::{self, Section};
use super::{Package, Packing, architecture};
use crate::clock::{Stopwatch, readable};
use crate::services::{cache, finish};

/// The page that is followed, up to the section with this title.
const PAGE: &str = "docs/production.md";
const END: &str = "With containers";

/// What is told to every shell before the page's words.
const SESSION: &str = "cd /tmp; set -a; . /run/session 2>/dev/null || true; set +a
export HOME=/tmp CURL_CA_BUNDLE=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt
set -ax
";
/// What it says at the end, so that the next one knows its variables.
const KEEP: &str = "\n{ set +ax; } 2>/dev/null; export -p > /run/session\n";

/// What must hold once a section has been followed: its title, what holds, and the commands that tell.
const CHECKS: &[(&str, &str, &str)] = &[
    ("Install", "nothing runs yet", include_str!("checks/installed.sh")),
    ("Start", "the server runs as its own user, shut in", include_str!("checks/started.sh")),
    ("Try it", "event streams pass the proxy as they are written", include_str!("checks/streams.sh")),
    (
        "Watch",
        "a stopped database is noticed and comes back, and so does a killed server",
        include_str!("checks/faults.sh"),
    ),
    ("Upgrade", "the new program runs, settings and tasks are there", include_str!("checks/upgraded.sh")),
    ("Remove", "the program is gone, and all that cannot be made again is there", include_str!("checks/removed.sh")),
];

/// What is done where no systemd runs.
const UNBOOTED: &str = include_str!("checks/unbooted.sh");

/// Whether the package can be installed, started, upgraded and removed by the page. It says what it does.
///
/// # Errors
/// When this machine has no room for a trial, or the trial fails.
pub(crate) fn passes(root: &Path, binary: &Path) -> Result<Result<(), Missing>> {
    let base = match Base::get() {
        Ok(base) => base,
        Err(missing) => return Ok(Err(missing)),
    };
    let folder = Folder(cache::fresh("package")?);
    let text = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let versions = page::versions(&text)?;
    let sections = page::sections(&text)?;
    told("both packages are made", || packages(root, binary, &versions, &folder.0))?;
    told("installed, started and purged where no systemd runs", || {
        base.run_unbooted(&folder.0, &UNBOOTED.replace("VERSION", &versions[0])).map(drop)
    })?;
    let machine = told("a machine with systemd boots", || base.boot(&folder.0))?;
    follow(&machine, &sections)?;
    told("the machine is taken down", || {
        drop(machine);
        Ok(())
    })?;
    Ok(Ok(()))
}

/// Follows the page to its end.
fn follow(machine: &Machine, sections: &[Section]) -> Result<()> {
    let arch = architecture()?;
    machine.run(&format!("cp {INSIDE}/*.deb /tmp/"))?;
    // The lists of packages cannot be had without a network.
    machine.run(
        "printf '#!/bin/sh\\n[ \"$1\" = update ] || exec /usr/bin/apt-get \"$@\"\\n' > /usr/local/bin/apt-get
                 chmod 755 /usr/local/bin/apt-get",
    )?;
    let mut checked = 0;
    for section in sections.iter().take_while(|section| section.title != END) {
        if !section.blocks.is_empty() {
            told(&format!("{PAGE}: {}", section.title), || {
                section.blocks.iter().try_for_each(|block| type_in(machine, &typed(block, &arch)))
            })?;
        }
        for (_, holds, script) in CHECKS.iter().filter(|(title, _, _)| *title == section.title) {
            told(&format!("    {holds}"), || type_in(machine, script))?;
            checked += 1;
        }
    }
    if checked < CHECKS.len() {
        bail!("{PAGE} has lost a section that is checked; it had {}", titles());
    }
    Ok(())
}

fn titles() -> String {
    CHECKS.iter().map(|(title, _, _)| *title).collect::<Vec<_>>().join(", ")
}

/// A block as it is typed in a trial.
fn typed(block: &str, arch: &str) -> String {
    block.replace("SITE=kybern.example.com", "SITE=kybern.localhost").replace("_amd64.deb", &format!("_{arch}.deb"))
}

/// Types a block into the one shell of the page. The first command that fails ends it.
fn type_in(machine: &Machine, block: &str) -> Result<()> {
    machine.run(&format!("{SESSION}{block}{KEEP}")).with_context(|| format!("this was typed:\n{block}")).map(drop)
}

/// Does something and says how long it took.
fn told<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let watch = Stopwatch::start();
    let done = work().with_context(|| format!("failed: {}", what.trim()))?;
    println!("    {what} ({})", readable(watch.elapsed()));
    Ok(done)
}

/// A folder that goes with this value.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Makes the package, and the one that follows it.
fn packages(root: &Path, binary: &Path, versions: &[String; 2], folder: &Path) -> Result<()> {
    let [first, second] = versions;
    let made = Package { root, binary, version: first, packing: Packing::Fast }.build(folder)?.file;
    let open = folder.join("open");
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("--raw-extract").arg(&made).arg(&open);
    finish(unpack)?;
    let control = open.join("DEBIAN/control");
    let text = fs::read_to_string(&control)?;
    fs::write(&control, text.replace(&format!("\nVersion: {first}\n"), &format!("\nVersion: {second}\n")))?;
    let settings = open.join("etc/kybern/kybern.toml");
    fs::write(&settings, fs::read_to_string(&settings)? + "# Something new.\n")?;
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "-Znone", "--build"]).arg(&open);
    pack.arg(folder.join(format!("kybern_{second}_{}.deb", architecture()?)));
    finish(pack)?;
    fs::remove_dir_all(&open).with_context(|| format!("cannot delete {}", open.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_its_section_before_the_end_of_what_is_typed() {
        let page = fs::read_to_string(crate::root::find().unwrap().join(PAGE)).unwrap();
        let sections = page::sections(&page).unwrap();
        let end = sections.iter().position(|section| section.title == END).unwrap();
        for (title, _, _) in CHECKS {
            let at = sections.iter().position(|section| section.title == *title);
            assert!(at.is_some_and(|at| at < end), "{title}");
        }
    }

    #[test]
    fn a_block_is_typed_as_it_stands_but_for_the_name_and_the_architecture() {
        let block = "SITE=kybern.example.com\napt-get install ./kybern_0.1.0_amd64.deb\n";
        assert_eq!(typed(block, "arm64"), "SITE=kybern.localhost\napt-get install ./kybern_0.1.0_arm64.deb\n");
    }
}
