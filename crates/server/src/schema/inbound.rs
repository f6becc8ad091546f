//! What arrives from outside.

use utoipa::ToSchema;

/// What became of something that arrived.
#[derive(ToSchema)]
#[schema(as = Received, rename_all = "camelCase")]
pub struct ReceivedSchema {
    /// The task.
    #[schema(format = "uuid")]
    pub task_id: String,
    /// Whether it had arrived before.
    pub duplicate: bool,
}

/// An SMS as gateways send it. Further fields are kept.
#[derive(ToSchema)]
#[schema(rename_all = "PascalCase", example = json!({"From": "+15550100", "To": "+15550199",
    "Body": "Need a certificate for tomorrow", "MessageSid": "SM0001"}))]
pub struct SmsForm {
    /// The sender's number.
    #[schema(max_length = 10_000, pattern = "\\S")]
    pub from: String,
    /// The number it was sent to.
    #[schema(max_length = 10_000, pattern = "\\S")]
    pub to: String,
    /// The text.
    #[schema(max_length = 10_000, pattern = "\\S")]
    pub body: String,
    /// The gateway's id of the message.
    #[schema(max_length = 10_000, pattern = "\\S")]
    pub message_sid: String,
}
