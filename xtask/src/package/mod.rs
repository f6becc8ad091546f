//! `cargo xtask package`: the program as a Debian package, and the trial of it on a machine that is thrown away.
//!
//! What the package holds lies in `deploy/`; [`tree`] says where each file goes. [`trial`] installs it by the commands
//! of `docs/production.md`, as they stand there.

mod links;
mod machine;
mod notices;
mod page;
mod tree;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::cargo;
use crate::clock::{Stopwatch, readable};
use crate::services::finish;

pub(crate) use trial::passes;

pub(crate) const USAGE: &str = "package [--binary PATH] [--version V] [--test | --licences FILE]";

/// The profile of what is shipped.
const PROFILE: &str = "dist";

/// What the caller asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Options {
    binary: Option<PathBuf>,
    version: Option<String>,
    test: bool,
    licences: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--binary" => options.binary = Some(args.value(arg)?.into()),
                "--version" => options.version = Some(version(args.value(arg)?)?),
                "--test" => options.test = true,
                "--licences" => options.licences = Some(args.value(arg)?.into()),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        if options.test && options.version.is_some() {
            bail!("--test takes the versions that docs/production.md names; leave out --version");
        }
        Ok(options)
    }
}

/// A version that Debian takes, without an epoch.
fn version(text: &str) -> Result<String> {
    let good = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || ".+~-".contains(c));
    if good {
        Ok(text.to_owned())
    } else {
        bail!("{text:?} is no version of a Debian package; write one such as 0.2.0")
    }
}

/// Runs the command.
///
/// # Errors
/// When the arguments are wrong, or something cannot be built, packed or tried.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let root = crate::root::find()?;
    if let Some(file) = options.licences {
        fs::write(&file, notices::collect(&root)?).with_context(|| format!("cannot write {}", file.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let binary = options.binary.map_or_else(|| built(&root), Ok)?;
    if options.test {
        return match passes(&root, &binary)? {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(missing) => bail!("the package cannot be tried on this machine: {missing}"),
        };
    }
    let watch = Stopwatch::start();
    let version = options.version.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned());
    let package = Package { root: &root, binary: &binary, version: &version, packing: Packing::Small };
    let made = package.build(&cargo::target(&root).join("debian"))?;
    println!("{} ({}, {})", made.file.display(), size(&made.file)?, readable(watch.elapsed()));
    println!("depends on {}", made.depends);
    Ok(ExitCode::SUCCESS)
}

fn built(root: &Path) -> Result<PathBuf> {
    println!("building the server as it is shipped; this takes a quarter of an hour or longer");
    if !cargo::command(root, &["build", "--package", "kybern", "--profile", PROFILE, "--locked"]).status()?.success() {
        bail!("the server cannot be built");
    }
    Ok(cargo::target(root).join(PROFILE).join("kybern"))
}

fn size(file: &Path) -> Result<String> {
    let bytes = fs::metadata(file)?.len();
    Ok(format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10))
}

/// How a package is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    /// For people who download it.
    Small,
    /// For a trial, which unpacks it at once.
    Fast,
}

/// A package that is to be made.
struct Package<'p> {
    root: &'p Path,
    binary: &'p Path,
    version: &'p str,
    packing: Packing,
}

/// A package that is made.
struct BuiltPackage {
    file: PathBuf,
    depends: String,
}

impl Package<'_> {
    /// Makes it in that folder, under the name that Debian gives it.
    fn build(&self, folder: &Path) -> Result<BuiltPackage> {
        let arch = architecture()?;
        let name = format!("kybern_{}_{arch}", self.version);
        let staged = folder.join(&name);
        // Of an earlier run that was stopped.
        if staged.exists() {
            fs::remove_dir_all(&staged).with_context(|| format!("cannot delete {}", staged.display()))?;
        }
        tree::stage(self.root, self.binary, &staged)?;
        let depends = links::dependencies(&staged.join("usr/bin/kybern"))?;
        let control = control(self.version, &arch, &depends, kilobytes(&staged)?);
        tree::write(&staged, "DEBIAN/control", control.as_bytes(), 0o644)?;
        let file = folder.join(format!("{name}.deb"));
        let mut pack = Command::new("dpkg-deb");
        pack.args(["--root-owner-group", "--build"]);
        if self.packing == Packing::Fast {
            pack.arg("-Znone");
        }
        pack.arg(&staged).arg(&file);
        finish(pack).context("the package cannot be packed")?;
        fs::remove_dir_all(&staged).with_context(|| format!("cannot delete {}", staged.display()))?;
        Ok(BuiltPackage { file, depends })
    }
}

/// The machine's architecture, as Debian calls it.
fn architecture() -> Result<String> {
    let mut ask = Command::new("dpkg");
    ask.arg("--print-architecture");
    Ok(finish(ask).context("there is no dpkg; packages are made on Debian or Ubuntu")?.trim().to_owned())
}

/// What is installed, in kilobytes, as the package says.
fn kilobytes(staged: &Path) -> Result<u64> {
    let mut ask = Command::new("du");
    ask.args(["--summarize", "--apparent-size", "--block-size=1024"]).arg(staged);
    let said = finish(ask)?;
    said.split_whitespace().next().and_then(|number| number.parse().ok()).context("du tells no size")
}

fn control(version: &str, arch: &str, depends: &str, kilobytes: u64) -> String {
    format!(
        "Package: kybern\n\
         Version: {version}\n\
         Architecture: {arch}\n\
         Maintainer: The Kybern contributors\n\
         Section: net\n\
         Priority: optional\n\
         Installed-Size: {kilobytes}\n\
         Depends: adduser, {depends}\n\
         Recommends: tzdata, tesseract-ocr, tesseract-ocr-spa, tesseract-ocr-fra\n\
         Suggests: postgresql, caddy\n\
         Description: self-hosted AI orchestration server\n\
        \x20Kybern takes in e-mails, web forms, text messages and API calls and turns\n\
        \x20each into a task with a plan. It walks the plan step by step, on SQLite or\n\
        \x20on PostgreSQL, survives being killed at any moment, and asks a person where\n\
        \x20it must not decide alone.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_binary_and_a_version_can_be_named() {
        let options = parse(&["--binary", "target/debug/kybern", "--version", "0.2.0"]).unwrap();
        assert_eq!((options.binary, options.version), (Some("target/debug/kybern".into()), Some("0.2.0".to_owned())));
        assert!(parse(&["--test"]).unwrap().test);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for args in [&["--binary"][..], &["--version", "new"], &["--version", "1:2"], &["--fast"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
        assert!(parse(&["--test", "--version", "0.2.0"]).is_err());
    }

    #[test]
    fn every_line_of_the_control_file_is_a_field_or_goes_on_with_one() {
        let text = control("0.1.0", "amd64", "libc6 (>= 2.34)", 7);
        assert!(text.lines().all(|line| line.starts_with(' ') || line.contains(": ")), "{text}");
        assert!(text.contains("\nDepends: adduser, libc6 (>= 2.34)\n"), "{text}");
    }
}
