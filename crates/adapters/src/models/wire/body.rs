//! Writing a request's JSON object field by field, straight into bytes: prompts are large, a tree of values is not
//! needed.

use bytes::Bytes;
use kybern_core::list;
use kybern_core::model::{ModelFailure, ModelFailureKind};
use serde::Serialize;
use serde_json::{Map, Value};

/// Fields that are never passed on, in whatever format: who answers, how, and how much may be spent.
const RESERVED: &[&str] =
    list!("model, stream, n, candidateCount, max_tokens, max_completion_tokens, max_output_tokens, maxOutputTokens");

/// An object on its way.
pub(super) struct JsonBody {
    out: Vec<u8>,
    names: Vec<&'static str>,
}

impl JsonBody {
    /// An empty object with room for `bytes`.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        let mut out = Vec::with_capacity(bytes);
        out.push(b'{');
        Self { out, names: Vec::with_capacity(16) }
    }

    /// Writes a field.
    pub(super) fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), ModelFailure> {
        self.begin(name)?;
        self.names.push(name);
        write(&mut self.out, value)
    }

    /// Writes a field whose value is another object.
    pub(super) fn object(&mut self, name: &'static str, object: &Bytes) -> Result<(), ModelFailure> {
        self.begin(name)?;
        self.names.push(name);
        self.out.extend_from_slice(object);
        Ok(())
    }

    fn begin(&mut self, name: &str) -> Result<(), ModelFailure> {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        write(&mut self.out, name)?;
        self.out.push(b':');
        Ok(())
    }

    /// Writes a field that may be missing.
    pub(super) fn maybe<T: Serialize>(&mut self, name: &'static str, value: Option<T>) -> Result<(), ModelFailure> {
        match value {
            Some(value) => self.field(name, &value),
            None => Ok(()),
        }
    }

    /// Keeps a field from being passed on that this format does not know and its servers refuse.
    pub(super) fn leave_out(&mut self, name: &'static str) {
        self.names.push(name);
    }

    /// Writes what the caller wants passed on, except fields that are there already.
    pub(super) fn finish(mut self, extra: &Map<String, Value>) -> Result<Bytes, ModelFailure> {
        for (name, value) in extra {
            if !RESERVED.contains(&name.as_str()) && !self.names.contains(&name.as_str()) {
                self.begin(name)?;
                write(&mut self.out, value)?;
            }
        }
        self.out.push(b'}');
        Ok(self.out.into())
    }
}

fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), ModelFailure> {
    serde_json::to_writer(out, value)
        .map_err(|_| ModelFailure::new(ModelFailureKind::Request, "the request cannot be written as JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn extra_fields_come_last_and_do_not_overwrite() {
        let mut body = JsonBody::with_capacity(10);
        body.field("model", "m").unwrap();
        body.maybe("seed", None::<u8>).unwrap();
        body.leave_out("store");
        let extra = json!({"model": "other", "top_k": 3, "stream": true, "store": false});
        let bytes = body.finish(extra.as_object().unwrap()).unwrap();
        assert_eq!(bytes, r#"{"model":"m","top_k":3}"#);
        assert_eq!(JsonBody::with_capacity(2).finish(&Map::new()).unwrap(), "{}");
    }
}
