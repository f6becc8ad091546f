//! What the caller asks for.

use anyhow::Result;

use crate::args::Args;

/// The line in the help.
pub(crate) const USAGE: &str =
    "test [--no-postgres] [--no-mail] [--no-ocr] [--no-clients] [-p CRATE]… [-- ARGS OF THE TEST RUNNER]";

/// The options of one run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Options {
    /// The crates to test; empty for the whole workspace with all its checks.
    pub(crate) packages: Vec<String>,
    /// The services to leave out.
    pub(crate) without: Vec<String>,
    /// What is handed on to the test runner.
    pub(crate) rest: Vec<String>,
}

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// When one is unknown or misses its value.
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = Args::new(args, USAGE);
        while let Some(arg) = args.next() {
            match arg {
                "--" => options.rest = args.by_ref().map(str::to_owned).collect(),
                "-p" | "--package" => options.packages.push(args.value(arg)?.to_owned()),
                service if service.starts_with("--no-") => options.without.push(super::service_of(service)?),
                unknown => return Err(args.unknown(unknown)),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_option_is_read() {
        let options = parse(&["-p", "kybern-core", "--no-postgres", "-p", "xtask", "--", "-p", "x"]).unwrap();
        assert_eq!(options.packages, ["kybern-core", "xtask"]);
        assert_eq!(options.without, ["postgres"]);
        assert_eq!(options.rest, ["-p", "x"]);
    }

    #[test]
    fn unknown_arguments_are_refused() {
        for args in [&["--quick"][..], &["-p"], &["--no-redis"], &["core"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
