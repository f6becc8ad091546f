//! The server that is killed: this program as a process of its own, with an environment of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use kybern_adapters::clock::SystemClock;
use kybern_core::ports::Clock as _;
use kybern_core::time::Millis;
use nix::sys::signal::Signal;
use tokio::process::{Child, Command};

use super::PATIENCE;
use crate::client::{Client, pause};
use crate::config::Secret;

/// How often is looked whether the server answers.
const LOOK: Duration = Duration::from_millis(5);

/// Where the server is at the moment: each start has another port.
#[derive(Clone, Default)]
pub(super) struct ServerAddress(Arc<Mutex<Option<Arc<Client>>>>);

impl ServerAddress {
    /// A client of the server that lives now.
    ///
    /// # Errors
    /// Before the first start.
    pub(super) fn client(&self) -> anyhow::Result<Arc<Client>> {
        let client = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        client.context("the server was not started")
    }

    fn set(&self, client: Client) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(client));
    }
}

/// A folder with a database and settings, and the process that serves it. It is killed when it is dropped.
pub(super) struct Victim {
    folder: PathBuf,
    key: String,
    path: Option<String>,
    place: ServerAddress,
    process: Option<Child>,
}

impl Victim {
    /// A server that was not started yet.
    pub(super) fn new(folder: &Path, key: String, path: Option<String>) -> Self {
        Self { folder: folder.to_owned(), key, path, place: ServerAddress::default(), process: None }
    }

    pub(super) fn place(&self) -> ServerAddress {
        self.place.clone()
    }

    pub(super) fn database(&self) -> PathBuf {
        self.folder.join("demo.db")
    }

    /// Starts a process; returns once it answers.
    ///
    /// # Errors
    /// When it ends, or does not answer in time.
    pub(super) async fn start(&mut self) -> anyhow::Result<()> {
        let (database, log) = (self.database(), self.log());
        let output = File::options().create(true).append(true).open(&log).context("the log of the server")?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--listen", "127.0.0.1:0", "--database"]);
        command.arg(format!("sqlite:{}", database.display()));
        // Whoever runs the demo may have settings of a server of their own.
        command.env_clear().env("KYBERN_ADMIN_KEY", &self.key).envs(self.path.as_ref().map(|path| ("PATH", path)));
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).kill_on_drop(true);
        let process = self.process.insert(command.spawn().context("cannot start the server")?);
        let began = SystemClock.elapsed();
        loop {
            if let Some(ended) = process.try_wait()? {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                bail!("the server ended by itself ({ended}):\n{said}");
            }
            if let Some(url) = kybern_store::served_at(&database) {
                let client = Client::new(&url, Some(Secret::new(&self.key)))?;
                if client.answers().await {
                    self.place.set(client);
                    return Ok(());
                }
            }
            if since(began) > PATIENCE {
                bail!("the server does not answer, see {}", log.display());
            }
            pause(LOOK).await;
        }
    }

    /// Kills the process with SIGKILL, waits until it is gone, and says which one it was and how it ended.
    ///
    /// # Errors
    /// When none was started, or it ended otherwise.
    pub(super) async fn kill(&mut self) -> anyhow::Result<u32> {
        let mut process = self.process.take().context("no server is running")?;
        let id = process.id().context("the server has ended by itself")?;
        process.start_kill()?;
        let ended = process.wait().await?;
        let signal = std::os::unix::process::ExitStatusExt::signal(&ended);
        if signal != Some(Signal::SIGKILL as i32) {
            bail!("the server ended by itself ({ended}), see {}", self.log().display());
        }
        Ok(id)
    }

    fn log(&self) -> PathBuf {
        self.folder.join(LOG)
    }
}

const LOG: &str = "server.log";

/// How long something has taken since `began`, as the machine's clock says.
pub(super) fn since(began: Millis) -> Millis {
    Millis(SystemClock.elapsed().0.saturating_sub(began.0))
}
