//! Secrets.

use utoipa::ToSchema;

/// What is known of a secret. Its value is never shown.
#[derive(ToSchema)]
#[schema(as = Secret, rename_all = "camelCase")]
pub struct SecretSchema {
    /// Its name.
    pub name: String,
    /// Where it may be sent.
    pub hosts: Vec<String>,
    /// What it is for.
    pub description: String,
    /// Grows by one each time the value is written; from 1.
    pub version: u32,
    /// Who wrote this version.
    pub created_by: String,
    /// When it was first written.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When this version was written.
    #[schema(format = "date-time")]
    pub updated_at: String,
}

/// A page of secrets.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SecretPage {
    /// The secrets.
    pub items: Vec<SecretSchema>,
    /// The `cursor` of the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}
