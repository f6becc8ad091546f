//! A world for tools in tests, and tests of all packs together.

mod extractor;
mod guide;
mod helpdesk;
mod listing;
mod packs;
mod plans;
mod records;
mod templates;
mod walk;
mod world;

pub(crate) use listing::listing;
pub(crate) use world::World;

/// The tool that records insurers, for packs that only know its records.
pub(crate) fn insurer_tool() -> std::sync::Arc<dyn kybern_core::ports::Tool> {
    std::sync::Arc::clone(packs::registry().registered_tool("resolve_insurer").unwrap())
}
