//! What holds for the input of every operation: how long texts in paths and queries may be, that an empty parameter is
//! none, what a cursor is, and an example of each body where its schema has one.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{AdditionalProperties, Object, SchemaType, Type};
use utoipa::openapi::{Content, RefOr, Schema};

use crate::extract::{MAX_PATH_PART, MAX_QUERY_VALUE};

/// The schemas by their names.
pub(super) type Schemas = BTreeMap<String, RefOr<Schema>>;

const REFERENCE: &str = "#/components/schemas/";
const CURSOR: &str = "Where the page begins: the `nextCursor` of the page before, as it came; the list begins when it is \
    not given. It is opaque, goes with one list and one filter only, and does not expire; `limit` may change from page to \
    page. One that this list did not give for this filter is a 400 with the path `/cursor`";

/// Completes what an operation says of its input.
pub(super) fn complete(operation: &mut Operation, schemas: &Schemas) {
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter {
            bound(parameter);
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body {
        body.content
            .values_mut()
            .filter_map(|content| match content {
                RefOr::T(content) => Some(content),
                RefOr::Ref(_) => None,
            })
            .for_each(|content| describe(content, schemas));
    }
}

fn bound(parameter: &mut Parameter) {
    let (least, most) = match parameter.parameter_in {
        ParameterIn::Query => {
            // Utoipa has no member for it; what stands among the extensions is written as it is.
            let empty = Extensions::from_iter([("allowEmptyValue", true)]);
            parameter.extensions.get_or_insert_default().merge(empty);
            (None, MAX_QUERY_VALUE)
        }
        ParameterIn::Path => (Some(1), MAX_PATH_PART),
        ParameterIn::QueryString | ParameterIn::Header | ParameterIn::Cookie => return,
    };
    if parameter.name == "cursor" {
        parameter.description = Some(CURSOR.to_owned());
    }
    let Some(RefOr::T(Schema::Object(text))) = &mut parameter.schema else { return };
    if is_free_text(text) {
        text.min_length = least;
        text.max_length = Some(most);
    }
}

fn is_free_text(schema: &Object) -> bool {
    let bounded = schema.format.is_some() || schema.enum_values.is_some() || schema.max_length.is_some();
    !bounded && schema.schema_type == SchemaType::Type(Type::String)
}

fn describe(content: &mut Content, schemas: &Schemas) {
    // A body that may be left out is an object or nothing at all; it is never the word null.
    if let Some(RefOr::T(Schema::OneOf(one_of))) = &content.schema
        && let Some(reference) = one_of.items.iter().find(|item| matches!(item, RefOr::Ref(_)))
    {
        content.schema = Some(reference.clone());
    }
    if content.example.is_none() {
        content.example = content.schema.as_ref().and_then(|schema| example(schema, schemas));
    }
}

fn example(schema: &RefOr<Schema>, schemas: &Schemas) -> Option<Value> {
    let RefOr::Ref(reference) = schema else { return None };
    match schemas.get(reference.ref_location.strip_prefix(REFERENCE)?)? {
        RefOr::T(Schema::Object(object)) => object.example.clone(),
        RefOr::T(_) | RefOr::Ref(_) => None,
    }
}

/// Says of objects that are read by hand that another member is refused: the derive says it only of those that it reads.
pub(super) fn close(schemas: &mut Schemas, names: &[&str]) {
    for name in names {
        if let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(*name) {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
}

/// Gives unsigned integers the name that OpenAPI has for them, and 32 bits the largest number that fits: Utoipa writes
/// `u-int32`, which nobody knows.
pub(super) fn name_unsigned(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let bits = members.get("format").and_then(Value::as_str).and_then(|format| format.strip_prefix("u-int"));
            if let Some(bits) = bits.map(str::to_owned) {
                if bits == "32" {
                    members.entry("maximum").or_insert(Value::from(u32::MAX));
                }
                members.insert("format".to_owned(), Value::String(format!("uint{bits}")));
            }
            members.values_mut().for_each(name_unsigned);
        }
        Value::Array(items) => items.iter_mut().for_each(name_unsigned),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
