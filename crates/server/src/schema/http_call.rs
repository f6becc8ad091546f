//! The HTTP request that an own tool makes.

use std::collections::BTreeMap;

use kybern_core::tool::own::{HttpCall, MAX_HEADERS};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};

use super::texts::HeaderTextSchema;

words! {
    /// The method of a request.
    pub(crate) HttpMethodSchema as "HttpMethod" = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
}

/// The HTTP request that a call makes.
#[derive(Serialize, ToSchema)]
#[schema(as = HttpCall)]
pub(crate) struct HttpCallAnswer {
    /// The method.
    #[schema(value_type = HttpMethodSchema)]
    method: String,
    /// Where it goes. Scheme, host and port are written out; behind them it may be a template.
    #[schema(max_length = 4_096, pattern = "^[Hh][Tt][Tt][Pp][Ss]?://")]
    url: String,
    /// Its headers: each a text, which may be a template, or `{"secret": NAME}`.
    #[schema(required = false, schema_with = headers)]
    headers: BTreeMap<String, Value>,
    /// The secret that is sent as `Authorization: Bearer`.
    #[schema(value_type = Option<SecretReferenceSchema>)]
    auth: Option<Value>,
    /// Its body, in which texts may be templates; null for none.
    json: Option<Value>,
}

/// So many headers at most, by name.
fn headers() -> RefOr<Schema> {
    let one = Ref::from_schema_name(HeaderSchema::name());
    let many = ObjectBuilder::new().additional_properties(Some(one)).max_properties(Some(MAX_HEADERS));
    let about = "Its headers: each a text, which may be a template, or `{\"secret\": NAME}`.";
    many.description(Some(about)).into()
}

impl From<HttpCall> for HttpCallAnswer {
    fn from(call: HttpCall) -> Self {
        let HttpCall { method, url, headers, auth, json } = call;
        Self { method, url, headers, auth, json }
    }
}

/// The value of a header.
#[derive(Serialize, ToSchema)]
#[schema(as = HttpHeader)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what a definition's own type writes")]
pub(crate) enum HeaderSchema {
    /// A text, which may be a template.
    #[schema(value_type = HeaderTextSchema)]
    Text(String),
    /// A secret.
    Secret(SecretReferenceSchema),
}

/// A secret by its name.
#[derive(Serialize, ToSchema)]
#[schema(as = SecretReference)]
pub(crate) struct SecretReferenceSchema {
    /// The name under which it is stored at `/api/secrets`.
    #[schema(pattern = "^[a-z][a-z0-9_]{0,62}$")]
    secret: String,
}
