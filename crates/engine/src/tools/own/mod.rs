//! Own tools: what a tenant makes itself, and how it comes into use.

mod call;
pub(crate) mod check;
mod manage;
pub(crate) mod source;

pub use manage::OwnTools;

use std::sync::Arc;

use kybern_core::error::Detail;
use kybern_core::ports::Tool;
use kybern_core::tool::OwnDefinition;

/// The tool that a definition makes, for whoever needs it without storing the definition.
///
/// # Errors
/// Everything that is wrong with the definition.
pub fn own_tool(definition: OwnDefinition) -> Result<Arc<dyn Tool>, Vec<Detail>> {
    let faults = check::faults(&definition);
    if faults.is_empty() { Ok(Arc::new(call::OwnHttpTool::new(definition))) } else { Err(faults) }
}
