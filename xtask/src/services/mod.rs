//! Real servers for the tests: started for one run, private, and gone with it.
//!
//! A service says how it is brought up; what it starts is owned by a [`Running`], whose drop takes it down. If this
//! process dies without a drop, a [`watchdog`] does the same. A new service is one file and one line in [`all`].

mod cache;
mod mail;
mod ports;
mod postgres;
mod process;
mod python;
mod watchdog;

use anyhow::Result;

pub(crate) use process::Running;

/// A server that tests may ask for.
pub(crate) trait Service {
    /// The name that people read and that `--no-NAME` takes.
    fn name(&self) -> &'static str;

    /// The variables through which tests find it. Where all are set already, the server they name is taken instead.
    fn variables(&self) -> &'static [&'static str];

    /// Brings it up and waits until it answers.
    ///
    /// # Errors
    /// When it cannot be had or does not start; the message says what to do.
    fn start(&self) -> Result<Running>;
}

/// Every service.
pub(crate) fn all() -> Vec<Box<dyn Service>> {
    vec![Box::new(postgres::Postgres), Box::new(mail::Mail)]
}

/// Whether the caller's environment already names such a server.
pub(crate) fn is_given(service: &dyn Service) -> bool {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    service.variables().iter().all(set)
}
