//! Lists: `?limit=&cursor=` in, `{"items":[…],"nextCursor":…}` out. A cursor is opaque to callers: it says which
//! list gave it and behind what to go on, so that one of another list is refused instead of misread.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{ApiResult, Problem};
use crate::extract::QueryArgs;

/// Items of a page when the caller names no limit.
pub(crate) const DEFAULT_LIMIT: u32 = 50;
/// The largest limit.
pub(crate) const MAX_LIMIT: u32 = 200;

/// Where a page begins and how long it is.
#[derive(Debug)]
pub(crate) struct Paging {
    list: &'static str,
    /// At most so many items.
    pub(crate) limit: u32,
    after: Option<String>,
}

impl Paging {
    /// Reads `limit` and `cursor` for the list of that name.
    pub(crate) fn read(query: &QueryArgs, list: &'static str) -> ApiResult<Self> {
        let limit = query.number("limit", 1..=u64::from(MAX_LIMIT))?;
        let limit = limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
        let foreign = || Problem::invalid("/cursor", "cursor is not one that this list gave, leave it out to begin");
        let after = match query.get("cursor") {
            Some(cursor) => Some(decode(list, cursor).ok_or_else(foreign)?),
            None => None,
        };
        Ok(Self { list, limit, after })
    }

    /// Behind what the page begins.
    pub(crate) fn after<T: std::str::FromStr>(&self) -> ApiResult<Option<T>> {
        let foreign = || Problem::invalid("/cursor", "cursor is damaged, leave it out to begin");
        self.after.as_deref().map(|text| text.parse().map_err(|_| foreign())).transpose()
    }

    /// A page that the engine cut.
    pub(crate) fn answer<T: Serialize>(&self, items: &[T], next: Option<&str>) -> Value {
        json!({"items": items, "nextCursor": next.map(|next| encode(self.list, next))})
    }

    /// A page cut out of a whole list, ordered by `key`.
    pub(crate) fn cut<T, V: Serialize>(
        &self,
        items: Vec<T>,
        key: impl Fn(&T) -> String,
        show: impl Fn(T) -> V,
    ) -> Value {
        let mut keyed: Vec<(String, T)> = items.into_iter().map(|item| (key(&item), item)).collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        let behind = |key: &str| self.after.as_deref().is_none_or(|after| key > after);
        let mut rest = keyed.into_iter().filter(|(key, _)| behind(key)).peekable();
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let page: Vec<(String, T)> = rest.by_ref().take(limit).collect();
        let next = page.last().filter(|_| rest.peek().is_some()).map(|(key, _)| encode(self.list, key));
        let items: Vec<V> = page.into_iter().map(|(_, item)| show(item)).collect();
        json!({"items": items, "nextCursor": next})
    }
}

fn encode(list: &str, after: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}:{after}"))
}

fn decode(list: &str, cursor: &str) -> Option<String> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    Some(text.strip_prefix(list)?.strip_prefix(':')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paging(limit: u32, cursor: Option<&Value>) -> Paging {
        let after = cursor.map(|cursor| decode("letters", cursor.as_str().unwrap()).unwrap());
        Paging { list: "letters", limit, after }
    }

    #[test]
    fn pages_of_a_whole_list_cover_it_once() {
        let letters = || vec!["d", "a", "c", "b", "e"];
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let page = paging(2, cursor.as_ref()).cut(letters(), |letter| (*letter).to_owned(), |letter| letter);
            seen.extend(page["items"].as_array().unwrap().clone());
            if page["nextCursor"].is_null() {
                break;
            }
            cursor = Some(page["nextCursor"].clone());
        }
        assert_eq!(json!(seen), json!(["a", "b", "c", "d", "e"]));
    }

    #[test]
    fn a_cursor_of_another_list_is_not_read() {
        assert_eq!(decode("users", &encode("tasks", "7")), None);
        assert_eq!(decode("tasks", "%%%"), None);
        assert_eq!(decode("tasks", &encode("tasks", "a:b")).as_deref(), Some("a:b"));
    }
}
