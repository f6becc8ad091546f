//! A server inside this process, for a verb that finds none running.

use std::net::{Ipv4Addr, SocketAddr};

use kybern_adapters::keys::new_api_key;

use crate::config::{Config, Secret};
use crate::serve::{self, Running};

/// What it is started with.
pub(crate) struct LocalOptions {
    /// Every setting; it listens on a loopback port of its own choice.
    pub(crate) config: Config,
}

/// A server inside this process.
pub(crate) struct LocalServer {
    /// Where it listens.
    pub(crate) url: String,
    /// A key that may do everything in the tenant `default`.
    pub(crate) key: Secret,
    /// The key's id, by which it is revoked in the end.
    key_id: kybern_core::id::KeyId,
    running: Running,
}

impl LocalServer {
    /// Revokes its key, gives back what is running, and ends.
    pub(crate) async fn close(self) {
        if let Err(error) = self.running.engine.end_local_key(self.key_id).await {
            eprintln!("the key of this run could not be revoked: {error}");
        }
        self.running.stop().await;
    }
}

/// Opens the database and serves it on a loopback port.
///
/// # Errors
/// When the database cannot be opened, or another process owns it.
pub(crate) async fn open(options: LocalOptions) -> anyhow::Result<LocalServer> {
    let mut config = options.config;
    config.imap = None;
    let running = serve::start(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let key = new_api_key()?;
    let key_id = running.engine.local_key(&key).await?;
    if let Some(first) = &running.first_key {
        eprintln!("a new database was made; its admin key, shown this once: {first}");
    }
    let url = format!("http://{}", running.address);
    Ok(LocalServer { url, key: Secret::new(key), key_id, running })
}
