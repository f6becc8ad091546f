//! Tools: dumb executors. They get validated arguments and a narrow context, do one thing, and return what is to be
//! written. They never decide on permissions, never call another tool, and never write.

pub mod behalf;
pub mod failure;
pub mod outcome;
pub mod own;
pub mod price;
pub mod setting;
pub mod spec;
pub mod write;

pub use behalf::Behalf;
pub use failure::ToolFailure;
pub use outcome::{Injected, RecordChange, Review, ToolOutcome, WaitUntil};
pub use own::{OwnDefinition, OwnTool, OwnToolAct, OwnToolStatus};
pub use price::{PriceUnit, ToolPrice, UnitPrice};
pub use setting::{ToolRateLimits, ToolSetting};
pub use spec::{Risk, ToolNeeds, ToolReach, ToolSpec};
pub use write::{Submit, Write};
