//! What is known of one part of the server.

use serde::Serialize;

/// How a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// Well.
    Ok,
    /// Not configured, and so not used.
    Off,
    /// Something is wrong with it, and work goes on.
    Warning,
    /// It does not work.
    Broken,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    pub name: String,
    /// Whether nothing is wrong with it: it is well, or off.
    pub ok: bool,
    pub state: PartState,
    /// Whether the server cannot take work without it.
    pub required: bool,
    /// What is known of it.
    pub message: String,
    /// More of it, which names tenants or what the operator has set: for those who run the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

impl Check {
    /// A part without which the server takes work as well.
    #[must_use]
    pub fn of(name: &str, state: PartState, message: impl Into<String>) -> Self {
        let ok = matches!(state, PartState::Ok | PartState::Off);
        Self { name: name.to_owned(), ok, state, required: false, message: message.into(), details: Vec::new() }
    }

    /// A part that is needed for everything.
    #[must_use]
    pub fn required(name: &str, ok: bool, message: impl Into<String>) -> Self {
        let state = if ok { PartState::Ok } else { PartState::Broken };
        Self { required: true, ..Self::of(name, state, message) }
    }
}
