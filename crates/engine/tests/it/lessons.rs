//! What a tenant has learned, as the calls of one task read with it.

use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use kybern_core::audit::AuditEvent;
use kybern_core::document::{DocumentFormat, DocumentText};
use kybern_core::error::{ErrorCode, Result};
use kybern_core::id::{LessonId, TaskId};
use kybern_core::lesson::{
    Lesson, LessonAct, LessonChange, LessonFilter, LessonSource, LessonStatus, MAX_KEPT, Teaching,
};
use kybern_core::model::{
    DocumentAnalysis, ExtractedField, Extraction, ExtractionSchema, FieldPattern, FieldSource, FoundBy, ValueKind,
};
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};
use kybern_core::ports::{Extractor, LessonStore as _};
use kybern_core::task::{EffectClass, JournalEntry, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome};
use kybern_engine::task::{AttachmentRequest, SubmitRequest};
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, kinds, object};
use crate::turns::{ask, calls, helper, provider, says, scripted};
use crate::world::{World, plan, step};

fn schema() -> ExtractionSchema {
    let keeper = FieldPattern { respelled: true, ..FieldPattern::new("keeper", &[], ValueKind::Text) };
    ExtractionSchema { name: "houses".to_owned(), fields: [keeper].into(), ..ExtractionSchema::default() }
}

/// A pack with a schema of houses.
struct Houses;

impl Pack for Houses {
    fn name(&self) -> &'static str {
        "houses"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        registry.extraction("houses", schema())
    }
}

/// Rules that find nothing but the labels that the tenant has added.
struct OwnLabels;

/// The same, once they are slow, with two seconds for each paper.
#[derive(Default)]
struct SlowLabels(std::sync::atomic::AtomicBool);

#[async_trait]
impl Extractor for SlowLabels {
    async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        if self.0.load(std::sync::atomic::Ordering::SeqCst) {
            crate::outside::pause(Millis(2_000)).await;
        }
        Ok(DocumentAnalysis::default())
    }

    async fn extract(
        &self,
        number: u32,
        document: &DocumentText,
        analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        OwnLabels.extract(number, document, analysis, schema).await
    }
}

#[async_trait]
impl Extractor for OwnLabels {
    async fn analyse(&self, _document: &DocumentText, _schema: &Arc<ExtractionSchema>) -> Result<DocumentAnalysis> {
        Ok(DocumentAnalysis::default())
    }

    async fn extract(
        &self,
        number: u32,
        _document: &DocumentText,
        _analysis: &DocumentAnalysis,
        schema: &Arc<ExtractionSchema>,
    ) -> Result<Extraction> {
        let field = |label: &str| ExtractedField {
            name: "keeper".to_owned(),
            group: None,
            item: None,
            value: json!(label),
            confidence: 1.0,
            problem: None,
            found_by: FoundBy::Rules,
            rival: None,
            source: FieldSource { document: number, page: 1, ..FieldSource::default() },
        };
        let fields = schema.own_labels.iter().map(|own| field(&own.label)).collect();
        Ok(Extraction { fields, ..Extraction::default() })
    }
}

/// What a call does besides reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    /// Nothing.
    Reads,
    /// The first one fails once it has read, and is tried again a minute later.
    Fails,
    /// The first one never ends.
    Hangs,
}

/// Tells as `saw` with which labels it reads.
fn reader(first: First) -> Arc<ScriptedTool> {
    let begun = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let tool = ScriptedTool::pending("t.words", EffectClass::Read, move |context, _| {
        let is_first = !begun.swap(true, std::sync::atomic::Ordering::SeqCst);
        async move {
            let extractor = context.extractor()?;
            let paper = DocumentText { format: DocumentFormat::Text, pages: Vec::new() };
            let found = extractor.extract(0, &paper, &DocumentAnalysis::default(), &Arc::new(schema())).await?;
            let labels: Vec<Value> = found.fields.into_iter().map(|field| field.value).collect();
            match first {
                First::Fails if is_first => Err(ToolFailure::transient("not now")),
                First::Hangs if is_first => std::future::pending().await,
                First::Reads | First::Fails | First::Hangs => {
                    Ok(ToolOutcome::new(object(json!({"saw": labels})), "read"))
                }
            }
        }
        .boxed()
    });
    Arc::new(tool.with_spec(|spec| spec.needs = ToolNeeds { model: true, ..ToolNeeds::default() }))
}

fn world(tool: &Arc<ScriptedTool>) -> World {
    World::on_sqlite([tool.clone()]).bringing(Houses).reading(Arc::new(OwnLabels))
}

