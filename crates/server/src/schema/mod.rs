//! What answers look like that are not the core's own types: those describe themselves, with the core's feature `schema`.
//! What derives `Serialize` here is what is answered; of the others the tests hold real answers against these shapes.

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// A type for the document that is one of these words.
macro_rules! words {
    ($($(#[doc = $about:literal])+ $seen:vis $schema:ident as $name:literal = $words:expr;)+) => {$(
        $(#[doc = $about])+
        $seen struct $schema;

        impl utoipa::PartialSchema for $schema {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $crate::schema::words::one_of(concat!($($about),+).trim(), $words.into_iter())
            }
        }

        impl utoipa::ToSchema for $schema {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($name)
            }
        }
    )+};
}

/// A page of a list, as [`crate::page`] answers it.
macro_rules! page {
    ($(#[doc = $about:literal])+ $seen:vis $name:ident of $item:ty: $items:literal) => {
        page! { $(#[doc = $about])+ $seen $name of $item: $items, "The `cursor` of the next page; null on the last one." }
    };
    ($(#[doc = $about:literal])+ $seen:vis $name:ident of $item:ty: $items:literal, $next:literal) => {
        $(#[doc = $about])+
        $seen struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let item = <$item as utoipa::ToSchema>::name();
                $crate::schema::page(concat!($($about),+).trim(), &item, ($items, $next))
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed(stringify!($name))
            }

            fn schemas(all: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
                let name = <$item as utoipa::ToSchema>::name().into_owned();
                all.push((name, <$item as utoipa::PartialSchema>::schema()));
                <$item as utoipa::ToSchema>::schemas(all);
            }
        }
    };
}

pub mod agent;
pub mod approval;
pub mod audit;
pub mod budget;
pub mod chat;
pub mod event;
pub mod http_call;
pub mod identity;
pub mod inbound;
pub mod knowledge;
pub mod lesson;
pub mod memory;
pub mod model;
pub mod operation;
pub mod permission;
pub mod plan;
pub mod preference;
pub mod prompt;
pub mod record;
pub mod retention;
pub mod secret;
pub mod task;
pub mod texts;
pub mod tool;
pub mod words;

/// An object of `items` and `nextCursor`.
pub(crate) fn page(about: &str, item: &str, (items, next): (&str, &str)) -> RefOr<Schema> {
    let items = ArrayBuilder::new().items(Ref::from_schema_name(item)).description(Some(items));
    let cursor = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
    let page = ObjectBuilder::new().property("items", items).required("items");
    let page = page.property("nextCursor", cursor.description(Some(next))).required("nextCursor");
    page.description(Some(about)).into()
}
