//! A Debian machine that is thrown away: systemd as its first process, in namespaces of this one.
//!
//! Its root is made once by mmdebstrap and kept with the other downloads; a booted machine writes into memory above it
//! (`--volatile=overlay`). It has a network of its own with nothing but loopback. systemd-nspawn takes it down when it is
//! dropped, or when this process dies.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::services::{Server, apt_get, cache, finish};

/// What a production server of `docs/production.md` has before Kybern: no package is downloaded during a trial.
const INCLUDE: &str = "systemd-sysv,dbus,adduser,ca-certificates,curl,openssl,postgresql,caddy";
/// What makes and runs such a machine.
const TOOLS: &[(&str, &str)] = &[("mmdebstrap", "mmdebstrap"), ("systemd-nspawn", "systemd-container")];
/// Where the packages lie in the machine, and where commands start.
pub(super) const INSIDE: &str = "/srv";

/// Why there can be no such machine here.
#[derive(Debug)]
pub(crate) struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A root of Debian, as mmdebstrap has made it.
pub(super) struct Base {
    folder: PathBuf,
}

impl Base {
    /// The root of the same release as this machine's, so that what was built here runs there.
    ///
    /// # Errors
    /// With the reason when this machine cannot have one.
    pub(super) fn get() -> Result<Self, Missing> {
        if !cache::is_root() {
            return Err(Missing("only root can boot a machine in namespaces".to_owned()));
        }
        let release = Release::of(&fs::read_to_string("/etc/os-release").unwrap_or_default());
        let release = release.ok_or_else(|| Missing("this is neither Debian nor Ubuntu".to_owned()))?;
        let base = bring_tools().and_then(|()| make(&release)).map_err(|error| Missing(format!("{error:#}")))?;
        // A container, for one, may not be allowed to have namespaces.
        match base.run_unbooted(&base.folder, "true") {
            Ok(_) => Ok(base),
            Err(error) => Err(Missing(format!("no machine can be started here: {error:#}"))),
        }
    }

    /// Boots a machine that sees `folder` as [`INSIDE`]. Its log goes there, and the folder goes with the machine.
    ///
    /// # Errors
    /// When it does not come up.
    pub(super) fn boot(&self, folder: &Path) -> Result<Machine> {
        let mut command = self.nspawn(folder);
        // Its console is a log; orders come in by another way.
        command.args(["--console=pipe", "--boot", "systemd.show_status=no"]);
        let mut server = Server::start(command, "TERM", folder)?;
        let id = server.id();
        server.wait_until(|| leader(id).is_some_and(is_up)).context("the machine does not boot")?;
        let leader = leader(id).context("the machine is gone")?;
        Ok(Machine { server: Some(server), leader })
    }

    /// Runs a script in a machine on which no systemd runs, and answers what it printed.
    ///
    /// # Errors
    /// When it fails; the message carries what it printed.
    pub(super) fn run_unbooted(&self, folder: &Path, script: &str) -> Result<String> {
        let mut command = self.nspawn(folder);
        command.args(["--console=pipe", "--as-pid2", "--", "/bin/bash", "-euo", "pipefail", "-c", script]);
        let said = finish(command);
        sweep();
        said
    }

    fn nspawn(&self, folder: &Path) -> Command {
        let mut command = Command::new("systemd-nspawn");
        command.args(["--quiet", "--settings=no", "--register=no", "--private-network", "--volatile=overlay"]);
        command.args(["--link-journal=no", "--resolv-conf=off", "--timezone=off"]);
        if !Path::new("/run/systemd/system").exists() {
            // There is nobody who would make a scope for it.
            command.arg("--keep-unit");
        }
        command.arg(format!("--machine={}", name()));
        command.arg("--directory").arg(&self.folder).arg(format!("--bind-ro={}:{INSIDE}", folder.display()));
        command.arg("--chdir=/").env_remove("SYSTEMD_NSPAWN_API_VFS_WRITABLE");
        command
    }
}

/// Which Debian or Ubuntu this is.
struct Release {
    codename: String,
    components: &'static str,
}

impl Release {
    fn of(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            Some(value.trim_matches('"').to_owned())
        };
        let components = match field("ID")?.as_str() {
            "debian" => "main",
            "ubuntu" => "main,universe",
            _ => return None,
        };
        Some(Self { codename: field("VERSION_CODENAME")?, components })
    }
}

/// Installs what is missing.
fn bring_tools() -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let missing: Vec<&str> =
        TOOLS.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("    installing {} with apt-get", missing.join(", "));
    let installed = apt_get("update", &[]).and_then(|()| apt_get("install", &missing));
    installed.with_context(|| format!("apt-get cannot install {}", missing.join(", ")))
}

