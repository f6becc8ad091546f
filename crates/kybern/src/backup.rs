//! `kybern backup` and `kybern restore`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use kybern_adapters::clock::SystemClock;
use kybern_adapters::keys::MasterKey;
use kybern_core::ports::{Clock, Keys};
use kybern_store::{Manifest, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};

use crate::config::Config;
use crate::config::database::DatabaseUrl;
use crate::output::{Screen, aside, count};
use crate::{opening, wiring};

/// What a backup is made of.
pub(crate) struct BackupOptions {
    /// Every setting: names the database.
    pub(crate) config: Config,
    /// The file that is written.
    pub(crate) file: PathBuf,
    /// Where it is told what is in it.
    pub(crate) screen: Screen,
}

pub(crate) struct RestoreOptions {
    /// Every setting: names the database.
    pub(crate) config: Config,
    /// The file that is read.
    pub(crate) file: PathBuf,
    /// Replace a database that is there already.
    pub(crate) replace: bool,
    /// Where it is told what came back.
    pub(crate) screen: Screen,
}

/// An opened store of either kind.
enum AnyStore {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

async fn open(config: &Config, key: &Arc<MasterKey>) -> anyhow::Result<AnyStore> {
    let keys: Arc<dyn Keys> = key.clone();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Ok(match &config.database.url {
        DatabaseUrl::Sqlite(path) => {
            let store = SqliteStore::open(path, SqliteOptions::default(), keys, clock).await;
            AnyStore::Sqlite(store.map_err(|error| opening::explain(&config.database.url, error.into()))?)
        }
        DatabaseUrl::Postgres(url) => {
            let store = PostgresStore::connect(url.expose(), PostgresOptions::default(), keys, clock).await;
            AnyStore::Postgres(store.map_err(|error| opening::explain(&config.database.url, error.into()))?)
        }
    })
}

/// Writes everything into one file. A server may go on working meanwhile.
///
/// # Errors
/// When the database cannot be read or the file cannot be written.
pub(crate) async fn backup(options: BackupOptions) -> anyhow::Result<ExitCode> {
    let BackupOptions { config, file, mut screen } = options;
    wiring::must_be_there(&config)?;
    opening::look(&config.database.url)?;
    kybern_adapters::http::install_tls();
    let key = Arc::new(wiring::known_master_key(&config)?);
    let fingerprint = key.fingerprint();
    let (keys, clock): (Arc<dyn Keys>, Arc<dyn Clock>) = (key.clone(), Arc::new(SystemClock));
    let manifest = match &config.database.url {
        DatabaseUrl::Sqlite(path) => SqliteStore::back_up_file(path, &file, Some(&fingerprint), keys, clock).await?,
        DatabaseUrl::Postgres(url) => {
            let store = PostgresStore::connect(url.expose(), PostgresOptions::default(), keys, clock).await?;
            store.backup(&file, Some(&fingerprint)).await?
        }
    };
    screen.line(format!("{}: {}", file.display(), sizes(&manifest)));
    screen.line(format!("the master key (fingerprint {fingerprint}) is not in it: keep {} too", key_place(&config)));
    if manifest.missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for original in &manifest.missing {
        aside(format!("{original} is gone or damaged, and not in the backup"));
    }
    aside("bring these files back from an older backup; everything else is in this one");
    Ok(ExitCode::FAILURE)
}

/// Makes a database out of a backup.
///
/// # Errors
/// When the file is no backup, or a database is there and may not be replaced.
pub(crate) async fn restore(options: RestoreOptions) -> anyhow::Result<ExitCode> {
    let RestoreOptions { config, file, replace, mut screen } = options;
    kybern_adapters::http::install_tls();
    // A damaged archive must neither make a database nor cost the one that is there.
    let manifest = kybern_store::verify(&file)
        .await
        .with_context(|| format!("{} cannot be restored, take another backup; nothing was changed", file.display()))?;
    if manifest.key_fingerprint.is_some() && config.security.master_key.is_none() && !wiring::key_file(&config).exists()
    {
        anyhow::bail!(
            "the master key of the backup is needed (fingerprint {}): copy its file to {}, or set KYBERN_MASTER_KEY. \
             Without it API keys, sealed values and the audit chain would not hold",
            manifest.key_fingerprint.unwrap_or_default(),
            wiring::key_file(&config).display()
        );
    }
    let key = Arc::new(wiring::master_key(&config)?);
    if let Some(made_with) = manifest.key_fingerprint.as_deref().filter(|made_with| *made_with != key.fingerprint()) {
        anyhow::bail!(
            "the backup was made under the master key {made_with}, this one is {}: API keys and the audit chain would \
             not hold. Bring back the right key ({}) first",
            key.fingerprint(),
            key_place(&config)
        );
    }
    if replace && matches!(config.database.url, DatabaseUrl::Postgres(_)) {
        anyhow::bail!("--replace is for SQLite files; on PostgreSQL restore into an empty database and point at that");
    }
    let mut replaced = None;
    if let DatabaseUrl::Sqlite(path) = &config.database.url
        && path.exists()
    {
        if !replace {
            anyhow::bail!("{} exists; --replace moves it aside and restores in its place", path.display());
        }
        // Whoever holds the file must let go first: opening it proves that nobody does.
        match open(&config, &key).await {
            Ok(store) => drop(store),
            Err(error) if format!("{error:#}").contains("in use by process") => return Err(error),
            // One that is damaged is what a restore is for; it is moved aside like any other.
            Err(_damaged) => {}
        }
        replaced = Some(set_aside(path)?);
    }
    let restored = filled(&config, &key, &file).await;
    let manifest = restored.map_err(|error| match &config.database.url {
        DatabaseUrl::Sqlite(path) => {
            unmake(path);
            match &replaced {
                Some(replaced) => replaced.back_for(error),
                None => error,
            }
        }
        DatabaseUrl::Postgres(_) => error,
    })?;
    screen.line(format!("{}: restored {}", config.database.url, sizes(&manifest)));
    if let Some(replaced) = replaced {
        let name = replaced.name.display();
        screen.line(format!(
            "the database that was there is now {name}; move or remove {name} and {name}.files before another --replace"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the database of the settings, and fills it.
async fn filled(config: &Config, key: &Arc<MasterKey>, file: &Path) -> anyhow::Result<Manifest> {
    Ok(match open(config, key).await? {
        AnyStore::Sqlite(store) => store.restore(file).await?,
        AnyStore::Postgres(store) => store.restore(file).await?,
    })
}

fn key_place(config: &Config) -> String {
    if config.security.master_key.is_some() {
        return "KYBERN_MASTER_KEY".to_owned();
    }
    wiring::key_file(config).display().to_string()
}

fn sizes(manifest: &Manifest) -> String {
    let (mut tables, mut rows) = (0_u64, 0_u64);
    for table in manifest.entries.iter().filter(|entry| !entry.columns.is_empty()) {
        tables += 1;
        rows += table.rows;
    }
    let files = manifest.entries.iter().filter(|entry| entry.columns.is_empty()).count();
    format!(
        "{} of {} and {}, as of {}",
        count(rows, "row"),
        count(tables, "table"),
        count(files, "file"),
        manifest.created_at
    )
}

/// Removes what a restore that failed has made: there was no file before, or it was moved aside.
fn unmake(path: &Path) {
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // What cannot be removed is named when the next restore finds it.
        std::fs::remove_file(PathBuf::from(name)).unwrap_or_default();
    }
}

/// A database that was moved aside with what belongs to it.
struct ReplacedDatabase {
    /// Its new name, `NAME.replaced`.
    name: PathBuf,
    /// What was moved, from where and to where.
    moves: Vec<(PathBuf, PathBuf)>,
}

impl ReplacedDatabase {
    /// Moves everything back, in the place of what a restore has made since.
    fn put_back(&self) -> std::io::Result<()> {
        for (from, to) in &self.moves {
            if from.is_dir() {
                std::fs::remove_dir_all(from)?;
            }
            std::fs::rename(to, from)?;
        }
        Ok(())
    }

    /// That nothing was restored, and where the database is that was there.
    fn back_for(&self, error: anyhow::Error) -> anyhow::Error {
        match self.put_back() {
            Ok(()) => error.context("nothing was restored, the database that was there is in its place again"),
            Err(problem) => {
                let moves: Vec<String> =
                    self.moves.iter().map(|(from, to)| format!("{} to {}", to.display(), from.display())).collect();
                error.context(format!(
                    "nothing was restored, and the database that was there is now {}, because it cannot be moved back \
                     ({problem}): move {}",
                    self.name.display(),
                    moves.join(", ")
                ))
            }
        }
    }
}

/// Renames a database and what belongs to it to `NAME.replaced`, so that nothing is lost by a restore.
fn set_aside(path: &Path) -> anyhow::Result<ReplacedDatabase> {
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let moves: Vec<(PathBuf, PathBuf)> = ["", "-wal", "-shm", ".files"]
        .into_iter()
        .map(|suffix| (with(suffix), with(&format!(".replaced{suffix}"))))
        .filter(|(from, _)| from.exists())
        .collect();
    if let Some((_, taken)) = moves.iter().find(|(_, to)| to.exists()) {
        anyhow::bail!(
            "{} is what an earlier restore --replace has moved aside: move it away, or remove it when it is no longer \
             needed",
            taken.display()
        );
    }
    let mut replaced = ReplacedDatabase { name: with(".replaced"), moves: Vec::new() };
    for (from, to) in moves {
        if let Err(error) = std::fs::rename(&from, &to) {
            return Err(
                replaced.back_for(anyhow::Error::new(error).context(format!("cannot move {} aside", from.display())))
            );
        }
        replaced.moves.push((from, to));
    }
    Ok(replaced)
}
