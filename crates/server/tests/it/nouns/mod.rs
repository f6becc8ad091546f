//! Nouns, each with everything that the tests of all routes ask of it in one file. A route without a case, without a walk
//! or, where it makes something, without an idempotent answer fails a test.

mod dossiers;
mod own_tools;
mod records;

use futures::future::LocalBoxFuture;

use crate::answers::Walk;
use crate::bounds::Bound;
use crate::cases::Case;
use crate::fixture::Fixture;
use crate::harness::{App, TenantKeys};

pub(crate) struct Noun {
    /// How its thing is called in [`Fixture::made`].
    pub(crate) name: &'static str,
    /// Makes one for the tenant with that mark, and says its id or name.
    pub(crate) make: for<'a> fn(&'a App, &'a TenantKeys, &'a str) -> LocalBoxFuture<'a, String>,
    /// Its routes, with what can go wrong.
    pub(crate) cases: fn() -> Vec<Case>,
    /// What the document says of its sizes.
    pub(crate) bounds: fn() -> Vec<Bound>,
    /// Calls each of its routes once with success, at least.
    pub(crate) walk: for<'a> fn(&'a mut Walk<'_>, &'a Fixture) -> LocalBoxFuture<'a, ()>,
}

/// Every noun that has its tests in one file.
pub(crate) const NOUNS: [Noun; 3] = [dossiers::NOUN, own_tools::NOUN, records::NOUN];