fn make(release: &Release) -> Result<Base> {
    let folder = cache::downloads()?.join("machines");
    cache::make(&folder, 0o755)?;
    let name = format!("{}-1", release.codename);
    let _lock = cache::lock(&folder, &name)?;
    // Written last, so a root that was half made is begun again. It lies outside, because the root is a machine's.
    let (root, complete) = (folder.join(&name), folder.join(format!("{name}.complete")));
    let made = fs::read_to_string(&complete).is_ok_and(|made| made == INCLUDE);
    if made && root.is_dir() {
        return Ok(Base { folder: root });
    }
    println!("    making a root of {} in {}", release.codename, root.display());
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("cannot delete {}", root.display()))?;
    }
    let mut bootstrap = Command::new("mmdebstrap");
    bootstrap.args(["--quiet", "--variant=minbase"]).arg(format!("--components={}", release.components));
    bootstrap.arg(format!("--include={INCLUDE}")).arg(&release.codename).arg(&root);
    finish(bootstrap).context("mmdebstrap cannot make a root; check that the Debian mirrors can be reached")?;
    fs::write(&complete, INCLUDE).with_context(|| format!("cannot write {}", complete.display()))?;
    Ok(Base { folder: root })
}

/// A machine that runs.
pub(super) struct Machine {
    /// `None` once it has been taken down.
    server: Option<Server>,
    leader: u32,
}

impl Machine {
    /// Runs a script as root of the machine, by bash, and answers what it printed on both streams.
    ///
    /// # Errors
    /// When it fails; the message carries what it printed.
    pub(super) fn run(&self, script: &str) -> Result<String> {
        let mut command = entering(self.leader);
        command.args(["/bin/bash", "-euo", "pipefail", "-c", script, "trial"]);
        let output = command.stdin(Stdio::null()).output().context("cannot start nsenter")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        if !output.status.success() {
            bail!("it ended with {}:\n{}", output.status, said.trim_end());
        }
        Ok(said)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.server.take());
        sweep();
    }
}

/// A command inside, with nothing of this process's environment.
fn entering(leader: u32) -> Command {
    let mut command = Command::new("nsenter");
    command.args(["--all", &format!("--target={leader}"), "--", "/usr/bin/env", "--chdir=/", "--ignore-environment"]);
    command.args(["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "NO_COLOR=1"]);
    command
}

/// The machine's first process: the child of systemd-nspawn that is the first one in its own namespace.
fn leader(nspawn: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{nspawn}/task/{nspawn}/children")).ok()?;
    let mut children = children.split_whitespace().filter_map(|id| id.parse().ok());
    children.find(|id: &u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        ids.split_whitespace().count() > 1 && ids.split_whitespace().next_back() == Some("1")
    })
}

fn is_up(leader: u32) -> bool {
    let mut ask = entering(leader);
    ask.args(["systemctl", "is-active", "--quiet", "multi-user.target"]);
    ask.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// What the machine is called.
fn name() -> String {
    format!("kybern-trial-{}", std::process::id())
}

/// Removes what systemd-nspawn leaves: a folder where `/run` is on the disk, and the control groups that it made beside
/// this process's, where no systemd runs.
fn sweep() {
    drop(fs::remove_dir(Path::new("/run/systemd/nspawn/propagate").join(name())));
    if Path::new("/run/systemd/system").exists() {
        return;
    }
    for line in fs::read_to_string("/proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kind), Some(path)) = (parts.next(), parts.next()) else { continue };
        let hierarchy = kind.strip_prefix("name=").unwrap_or(if kind.is_empty() { "unified" } else { kind });
        for folder in ["payload", "supervisor"] {
            let inside = Path::new(path).strip_prefix("/").unwrap_or(Path::new(path)).join(folder);
            remove_groups(&Path::new("/sys/fs/cgroup").join(hierarchy).join(&inside));
            remove_groups(&Path::new("/sys/fs/cgroup").join(&inside));
        }
    }
}

/// Removes a tree of empty control groups; one that is in use stays.
fn remove_groups(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_groups(&entry.path());
        }
    }
    drop(fs::remove_dir(folder));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_and_ubuntu_are_known_by_their_release() {
        let debian = Release::of("ID=debian\nVERSION_CODENAME=bookworm\n").unwrap();
        assert_eq!((debian.codename.as_str(), debian.components), ("bookworm", "main"));
        let ubuntu = Release::of("VERSION_CODENAME=noble\nID=ubuntu\n").unwrap();
        assert_eq!(ubuntu.components, "main,universe");
        assert!(Release::of("ID=fedora\n").is_none());
    }
}
