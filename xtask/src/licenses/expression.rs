//! SPDX licence expressions: `MIT OR (Apache-2.0 AND ISC)`, and the older `MIT/Apache-2.0`.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

/// Whether the expression can be met from the allowed licences.
///
/// # Errors
/// When it is no expression.
pub(super) fn permits(expression: &str, allowed: &BTreeSet<String>) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { words: spaced.split_whitespace().collect(), at: 0, allowed };
    let met = parser.any()?;
    if parser.at != parser.words.len() {
        bail!("{expression:?} does not end where it should");
    }
    Ok(met)
}

struct Parser<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a BTreeSet<String>,
}

impl Parser<'_> {
    /// `all OR all OR …`; AND binds closer.
    fn any(&mut self) -> Result<bool> {
        let mut met = self.all()?;
        while self.takes("OR") {
            met |= self.all()?;
        }
        Ok(met)
    }

    fn all(&mut self) -> Result<bool> {
        let mut met = self.one()?;
        while self.takes("AND") {
            met &= self.one()?;
        }
        Ok(met)
    }

    /// A licence, with its exception if it has one, or a group in brackets.
    fn one(&mut self) -> Result<bool> {
        if self.takes("(") {
            let met = self.any()?;
            if !self.takes(")") {
                bail!("a bracket is not closed");
            }
            return Ok(met);
        }
        let Some(name) = self.words.get(self.at).copied().filter(|word| !is_operator(word)) else {
            bail!("a licence is missing");
        };
        self.at += 1;
        if !self.takes("WITH") {
            return Ok(self.allowed.contains(name));
        }
        let Some(exception) = self.words.get(self.at).copied().filter(|word| !is_operator(word)) else {
            bail!("the exception after WITH is missing");
        };
        self.at += 1;
        Ok(self.allowed.contains(&format!("{name} WITH {exception}")))
    }

    fn takes(&mut self, word: &str) -> bool {
        let there = self.words.get(self.at) == Some(&word);
        self.at += usize::from(there);
        there
    }
}

fn is_operator(word: &str) -> bool {
    matches!(word, "OR" | "AND" | "WITH" | "(" | ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expression: &str) -> bool {
        let allowed = ["MIT", "Apache-2.0", "ISC"].map(str::to_owned).into();
        permits(expression, &allowed).unwrap()
    }

    #[test]
    fn one_allowed_alternative_is_enough_and_every_part_of_a_sum_is_needed() {
        assert!(met("MIT"));
        assert!(met("GPL-3.0 OR MIT"));
        assert!(met("Unlicense/MIT"));
        assert!(met("Apache-2.0 AND ISC"));
        assert!(!met("Apache-2.0 AND OpenSSL"));
        assert!(met("(GPL-3.0 OR MIT) AND ISC"));
        assert!(!met("GPL-3.0 OR MIT AND OpenSSL"));
        assert!(!met("AGPL-3.0-only"));
    }

    #[test]
    fn an_exception_is_another_licence() {
        assert!(met("Apache-2.0 WITH LLVM-exception OR MIT"));
        assert!(!met("Apache-2.0 WITH LLVM-exception"));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let allowed = BTreeSet::new();
        for text in ["", "MIT OR", "(MIT", "MIT ISC", "MIT WITH"] {
            assert!(permits(text, &allowed).is_err(), "{text:?}");
        }
    }
}
