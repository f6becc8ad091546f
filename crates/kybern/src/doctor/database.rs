//! The database: what it is, what is in it, whether every row can be read. Looking changes nothing.

use std::collections::BTreeSet;
use std::path::Path;

use kybern_core::identity::Tenant;
use kybern_core::ports::UnreadableRow;
use kybern_store::{DatabaseState, StoreError};

use super::{Finding, PartState, finding, ways};
use crate::config::Config;
use crate::config::database::DatabaseUrl;
use crate::opening::{self, OpenError};
use crate::output::count;
use crate::wiring;

pub(super) const PART: &str = "database";
/// The part that says whether every row can be read.
pub(super) const ROWS: &str = "rows";
/// Rows of each table that are named one by one.
const MOST_ROWS: usize = 20;

/// What is in the database, as far as that is known.
pub(super) enum KnownContents {
    /// Nothing: it is not made yet, or has no schema.
    Empty,
    /// It was not looked into: an older version wrote it, or its master key is not here.
    Unread,
    /// It could be read, and has these tenants.
    Read(Vec<Tenant>),
    /// It cannot be used, as what is found says.
    Unusable,
}

impl KnownContents {
    /// Its tenants, where it could be read.
    pub(super) fn tenants(self) -> Option<Vec<Tenant>> {
        match self {
            Self::Read(tenants) => Some(tenants),
            Self::Empty | Self::Unread | Self::Unusable => None,
        }
    }

    /// Of a database of which only this is known.
    fn of(found: &Finding) -> Self {
        if found.state == PartState::Broken { Self::Unusable } else { Self::Empty }
    }
}

/// What is found of the database, and what is in it. `running` is whether a server answers that may have it.
pub(super) async fn database(config: &Config, running: bool) -> (Vec<Finding>, KnownContents) {
    let url = &config.database.url;
    let mut holder = None;
    if let DatabaseUrl::Sqlite(path) = url {
        match file(path) {
            Ok(()) => holder = kybern_store::holder(path),
            Err(found) => {
                let contents = KnownContents::of(&found);
                return (vec![found], contents);
            }
        }
        if let (Some(holder), false) = (&holder, running) {
            let in_use = StoreError::InUse { path: path.clone(), holder: holder.clone() };
            return (vec![unopened(&opening::explain(url, in_use.into()))], KnownContents::Unusable);
        }
    }
    // The first start makes the key; looking makes none.
    if config.security.master_key.is_none() && !wiring::key_file(config).exists() {
        let (found, contents) = without_key(config).await;
        return (vec![found], contents);
    }
    match wiring::look(config, MOST_ROWS).await.map_err(|error| opening::explain(url, error)) {
        Ok(DatabaseState::Empty) => (vec![empty(url)], KnownContents::Empty),
        Ok(DatabaseState::Older { migrations }) => (vec![older(url, migrations)], KnownContents::Unread),
        Ok(DatabaseState::Present(contents)) => present(url, contents, holder.as_deref()),
        Err(error) => (vec![unopened(&error)], KnownContents::Unusable),
    }
}

/// Whether a file is there that can be a database, and be written.
fn file(path: &Path) -> Result<(), Finding> {
    if !path.exists() {
        return Err(new_file(path));
    }
    opening::look(&DatabaseUrl::Sqlite(path.to_owned())).map_err(|error| unopened(&error))?;
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).map_err(|errno| {
        let remedy = "let this user write the file and its folder, or name another with --database or [database] url";
        finding(PART, PartState::Broken, format!("{} cannot be written: {}", path.display(), errno.desc()), remedy)
    })
}

fn present(
    url: &DatabaseUrl,
    contents: kybern_store::DatabaseContents,
    holder: Option<&str>,
) -> (Vec<Finding>, KnownContents) {
    let kybern_store::DatabaseContents { tasks, dead_jobs, tenants, unreadable } = contents;
    let contents = KnownContents::Read(tenants);
    let rows = rows(unreadable.map_err(Into::into));
    if let Some(holder) = holder {
        // How its jobs are the server has said itself.
        let message = format!("{url}: in use by process {holder}, as it should be while a server runs");
        return (vec![finding(PART, PartState::Ok, message, ""), rows], contents);
    }
    let (tasks, dead) = (count(tasks, "task"), count(dead_jobs, "dead job"));
    let (state, remedy) =
        if dead_jobs > 0 { (PartState::Warning, super::dead_jobs()) } else { (PartState::Ok, String::new()) };
    (vec![finding(PART, state, format!("{url}: {tasks}, {dead}"), remedy), rows], contents)
}

