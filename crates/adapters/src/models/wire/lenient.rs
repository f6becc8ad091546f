//! Reading what providers really send: fields that are missing, null, or of a type that nobody announced. Text is
//! borrowed from the chunk where it holds no escape.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Text. Null, missing, and anything that is neither text nor a number is empty.
#[derive(Clone, Default, Debug)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Text<'_> {
    /// The text, or nothing when it is empty.
    pub(super) fn some(&self) -> Option<&str> {
        Some(&**self).filter(|text| !text.is_empty())
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_seq(items).map(|_| Text::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A count of tokens, or a place. Null and negative numbers are 0; fractions are cut.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Count(pub(super) u64);

/// The largest count that is believed: beyond a million million tokens a provider is mistaken, and sums of such numbers
/// would not fit where they are added up.
const MOST: u64 = 1 << 40;

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
        Ok(Count(number.min(MOST)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
        Ok(Count(number.max(0).unsigned_abs().min(MOST)))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, and a count is small")]
    fn visit_f64<E>(self, number: f64) -> Result<Count, E> {
        Ok(Count((number as u64).min(MOST)))
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count(0))
    }

    fn visit_str<E>(self, text: &str) -> Result<Count, E> {
        Ok(Count(text.parse::<u64>().unwrap_or_default().min(MOST)))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_borrowed_where_it_can_be_and_empty_where_it_is_none() {
        assert!(matches!(serde_json::from_str::<Text<'_>>(r#""plain""#).unwrap().0, Cow::Borrowed("plain")));
        assert!(matches!(serde_json::from_str::<Text<'_>>(r#""a\nb""#).unwrap().0, Cow::Owned(_)));
        for odd in ["null", "true", "{\"a\":[1]}", "[1,{}]", "1.5"] {
            assert_eq!(&*serde_json::from_str::<Text<'_>>(odd).unwrap(), "", "{odd}");
        }
        assert_eq!(&*serde_json::from_str::<Text<'_>>("7").unwrap(), "7");
    }

    #[test]
    fn counts_that_nobody_can_have_used_stay_small_enough_to_be_added_up() {
        for json in ["18446744073709551615", "9223372036854775807", "1e300", "\"18446744073709551615\""] {
            assert_eq!(serde_json::from_str::<Count>(json).unwrap(), Count(MOST), "{json}");
        }
    }

    #[test]
    fn counts_are_never_negative() {
        for (json, count) in [("null", 0), ("-3", 0), ("12", 12), ("4.0", 4), ("\"9\"", 9)] {
            assert_eq!(serde_json::from_str::<Count>(json).unwrap(), Count(count), "{json}");
        }
    }
}