/// The tenant learns another label.
async fn learn(live: &Live<'_>, label: &str) {
    let teaching = Teaching::Label {
        schema: "houses".to_owned(),
        field: "keeper".to_owned(),
        label: label.to_owned(),
        value: None,
    };
    let lesson = live.engine.lessons().add(&live.world.actor, teaching).await.unwrap();
    live.engine.lessons().act(&live.world.actor, lesson.id, LessonAct::Accept).await.unwrap();
}

fn words(id: &str) -> Value {
    let retry = json!({"maxAttempts": 3, "initialDelayMs": 60_000, "maxDelayMs": 60_000, "backoffMultiplier": 1});
    json!({"id": id, "tool": "t.words", "args": {}, "saveAs": id, "retry": retry, "timeoutMs": 600_000})
}

fn pause() -> Value {
    json!({"id": "pause", "kind": "input", "title": "Go on?", "fields": {}})
}

fn saw(world: &World, id: TaskId, step: &str) -> Value {
    world.outcome(id, step).data["saw"].clone()
}

/// How often the journal says with which lessons the task reads.
fn told(world: &World, id: TaskId) -> usize {
    world.journal(id).iter().filter(|row| row.step.as_ref().is_some_and(|step| step.as_str() == "_lessons")).count()
}

#[test]
fn words_mean_one_value() {
    let world = World::on_sqlite([]).bringing(Houses).reading(Arc::new(OwnLabels));
    world.run(async |live| {
        let actor = &live.world.actor;
        let spelled = |value: &str| Teaching::Spelling {
            schema: "houses".to_owned(),
            field: "keeper".to_owned(),
            label: "fern holow".to_owned(),
            value: value.to_owned(),
        };
        let one = live.engine.lessons().add(actor, spelled("Fern Hollow")).await.unwrap().id;
        let other = live.engine.lessons().add(actor, spelled("Fern Harrow")).await.unwrap().id;
        live.engine.lessons().act(actor, one, LessonAct::Accept).await.unwrap();
        let fault = live.engine.lessons().act(actor, other, LessonAct::Accept).await.unwrap_err();
        assert_eq!(fault.details()[0].path, "/label");
        assert!(fault.to_string().contains("Fern Hollow"), "{fault}");
        let fault = live.engine.lessons().add(actor, spelled("Fern Barrow")).await.unwrap_err();
        assert_eq!(fault.details()[0].path, "/label");
        live.engine.lessons().act(actor, one, LessonAct::Withdraw).await.unwrap();
        live.engine.lessons().act(actor, other, LessonAct::Accept).await.unwrap();
    });
}

#[test]
fn all_calls_of_a_task_read_with_the_lessons_of_the_first() {
    for knows in [false, true] {
        let first = if knows { json!(["warden"]) } else { json!([]) };
        let world = world(&reader(First::Reads));
        let id = world.run(async |live| {
            if knows {
                learn(&live, "warden").await;
            }
            let id = live.begin(plan(json!([words("one"), pause(), words("two"), words("three")])), json!({})).await;
            assert_eq!(live.rest(id).await.status, TaskStatus::NeedsReview);
            learn(&live, "porter").await;
            id
        });
        world.run(async |live| {
            live.review(id, None, json!({})).await.unwrap();
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
            for step in ["one", "two", "three"] {
                assert_eq!(saw(&world, id, step), first, "{knows} {step}");
            }
            assert_eq!(told(&world, id), 1);
            let next = live.submit("test.plan", json!({})).await.id;
            live.rest(next).await;
            let now = if knows { json!(["warden", "porter"]) } else { json!(["porter"]) };
            assert_eq!(saw(&world, next, "one"), now, "what comes later reads with what was learned meanwhile");
            // A fork goes on with what its beginning was read with.
            let fork = live.engine.tasks().fork(&world.actor, id, Some("two".to_owned())).await.unwrap().id;
            assert_eq!(live.proven(fork).await.status, TaskStatus::Completed);
            assert_eq!((saw(&world, fork, "two"), told(&world, fork)), (first, 1));
        });
    }
}

#[test]
fn a_call_that_is_made_again_reads_as_it_read_first() {
    for first in [First::Fails, First::Hangs] {
        for knows in [false, true] {
            let tool = reader(first);
            let world = world(&tool);
            let id = world.run(async |live| {
                if knows {
                    learn(&live, "warden").await;
                }
                let id = live.begin(plan(json!([words("one")])), json!({})).await;
                live.until(id, |_| tool.count() == 1).await;
                let failed = |world: &World| {
                    world.journal(id).iter().any(|row| matches!(row.entry, JournalEntry::Retrying { .. }))
                };
                live.until(id, |_| first == First::Hangs || failed(&world)).await;
                learn(&live, "porter").await;
                id
            });
            // The process has died, for `Hangs` in the midst of the call.
            world.run(async |live| assert_eq!(live.proven(id).await.status, TaskStatus::Completed));
            let labels = if knows { json!(["warden"]) } else { json!([]) };
            assert_eq!((saw(&world, id, "one"), tool.count(), told(&world, id)), (labels, 2, 1), "{first:?} {knows}");
        }
    }
}

