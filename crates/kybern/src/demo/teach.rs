//! A correction that teaches: a message that nobody could place is answered by a person, what that teaches is accepted,
//! and the next message of its kind passes without a question.

use anyhow::Context as _;
use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::id::TaskId;
use kybern_core::lesson::{Lesson, LessonAct, LessonFilter, LessonStatus, Teaching};
use kybern_core::task::WaitKind;
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::task::{ReviewRequest, TaskView};
use serde_json::json;

use super::{PATIENCE, actor, follow, verdict};
use crate::output::Screen;

/// In the words of a house that no rule knows.
const FIRST: &[u8] = include_bytes!("../../../../samples/lessons/walk-in.eml");
const NEXT: &[u8] = include_bytes!("../../../../samples/lessons/walk-in-again.eml");
/// What the person says that it wants.
const INTENT: &str = "insurance.new_lead";
/// How often is looked whether there is a suggestion.
const LOOK: Millis = Millis(50);

/// Shows it; whether the next message passed.
pub(super) async fn show(engine: &Engine, screen: &mut Screen) -> anyhow::Result<bool> {
    let (paint, person) = (screen.paint(), actor(engine));
    screen.line(paint.bold("A correction that teaches"));
    let first = hand_in(engine, screen, "walk-in.eml", FIRST).await?;
    if !asks_for_intent(&first) {
        screen.line("  the rules know this kind by themselves: there is nothing to learn");
        return Ok(true);
    }
    screen.line(format!("  {} a person answers: {INTENT}", paint.good("→")));
    let corrections = json!({"intent": INTENT}).as_object().cloned().unwrap_or_default();
    let request = ReviewRequest { corrections, ..ReviewRequest::default() };
    engine.tasks().review(&person, first.id, request).await?;
    let answered = engine.tasks().wait_for(&person, first.id, PATIENCE).await?;
    screen.line(format!("  {}", verdict(&answered, paint)));
    let Some(lesson) = suggestion(engine, &person, first.id).await? else {
        screen.line(paint.bad("  nothing was suggested"));
        return Ok(false);
    };
    if let Teaching::IntentExample { text, .. } = &lesson.teaching {
        screen.line(format!("  {} suggested: messages like {text:?} want that", paint.good("→")));
    }
    let preview = engine.lessons().preview(&person, lesson.id).await?;
    let (changed, mails) = (preview.changed.len(), preview.mails);
    screen.line(format!("    it changes {changed} of the last {mails} mails"));
    let accepted = engine.lessons().act(&person, lesson.id, LessonAct::Accept).await?;
    let version = accepted.since_version.unwrap_or_default();
    screen.line(format!("  {} accepted: version {version} of what this organisation knows", paint.good("→")));
    let next = hand_in(engine, screen, "walk-in-again.eml", NEXT).await?;
    Ok(!asks_for_intent(&next) && next.detected_intent.as_deref() == Some(INTENT))
}

async fn hand_in(engine: &Engine, screen: &mut Screen, name: &str, bytes: &'static [u8]) -> anyhow::Result<TaskView> {
    let (paint, actor) = (screen.paint(), actor(engine));
    screen.line(paint.bold(name));
    let received = engine.intake().receive_email(&actor, Bytes::from_static(bytes), None).await;
    let id = received.with_context(|| name.to_owned())?.task_id;
    follow(engine, &actor, id, screen).await?;
    let task = engine.tasks().wait_for(&actor, id, PATIENCE).await?;
    screen.line(format!("  {}", verdict(&task, paint)));
    Ok(task)
}

fn asks_for_intent(task: &TaskView) -> bool {
    task.waits.iter().any(|wait| wait.kind == WaitKind::Intent)
}

/// What the answer taught, once that has been found out.
async fn suggestion(engine: &Engine, person: &Actor, task: TaskId) -> anyhow::Result<Option<Lesson>> {
    let filter = LessonFilter { status: Some(LessonStatus::Suggested), kind: None };
    let began = engine.clock().now();
    while engine.clock().now().since(began) < PATIENCE {
        let found = engine.lessons().list(person.scope(), filter, None, 50).await?.items;
        if let Some(lesson) = found.into_iter().find(|lesson| lesson.source.task_id == Some(task)) {
            return Ok(Some(lesson));
        }
        // Running out of time is the pause.
        drop(tokio::time::timeout(LOOK.as_duration(), std::future::pending::<()>()).await);
    }
    Ok(None)
}
