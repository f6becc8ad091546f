//! The parameters of the query, and what ties a cursor to the list and the filter that gave it.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use kybern_core::digest::DigestKey;
use kybern_core::id::IdError;

use super::plain;
use crate::auth::Caller;
use crate::error::{ApiResult, Problem};
use crate::state::AppState;

/// The most characters of a parameter of the query.
pub(crate) const MAX_QUERY_VALUE: usize = 2_000;

/// Parameters that may change from page to page.
const UNBOUND: [&str; 2] = ["cursor", "limit"];

/// The parameters of the query.
#[derive(Clone)]
pub(crate) struct QueryArgs {
    given: Vec<(String, String)>,
    /// The list that is asked for, where the route has a caller.
    seal: Option<Seal>,
}

/// The path that was asked, and the key of the caller's tenant.
#[derive(Clone)]
struct Seal {
    key: DigestKey,
    path: String,
}

impl FromRequestParts<AppState> for QueryArgs {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let seal = parts.extensions.get::<Caller>().map(|Caller(actor)| Seal {
            key: state.engine.keys().cursor_key(actor.tenant()),
            path: parts.uri.path().to_owned(),
        });
        Ok(Self { given: read(query), seal })
    }
}

/// Refuses any parameter of the query, for a route that takes none.
pub(crate) fn no_query(uri: &Uri) -> ApiResult<()> {
    let Some(query) = uri.query() else { return Ok(()) };
    QueryArgs { given: read(query), seal: None }.only(&[]).map(drop)
}

fn read(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

impl QueryArgs {
    /// Refuses parameters that the route does not know, and one that is given twice: a filter that is silently
    /// ignored gives a wrong answer.
    /// A name may be spelt in snake_case, as in bodies.
    pub(crate) fn only(mut self, known: &[&str]) -> ApiResult<Self> {
        for (name, _) in &mut self.given {
            if !known.contains(&name.as_str())
                && let Some(meant) = known.iter().find(|known| snake_case(known) == *name)
            {
                (*meant).clone_into(name);
            }
        }
        for (n, (name, value)) in self.given.iter().enumerate() {
            let path = format!("/{name}");
            if !known.contains(&name.as_str()) {
                let message = match known {
                    [] => format!("unknown query parameter {name:?}, this route takes none"),
                    known => format!("unknown query parameter {name:?}, expected one of {}", known.join(", ")),
                };
                return Err(Problem::invalid(path, message));
            }
            if self.given[..n].iter().any(|(earlier, _)| earlier == name) {
                return Err(Problem::invalid(path, format!("query parameter {name:?} is given twice")));
            }
            plain(&path, value, MAX_QUERY_VALUE)?;
        }
        Ok(self)
    }

    /// A parameter; an empty one counts as not given.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// What ties a position to this list: a keyed digest over the tenant, the path, the filter and the position. The
    /// limit is no part of it.
    pub(crate) fn seal(&self, position: &str) -> ApiResult<String> {
        let filter = self.given.iter().filter(|(name, value)| !value.is_empty() && !UNBOUND.contains(&name.as_str()));
        let mut filter: Vec<&(String, String)> = filter.collect();
        filter.sort();
        let digest = self.seal.as_ref().and_then(|Seal { key, path }| key.digest_as_written(&(path, filter, position)));
        digest.ok_or_else(|| Problem::internal("a list on a route without its guard"))
    }

    /// A parameter that is one of these words.
    pub(crate) fn word<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        known: &[&str],
    ) -> ApiResult<Option<T>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let message = || format!("{name} {text:?} is none of {}", known.join(", "));
        parse(text).map(Some).ok_or_else(|| Problem::invalid(format!("/{name}"), message()))
    }

    /// A parameter that is an id.
    pub(crate) fn id<T: FromStr<Err = IdError>>(&self, name: &str) -> ApiResult<Option<T>> {
        let id = self.get(name).map(str::parse).transpose();
        id.map_err(|error: IdError| Problem::invalid(format!("/{name}"), error.to_string()))
    }

    /// A parameter that is `true` or `false`.
    pub(crate) fn flag(&self, name: &str) -> ApiResult<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(Problem::invalid(format!("/{name}"), format!("{name} is true or false, not {other:?}"))),
        }
    }

    /// A parameter as a whole number in a range.
    pub(crate) fn number(&self, name: &str, range: std::ops::RangeInclusive<u64>) -> ApiResult<Option<u64>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        let wanted = || {
            let message = format!("{name} must be a whole number from {} to {}", range.start(), range.end());
            Problem::invalid(format!("/{name}"), message)
        };
        number.map(Some).ok_or_else(wanted)
    }
}

/// `waitMs` as `wait_ms`.
fn snake_case(name: &str) -> String {
    let spelt =
        name.chars().map(|c| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.into() });
    spelt.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The query of a list that was asked under that path.
    pub(crate) fn asked(key: DigestKey, path: &str, query: &str) -> QueryArgs {
        let given = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        QueryArgs { given, seal: Some(Seal { key, path: path.to_owned() }) }
    }

    #[test]
    fn a_query_is_strict() {
        let query = |text: &str| {
            let given = url::form_urlencoded::parse(text.as_bytes()).into_owned().collect();
            QueryArgs { given, seal: None }.only(&["limit", "cursor"])
        };
        assert_eq!(query("limit=5&cursor=").unwrap().number("limit", 1..=200).unwrap(), Some(5));
        assert_eq!(query("cursor=").unwrap().get("cursor"), None);
        for bad in ["limit=0", "limit=201", "limit=x", "limit=-1", "limit=1.5"] {
            assert!(query(bad).unwrap().number("limit", 1..=200).is_err(), "{bad}");
        }
        for bad in ["limits=5", "limit=1&limit=2", "cursor=%00"] {
            assert!(query(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_query_takes_snake_case_and_knows_a_name_that_is_given_twice() {
        let pairs = |names: &[&str]| QueryArgs {
            given: names.iter().map(|&name| (name.to_owned(), "5".to_owned())).collect(),
            seal: None,
        };
        let only = |names: &[&str]| pairs(names).only(&["waitMs", "limit"]);
        assert_eq!(
            only(&["wait_ms", "limit"]).ok().and_then(|args| args.get("waitMs").map(str::to_owned)).as_deref(),
            Some("5")
        );
        assert!(only(&["wait_ms", "waitMs"]).is_err() && only(&["waitms"]).is_err() && only(&["li_mit"]).is_err());
    }
}