#[test]
fn calls_that_the_plan_does_not_name_read_with_lessons_too() {
    let model = scripted(vec![calls(&[("t__words", json!({}))]), says("Read.")]);
    let world = world(&reader(First::Reads)).asking(provider(&model)).employing([helper(&["t.words"])]);
    world.run(async |live| {
        learn(&live, "warden").await;
        let injecting = step("a", "t.inject", json!({"steps": [{"id": "one", "tool": "t.words", "args": {}}]}));
        let injected = live.begin(plan(json!([injecting])), json!({})).await;
        assert_eq!(live.proven(injected).await.status, TaskStatus::Completed);
        assert_eq!((saw(&world, injected, "a__one"), told(&world, injected)), (json!(["warden"]), 1));
        let asked = live.begin(plan(ask()), json!({"what": "x"})).await;
        assert_eq!(live.proven(asked).await.status, TaskStatus::Completed);
        assert_eq!((saw(&world, asked, "help__0__ask__call_1"), told(&world, asked)), (json!(["warden"]), 1));
    });
}

#[test]
fn a_phase_that_asks_a_person_goes_on_with_the_lessons_that_it_asked_with() {
    let world = world(&reader(First::Reads));
    let id = world.run(async |live| {
        learn(&live, "warden").await;
        live.put(plan(json!([words("one")]))).await;
        let file = |name: &str| AttachmentRequest {
            filename: name.to_owned(),
            content_type: "text/plain".to_owned(),
            bytes: "x".to_owned().into(),
        };
        let attachments = vec![file("a.txt"), file("b.locked")];
        let plan_key = Some("test.plan".to_owned());
        let request = SubmitRequest { plan_key, attachments, ..SubmitRequest::text("go") };
        let id = live.try_submit(request).await.unwrap().id;
        assert_eq!(kinds(&live.rest(id).await), [WaitKind::Document]);
        learn(&live, "porter").await;
        id
    });
    world.run(async |live| {
        live.review(id, None, json!({"documents": {"2": {"ignore": true}}})).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!((saw(&world, id, "one"), told(&world, id)), (json!(["warden"]), 1));
    });
}

#[test]
fn a_task_that_reads_nothing_says_nothing_of_lessons() {
    let world = world(&reader(First::Reads));
    world.run(async |live| {
        learn(&live, "warden").await;
        let id = live.begin(plan(json!([step("a", "core.noop", json!({}))])), json!({})).await;
        live.proven(id).await;
        assert_eq!(told(&world, id), 0);
    });
}

#[test]
fn a_mail_of_many_papers_takes_no_more_of_a_preview_than_it_may() {
    let rules = Arc::new(SlowLabels::default());
    let world = World::on_sqlite([]).bringing(Houses).reading(rules.clone());
    world.run(async |live| {
        let actor = &live.world.actor;
        // The newest has forty papers, those before it none.
        for n in 0..7 {
            let files: serde_json::Map<String, Value> =
                (0..40).filter(|_| n == 6).map(|n| (format!("{n}.txt"), json!("a letter"))).collect();
            let letter = json!({"id": format!("{n}@example.com"), "subject": "A", "text": "hello", "files": files});
            let id = live.engine.intake().receive_email(actor, letter.to_string().into(), None).await.unwrap().task_id;
            live.rest(id).await;
        }
        let teaching = Teaching::Label {
            schema: "houses".to_owned(),
            field: "keeper".to_owned(),
            label: "warden".to_owned(),
            value: None,
        };
        let lesson = live.engine.lessons().add(actor, teaching).await.unwrap().id;
        rules.0.store(true, std::sync::atomic::Ordering::SeqCst);
        let began = live.now();
        let preview = live.engine.lessons().preview(actor, lesson).await.unwrap();
        // Five seconds for it, four for each of three others, and what was left was not enough for the next.
        assert_eq!(live.now().since(began), Millis(20_000));
        assert_eq!((preview.mails, preview.left_out, preview.changed.len()), (5, 2, 3));
        assert!(!preview.complete);
    });
}

