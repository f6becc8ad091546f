//! Texts that stand in lists, with the bounds that the core has for them.

use std::borrow::Cow;

use kybern_core::agent::MAX_NAMED;
use kybern_core::policy::MAX_ENTRY;
use kybern_core::preference::MAX_TEXT;
use kybern_core::secret::HostRule;
use kybern_core::tool::own::{MAX_HEADER, MAX_TAG};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A type for the document that is a text of at most so many characters that fits a pattern.
macro_rules! texts {
    ($($(#[doc = $about:literal])+ $schema:ident as $name:literal = $most:expr, $pattern:expr;)+) => {$(
        $(#[doc = $about])+
        pub struct $schema;

        impl PartialSchema for $schema {
            fn schema() -> RefOr<Schema> {
                bounded(concat!($($about),+).trim(), $most, $pattern)
            }
        }

        impl ToSchema for $schema {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
        }
    )+};
}

fn bounded(about: &str, most: usize, pattern: Option<&str>) -> RefOr<Schema> {
    let text = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    text.description(Some(about)).max_length(Some(most)).pattern(pattern).into()
}

/// Not blank.
const WRITTEN: Option<&str> = Some("\\S");

texts! {
    /// The name of a tool, of a group of tools, or a word by which an agent is chosen.
    AgentNameSchema as "AgentItem" = MAX_NAMED, WRITTEN;
    /// Something that a user says about themselves or about answers.
    PreferenceTextSchema as "PreferenceText" = MAX_TEXT, WRITTEN;
    /// The key of a tool.
    ToolEntrySchema as "ToolEntry" = MAX_ENTRY, Some(r"^[^\x00-\x1f\x7f-\x9f]+$");
    /// An absolute path without `..`.
    FolderSchema as "Folder" = MAX_ENTRY, Some(r"^/[^\x00-\x1f\x7f-\x9f]*$");
    /// A name or an address without a port, or `*.example.com` for all below a name.
    HostSchema as "AllowedHost" = MAX_ENTRY, Some(r"^(\*\.)?[^*/@ ?#\x00-\x1f\x7f-\x9f]+$");
    /// `api.example.com`, `*.example.com`, `host:port`; `http://host:port` for plain HTTP.
    SecretHostSchema as "SecretHost" = HostRule::MAX, Some(HostRule::PATTERN);
    /// A word by which a tool is found.
    ToolTagSchema as "ToolTag" = MAX_TAG, WRITTEN;
    /// One line, which may be a template.
    HeaderTextSchema as "HttpHeaderText" = MAX_HEADER, Some(r"^[^\x00-\x1f\x7f-\x9f]*$");
}
