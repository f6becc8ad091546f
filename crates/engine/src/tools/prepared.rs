//! A call that has passed the door's checks, and what the door found out about it.

use std::sync::Arc;

use kybern_core::budget::RateRule;
use kybern_core::money::NanoUsd;
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_core::tool::{ToolNeeds, ToolPrice, ToolReach, ToolSpec};
use serde_json::{Map, Value};

use super::catalogue::CallableTool;
use crate::executor::hash_args;

/// Why a call needs a person's yes, before any look at where its arguments come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asks {
    /// Its risk, by the autonomy of the user.
    Risk,
    /// The tenant says so of this tool.
    Setting,
    /// The tenant wants two persons to stand for each call of this tool.
    FourEyes,
}

/// A call that may be made.
#[derive(Clone)]
pub struct PreparedCall {
    /// The definition that is called.
    pub definition: Arc<CallableTool>,
    /// The arguments.
    pub args: Map<String, Value>,
    /// What happens if the process dies during the call.
    pub effect: EffectClass,
    /// How far it reaches.
    pub reach: ToolReach,
    /// Why it needs a yes; `None` when it does not.
    pub asks: Option<Asks>,
    /// What it costs; `None` for nothing.
    pub price: Option<ToolPrice>,
    /// The rates under which it counts.
    pub rates: Vec<RateRule>,
    /// The hosts that it may reach; `None` for every one that egress allows.
    pub hosts: Option<Arc<[String]>>,
}

impl PreparedCall {
    /// The tool's own words about itself.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        self.definition.spec()
    }

    /// What this call needs.
    #[must_use]
    pub fn needs(&self) -> ToolNeeds {
        self.definition.tool().needs_of(&self.args)
    }

    /// Whether it could take the process down.
    #[must_use]
    pub fn computes(&self) -> bool {
        self.definition.tool().computes(&self.args)
    }

    /// The most that a call can cost that may take that long.
    #[must_use]
    pub fn most(&self, timeout: Millis) -> NanoUsd {
        self.price.as_ref().map_or(NanoUsd(0), |price| price.cost(&self.args, timeout))
    }

    /// Whether a call must ask the ledger, or the rates, before it begins.
    #[must_use]
    pub fn is_metered(&self) -> bool {
        !self.rates.is_empty() || self.price.as_ref().is_some_and(|price| !price.is_free())
    }

    /// BLAKE3 of the arguments' canonical form, in hex.
    #[must_use]
    pub fn args_hash(&self) -> String {
        hash_args(&self.args)
    }
}
