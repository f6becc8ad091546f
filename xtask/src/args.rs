//! The arguments of a chore, one after the other.

use std::str::FromStr;

use anyhow::{Context, Error, Result, anyhow};

/// What is left of them.
pub(crate) struct Args<'a> {
    rest: std::slice::Iter<'a, String>,
    usage: &'static str,
}

impl<'a> Iterator for Args<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.rest.next().map(String::as_str)
    }
}

impl<'a> Args<'a> {
    /// All of them, and the line in the help.
    pub(crate) fn new(args: &'a [String], usage: &'static str) -> Self {
        Self { rest: args.iter(), usage }
    }

    /// The value of an option.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn value(&mut self, option: &str) -> Result<&'a str> {
        self.next().with_context(|| format!("{option} needs a value\nusage: cargo xtask {}", self.usage))
    }

    /// The number of an option.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn number<N: FromStr>(&mut self, option: &str) -> Result<N> {
        let value = self.value(option)?;
        value.parse().map_err(|_| anyhow!("{option} needs a whole number, found {value:?}"))
    }

    /// The error about an argument that nobody knows.
    pub(crate) fn unknown(&self, arg: &str) -> Error {
        anyhow!("unknown argument {arg:?}\nusage: cargo xtask {}", self.usage)
    }
}
