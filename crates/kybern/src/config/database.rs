//! `[database]`: where everything is kept.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use kybern_core::time::Millis;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use super::error::{Fault, Faults};
use super::secret::Secret;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DatabaseOptions {
    pub(crate) url: DatabaseUrl,
    /// Connections held at most: readers on SQLite (which has one writer besides), all on PostgreSQL.
    pub(crate) max_connections: u32,
    /// How long PostgreSQL may take for a statement; never more than a third of a lease.
    pub(crate) statement_timeout_ms: Millis,
    /// Whether somebody has said where it is.
    #[serde(skip)]
    pub(crate) is_named: bool,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            url: DatabaseUrl::Sqlite(PathBuf::from("kybern.db")),
            max_connections: 16,
            statement_timeout_ms: Millis(6_000),
            is_named: false,
        }
    }
}

impl DatabaseOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        if let DatabaseUrl::Sqlite(path) = &self.url
            && path.is_dir()
        {
            let problem = format!("names the folder {}, and a database is a file", path.display());
            faults.add(Fault::bad("database.url", &self.url.to_string(), problem));
        }
        faults.between("database.max_connections", self.max_connections, 1..=1000);
        faults.between("database.statement_timeout_ms", self.statement_timeout_ms.0, 100..=600_000);
    }
}

/// Where the database is: a file, or a server.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum DatabaseUrl {
    /// `sqlite:PATH`, a file.
    Sqlite(PathBuf),
    /// `postgres://…`; it may hold a password.
    Postgres(Secret),
}

/// A text that names no database.
#[derive(Debug, thiserror::Error)]
#[error("{0}, expected sqlite:PATH or postgres://USER@HOST/NAME")]
pub(crate) struct DatabaseUrlError(&'static str);

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(Secret::new(text)));
        }
        let Some(path) = text.strip_prefix("sqlite:") else {
            return Err(DatabaseUrlError("this is no database URL"));
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() {
            return Err(DatabaseUrlError("this names no file"));
        }
        if path == ":memory:" {
            return Err(DatabaseUrlError("a database in memory would lose everything at the next stop"));
        }
        if path.contains('?') {
            return Err(DatabaseUrlError("a SQLite URL takes no options after a question mark"));
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

/// As in the configuration, without a password.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => {
                match Url::parse(url.expose()) {
                    Ok(url) => f.write_str(without_password(url).as_str()),
                    // Nobody can connect by it, and nobody knows where in it a password stands.
                    Err(_) => f.write_str("postgres://…"),
                }
            }
        }
    }
}

/// The password stands before the host, or among the options after the question mark.
fn without_password(mut url: Url) -> Url {
    // Only a URL without a host refuses, and such a one has no password.
    url.set_password(None).unwrap_or_default();
    let kept: Vec<&str> = url.query().unwrap_or_default().split('&').filter(|option| !is_password(option)).collect();
    let kept = kept.join("&");
    url.set_query((!kept.is_empty()).then_some(kept.as_str()));
    url
}

fn is_password(option: &str) -> bool {
    url::form_urlencoded::parse(option.as_bytes()).any(|(name, _)| name.to_ascii_lowercase().contains("password"))
}

impl Serialize for DatabaseUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DatabaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_read() {
        let url = |text: &str| text.parse::<DatabaseUrl>();
        assert_eq!(url("sqlite:a/b.db").unwrap(), DatabaseUrl::Sqlite("a/b.db".into()));
        assert_eq!(url("sqlite:///var/b.db").unwrap(), DatabaseUrl::Sqlite("/var/b.db".into()));
        assert!(matches!(url("postgresql://h/n").unwrap(), DatabaseUrl::Postgres(_)));
        for wrong in ["mysql://h/n", "kybern.db", "sqlite:", "sqlite::memory:", "sqlite:a?mode=rw"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let show = |text: &str| text.parse::<DatabaseUrl>().unwrap().to_string();
        assert_eq!(show("postgres://app:p@ss@db:5432/k"), "postgres://app@db:5432/k");
        assert_eq!(show("postgres://db/k?password=x"), "postgres://db/k");
        assert_eq!(
            show("postgres:///k?host=/run/pg&p%61ssword=x&sslmode=require"),
            "postgres:///k?host=/run/pg&sslmode=require"
        );
        assert_eq!(show("postgres://app:p?w@db/k"), "postgres://…");
        assert_eq!(show("sqlite:kybern.db"), "sqlite:kybern.db");
    }
}
