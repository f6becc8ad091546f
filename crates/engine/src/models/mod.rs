//! Language models: the one way to them.
//!
//! A call is routed to a model that can do it, its largest cost is reserved, it is made, and it is settled to what it
//! took. When it fails it is made again, or by the next model, as far as that is safe: never after a piece of the
//! reply has been passed on, never beyond the process's budget of tries. Whoever asks gets the reply with what it cost, and
//! which calls it took.

mod call;
mod chosen;
mod decision;
mod desk;
pub(crate) mod embedding;
pub(crate) mod estimate;
mod listing;
mod policy;
pub(crate) mod prompt;
mod registry;
mod retry;
mod route;
mod run;
mod service;
mod stream;
mod tokens;

pub(crate) use chosen::{ChosenCall, ReservedCall};
pub(crate) use decision::{handler as decisions, judge, said};
pub(crate) use desk::{Requester, StepModels, failed as desk_failure, still_held, usage as desk_usage};
pub(crate) use policy::Policies;
pub(crate) use registry::ModelRegistry;
pub(crate) use retry::RetryBudget;
pub(crate) use service::{ProviderHealth, ServiceParts};

pub use call::{AnsweredCall, Ask, CallContext, Try};
pub use registry::ProviderParts;
pub use route::Route;
pub use service::{ModelParts, ModelService, ModelSettings, ModelView};
pub use stream::Streaming;
