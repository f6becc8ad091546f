//! Vectors as they lie in rows: the name of their model, and base64 of their components.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_core::model::Vector;

use crate::db::Row;
use crate::error::Result;

/// The two columns of a vector.
pub(crate) fn columns(vector: Option<&Vector>) -> (Option<&str>, Option<String>) {
    (vector.map(|vector| vector.model.as_str()), vector.map(|vector| STANDARD.encode(vector.to_bytes())))
}

/// Reads them. What cannot be read is no vector: it is made again when it is asked for.
pub(crate) fn read(row: &mut Row) -> Result<Option<Vector>> {
    let (model, text) = (row.opt_text()?, row.opt_text()?);
    let bytes = text.and_then(|text| STANDARD.decode(text).ok());
    Ok(model.zip(bytes).and_then(|(model, bytes)| Vector::from_bytes(model, &bytes)))
}
