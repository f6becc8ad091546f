//! Reading input. Whatever is wrong with it is said in the error envelope, with the place and the remedy.

mod query;

use std::marker::PhantomData;

use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_core::json::{self as bounded, Unreadable, check_exact as check_json};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::auth::Caller;
use crate::body;
use crate::error::{ApiResult, Problem};
use crate::state::AppState;

#[cfg(test)]
pub(crate) use query::tests::asked;
pub(crate) use query::{MAX_QUERY_VALUE, QueryArgs, no_query};

/// A JSON object as the body.
pub(crate) struct JsonBody<T> {
    /// What it says.
    pub(crate) value: T,
    /// The bytes as they came.
    pub(crate) raw: Bytes,
}

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let (parts, raw) = body::read(state, request, state.limits.max_body).await?;
        expect_json(&parts.headers)?;
        Ok(Self { value: object(&raw)?, raw })
    }
}

/// A JSON object as the body, or no body at all.
pub(crate) struct OptionalBody<T> {
    /// What it says; the default when there is none.
    pub(crate) value: T,
    /// The bytes as they came.
    pub(crate) raw: Bytes,
}

impl<T: DeserializeOwned + Default> FromRequest<AppState> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let (parts, raw) = body::read(state, request, state.limits.max_body).await?;
        if raw.trim_ascii().is_empty() {
            return Ok(Self { value: T::default(), raw });
        }
        expect_json(&parts.headers)?;
        Ok(Self { value: object(&raw)?, raw })
    }
}

/// Refuses a content type that says that the body is something else. None at all is taken for JSON.
pub(crate) fn expect_json(headers: &HeaderMap) -> ApiResult<()> {
    let Some(declared) = content_type(headers) else { return Ok(()) };
    if declared == "application/json" || declared.ends_with("+json") {
        return Ok(());
    }
    let message = format!("the body is declared as {declared:?}, send JSON with Content-Type: application/json");
    Err(Problem::invalid("", message))
}

/// The declared content type, in lower case and without parameters.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

pub(crate) fn json(raw: &[u8]) -> ApiResult<Value> {
    if raw.trim_ascii().is_empty() {
        return Err(Problem::invalid("", "the body is empty, send JSON"));
    }
    bounded::read(raw).map_err(|unreadable| match unreadable {
        Unreadable::TooMuch(fault) => fault.at("").into(),
        Unreadable::Syntax(error) => malformed(&error),
    })
}

/// A JSON object of a known shape.
pub(crate) fn object<T: DeserializeOwned>(raw: &[u8]) -> ApiResult<T> {
    match raw.trim_ascii_start().first() {
        Some(b'{') => {}
        None => return Err(Problem::invalid("", "the body is empty, send a JSON object")),
        // Anything else may be JSON, and is then the wrong type; a list would otherwise pass for a shape's fields.
        Some(_) => {
            json(raw)?;
            return Err(Problem::invalid("", "the body is not a JSON object"));
        }
    }
    check_json(raw).map_err(|fault| fault.at(""))?;
    let mut reader = serde_json::Deserializer::from_slice(raw);
    let value = match serde_path_to_error::deserialize(&mut reader) {
        // The reader takes a number where a name is expected for broken JSON, and does not say where.
        Err(error) if error.inner().is_syntax() => return shaped(json(raw)?),
        read => read.map_err(|error| misfit(&error))?,
    };
    reader.end().map_err(|error| malformed(&error))?;
    Ok(value)
}

/// A JSON value that is there already, of a known shape.
pub(crate) fn shaped<T: DeserializeOwned>(value: Value) -> ApiResult<T> {
    serde_path_to_error::deserialize(value).map_err(|error| misfit(&error))
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::invalid("", format!("the body is not JSON: {error}"))
}

