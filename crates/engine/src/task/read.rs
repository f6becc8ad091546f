//! Looking at tasks. Whoever sees or steers one by its id comes through [`Tasks::task_for`], which says whether they
//! may.

use std::sync::Arc;

use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::document::{FaultKind, PageImageRequest, PagePicture};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::event::{self, LogEntry};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::TaskFilter;
use kybern_core::record::StoredLink;
use kybern_core::task::{Attachment, JournalRow, Task, TaskStatus};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use tokio::sync::oneshot;

use super::Tasks;
use super::reading::Turn;
use crate::executor::Phase;
use crate::executor::view::{TaskList, TaskView};
use crate::executor::walk::Walk;
use crate::tools::documents::{TaskDocuments, decided};

/// How often a task is looked at when another process works on it.
const POLL: Millis = Millis(250);
/// Pages that are drawn at the same time, and those of one tenant. Each holds its file.
pub(crate) const DRAWN: usize = 4;
pub(crate) const DRAWN_OF_TENANT: usize = 2;
/// How long the picture of a page waits to be drawn.
const DRAWING_WAIT: Millis = Millis(60_000);

impl Tasks {
    /// A task with its state and its plan as it is walked.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        let task = self.just_made(actor, id).await?;
        self.with_hold(actor.scope(), task).await
    }

    async fn with_hold(&self, scope: TenantScope, task: TaskView) -> Result<TaskView> {
        let hold = self.kernel.store.task_hold(scope, task.id).await?;
        Ok(TaskView { hold, ..task })
    }

    /// The same of one that was made just now, and so is not on hold.
    pub(super) async fn just_made(&self, actor: &Actor, id: TaskId) -> Result<TaskView> {
        let _turn = self.services.reading.turn(actor.tenant()).await;
        let task = self.task_for(actor, id).await?;
        let (task, walk) = self.as_far_as_read(actor.scope(), task).await?;
        Ok(TaskView::new(task, walk.as_ref()))
    }

    /// A task as soon as it ends, waits for a person, `at_most` has passed, or the engine stops.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn wait_for(&self, actor: &Actor, id: TaskId, at_most: Millis) -> Result<TaskView> {
        let watch = self.kernel.watchers.watch(id);
        let began = self.kernel.clock.now();
        loop {
            let news = watch.rest();
            tokio::pin!(news);
            news.as_mut().enable();
            let task = self.task_for(actor, id).await?;
            let waited = self.kernel.clock.now().since(began);
            let may_rest = task.status.is_terminal() || task.status == TaskStatus::NeedsReview;
            let is_over = waited >= at_most || self.kernel.stopping.is_cancelled();
            if may_rest || task.paused_at.is_some() || is_over {
                let _turn = self.services.reading.turn(actor.tenant()).await;
                let (task, walk) = self.as_far_as_read(actor.scope(), task).await?;
                if is_over || !has_news(&task, walk.as_ref()) {
                    return self.with_hold(actor.scope(), TaskView::new(task, walk.as_ref())).await;
                }
            }
            let left = Millis(at_most.0 - waited.0).min(POLL);
            // The time being up, and a stop, are the same as news: look again.
            let _ = tokio::time::timeout(left.as_duration(), self.kernel.stopping.run_until_cancelled(news)).await;
        }
    }

    /// The same for whoever has just submitted the task, to be worked on here: its run says how it stands when it
    /// first comes to rest, and nobody has to read it.
    pub(crate) async fn first_rest(
        &self,
        actor: &Actor,
        id: TaskId,
        at_most: Millis,
        view: oneshot::Receiver<TaskView>,
    ) -> Result<TaskView> {
        let began = self.kernel.clock.now();
        let resting = self.kernel.stopping.run_until_cancelled(view);
        match tokio::time::timeout(at_most.min(POLL).as_duration(), resting).await {
            Ok(Some(Ok(view))) => Ok(view),
            _other => {
                let waited = self.kernel.clock.now().since(began);
                Box::pin(self.wait_for(actor, id, Millis(at_most.0.saturating_sub(waited.0)))).await
            }
        }
    }

    /// A task as soon as what was last left for it has been taken in, at most `at_most` later.
    pub(crate) async fn after_news(&self, scope: TenantScope, id: TaskId, at_most: Millis) -> Result<TaskView> {
        let watch = self.kernel.watchers.watch(id);
        let began = self.kernel.clock.now();
        loop {
            let news = watch.next();
            tokio::pin!(news);
            news.as_mut().enable();
            let waited = {
                let _turn = self.services.reading.turn(scope.tenant()).await;
                let task = self.row(scope, id).await?;
                let (task, walk) = self.as_far_as_read(scope, task).await?;
                let waited = self.kernel.clock.now().since(began);
                let is_over = waited >= at_most || self.kernel.stopping.is_cancelled();
                if is_over || task.paused_at.is_some() || !has_news(&task, walk.as_ref()) {
                    return self.with_hold(scope, TaskView::new(task, walk.as_ref())).await;
                }
                waited
            };
            let left = Millis(at_most.0 - waited.0).min(POLL);
            let _ = tokio::time::timeout(left.as_duration(), self.kernel.stopping.run_until_cancelled(news)).await;
        }
    }

    /// A page of the tasks that the actor may see, newest first, without state and plan. The filter's `talks_of` is the
    /// actor's, whatever it says.
    pub async fn list(&self, actor: &Actor, filter: TaskFilter) -> Result<TaskList> {
        let filter = TaskFilter { talks_of: actor.sees_talks_of(), ..filter };
        let page = self.kernel.store.tasks(actor.scope(), &filter).await?;
        let items = page.items.into_iter().map(|task| TaskView::new(task, None)).collect();
        Ok(TaskList { items, next_cursor: page.next })
    }

    /// Log entries after `after`, at most about `limit`, and where the next page begins.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn log(&self, actor: &Actor, id: TaskId, after: i64, limit: u32) -> Result<(Vec<LogEntry>, Option<i64>)> {
        let task = self.task_for(actor, id).await?;
        let limit = limit.clamp(1, 1_000);
        // A row stands for at least one entry, and all of the first may have been seen: this many rows are enough to
        // know whether there is more.
        let rows = self.kernel.store.journal(actor.scope(), id, event::row_before(after).max(0), limit + 2).await?;
        let mut entries = Vec::new();
        if after < 0 {
            entries.push(event::created(&task));
        }
        entries.extend(rows.iter().flat_map(event::expand).filter(|entry| entry.seq > after));
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = entries.len() > most;
        entries.truncate(most);
        let next = if more { entries.last().map(|entry| entry.seq) } else { None };
        Ok((entries, next))
    }

    /// A task's links to records.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn artifacts(&self, actor: &Actor, id: TaskId) -> Result<Vec<StoredLink>> {
        self.task_for(actor, id).await?;
        self.kernel.store.artifacts(actor.scope(), id).await
    }

    /// What came with a task.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn attachments(&self, actor: &Actor, id: TaskId) -> Result<Vec<Attachment>> {
        self.task_for(actor, id).await?;
        self.kernel.store.attachments(actor.scope(), id).await
    }

    /// The original of an attachment.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn attachment(&self, actor: &Actor, id: TaskId, n: u32) -> Result<(Attachment, Bytes)> {
        let attachments = self.attachments(actor, id).await?;
        let found = attachments.into_iter().find(|attachment| attachment.n == n);
        let attachment = found.ok_or_else(|| Error::not_found("attachment", n))?;
        let _turn = self.services.reading.turn(actor.tenant()).await;
        let bytes = self.kernel.store.blob(actor.scope(), &attachment.hash).await?.ok_or_else(|| {
            Error::new(ErrorCode::Internal, format!("the bytes of attachment {n} are missing or damaged"))
        })?;
        Ok((attachment, bytes))
    }

    /// The picture of a page of an attachment that is read from its picture.
    ///
    /// # Errors
    /// `NOT_FOUND`, also for a page that is no picture; `UNPROCESSABLE` when it cannot be made, `UNAVAILABLE` when there
    /// is too much to do.
    pub async fn page_picture(&self, actor: &Actor, id: TaskId, n: u32, page: u32) -> Result<PagePicture> {
        // A file is only in memory while its page is drawn: whoever waits for a turn holds nothing.
        let _turn = self.drawing_turn(actor.tenant()).await?;
        let (attachment, bytes) = self.attachment(actor, id, n).await?;
        let reader = &self.services.documents;
        let (name, kind) = (&attachment.filename, &attachment.content_type);
        let view = PageImageRequest { page, longest: None };
        reader.picture(actor.tenant(), name, kind, bytes, view).await.map_err(|fault| match fault.kind {
            FaultKind::Empty => Error::not_found("picture of page", page),
            FaultKind::Busy => Error::new(ErrorCode::Unavailable, fault.to_string()),
            FaultKind::Scan
            | FaultKind::Encrypted
            | FaultKind::Unsupported
            | FaultKind::Broken
            | FaultKind::TooLarge => Error::new(ErrorCode::Unprocessable, fault.to_string()),
        })
    }

    /// A turn to read a file or to draw a page of one.
    pub(super) async fn drawing_turn(&self, tenant: TenantId) -> Result<Turn> {
        let turn = tokio::time::timeout(DRAWING_WAIT.as_duration(), self.services.drawing.turn(tenant)).await;
        turn.map_err(|_elapsed| {
            let message = "too many pages of this organisation are being drawn: ask again when some have ended";
            Error::new(ErrorCode::Unavailable, message)
        })
    }

    /// The row of a task that the actor may see. Somebody else's conversation is not found, like another tenant's task.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub(crate) async fn task_for(&self, actor: &Actor, id: TaskId) -> Result<Task> {
        let task = self.row(actor.scope(), id).await?;
        if task.is_visible_to(actor) { Ok(task) } else { Err(Error::not_found("task", id)) }
    }

    /// A task's row, whoever asks: for what needs no caller.
    pub(crate) async fn row(&self, scope: TenantScope, id: TaskId) -> Result<Task> {
        self.kernel.store.task(scope, id).await?.ok_or_else(|| Error::not_found("task", id))
    }

    /// A task with what its journal says, to be shown. Where its plan cannot be read, the task says so and there is no
    /// walk: steps and state are left empty.
    async fn as_far_as_read(&self, scope: TenantScope, mut task: Task) -> Result<(Task, Option<Walk>)> {
        match self.walk_of(scope, &task).await {
            Ok(walk) => Ok((task, Some(walk))),
            Err(error) if error.code() == ErrorCode::Unprocessable => {
                task.unreadable.get_or_insert_with(|| error.to_string());
                Ok((task, None))
            }
            Err(error) => Err(error),
        }
    }

    /// What a task's journal says.
    pub(crate) async fn walk_of(&self, scope: TenantScope, task: &Task) -> Result<Walk> {
        let mut walk = Walk::new(self.kernel.plan_of(scope, task).await?);
        let apply = |row: JournalRow| {
            walk.apply(&row);
            Ok(())
        };
        self.kernel.each_row(scope, task.id, apply).await?;
        Ok(walk)
    }

    /// Every row of a task's journal.
    pub(crate) async fn whole_journal(&self, scope: TenantScope, task: TaskId) -> Result<Vec<JournalRow>> {
        let mut rows = Vec::new();
        let push = |row| {
            rows.push(row);
            Ok(())
        };
        self.kernel.each_row(scope, task, push).await?;
        Ok(rows)
    }

    /// The documents of a task that was read before, with what was decided about them then.
    pub(crate) fn documents_of(&self, scope: TenantScope, task: &Task, walk: &Walk) -> TaskDocuments {
        let outcome = walk.phase(Phase::Extraction).and_then(|phase| phase.outcome.as_ref());
        TaskDocuments {
            store: Arc::clone(&self.kernel.store),
            reader: Arc::clone(&self.services.documents),
            parser: Arc::clone(&self.services.mail_parser),
            texts: self.services.texts.clone(),
            scope,
            task: task.id,
            decisions: outcome.map(|outcome| decided(&outcome.data)).unwrap_or_default(),
        }
    }
}

/// Whether something was left for a task that its next holder has not taken in: an answer, a wish to cancel.
fn has_news(task: &Task, walk: Option<&Walk>) -> bool {
    let is_unseen = |walk: &Walk| task.signals > walk.signals_seen() || task.cancel_requested;
    !task.status.is_terminal() && walk.is_some_and(is_unseen)
}
