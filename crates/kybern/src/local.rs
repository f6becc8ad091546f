//! A server inside this process, for a verb that finds none running.

use std::fs::DirBuilder;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kybern_adapters::keys::new_api_key;

use crate::config::database::DatabaseUrl;
use crate::config::{Config, Secret};
use crate::output::{aside, kybern_here, secret_aside};
use crate::serve::{self, RunningServer, ServePurpose};

/// What the verb does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LocalUse {
    /// It reads: nothing is written, no task is worked on, no database is made.
    Read,
    /// It changes something, or follows tasks to their end.
    Work,
}

/// What it is started with.
pub(crate) struct LocalOptions {
    /// Every setting; it listens on a loopback port of its own choice.
    pub(crate) config: Config,
    /// What the verb does.
    pub(crate) purpose: LocalUse,
}

/// A server inside this process.
pub(crate) struct LocalServer {
    /// Where it listens.
    pub(crate) url: String,
    /// A key that may do everything in the tenant `default`. It stands in no database and ends with this server.
    pub(crate) key: Secret,
    running: RunningServer,
    _scratch: Option<ScratchFolder>,
}

impl LocalServer {
    /// Gives back what is running, and ends.
    pub(crate) async fn close(self) {
        self.running.stop().await;
    }
}

/// Opens the database and serves it on a loopback port. To read where there is no file, an empty database is shown
/// that is gone afterwards.
///
/// # Errors
/// When the database cannot be opened, or another process owns it.
pub(crate) async fn open(options: LocalOptions) -> anyhow::Result<LocalServer> {
    let LocalOptions { mut config, purpose } = options;
    config.imap = None;
    let missing = match &config.database.url {
        DatabaseUrl::Sqlite(path) if purpose == LocalUse::Read && !path.exists() => Some(path.clone()),
        _there => None,
    };
    let mut scratch = None;
    if let Some(path) = missing {
        let (path, kybern) = (path.display(), kybern_here());
        aside(format!("there is no database {path} yet, this is how a new one looks: {kybern} serve makes it"));
        let made = ScratchFolder::new()?;
        config.database.url = DatabaseUrl::Sqlite(made.0.join("kybern.db"));
        config.security.master_key_file = None;
        // Its sources and mailboxes name tenants that only the real database knows.
        config.webhooks.clear();
        scratch = Some(made);
    }
    let key = Secret::new(new_api_key()?);
    let works = purpose == LocalUse::Work || scratch.is_some();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let verb = ServePurpose::Verb { key: key.clone(), works };
    let running = serve::start(config, listen, verb, |first, _| {
        if scratch.is_none() {
            let said = format!("a new database was made; its admin key, shown this once: {first}");
            secret_aside(said, serve::lost_key())?;
        }
        Ok(())
    })
    .await?;
    let url = format!("http://{}", running.address);
    Ok(LocalServer { url, key, running, _scratch: scratch })
}

/// A folder of this process's own, gone when it is dropped.
pub(crate) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Makes it among the temporary files, for this user alone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let name: String = new_api_key()?.chars().skip(4).take(16).collect();
        let path = std::env::temp_dir().join(format!("kybern-{name}"));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // What is left in the folder for temporary files does no harm.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}