/// Puts the words of the deserialiser into the words of the API, and finds the place.
fn misfit(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let inner = error.inner();
    if inner.is_syntax() || inner.is_eof() || inner.is_io() {
        return malformed(inner);
    }
    let text = inner.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let mut path = pointer(error.path());
    for what in ["unknown field `", "missing field `", "duplicate field `"] {
        let name = text.strip_prefix(what).and_then(|rest| rest.split('`').next());
        let Some(name) = name else { continue };
        let last = format!("/{}", escape(name));
        if !path.ends_with(&last) {
            path.push_str(&last);
        }
    }
    let message = text
        .replace("expected i64", "expected an integer")
        .replace("expected u32", "expected a whole number from 0 on")
        .replace("expected f64", "expected a number")
        .replace("expected a sequence", "expected a list")
        .replace("expected a map", "expected an object");
    let message: String = message.chars().take(400).collect();
    let whole = if path.is_empty() { message.clone() } else { format!("{path}: {message}") };
    Error::new(ErrorCode::Validation, whole).with_details(vec![Detail::new(path, message)]).into()
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            serde_path_to_error::Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            serde_path_to_error::Segment::Map { key } => pointer.push_str(&format!("/{}", escape(key))),
            serde_path_to_error::Segment::Enum { .. } | serde_path_to_error::Segment::Unknown => {}
        }
    }
    pointer
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The most characters of a part of the path.
pub(crate) const MAX_PATH_PART: usize = 300;

/// The parts of the path.
pub(crate) struct PathArgs(Vec<(String, String)>);

impl FromRequestParts<AppState> for PathArgs {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| Problem::invalid("", "the path is not UTF-8"))?;
        Ok(Self(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }
}

/// A request of a known caller, the parts of its path, and the parameters of its query.
pub(crate) struct CallerRequest {
    pub(crate) state: AppState,
    pub(crate) actor: Actor,
    pub(crate) path: PathArgs,
    pub(crate) query: QueryArgs,
}

impl FromRequestParts<AppState> for CallerRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Caller(actor) = Caller::from_request_parts(parts, state).await?;
        let path = PathArgs::from_request_parts(parts, state).await?;
        let query = QueryArgs::from_request_parts(parts, state).await?;
        Ok(Self { state: state.clone(), actor, path, query })
    }
}

impl PathArgs {
    /// A part as text of at most [`MAX_PATH_PART`] characters.
    pub(crate) fn text(&self, name: &str) -> ApiResult<&str> {
        let value = self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let value = value.ok_or_else(|| Problem::internal(format!("the route has no part {name}")))?;
        plain(&format!("/{name}"), value, MAX_PATH_PART)?;
        Ok(value)
    }

    /// A part as an id or a number.
    pub(crate) fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(&self, name: &str) -> ApiResult<T> {
        let text = self.text(name)?;
        text.parse().map_err(|error: T::Err| {
            // What the standard library says of a number does not name it.
            let message = match error.to_string() {
                digits if digits.contains("digit") || digits.contains("number too") => {
                    format!("{text:?} in the path is not a whole number from 0 on")
                }
                other => other,
            };
            Problem::invalid(format!("/{name}"), message)
        })
    }
}

/// What was read; or nothing, and what is wrong with it is one fault more.
pub(crate) fn or_fault<T>(read: Result<T, Detail>, faults: &mut Vec<Detail>) -> Option<T> {
    read.map_err(|fault| faults.push(fault)).ok()
}

/// Refuses a text that is too long, or that no database takes.
pub(crate) fn plain(path: &str, text: &str, most: usize) -> ApiResult<()> {
    match check_text(path, text, most) {
        Some(detail) => Err(Error::invalid(detail.path, detail.message).into()),
        None => Ok(()),
    }
}

/// Tells a member that is null from one that is not there, for `deserialize_with`.
pub(crate) fn said<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Reads an inner object all of whose members may be left out, for `deserialize_with`: without it, a list would pass for
/// the values of its members.
pub(crate) fn members<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Members<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
        type Value = T;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(Members(PhantomData))
}

