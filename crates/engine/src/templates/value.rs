//! JSON as the interpreter sees it: looked into, not copied.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr, Value as Jinja};
use serde_json::{Map, Value};

/// An object whose members are converted when they are looked at.
#[derive(Debug)]
pub(super) struct ObjectValue {
    /// The members.
    pub(super) map: Arc<Map<String, Value>>,
    /// Whether texts and lists are opaque, because the expression multiplies.
    pub(super) numeric: bool,
}

impl Object for ObjectValue {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.map.get(key.as_str()?).map(|value| convert(value, self.numeric))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.map.keys().map(|key| text(key, self.numeric)).collect())
    }
}

/// A text or a list that cannot be multiplied: it has no interpreter type.
pub(super) struct OpaqueValue(pub(super) Value);

impl fmt::Debug for OpaqueValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("value")
    }
}

impl Object for OpaqueValue {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        let items = self.0.as_array()?;
        let index = key.as_i64()?;
        let length = i64::try_from(items.len()).ok()?;
        let index = if index < 0 { length + index } else { index };
        items.get(usize::try_from(index).ok()?).map(|value| convert(value, true))
    }

    fn is_true(self: &Arc<Self>) -> bool {
        match &self.0 {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _other => true,
        }
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        let Self(other) = other.downcast_ref()?;
        Some(convert(&self.0, false).cmp(&convert(other, false)))
    }
}

/// The text, list or object that an expression only read, as it was.
pub(super) fn read_back(value: &Jinja) -> Option<Value> {
    if let Some(OpaqueValue(read)) = value.downcast_object_ref() {
        return Some(read.clone());
    }
    value.downcast_object_ref::<ObjectValue>().map(|object| Value::Object((*object.map).clone()))
}

/// A name or a word for the interpreter.
pub(super) fn text(text: &str, numeric: bool) -> Jinja {
    if numeric { Jinja::from_object(OpaqueValue(Value::String(text.to_owned()))) } else { Jinja::from(text) }
}

/// A JSON value for the interpreter.
pub(super) fn convert(value: &Value, numeric: bool) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(flag) => Jinja::from(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), _, _) => Jinja::from(whole),
            (None, Some(whole), _) => Jinja::from(whole),
            (None, None, float) => Jinja::from(float.unwrap_or(f64::NAN)),
        },
        Value::Array(_) if numeric => Jinja::from_object(OpaqueValue(value.clone())),
        Value::String(word) => text(word, numeric),
        Value::Array(items) => items.iter().map(|item| convert(item, numeric)).collect(),
        Value::Object(map) => Jinja::from_object(ObjectValue { map: Arc::new(map.clone()), numeric }),
    }
}
