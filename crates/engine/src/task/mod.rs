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

use kybern_core::ports::{DocumentReader, Keys, MailParser};

use self::reading::ReadingTurns;
use crate::executor::Kernel;
use crate::plans::manage::Plans;
use crate::tools::documents::DocumentTexts;
use crate::tools::{ToolCatalogue, ToolService};

pub use crate::executor::rewalk::ReplayReport;
pub use crate::executor::view::{TaskList, TaskView};
pub use follow::TaskNews;
pub use fork::Fork;
pub use repeats::{Repeat, RepeatKind};
pub use request::{AttachmentRequest, CallbackRequest, ReviewRequest, SubmitRequest};
pub use steer::CallbackProof;
pub(crate) use submit::{Incoming, SubmittedFile};

/// The tasks of tenants: submitted, looked at, followed, steered, replayed and forked.
#[derive(Clone)]
pub struct Tasks {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) services: Arc<TaskServices>,
}

/// What the tasks of tenants need above the kernel.
pub(crate) struct TaskServices {
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) mail_parser: Arc<dyn MailParser>,
    pub(crate) documents: Arc<dyn DocumentReader>,
    pub(crate) texts: DocumentTexts,
    pub(crate) tools: Arc<ToolService>,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) plans: Plans,
    pub(crate) reading: ReadingTurns,
    /// Whose turn it is to have a page drawn.
    pub(crate) drawing: ReadingTurns,
}
