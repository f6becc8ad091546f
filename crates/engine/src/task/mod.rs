//! What can be asked of tasks: submitted, looked at, steered, replayed.

mod files;
mod follow;
pub mod fork;
mod four_eyes;
mod hold;
mod nul;
pub mod read;
pub(crate) mod reading;
pub mod repeats;
pub mod replay;
pub mod request;
pub mod steer;
pub mod submit;
mod words;

use std::sync::Arc;

use crate::parts::Inner;

pub use crate::executor::rewalk::ReplayReport;
pub use crate::executor::view::{TaskList, TaskView};
pub use follow::Followed;
pub use fork::Fork;
pub use repeats::{Repeat, RepeatKind};
pub use request::{AttachmentRequest, CallbackRequest, ReviewRequest, SubmitRequest};
pub use steer::CallbackProof;
pub(crate) use submit::{Incoming, Part};

/// The tasks of tenants: submitted, looked at, followed, steered, replayed and forked.
#[derive(Clone)]
pub struct Tasks {
    pub(crate) inner: Arc<Inner>,
}
