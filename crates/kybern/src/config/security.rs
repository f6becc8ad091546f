//! `[security]`: the master key, and the first admin key.

use std::path::PathBuf;

use kybern_adapters::keys::MasterKey;
use kybern_core::identity::ApiKey;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::error::{Fault, Faults};
use super::secret::Secret;

/// The environment variable that holds the master key.
pub(crate) const MASTER_KEY: &str = "KYBERN_MASTER_KEY";
/// The environment variable that sets the admin key of the first start.
pub(crate) const ADMIN_KEY: &str = "KYBERN_ADMIN_KEY";

/// Keys of this server.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SecurityOptions {
    /// The file that holds the master key, readable by its owner only. Made beside the database when not stated.
    pub(crate) master_key_file: Option<PathBuf>,
    /// The master key out of `KYBERN_MASTER_KEY`; it goes before the file.
    #[serde(skip_deserializing)]
    pub(crate) master_key: Option<Secret>,
    /// The admin key out of `KYBERN_ADMIN_KEY`; made and printed once at the first start when not set.
    #[serde(skip_deserializing)]
    pub(crate) admin_key: Option<Secret>,
}

impl SecurityOptions {
    pub(super) fn check(&mut self, env: &Environment, faults: &mut Faults) {
        self.master_key = env.get(MASTER_KEY).map(Secret::new);
        if self.master_key.as_ref().is_some_and(|key| MasterKey::parse(key.expose(), MASTER_KEY).is_err()) {
            let remedy = "set 32 bytes as 64 hex digits or as base64, as `openssl rand -base64 32` prints";
            faults.add(Fault::variable(MASTER_KEY, "is not a key", remedy));
        }
        self.admin_key = env.get(ADMIN_KEY).map(Secret::new);
        if let Some(fault) = self.admin_key.as_ref().and_then(|key| ApiKey::fault_of(key.expose())) {
            let remedy = "set kyb_ and at least 28 letters or digits, or unset it to have one made";
            faults.add(Fault::variable(ADMIN_KEY, &fault, remedy));
        }
    }
}
