//! A PostgreSQL server of a test's own, made from the programs of the one that the tests were given.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use url::Url;

use crate::server::client::until;
use crate::server::postgres::Database;

/// A server that can be stopped and started again; gone when it is dropped.
pub(super) struct Cluster {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    child: Child,
}

impl Cluster {
    /// A running server; `None`, said aloud, where there is no server to learn from, or it runs elsewhere.
    pub(super) async fn start() -> Option<Self> {
        Self::start_in(tempfile::tempdir().unwrap()).await
    }

    /// A running server whose files lie in that folder.
    pub(super) async fn start_in(folder: tempfile::TempDir) -> Option<Self> {
        let told = Database::create()?.rows("SELECT setting FROM pg_config WHERE name = 'BINDIR'");
        let programs = PathBuf::from(&told[0][0]);
        if !programs.join("initdb").exists() {
            eprintln!("skipped: the programs of PostgreSQL are not on this machine, in {}", programs.display());
            return None;
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        if let Some(nobody) = nobody() {
            chown(&data, Some(nobody.uid.as_raw()), Some(nobody.gid.as_raw())).unwrap();
        }
        let mut initdb = program(&programs, "initdb", &data);
        initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]);
        assert!(initdb.status().unwrap().success(), "initdb failed");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let child = postgres(&programs, &data, port);
        let cluster = Self { folder, programs, port, child };
        cluster.ready().await;
        Some(cluster)
    }

    pub(super) fn url(&self) -> Url {
        Url::parse(&format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)).unwrap()
    }

    /// Ends it: `SIGQUIT` is a crash, `SIGINT` an orderly end that throws everybody out.
    pub(super) fn stop(&mut self, how: Signal) {
        if self.child.try_wait().unwrap().is_none() {
            kill(Pid::from_raw(self.child.id().cast_signed()), how).unwrap();
            self.child.wait().unwrap();
        }
    }

    /// Starts it again, and returns once it answers.
    pub(super) async fn again(&mut self) {
        self.child = postgres(&self.programs, &self.data(), self.port);
        self.ready().await;
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The eighth line of the pid file is PostgreSQL's own word on its state.
    async fn ready(&self) {
        until("PostgreSQL is ready", || async {
            let file = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
            file.lines().nth(7).filter(|state| state.trim() == "ready").map(drop)
        })
        .await;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop(Signal::SIGQUIT);
    }
}

fn postgres(programs: &Path, data: &Path, port: u16) -> Child {
    let mut command = program(programs, "postgres", data);
    command.args(["-p", &port.to_string()]);
    for setting in ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=on"] {
        command.args(["-c", setting]);
    }
    command.spawn().unwrap()
}

/// A program of PostgreSQL, which refuses to work for root.
fn program(programs: &Path, name: &str, data: &Path) -> Command {
    let mut command = Command::new(programs.join(name));
    command.arg("-D").arg(data).current_dir(data).env("LD_LIBRARY_PATH", programs.join("../lib"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(nobody) = nobody() {
        command.uid(nobody.uid.as_raw()).gid(nobody.gid.as_raw());
    }
    command
}

/// Whom it works for, where these tests are root's.
fn nobody() -> Option<User> {
    geteuid().is_root().then(|| User::from_name("nobody").unwrap().unwrap())
}
