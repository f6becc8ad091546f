//! The packs that this binary brings. Adding one is one line here.

use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};

/// The domains that a server can work in.
pub(crate) const DOMAINS: &[&str] = &["insurance", "fleet", "freight", "helpdesk"];

/// Those that it works in where the settings name none. Another one is added by its user: the words of its intents would
/// be weighed against everybody's.
pub(crate) const USUAL: &[&str] = &["insurance", "fleet", "freight"];

/// Every tool, plan, agent, record kind and extraction schema of these domains and of the packs that belong to none, and
/// the local tools.
///
/// # Errors
/// When two packs use the same key.
pub(crate) fn registry<T: AsRef<str>>(domains: &[T]) -> Result<PackRegistry, DuplicateKey> {
    let mut registry = PackRegistry::default();
    register(&mut registry, domains)?;
    Ok(registry)
}

/// Registers the same in a registry that is there.
///
/// # Errors
/// The same.
pub(crate) fn register<T: AsRef<str>>(registry: &mut PackRegistry, domains: &[T]) -> Result<(), DuplicateKey> {
    let packs: [&dyn Pack; 7] = [
        &kybern_packs::assistant::AssistantPack,
        &kybern_packs::network::NetworkPack,
        &kybern_packs::insurance::InsurancePack,
        &kybern_packs::fleet::FleetPack,
        &kybern_packs::freight::FreightPack,
        &kybern_packs::helpdesk::HelpdeskPack,
        // Last: its generic extraction offers what the others have registered.
        &kybern_packs::global::GlobalPack,
    ];
    let is_on = |pack: &&dyn Pack| {
        let is_domain = DOMAINS.contains(&pack.name());
        !is_domain || domains.iter().any(|domain| domain.as_ref() == pack.name())
    };
    for pack in packs.into_iter().filter(is_on) {
        pack.register(registry)?;
    }
    // They belong to no domain and know none.
    kybern_adapters::tools::local::register(registry)
}
