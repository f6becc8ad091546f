//! The packs that this binary brings. Adding one is one line here.

use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

/// Every tool, plan, agent, record kind and extraction schema of every pack, and the local tools.
///
/// # Errors
/// When two packs use the same key.
pub(crate) fn registry() -> Result<PackRegistry, DuplicateKey> {
    let mut registry = PackRegistry::default();
    register(&mut registry)?;
    Ok(registry)
}

/// Registers the same in a registry that is there.
///
/// # Errors
/// The same.
pub(crate) fn register(registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
    let packs: [&dyn Pack; 6] = [
        &kybern_packs::assistant::AssistantPack,
        &kybern_packs::network::NetworkPack,
        &kybern_packs::insurance::InsurancePack,
        &kybern_packs::fleet::FleetPack,
        &kybern_packs::freight::FreightPack,
        // Last: its generic extraction offers what the others have registered.
        &kybern_packs::global::GlobalPack,
    ];
    for pack in packs {
        pack.register(registry)?;
    }
    // They belong to no domain and know none.
    kybern_adapters::tools::local::register(registry)
}
