//! The files of the package, and where they go.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::notices;
use crate::services::finish;

/// A file of the checkout, its place in the package, and its mode.
const FILES: &[(&str, &str, u32)] = &[
    ("deploy/kybern.service", "usr/lib/systemd/system/kybern.service", 0o644),
    ("deploy/kybern-backup.service", "usr/lib/systemd/system/kybern-backup.service", 0o644),
    ("deploy/kybern-backup.timer", "usr/lib/systemd/system/kybern-backup.timer", 0o644),
    ("deploy/backup", "usr/lib/kybern/backup", 0o755),
    ("deploy/Caddyfile", "usr/share/kybern/Caddyfile", 0o644),
    ("deploy/prometheus/alerts.yaml", "usr/share/kybern/prometheus/alerts.yaml", 0o644),
    ("deploy/prometheus/board.json", "usr/share/kybern/prometheus/board.json", 0o644),
    ("deploy/debian/kybern.env", "usr/share/kybern/kybern.env", 0o644),
    ("kybern.example.toml", "usr/share/kybern/kybern.example.toml", 0o644),
    ("deploy/debian/kybern.toml", "etc/kybern/kybern.toml", 0o640),
    ("deploy/debian/copyright", "usr/share/doc/kybern/copyright", 0o644),
    ("LICENSE-APACHE", "usr/share/doc/kybern/LICENSE-APACHE", 0o644),
    ("LICENSE-MIT", "usr/share/doc/kybern/LICENSE-MIT", 0o644),
    ("README.md", "usr/share/doc/kybern/README.md", 0o644),
    ("CHANGELOG.md", "usr/share/doc/kybern/CHANGELOG.md", 0o644),
    ("SECURITY.md", "usr/share/doc/kybern/SECURITY.md", 0o644),
    ("deploy/debian/postinst", "DEBIAN/postinst", 0o755),
    ("deploy/debian/prerm", "DEBIAN/prerm", 0o755),
    ("deploy/debian/postrm", "DEBIAN/postrm", 0o755),
];

/// Folders of the checkout whose Markdown files go along, without what lies deeper.
const PAGES: &[(&str, &str)] =
    &[("docs", "usr/share/doc/kybern/docs"), ("docs/errors", "usr/share/doc/kybern/docs/errors")];

/// Lays out the package in a folder that is not there yet.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) fn stage(root: &Path, binary: &Path, staged: &Path) -> Result<()> {
    let program = fs::read(binary).with_context(|| format!("there is no program {}", binary.display()))?;
    let place = staged.join("usr/bin/kybern");
    write(staged, "usr/bin/kybern", &program, 0o755)?;
    let mut strip = Command::new("strip");
    strip.arg("--strip-all").arg(&place);
    finish(strip).context("the program cannot be stripped")?;
    manual(&place, staged)?;
    for (from, to, mode) in FILES {
        copy(&root.join(from), staged, to, *mode)?;
    }
    for (from, to) in PAGES {
        for entry in fs::read_dir(root.join(from))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                copy(&entry.path(), staged, &format!("{to}/{name}"), 0o644)?;
            }
        }
    }
    let notices = notices::collect(root)?;
    write(staged, "usr/share/doc/kybern/third-party-licences.txt", notices.as_bytes(), 0o644)?;
    write(staged, "DEBIAN/conffiles", conffiles().as_bytes(), 0o644)
}

/// What shells complete, by the shell.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "usr/share/bash-completion/completions/kybern"),
    ("zsh", "usr/share/zsh/vendor-completions/_kybern"),
    ("fish", "usr/share/fish/vendor_completions.d/kybern.fish"),
];

/// The manual pages and completions that the program writes of itself.
fn manual(program: &Path, staged: &Path) -> Result<()> {
    let pages = staged.join("usr/share/man/man1");
    // Its parents are opened to everybody as those of every file are.
    write(staged, "usr/share/man/man1/kybern.1", b"", 0o644)?;
    let mut man = Command::new(program);
    man.arg("man").arg(&pages);
    finish(man).context("the manual pages cannot be written")?;
    for page in fs::read_dir(&pages)?.flatten() {
        fs::set_permissions(page.path(), Permissions::from_mode(0o644))?;
        let mut pack = Command::new("gzip");
        pack.args(["-9", "--no-name"]).arg(page.path());
        finish(pack).context("a manual page cannot be packed")?;
    }
    for (shell, to) in COMPLETIONS {
        let mut completion = Command::new(program);
        completion.args(["completion", shell]);
        let script = finish(completion).with_context(|| format!("the completion of {shell} cannot be had"))?;
        write(staged, to, script.as_bytes(), 0o644)?;
    }
    Ok(())
}

/// Everything below `/etc` is the administrator's: an upgrade asks before it writes over a change.
fn conffiles() -> String {
    FILES.iter().filter(|(_, to, _)| to.starts_with("etc/")).map(|(_, to, _)| format!("/{to}\n")).collect()
}

fn copy(from: &Path, staged: &Path, to: &str, mode: u32) -> Result<()> {
    write(staged, to, &fs::read(from).with_context(|| format!("cannot read {}", from.display()))?, mode)
}

/// Writes a file of the package with its folders, which everybody may enter whatever the umask is.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(staged: &Path, to: &str, bytes: &[u8], mode: u32) -> Result<()> {
    let path = staged.join(to);
    let Some(folder) = path.parent() else { bail!("{} has no folder", path.display()) };
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // No further up than the package: what lies above is not its own.
    for part in folder.ancestors().take_while(|part| part.starts_with(staged)) {
        fs::set_permissions(part, Permissions::from_mode(0o755))?;
    }
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(&path, Permissions::from_mode(mode))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_package_is_in_the_checkout() {
        let root = crate::root::find().unwrap();
        for (from, _, _) in FILES {
            assert!(root.join(from).is_file(), "{from}");
        }
    }

    #[test]
    fn the_folders_above_a_package_are_left_as_they_are() {
        let above = tempfile::tempdir().unwrap();
        fs::set_permissions(above.path(), Permissions::from_mode(0o1777)).unwrap();
        let staged = above.path().join("staged");
        write(&staged, "usr/bin/program", b"", 0o755).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(above.path()), mode(&staged), mode(&staged.join("usr/bin"))), (0o1777, 0o755, 0o755));
    }

    #[test]
    fn only_settings_are_the_administrators() {
        assert_eq!(conffiles(), "/etc/kybern/kybern.toml\n");
    }
}
