//! A database that cannot be opened: which one, why, and what to do. The store's own words say neither where the
//! database is nor what an operator can do about it.

use std::fs::File;
use std::io::Read as _;

use kybern_adapters::keys::KeyError;
use kybern_core::error::ErrorCode;
use kybern_store::StoreError;

use crate::config::database::DatabaseUrl;
use crate::output::kybern_here;

/// A database that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the database {url}")]
pub(crate) struct OpenError {
    url: String,
    remedy: Option<String>,
    code: Option<ErrorCode>,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl OpenError {
    /// What to do about it.
    pub(crate) fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// The stable code, when the store said one.
    pub(crate) const fn code(&self) -> Option<ErrorCode> {
        self.code
    }
}

/// How every file of SQLite begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Looks whether the file can be a database, before a master key is asked for that it cannot have. A file that is
/// missing or empty is one that will be made.
///
/// # Errors
/// When it holds something else.
pub(crate) fn look(url: &DatabaseUrl) -> anyhow::Result<()> {
    let DatabaseUrl::Sqlite(path) = url else { return Ok(()) };
    let mut begins = Vec::new();
    // One that cannot be read is told by whoever opens it.
    let read = File::open(path).and_then(|file| file.take(SQLITE.len() as u64).read_to_end(&mut begins));
    if read.is_err() || begins.is_empty() || begins == SQLITE {
        return Ok(());
    }
    let path = path.display().to_string();
    let (remedy, source) = (file_remedy(&path, "not a database"), "file is not a database".into());
    Err(OpenError { url: url.to_string(), remedy, code: Some(ErrorCode::Internal), source }.into())
}

/// Says which database could not be opened, and the remedy.
pub(crate) fn explain(url: &DatabaseUrl, error: anyhow::Error) -> anyhow::Error {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    let why = chain.join(": ");
    // The master key's file may be missing too, or its folder.
    if error.chain().any(|cause| cause.is::<KeyError>()) {
        return error;
    }
    let remedy = match url {
        DatabaseUrl::Sqlite(path) => file_remedy(&path.display().to_string(), &why),
        DatabaseUrl::Postgres(_) => server_remedy(&why),
    };
    // An error that is about something else, such as the master key, says itself what to do.
    if remedy.is_none() && !why.contains("database") {
        return error;
    }
    let code = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>().map(StoreError::code));
    OpenError { url: url.to_string(), remedy, code, source: error.into() }.into()
}

fn file_remedy(path: &str, why: &str) -> Option<String> {
    let has = |words: &[&str]| words.iter().any(|word| why.to_ascii_lowercase().contains(word));
    if has(&["not a database", "malformed", "corrupt"]) {
        return Some(format!(
            "{path} is damaged or no Kybern database: restore a backup with `{kybern} restore FILE --replace`, or name \
             another file with --database sqlite:PATH",
            kybern = kybern_here()
        ));
    }
    if has(&["readonly", "read-only", "permission denied", "unable to open"]) {
        return Some(format!("let this user write {path} and the folder it is in, or name another with --database"));
    }
    has(&["no such file"]).then(|| format!("make the folder of {path}, or name another file with --database"))
}

fn server_remedy(why: &str) -> Option<String> {
    let why = why.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    let remedy = if has(&["set role", "pool timed out"]) {
        "if other databases of this server made the roles, a superuser has to run: GRANT kybern_app, kybern_worker TO \
         \"the user of the URL\"; otherwise look whether the server takes more connections (database.max_connections)"
    } else if has(&["role \""]) && has(&["does not exist"]) {
        "make the user (createuser NAME), or correct the one in the URL: --database, else KYBERN_DATABASE__URL, else \
         [database] url"
    } else if has(&["does not exist"]) {
        "make it (createdb NAME), or correct [database] url, --database or KYBERN_DATABASE__URL"
    } else if has(&["password", "authentication"]) {
        "correct the user and the password in the URL: --database, else KYBERN_DATABASE__URL, else [database] url"
    } else if has(&["refused", "lookup", "resolve", "timed out", "unreachable", "no such file"]) {
        "start PostgreSQL, or correct [database] url, --database or KYBERN_DATABASE__URL"
    } else if has(&["permission denied"]) {
        "the user of the first start must be allowed to make tables and the roles kybern_app and kybern_worker"
    } else {
        return None;
    };
    Some(remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(url: &str, why: &'static str) -> String {
        let error = explain(&url.parse().unwrap(), anyhow::anyhow!(why).context("the database could not do this"));
        let open = error.downcast_ref::<OpenError>().unwrap();
        format!("{error}; {}", open.remedy().unwrap_or_default())
    }

    #[test]
    fn each_fault_has_its_place_and_its_remedy() {
        let damaged = told("sqlite:a.db", "file is not a database");
        assert!(damaged.starts_with("cannot open the database sqlite:a.db; a.db is damaged"), "{damaged}");
        assert!(told("sqlite:a.db", "attempt to write a readonly database").contains("let this user write a.db"));
        let url = "postgres://u:secret@h/nope";
        let missing = told(url, "database \"nope\" does not exist");
        assert!(missing.contains("postgres://u@h/nope") && missing.contains("createdb"), "{missing}");
        assert!(!missing.contains("secret"), "{missing}");
        assert!(told(url, "role \"u\" does not exist").contains("createuser"));
        assert!(told(url, "pool timed out while waiting for an open connection").contains("GRANT kybern_app"));
        let refused = told(url, "password authentication failed for user \"u\"");
        assert!(refused.contains("--database, else KYBERN_DATABASE__URL"), "{refused}");
        assert!(told(url, "Connection refused (os error 111)").contains("start PostgreSQL"));
    }

    #[test]
    fn a_file_that_holds_something_else_is_no_database() {
        let folder = tempfile::tempdir().unwrap();
        let look = |name: &str| look(&DatabaseUrl::Sqlite(folder.path().join(name)));
        std::fs::write(folder.path().join("notes.txt"), "something else").unwrap();
        std::fs::write(folder.path().join("empty.db"), "").unwrap();
        let told = look("notes.txt").unwrap_err();
        assert!(told.downcast_ref::<OpenError>().unwrap().remedy().unwrap().contains("no Kybern database"));
        assert!(look("empty.db").is_ok() && look("missing.db").is_ok());
    }

    #[test]
    fn what_is_not_about_the_database_stays_as_it_is() {
        let error = explain(&"sqlite:a.db".parse().unwrap(), anyhow::anyhow!("the master key is too short"));
        assert_eq!(error.to_string(), "the master key is too short");
    }
}