/// What is wrong with a text: too long, or a character that no database takes.
pub(crate) fn check_text(path: &str, text: &str, most: usize) -> Option<Detail> {
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("the text");
    if text.contains('\0') {
        return Some(Detail::new(path, format!("{name} contains the character U+0000, remove it")));
    }
    let length = text.chars().count();
    (length > most).then(|| Detail::new(path, format!("{name} has {length} characters, the limit is {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
    #[expect(dead_code, reason = "only its shape is tested")]
    struct Shape {
        input: String,
        #[serde(default, alias = "max_steps")]
        max_steps: Option<i64>,
        #[serde(default)]
        files: Vec<File>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, expecting = "an object")]
    #[expect(dead_code, reason = "only its shape is tested")]
    struct File {
        name: String,
    }

    fn fault(text: &str) -> (String, String) {
        let problem = object::<Shape>(text.as_bytes()).unwrap_err();
        let detail = problem.0.details()[0].clone();
        (detail.path, detail.message)
    }

    #[test]
    fn a_fault_names_its_place_and_what_was_expected() {
        let cases = [
            (r#"{"input":5}"#, "/input", "invalid type: integer `5`, expected a string"),
            (r#"{"input":"a","maxSteps":"x"}"#, "/maxSteps", "invalid type: string \"x\", expected an integer"),
            (
                r#"{"input":"a","maxSteps":18446744073709551616}"#,
                "/maxSteps",
                "an integer has more digits than are kept",
            ),
            (r#"{"input":"a","files":[{"name":"n"},{"name":1}]}"#, "/files/1/name", "invalid type: integer `1`"),
            (r#"{"input":"a","files":[5]}"#, "/files/0", "invalid type: integer `5`, expected an object"),
            (r#"{"input":"a","files":{}}"#, "/files", "invalid type: map, expected a list"),
            (r#"{}"#, "/input", "missing field `input`"),
            (r#"{"input":"a","files":[{}]}"#, "/files/0/name", "missing field `name`"),
            (r#"{"input":"a","colour":1}"#, "/colour", "unknown field `colour`, expected one of"),
            (r#"{"input":"a","maxSteps":1,"max_steps":2}"#, "/maxSteps", "duplicate field"),
        ];
        for (text, path, message) in cases {
            let found = fault(text);
            assert_eq!(found.0, path, "{text}");
            assert!(found.1.starts_with(message), "{text}: {}", found.1);
        }
    }

    #[test]
    fn a_value_of_another_type_where_a_name_is_expected_has_its_place() {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Colour {
            Red,
        }
        #[derive(Debug, Deserialize)]
        struct Paint {
            colours: Vec<Colour>,
        }
        for (text, path) in [
            (r#"{"colours":["red",7]}"#, "/colours/1"),
            (r#"{"colours":[null]}"#, "/colours/0"),
            (r#"{"colours":[true]}"#, "/colours/0"),
            (r#"{"colours":["blue"]}"#, "/colours/0"),
            (r#"{"colours":[7"#, ""),
        ] {
            let problem = object::<Paint>(text.as_bytes()).unwrap_err();
            assert_eq!(problem.0.details()[0].path, path, "{text}: {}", problem.0);
        }
        assert!(matches!(object::<Paint>(br#"{"colours":["red"]}"#).unwrap().colours[..], [Colour::Red]));
    }

    #[test]
    fn what_is_no_json_object_is_told_apart() {
        for (text, message) in [
            ("", "the body is empty"),
            ("  ", "the body is empty"),
            ("{", "the body is not JSON: EOF"),
            ("nope", "the body is not JSON"),
            ("[\"a\"]", "the body is not a JSON object"),
            ("\"a\"", "the body is not a JSON object"),
            ("{\"input\":\"a\"} x", "the body is not JSON: trailing"),
        ] {
            assert!(fault(text).1.starts_with(message), "{text:?}: {}", fault(text).1);
        }
    }

    #[test]
    fn a_body_that_is_nested_too_deep_is_refused_with_its_place() {
        let deep = |depth: usize| format!("{{\"input\":\"a\",\"files\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        for depth in [64, 127, 200, 100_000] {
            let (path, message) = fault(&deep(depth));
            assert!(path.starts_with("/files/0/0/0"), "{path}");
            assert!(message.starts_with("lists and objects are nested deeper than 64 levels at /files/0"), "{message}");
            assert!(json(deep(depth).as_bytes()).is_err());
        }
        assert!(json(deep(63).as_bytes()).is_ok());
    }
}
