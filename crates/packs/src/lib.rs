//! Packs: what each domain brings. A pack depends on the core and on the files beside this one, and on no other pack:
//! packs share objects by record kind and key only.
//!
//! | module | brings |
//! |---|---|
//! | [`assistant`] | the agents that everybody has, and groups of tools |
//! | [`global`] | messages as fields, documents as fields, telling an agent, handing over to a person |
//! | [`network`] | companies, with their identifiers |
//! | [`insurance`] | deals, policies, loss-run requests, and the plans that make them |
//! | [`fleet`], [`freight`] | intents with plans that read what came in and end with a person |
//! | [`helpdesk`] | tickets, from a message to its reply; where the settings name it |
//!
//! How to add one of these is in `docs/adding-a-pack.md`, `docs/adding-a-tool.md` and `docs/adding-a-plan.md`. A tool
//! is a deterministic function of its context and its arguments; it returns what is to be written and never writes.

mod args;
pub mod assistant;
mod bundled_plan;
mod change;
mod company;
mod company_names;
mod contact;
mod contact_fields;
mod coverage;
mod driver_fields;
mod field;
pub mod fleet;
pub mod freight;
pub mod global;
pub mod helpdesk;
pub mod insurance;
pub mod intent_words;
mod introduced;
mod named;
mod names;
pub mod network;
mod papers;
mod pattern;
mod reading;
mod review;
mod vehicle_fields;
mod writer;

// A folder beside the packs would be one, so the world in which tools are tested lies with the tests.
#[cfg(test)]
#[path = "../tests/world/mod.rs"]
mod tests;