/// What a tool has learned, when it is called for the second time if it `asks`, else for the first.
fn teacher(asks: bool) -> Arc<ScriptedTool> {
    let review = Review {
        reason: "which keeper?".to_owned(),
        title: None,
        schema: json!({"type": "object"}),
        details: Value::Null,
        answer_is_result: false,
    };
    let address = "Ada@example.com".to_owned();
    let lessons = vec![Teaching::Speaker { address, company: "Fern Hollow Mutual".to_owned() }];
    let learned = Ok(ToolOutcome { lessons, ..ToolOutcome::new(object(json!({})), "learned") });
    let asked = asks.then(|| Ok(ToolOutcome::ask(review)));
    Arc::new(ScriptedTool::answers("t.teaches", EffectClass::Local, asked.into_iter().chain([learned])))
}

#[test]
fn a_tool_teaches_what_a_person_has_answered_and_nothing_else() {
    for asks in [true, false] {
        let world = World::on_sqlite([teacher(asks)]);
        world.run(async |live| {
            let id = live.begin(plan(json!([step("a", "t.teaches", json!({}))])), json!({})).await;
            if asks {
                assert_eq!(kinds(&live.rest(id).await), [WaitKind::Review]);
                live.review(id, None, json!({"keeper": "Ada"})).await.unwrap();
            }
            assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
            let looked = || {
                let jobs = live.world.jobs_in_file().into_iter().filter(|job| job.0 == "lesson.suggest");
                jobs.map(|job| job.1).collect::<Vec<_>>() == ["done"]
            };
            live.find(async || looked().then_some(())).await;
            let scope = live.world.actor.scope();
            let lessons = live.engine.lessons().list(scope, LessonFilter::default(), None, 10).await.unwrap().items;
            let told: Vec<_> = lessons.iter().map(|lesson| (lesson.source.task_id, lesson.status)).collect();
            let expected = if asks { vec![(Some(id), LessonStatus::Suggested)] } else { Vec::new() };
            assert_eq!(told, expected);
            assert!(lessons.iter().all(|lesson| lesson.source.step_id.as_deref() == Some("a")));
        });
    }
}

#[test]
fn a_call_that_uses_lessons_has_those_with_which_its_task_began() {
    let looks = |key: &str, lessons: bool| {
        let tool = ScriptedTool::new(key, EffectClass::Read, |context, _| {
            Ok(ToolOutcome::new(object(json!({"saw": context.lessons.version()})), "looked"))
        });
        Arc::new(tool.with_spec(|spec| spec.needs = ToolNeeds { lessons, ..ToolNeeds::default() }))
    };
    let world = World::on_sqlite([looks("t.uses", true), looks("t.does_not", false)]).bringing(Houses);
    let uses = |id: &str, tool: &str| json!({"id": id, "tool": tool, "args": {}, "saveAs": id});
    let steps = json!([uses("one", "t.uses"), pause(), uses("two", "t.uses"), uses("three", "t.does_not")]);
    let id = world.run(async |live| {
        learn(&live, "warden").await;
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.rest(id).await.status, TaskStatus::NeedsReview);
        learn(&live, "porter").await;
        id
    });
    world.run(async |live| {
        live.review(id, None, json!({})).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        let seen = ["one", "two", "three"].map(|step| saw(&world, id, step));
        assert_eq!((seen, told(&world, id)), ([json!(1), json!(1), json!(0)], 1));
    });
}

#[test]
fn of_a_tenant_on_hold_no_lesson_makes_room_for_another() {
    let sender = |n: u64| Teaching::TrustedSender { address: format!("a{n}@example.com") };
    let full = |world: World| {
        world.run(async |live| {
            let (store, scope) = (&live.world.store, live.world.scope());
            let source = || LessonSource { task_id: None, step_id: None, by: "user:7".to_owned() };
            let event = || AuditEvent::by_executor("lesson.add", "lesson", json!({}));
            for n in 0..MAX_KEPT {
                let id = LessonId::from_uuid(uuid::Uuid::from_u128(u128::from(n) + 1));
                let new = Lesson::suggested(id, sender(n), source(), live.now());
                store.add_lesson(scope, &new, false, event()).await.unwrap();
                let after = new.clone().after(LessonAct::Withdraw, "user:8", 1, live.now()).unwrap();
                store.change_lesson(scope, &LessonChange { before: new, after }, event()).await.unwrap();
            }
            let added = live.engine.lessons().add(&live.world.actor, sender(MAX_KEPT)).await.map(drop);
            let kept = live.engine.lessons().get(scope, LessonId::from_uuid(uuid::Uuid::from_u128(1))).await.is_ok();
            (added.map_err(|error| error.code()), kept)
        })
    };
    let world = || World::on_sqlite([]);
    let held = world().set(|settings| settings.retention.holds = vec!["home".to_owned()]);
    assert_eq!(full(held), (Err(ErrorCode::Unprocessable), true));
    assert_eq!(full(world()), (Ok(()), false));
}
