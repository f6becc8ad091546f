//! `kybern key recover`.

use std::process::ExitCode;

use kybern_adapters::keys::new_api_key;
use kybern_core::id::TenantId;
use kybern_engine::identity::FirstAdmin;

use crate::config::{Config, Ocr};
use crate::output::{Screen, kybern};
use crate::wiring::{self, OpenOptions};

/// What a new admin key is made for.
pub(crate) struct RecoverOptions {
    /// Every setting: names the database.
    pub(crate) config: Config,
    /// Go on under the present master key, because the one that the database was made with is lost.
    pub(crate) new_master_key: bool,
    /// Where the key is shown, once.
    pub(crate) screen: Screen,
}

/// Makes a new admin key. Whoever can write the database may do this; it is audited.
///
/// # Errors
/// When the database cannot be written.
pub(crate) async fn run(options: RecoverOptions) -> anyhow::Result<ExitCode> {
    let RecoverOptions { config, new_master_key, mut screen } = options;
    wiring::must_be_there(&config)?;
    kybern_adapters::http::install_tls();
    let opened = wiring::open_store(&config, OpenOptions { adopt: new_master_key, ..OpenOptions::default() }).await?;
    let mut settings = wiring::settings(&config, &config.server.local_url());
    settings.work = false;
    let engine = wiring::engine(&config, &opened, Ocr::Off, settings)?;
    let (identity, key) = (engine.identity(), new_api_key()?);
    let tenant = match identity.bootstrap(None, || key.clone()).await? {
        FirstAdmin::Made(_) => TenantId::DEFAULT,
        // A key of chance was never there, so it cannot have been revoked.
        FirstAdmin::Works | FirstAdmin::Revoked => identity.recover(&key).await?,
    };
    let name = engine.store().tenant(tenant).await?.map_or_else(|| tenant.to_string(), |tenant| tenant.name);
    screen.line(format!("a new admin key of the tenant {name}, shown this once:"));
    screen.line(format!("  {key}"));
    screen.line(format!("  export KYBERN_API_KEY={key}"));
    screen.secret_written(format!(
        "a key was made and is lost: recover once more, then revoke the one that \"{} key list\" shows and you lack",
        kybern()
    ))?;
    Ok(ExitCode::SUCCESS)
}
