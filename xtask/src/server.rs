//! The server under test: a process of its own on a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo;
use crate::http::{self, Request};
use crate::services::{self, cache, ports};

/// The key of its admin. It is good for this server alone, which is gone in the end.
const KEY: &str = "kyb_chore_admin_key_0123456789abcdef0123456789abcdef";

/// Builds the program as who tries it does, and answers where it lies.
///
/// # Errors
/// When it cannot be built.
pub(crate) fn built() -> Result<PathBuf> {
    build("release", &["--release"])
}

/// Builds the program as the tests do, so that little is to be built after them, and answers where it lies.
///
/// # Errors
/// When it cannot be built.
pub(crate) fn built_for_tests() -> Result<PathBuf> {
    build("debug", &[])
}

fn build(folder: &str, options: &[&str]) -> Result<PathBuf> {
    let root = crate::root::find()?;
    println!("building the server");
    let args = [&["build", "--package", "kybern"], options].concat();
    if !cargo::command(&root, &args).status()?.success() {
        bail!("the server cannot be built");
    }
    Ok(cargo::target(&root).join(folder).join("kybern"))
}

/// A running server; it ends with this value, and its folder goes with it.
#[derive(Debug)]
pub(crate) struct Server {
    process: services::Server,
    port: u16,
}

impl Server {
    /// Starts it for a chore and waits until it is ready.
    pub(crate) fn start(program: &Path, chore: &str) -> Result<Self> {
        Self::start_with(program, chore, "")
    }

    /// The same with settings.
    pub(crate) fn start_with(program: &Path, chore: &str, settings: &str) -> Result<Self> {
        let mut command = Command::new(std::fs::canonicalize(program).with_context(|| {
            format!("there is no program {}; build it, or name another with --bin", program.display())
        })?);
        let folder = cache::fresh(chore)?;
        std::fs::write(folder.join("kybern.toml"), settings).context("the settings cannot be written")?;
        let [port] = ports::free()?;
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KYBERN_")) {
            command.env_remove(name);
        }
        let database = format!("sqlite:{}", folder.join("kybern.db").display());
        command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--database", &database]);
        command.env("KYBERN_ADMIN_KEY", KEY);
        // It is of no use any more when it ends, however that is.
        let mut process = services::Server::start(command, "KILL", &folder)?;
        let is_ready =
            || send(port, "GET", "/readyz", "application/json", "", b"").is_ok_and(|(status, _)| status == 200);
        process.wait_until(is_ready).context("the server does not start")?;
        Ok(Self { process, port })
    }

    /// A request without a body.
    pub(crate) fn get(&self, path: &str) -> Result<(u16, String)> {
        send(self.port, "GET", path, "application/json", "", b"")
    }

    /// JSON that is taken.
    pub(crate) fn post(&self, path: &str, body: &str) -> Result<String> {
        self.take("POST", path, "application/json", "", body.as_bytes())
    }

    /// A request that has to succeed.
    pub(crate) fn take(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        headers: &str,
        body: &[u8],
    ) -> Result<String> {
        let (status, answer) = send(self.port, method, path, content_type, headers, body)?;
        if !(200..300).contains(&status) {
            bail!("{method} {path} answered {status}: {answer}");
        }
        Ok(answer)
    }

    /// The resident memory in bytes that is its own: pages of the program's file come in as they are used.
    pub(crate) fn memory(&self) -> Result<u64> {
        let text = std::fs::read_to_string(self.proc().join("status")).context("the server is gone")?;
        resident(&text).context("the kernel does not tell what it holds")
    }

    /// How many files and connections it has open.
    pub(crate) fn handles(&self) -> Result<u64> {
        let handles = std::fs::read_dir(self.proc().join("fd")).context("the server is gone")?;
        Ok(handles.count() as u64)
    }

    fn proc(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.process.id()))
    }
}

fn send(port: u16, method: &str, path: &str, content_type: &str, headers: &str, body: &[u8]) -> Result<(u16, String)> {
    http::send(port, Request { method, path, key: KEY, content_type, headers, body })
}

/// The bytes of the line `RssAnon:  1234 kB`.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_in_bytes() {
        assert_eq!(resident("VmRSS:\t  90 kB\nRssAnon:\t   25 kB\nRssFile:\t   65 kB\n"), Some(25 * 1024));
        assert_eq!(resident("Name:\tkybern\n"), None);
    }
}
