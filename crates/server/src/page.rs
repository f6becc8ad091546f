//! Lists: `?limit=&cursor=` in, `{"items":[…],"nextCursor":…}` out. A cursor is opaque to callers: it says behind what
//! to go on, and is sealed for the tenant, the list and the filter that it was given for, so that another one is refused
//! instead of misread. It guards nothing: whoever may not see an item does not see it by any cursor.

use axum::Json;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::error::{ApiResult, Problem};
use crate::extract::QueryArgs;

/// Items of a page when the caller names no limit.
pub(crate) const DEFAULT_LIMIT: u32 = 50;
/// The largest limit.
pub(crate) const MAX_LIMIT: u32 = 200;
/// The hexadecimal digits of a seal: 128 bits.
const SEAL_DIGITS: usize = 32;

/// Which page of a list, as the document tells it of every list. [`Paging`] reads it.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes what is read by name")]
pub(crate) struct PageParams {
    /// Items, 50 when not given
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `nextCursor` of the page before
    cursor: Option<String>,
}

/// Where a page begins and how long it is.
pub(crate) struct Paging {
    /// What the caller says of the list.
    pub(crate) query: QueryArgs,
    /// At most so many items.
    pub(crate) limit: u32,
    after: Option<String>,
}

impl Paging {
    /// Reads `limit` and `cursor`. The rest of the query is the filter that the cursors hold for, of these names.
    pub(crate) fn read(query: QueryArgs, filter: &[&str]) -> ApiResult<Self> {
        let query = query.only(&[filter, &["limit", "cursor"]].concat())?;
        let limit = query.number("limit", 1..=u64::from(MAX_LIMIT))?;
        let limit = limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
        let after = match query.get("cursor") {
            Some(cursor) => Some(decode(&query, cursor)?),
            None => None,
        };
        Ok(Self { query, limit, after })
    }

    /// Behind what the page begins.
    pub(crate) fn after<T: std::str::FromStr>(&self) -> ApiResult<Option<T>> {
        self.after.as_deref().map(|text| text.parse().map_err(|_| foreign())).transpose()
    }

    /// A page that the engine cut.
    pub(crate) fn answer<T: Serialize>(&self, items: &[T], next: Option<&str>) -> ApiResult<Json<Value>> {
        let next = next.map(|next| encode(&self.query, next)).transpose()?;
        Ok(Json(json!({"items": items, "nextCursor": next})))
    }

    /// A page cut out of a whole list, ordered by `key`.
    pub(crate) fn cut<T, V: Serialize>(
        &self,
        mut items: Vec<T>,
        key: impl Fn(&T) -> String,
        show: impl Fn(T) -> V,
    ) -> ApiResult<Json<Value>> {
        items.sort_by_cached_key(&key);
        items.retain(|item| self.after.as_deref().is_none_or(|after| key(item).as_str() > after));
        self.begun(items, key, show)
    }

    /// A page of items that begin where it begins: whether there are more than its limit tells whether another follows.
    pub(crate) fn begun<T, V: Serialize>(
        &self,
        mut items: Vec<T>,
        key: impl Fn(&T) -> String,
        show: impl Fn(T) -> V,
    ) -> ApiResult<Json<Value>> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(key);
        let items: Vec<V> = items.into_iter().map(show).collect();
        self.answer(&items, next.as_deref())
    }
}

/// The position behind its seal.
fn encode(query: &QueryArgs, after: &str) -> ApiResult<String> {
    let mut sealed = query.seal(after)?;
    sealed.truncate(SEAL_DIGITS);
    sealed.push_str(after);
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

fn decode(query: &QueryArgs, cursor: &str) -> ApiResult<String> {
    let text =
        URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(foreign)?;
    let after = text.get(SEAL_DIGITS..).ok_or_else(foreign)?;
    // A position is no secret, so that nothing is told by how long the comparison takes.
    if encode(query, after)? == cursor { Ok(after.to_owned()) } else { Err(foreign()) }
}

fn foreign() -> Problem {
    Problem::invalid("/cursor", "cursor is not one that this list gave for this filter, leave it out to begin")
}

#[cfg(test)]
mod tests {
    use kybern_core::digest::DigestKey;

    use super::*;
    use crate::extract::asked;

    const KEY: DigestKey = DigestKey::new([1; 32]);

    #[test]
    fn pages_of_a_whole_list_cover_it_once() {
        let letters = || vec!["d", "a", "c", "b", "e"];
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let paging = Paging::read(asked(KEY, "/letters", &format!("limit=2&cursor={cursor}")), &[]).unwrap();
            let page = paging.cut(letters(), |letter| (*letter).to_owned(), |letter| letter).unwrap();
            seen.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["nextCursor"].as_str() else { break };
            next.clone_into(&mut cursor);
        }
        assert_eq!(json!(seen), json!(["a", "b", "c", "d", "e"]));
    }

    #[test]
    fn a_cursor_holds_for_its_list_its_filter_and_its_tenant_only() {
        let given = encode(&asked(KEY, "/letters", "case=upper&limit=2"), "a:b").unwrap();
        let read = |key, path, query: &str| decode(&asked(key, path, query), &given).ok();
        for same in ["case=upper", "case=upper&limit=9", "limit=1&case=upper&tone=&cursor=x"] {
            assert_eq!(read(KEY, "/letters", same).as_deref(), Some("a:b"), "{same}");
        }
        for other in ["", "case=lower", "case=upper&tone=high", "tone=upper"] {
            assert_eq!(read(KEY, "/letters", other), None, "{other}");
        }
        assert_eq!(read(KEY, "/digits", "case=upper"), None);
        assert_eq!(read(DigestKey::new([2; 32]), "/letters", "case=upper"), None);
    }

    #[test]
    fn a_cursor_that_was_changed_anywhere_is_refused() {
        let query = asked(KEY, "/letters", "");
        let given = encode(&query, "a:b").unwrap();
        assert_eq!(decode(&query, &given).unwrap(), "a:b");
        for n in 0..given.len() {
            let mut changed = given.clone().into_bytes();
            changed[n] = if changed[n] == b'A' { b'B' } else { b'A' };
            assert!(decode(&query, &String::from_utf8(changed).unwrap()).is_err(), "{n}");
            assert!(decode(&query, &given[..n]).is_err(), "{n}");
        }
        for never in ["%%%", "é", &URL_SAFE_NO_PAD.encode("tasks:7"), &format!("{given}="), &format!("{given}A")] {
            assert!(decode(&query, never).is_err(), "{never}");
        }
    }
}
