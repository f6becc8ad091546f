//! How the core's scalars look in an OpenAPI document; only with the feature `schema`, which the server turns on. Structs
//! and words derive it where they stand, so that a shape is described by the type that is serialised.

/// What the names of schemas begin with that are written where they are used, rather than referred to.
pub const IN_PLACE: &str = "in_place.";

/// Describes types that are serialised as one value.
macro_rules! scalars {
    ($($name:ty = $of:ty $(, $format:literal)?;)+) => {$(
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let schema = <$of as utoipa::PartialSchema>::schema();
                $(let schema = $crate::schema::with_format(schema, $format);)?
                schema
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed(concat!("in_place.", stringify!($of) $(, ".", $format)?))
            }
        }
    )+};
}
pub(crate) use scalars;

pub(crate) fn with_format(
    schema: utoipa::openapi::RefOr<utoipa::openapi::Schema>,
    format: &str,
) -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    use utoipa::openapi::{RefOr, Schema, SchemaFormat};
    match schema {
        RefOr::T(Schema::Object(mut object)) => {
            object.format = Some(SchemaFormat::Custom(format.to_owned()));
            RefOr::T(Schema::Object(object))
        }
        other @ (RefOr::T(_) | RefOr::Ref(_)) => other,
    }
}

scalars! {
    crate::time::Timestamp = String, "date-time";
    crate::time::Millis = u64;
    crate::money::NanoUsd = i64;
    crate::money::Tokens = u64;
    crate::context::Importance = u8;
    crate::context::Similarity = u16;
    crate::memory::Confidence = f64;
    crate::plan::StepId = String;
    crate::secret::SecretName = String;
    crate::secret::HostRule = String;
}
