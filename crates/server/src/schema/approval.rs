//! Approvals.

use kybern_core::approval::ApprovalStatus;
use kybern_core::tool::Risk;
use serde_json::Value;
use utoipa::ToSchema;

use super::words::ApprovalKindSchema;
/// A question to a person.
#[derive(ToSchema)]
#[schema(as = Approval, rename_all = "camelCase")]
pub struct ApprovalSchema {
    /// Its id.
    #[schema(format = "uuid")]
    pub id: String,
    /// What is asked.
    pub kind: ApprovalKindSchema,
    /// How it stands.
    pub status: ApprovalStatus,
    /// The task that waits.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// The step that waits.
    pub step_id: String,
    /// For whom the task works.
    #[schema(required, format = "uuid")]
    pub user_id: Option<String>,
    /// The address that sent the mail that the task is, while the question is open. Nobody has checked it.
    #[schema(required)]
    pub sender: Option<String>,
    /// The subject of that mail; of what came otherwise, how its text begins.
    #[schema(required)]
    pub subject: Option<String>,
    /// The tool that would be called.
    #[schema(required)]
    pub tool_name: Option<String>,
    /// The arguments, exactly as they would be used.
    #[schema(required)]
    pub input: Option<Value>,
    /// BLAKE3 of their canonical form.
    #[schema(required)]
    pub input_hash: Option<String>,
    /// Why it is asked.
    pub reason: String,
    /// What is asked, in one line; null once it is closed, as are `schema`, `details`, `risk` and `untrusted`.
    #[schema(required)]
    pub title: Option<String>,
    /// JSON Schema of an answer.
    #[schema(required)]
    pub schema: Option<Value>,
    /// What else is shown with it.
    #[schema(required)]
    pub details: Option<Value>,
    /// How much harm the call can do.
    #[schema(required)]
    pub risk: Option<Risk>,
    /// The arguments that come from mail, documents or the web.
    #[schema(required)]
    pub untrusted: Option<Vec<String>>,
    /// When it was asked.
    #[schema(format = "date-time")]
    pub created_at: String,
    /// When nobody can answer any more.
    #[schema(required, format = "date-time")]
    pub expires_at: Option<String>,
    /// When it was closed.
    #[schema(required, format = "date-time")]
    pub decided_at: Option<String>,
    /// Who closed it.
    #[schema(required)]
    pub decided_by: Option<String>,
    /// What they said about it.
    #[schema(required)]
    pub note: Option<String>,
    /// Whether they changed what was proposed: put other arguments in place of those of the call that was asked about.
    /// False for any other question, which is merely answered.
    pub edited: bool,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    pub unreadable: Option<String>,
}

page! {
    /// A page of approvals.
    pub ApprovalPage of ApprovalSchema: "The approvals."
}
