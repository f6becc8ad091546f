//! What can be asked of tasks: submitted, looked at, steered, replayed.

mod files;
pub mod fork;
mod hold;
mod nul;
pub mod read;
pub(crate) mod reading;
pub mod repeats;
pub mod replay;
pub mod request;
pub mod steer;
pub mod submit;
pub mod view;
mod words;

pub use fork::Fork;
pub use repeats::{Repeat, RepeatKind};
pub use replay::ReplayReport;
pub use request::{AttachmentRequest, CallbackRequest, ReviewRequest, SubmitRequest};
pub use steer::CallbackProof;
pub(crate) use submit::{Incoming, Part};
pub use view::{TaskList, TaskView};