fn empty(url: &DatabaseUrl) -> Finding {
    finding(PART, PartState::Off, format!("{url}: empty, the next start makes the schema"), "")
}

fn older(url: &DatabaseUrl, migrations: usize) -> Finding {
    let migrations = count(migrations, "migration");
    let message = format!("{url}: an older version wrote it, the next start applies {migrations}");
    let remedy = "back it up with the version that wrote it before this one starts; what is in it was not looked at";
    finding(PART, PartState::Warning, message, remedy)
}

fn unopened(error: &anyhow::Error) -> Finding {
    let remedy = error.downcast_ref::<OpenError>().and_then(OpenError::remedy);
    let remedy = remedy.unwrap_or("stop the process that has it, or correct [database] url");
    finding(PART, PartState::Broken, format!("{error:#}"), remedy)
}

/// Whether every row can be read, where a server's database is not that of the settings.
pub(super) fn unseen() -> Finding {
    let message = "not looked at: these settings do not name the database of the server asked";
    let remedy = "run doctor with its database, as --database or [database] url, to know whether every row can be read";
    finding(ROWS, PartState::Off, message, remedy)
}

/// Whether these are the tenants of one database, or of a copy that has the same ones: the first is made with its
/// database, at a moment of its own.
pub(super) fn is_one(these: &[Tenant], those: &[Tenant]) -> bool {
    let made =
        |tenants: &[Tenant]| -> BTreeSet<_> { tenants.iter().map(|tenant| (tenant.id, tenant.created_at)).collect() };
    !these.is_empty() && made(these) == made(those)
}

/// Whether every row can be read.
fn rows(found: anyhow::Result<Vec<UnreadableRow>>) -> Finding {
    match found {
        Ok(found) if found.is_empty() => finding(ROWS, PartState::Ok, "every row can be read", ""),
        Ok(found) => {
            let shown = count(found.len(), "row");
            let of_table = |table: &str| found.iter().filter(|row| row.table == table).count();
            let more = if found.iter().any(|row| of_table(row.table) == MOST_ROWS) { " or more" } else { "" };
            let remedy = "cancel such a task, deny such a question; bring back from a backup what is needed; what a newer \
                          program wrote is read by that program";
            let message = format!("{shown}{more} cannot be read; each harms itself only");
            let details = found.iter().map(|row| format!("{} {}: {}", row.table, row.id, row.problem)).collect();
            Finding { details, ..finding(ROWS, PartState::Warning, message, remedy) }
        }
        Err(error) => {
            finding(ROWS, PartState::Broken, format!("they cannot be looked at: {error:#}"), "look at the database")
        }
    }
}

/// A database whose master key is not here: perhaps there is nothing in it yet, perhaps the key is missing.
async fn without_key(config: &Config) -> (Finding, KnownContents) {
    let key = wiring::key_file(config).display().to_string();
    match &config.database.url {
        DatabaseUrl::Sqlite(_) if wiring::is_without_schema(config).await => {
            (empty(&config.database.url), KnownContents::Empty)
        }
        DatabaseUrl::Sqlite(path) => {
            let message = format!("{} is there, and its master key {key} is not", path.display());
            (finding(PART, PartState::Broken, message, wiring::bring_key()), KnownContents::Unusable)
        }
        DatabaseUrl::Postgres(url) => {
            let parsed = url::Url::parse(url.expose()).ok();
            let host = parsed.as_ref().and_then(url::Url::host_str).unwrap_or("localhost");
            let port = parsed.as_ref().and_then(url::Url::port).unwrap_or(5432);
            let mut found = ways::reachable(PART, host, port).await;
            if found.state != PartState::Ok {
                return (found, KnownContents::Unusable);
            }
            found.state = PartState::Off;
            found.message.push_str(", and is not looked into: the master key is not here");
            found.remedy = format!(
                "the first start makes the schema and {key}; for a database that is in use bring its key here, or set \
                 KYBERN_MASTER_KEY"
            );
            (found, KnownContents::Unread)
        }
    }
}

fn new_file(path: &Path) -> Finding {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let may_write = nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK);
    if folder.is_dir() && may_write.is_err() {
        let message = format!("{} cannot be made: the folder {} is read-only", path.display(), folder.display());
        let remedy = "let this user write the folder, or name another place with --database or [database] url";
        finding(PART, PartState::Broken, message, remedy)
    } else if folder.is_dir() {
        finding(PART, PartState::Off, format!("{} will be made at the first start", path.display()), "")
    } else {
        let message = format!("the folder {} does not exist", folder.display());
        finding(PART, PartState::Broken, message, "make it, or correct [database] url")
    }
}
