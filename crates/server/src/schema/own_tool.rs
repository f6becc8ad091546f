//! Own tools.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::ToSchema;

use super::tool::ToolPriceSchema;
use super::words::{
    CategorySchema, HttpMethodSchema, OwnToolEffectSchema, OwnToolKindSchema, OwnToolStatusSchema, RiskSchema,
};

/// A version of an own tool.
#[derive(ToSchema)]
#[schema(as = OwnTool, rename_all = "camelCase")]
pub struct OwnToolSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// The tool's key.
    pub key: String,
    /// What it is made of.
    pub kind: OwnToolKindSchema,
    /// Grows by one with each version of the same key.
    pub version: u32,
    /// How it stands.
    pub status: OwnToolStatusSchema,
    /// The BLAKE3 of everything that it says, in hex: what is sent back to approve or activate it.
    pub hash: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    #[schema(value_type = Object)]
    pub input_schema: Value,
    /// JSON Schema of what a call returns; null for anything.
    #[schema(required, value_type = Option<Object>)]
    pub output_schema: Option<Value>,
    /// What happens if the process dies during a call.
    pub effect: OwnToolEffectSchema,
    /// How much harm a call can do; null for what its method makes of it.
    #[schema(required)]
    pub risk: Option<RiskSchema>,
    /// What a call costs; null for nothing.
    #[schema(required)]
    pub price: Option<ToolPriceSchema>,
    /// What it works on; null for the network.
    #[schema(required)]
    pub category: Option<CategorySchema>,
    /// Words by which it is found.
    pub tags: Vec<String>,
    /// Arguments that name a receiver.
    pub destinations: Vec<String>,
    /// How long one try may take; null for 60,000.
    #[schema(required)]
    pub timeout_ms: Option<u64>,
    /// The request that a call makes.
    pub http: HttpCallSchema,
    /// Who has written it.
    #[schema(format = "uuid")]
    pub author: String,
    /// Who approved it.
    #[schema(required, format = "uuid")]
    pub approved_by: Option<String>,
    /// What was said when it was rejected.
    #[schema(required)]
    pub note: Option<String>,
    /// When it was written.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When its status changed last.
    #[schema(format = "date-time")]
    pub updated_at: String,
}

/// The HTTP request that a call makes.
#[derive(ToSchema)]
#[schema(as = HttpCall, rename_all = "camelCase")]
pub struct HttpCallSchema {
    /// The method.
    pub method: HttpMethodSchema,
    /// Where it goes. Scheme, host and port are written out; behind them it may be a template.
    #[schema(max_length = 4_096, pattern = "^https?://")]
    pub url: String,
    /// Its headers: each a text, which may be a template, or `{"secret": NAME}`.
    #[schema(nullable = false)]
    pub headers: Option<BTreeMap<String, HeaderSchema>>,
    /// The secret that is sent as `Authorization: Bearer`.
    pub auth: Option<SecretReferenceSchema>,
    /// Its body, in which texts may be templates; null for none.
    pub json: Option<Value>,
}

/// The value of a header.
#[derive(serde::Serialize, ToSchema)]
#[schema(as = HttpHeader)]
#[serde(untagged)]
pub enum HeaderSchema {
    /// A text, which may be a template.
    Text(String),
    /// A secret.
    Secret(SecretReferenceSchema),
}

/// A secret by its name.
#[derive(serde::Serialize, ToSchema)]
#[schema(as = SecretReference)]
pub struct SecretReferenceSchema {
    /// The name under which it is stored at `/api/secrets`.
    #[schema(max_length = 64)]
    pub secret: String,
}

/// A page of versions of an own tool.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct OwnToolPage {
    /// The versions.
    pub items: Vec<OwnToolSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
