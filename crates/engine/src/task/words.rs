//! What the files of a task say, as text.

use kybern_core::actor::Actor;
use kybern_core::document::FaultKind;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::TaskId;
use kybern_core::task::AttachmentSource;

use super::Tasks;

impl Tasks {
    /// The text of an attachment as the task has it: as a person typed or confirmed it, else as it was read. Pages are
    /// parted by a line with their numbers; a mail itself gives the task's own text.
    ///
    /// # Errors
    /// `NOT_FOUND`; `UNPROCESSABLE` when it cannot be read, `UNAVAILABLE` when there is too much to do.
    pub async fn attachment_text(&self, actor: &Actor, id: TaskId, n: u32) -> Result<String> {
        let attachments = self.attachments(actor, id).await?;
        let found = attachments.into_iter().find(|attachment| attachment.n == n);
        let attachment = found.ok_or_else(|| Error::not_found("attachment", n))?;
        let task = self.task_for(actor, id).await?;
        if attachment.source == AttachmentSource::Original {
            return Ok(task.input);
        }
        let _turn = self.drawing_turn(actor.tenant()).await?;
        let walk = self.walk_of(actor.scope(), &task).await?;
        let read = self.documents_of(actor.scope(), &task, &walk).read(&attachment).await?;
        let text = read.map_err(|fault| {
            let code = if fault.kind == FaultKind::Busy { ErrorCode::Unavailable } else { ErrorCode::Unprocessable };
            Error::new(code, format!("{} cannot be read ({fault})", attachment.filename))
        })?;
        let alone = text.pages.len() == 1;
        let page = |page: &kybern_core::document::PageText| match alone {
            true => page.text.clone(),
            false => format!("--- page {} ---\n{}", page.number, page.text),
        };
        Ok(text.pages.iter().map(page).collect::<Vec<_>>().join("\n\n"))
    }
}
