//! What the journal proves, and what is made of it: replay, fork, log, audit.

use std::sync::Arc;

use kybern_core::chat::EventId;
use kybern_core::error::ErrorCode;
use kybern_core::event::EventType;
use kybern_core::id::TaskId;
use kybern_core::plan::{FrozenPlan, parse};
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{
    Channel, Commit, EffectClass, JournalEntry, JournalRow, NewKind, NewTask, Submitted, TaskChange, TaskEnding,
    TaskStatus, WorkerId,
};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolOutcome};
use kybern_engine::task::{Fork, ReplayReport, SubmitRequest, TaskView};
use kybern_testkit::fakes::FixedIntent;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::Live;
use crate::outside::CountedIntent;
use crate::world::{World, plan, step};

fn steps() -> Value {
    json!([
        step("a", "core.set", json!({"n": "{{ task.payload.n }}"})),
        {"id": "c", "kind": "condition", "if": "{{ state.n > 1 }}", "then": [step("yes", "t.echo", json!({"m": "{{ state.n + 1 }}"}))]},
        {"id": "l", "kind": "loop", "over": "{{ [state.n, state.m] }}", "steps": [step("x", "t.echo", json!({"i": "{{ item }}"}))]},
        {"id": "s", "tool": "core.noop", "condition": "{{ state.n > 5 }}"},
        step("z", "t.echo", json!({"end": "{{ state.i }}"})),
    ])
}

/// A task that has ended with these rows, whoever wrote them.
async fn with_rows(live: &Live<'_>, rows: Vec<JournalRow>, ending: TaskEnding) -> ReplayReport {
    let (store, now) = (&live.world.store, live.now());
    let mut faults = Vec::new();
    let parsed = parse::steps(&steps(), "/steps", &mut faults);
    let task = NewTask {
        id: TaskId::from_uuid(live.engine.ids().next()),
        channel: Channel::Api,
        source: "api/test".to_owned(),
        dedupe_key: None,
        body_hash: None,
        input: "go".to_owned(),
        payload: json!({"n": 2}),
        created_by: "test".to_owned(),
        user: None,
        rights: kybern_core::actor::Rights::OPERATOR,
        plan: Some(FrozenPlan::freeze("test.plan", 1, parsed, None).into()),
        intent: None,
        attachments: Vec::new(),
        max_steps: 50,
        confidence_threshold: 0.8,
        budget: None,
        trace_id: "0".repeat(32),
        parent: None,
        depth: 0,
        forked_from: None,
        kind: NewKind::Plan,
        at: now,
    };
    let worker = WorkerId::new("forger");
    let Submitted::New(claimed) = store.submit(live.world.scope(), task, Some((&worker, Millis(1_000)))).await.unwrap()
    else {
        panic!("it is a new task")
    };
    let rows = (1..).zip(rows).map(|(seq, row)| JournalRow { seq, ..row }).collect();
    let change = TaskChange::End(Box::new(ending));
    store.commit(&claimed.lease, Commit { rows, change, at: now, ..Commit::default() }.into()).await.unwrap();
    live.replay(claimed.task.id).await
}

#[test]
fn a_tampered_journal_is_found() {
    World::new().run(async |live| {
        let id = live.begin(plan(steps()), json!({"n": 2})).await;
        let task = live.proven(id).await;
        let rows = live.world.journal(id);
        let ending = TaskEnding { status: task.status, result: task.result.unwrap(), error: None, current_step: None };
        let honest = with_rows(&live, rows.clone(), ending.clone()).await;
        assert!(honest.matches, "{:#?}", honest.differences);
        let edited = |at: &str, edit: &dyn Fn(&mut JournalEntry)| {
            let mut rows = rows.clone();
            let row = rows.iter_mut().find(|row| row.step.as_ref().is_some_and(|id| id.as_str() == at)).unwrap();
            edit(&mut row.entry);
            rows
        };
        let data = |value: Value| {
            move |entry: &mut JournalEntry| {
                if let Some(outcome) = entry.outcome_mut() {
                    outcome.data = value.clone();
                }
            }
        };
        let mut missing = rows.clone();
        missing.remove(2);
        let mut swapped = rows.clone();
        swapped.swap(0, rows.len() - 2);
        let mut doubled = rows.clone();
        doubled.insert(1, rows[0].clone());
        let mut many = rows.clone();
        many.splice(1..1, std::iter::repeat_n(rows[0].clone(), 60));
        let report = with_rows(&live, many, ending.clone()).await;
        let of_rows = report.differences.iter().filter(|difference| difference.starts_with("row ")).count();
        assert!(of_rows == 50 && report.more_differences >= 10, "{of_rows} and {} more", report.more_differences);
        assert_eq!(honest.more_differences, 0);
        for (what, rows) in [
            ("another result", edited("a", &data(json!({"n": 3})))),
            (
                "another branch",
                edited("c", &|entry| {
                    *entry = JournalEntry::Opened(kybern_core::task::ContainerOpening::Branch { taken: false })
                }),
            ),
            (
                "other items",
                edited("l", &|entry| {
                    *entry = JournalEntry::Opened(kybern_core::task::ContainerOpening::Items {
                        items: vec![json!(1)],
                        tainted: false,
                    })
                }),
            ),
            ("another last result", edited("z", &data(json!({"end": 9})))),
            (
                "a skipped step that ran",
                edited("s", &|entry| {
                    *entry = JournalEntry::Finished(Arc::new(kybern_core::task::StepOutcome::completed(json!({}))))
                }),
            ),
            ("a missing row", missing),
            ("another order", swapped),
            ("a row twice", doubled),
        ] {
            assert!(!with_rows(&live, rows, ending.clone()).await.matches, "{what}");
        }
        let other = TaskEnding { result: json!({"end": "forged"}), ..ending.clone() };
        assert!(!with_rows(&live, rows.clone(), other).await.matches);
        let other = TaskEnding { status: TaskStatus::Failed, ..ending };
        assert!(!with_rows(&live, rows, other).await.matches);
    });
}

#[test]
fn only_a_task_that_has_ended_is_replayed_and_forked() {
    World::new().run(async |live| {
        let id = live.begin(plan(json!([step("w", "core.wait", json!({"ms": 1_000}))])), json!({})).await;
        let replay = live.engine.tasks().replay(&live.world.actor, id).await;
        assert_eq!(replay.unwrap_err().code(), ErrorCode::Conflict);
        assert_eq!(
            live.engine.tasks().fork(&live.world.actor, id, None).await.unwrap_err().code(),
            ErrorCode::Conflict
        );
    });
}

#[test]
fn a_fork_takes_over_what_came_before_a_step_and_goes_on_by_itself() {
    let tool = Arc::new(ScriptedTool::noop("t.first", EffectClass::Keyed));
    World::with([tool.clone()]).run(async |live| {
        let with_first: Vec<Value> =
            std::iter::once(step("f", "t.first", json!({}))).chain(steps().as_array().cloned().unwrap()).collect();
        let id = live.begin(plan(json!(with_first)), json!({"n": 2})).await;
        let task = live.proven(id).await;
        for (from, calls) in [(Some("l"), 1), (Some("c__yes"), 1), (Some("l__1__x"), 1), (None, 2)] {
            let confirm = if from.is_none() { vec!["f".to_owned()] } else { Vec::new() };
            let asked = Fork { from_step: from.map(str::to_owned), confirm };
            let fork = live.engine.tasks().fork(&live.world.actor, id, asked).await.unwrap();
            assert_eq!(fork.forked_from_task_id, Some(id));
            let forked = live.proven(fork.id).await;
            assert_eq!((forked.status, &forked.result), (TaskStatus::Completed, &task.result), "{from:?}");
            assert_eq!(json!(forked.state), json!(task.state));
            assert_eq!(tool.count(), calls, "{from:?}");
        }
        let unknown = live.engine.tasks().fork(&live.world.actor, id, Some("ghost".to_owned())).await.unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::Validation);
    });
}

#[test]
fn a_fork_keeps_what_persons_answered_and_what_was_wanted() {
    let careful = ScriptedTool::new("t.careful", EffectClass::Local, |context, _| {
        if context.state.contains_key("name") {
            return Ok(ToolOutcome::new(serde_json::Map::new(), ""));
        }
        Ok(ToolOutcome::ask(Review {
            reason: "no name".to_owned(),
            title: None,
            schema: json!({"type": "object", "properties": {"name": {"type": "string"}}}),
            details: Value::Null,
            answer_is_result: false,
        }))
    });
    let careful = careful.with_spec(|spec| spec.needs.task = true);
    let table = FixedIntent::new().when("please", "test.plan", 0.9);
    let world = World::with([Arc::new(careful)]).knowing(CountedIntent { table, ..CountedIntent::default() });
    world.run(async |live| {
        let steps = json!([
            step("named", "t.careful", json!({"of": "{{ task.id }}"})),
            step("use", "t.echo", json!({"name": "{{ state.name }}"})),
            step("last", "core.noop", json!({})),
        ]);
        live.put(plan(steps)).await;
        let id = live.try_submit(SubmitRequest::text("please")).await.unwrap().id;
        live.rest(id).await;
        live.review(id, None, json!({"name": "Acme Towing"})).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!(task.detected_intent.as_deref(), Some("test.plan"));
        for from in ["use", "last"] {
            let fork = live.engine.tasks().fork(&live.world.actor, id, Some(from.to_owned())).await.unwrap();
            let forked = live.proven(fork.id).await;
            assert_eq!((forked.status, &forked.result), (TaskStatus::Completed, &task.result), "{from}");
            assert_eq!(forked.state["name"], "Acme Towing");
            let wanted = |task: &TaskView| (task.detected_intent.clone(), task.confidence_score);
            assert_eq!(wanted(&forked), wanted(&task));
            // It can be forked, and be asked, like any other.
            let again = live.engine.tasks().fork(&live.world.actor, fork.id, Some("last".to_owned())).await.unwrap();
            assert_eq!(live.proven(again.id).await.result, task.result);
        }
    });
}

#[test]
fn a_fork_after_a_retry_goes_on_from_where_the_retry_had_led() {
    let (gate, shut) = gate();
    World::with([Arc::new(gate)]).run(async |live| {
        let inner = json!({"id": "both", "kind": "parallel", "branches": [[step("gate", "t.gate", json!({}))]]});
        let id = live.begin(plan(json!([inner, step("after", "core.noop", json!({}))])), json!({})).await;
        assert_eq!(live.end(id).await.status, TaskStatus::Failed);
        shut.store(false, std::sync::atomic::Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed);
        let fork = live.engine.tasks().fork(&live.world.actor, id, Some("after".to_owned())).await.unwrap();
        let forked = live.proven(fork.id).await;
        assert_eq!((forked.status, &forked.result), (TaskStatus::Completed, &task.result));
    });
}

/// Fails until it is let be.
fn gate() -> (ScriptedTool, Arc<std::sync::atomic::AtomicBool>) {
    let shut = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_shut = Arc::clone(&shut);
    let tool = ScriptedTool::new("t.gate", EffectClass::Read, move |_, _| {
        if is_shut.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(kybern_core::tool::ToolFailure::permanent("shut"));
        }
        Ok(ToolOutcome::new(serde_json::Map::from_iter([("open".to_owned(), json!(true))]), ""))
    });
    (tool, shut)
}

fn always(mut step: Value) -> Value {
    step["when"] = json!("always");
    step
}

/// Steps that run always and say whether the gate is open: by themselves, and in what they hold.
fn sayings() -> [Value; 4] {
    let said = |id: &str, said: &str| always(step(id, "core.set", json!({ "said": said })));
    let (open, either) = ("{{ state.open | default(false) }}", "{{ 'open' if state.open is defined else 'shut' }}");
    let items = "{{ ['wide', 'open'] if state.open is defined else ['shut'] }}";
    let then = [said("well", "open")];
    [
        said("say", either),
        json!({"id": "say", "kind": "condition", "if": open, "then": then, "else": [said("ill", "shut")]}),
        json!({"id": "say", "kind": "loop", "over": items, "steps": [said("one", "{{ item }}")]}),
        json!({"id": "say", "kind": "parallel", "branches": [[said("one", either)]]}),
    ]
}

#[test]
fn what_ran_always_because_of_a_failure_runs_once_more_when_a_retry_has_succeeded() {
    for say in sayings() {
        let (gate, shut) = gate();
        World::with([Arc::new(gate)]).run(async |live| {
            let last = always(step("last", "t.echo", json!({"said": "{{ state.said }}"})));
            let steps = json!([step("gate", "t.gate", json!({})), always(say.clone()), last]);
            let id = live.begin(plan(steps), json!({})).await;
            let failed = live.proven(id).await;
            assert_eq!(failed.result.unwrap()["completed"]["last"], json!({"said": "shut"}), "{say}");
            // A fork decides anew what its failure had decided, whether it fails again or not.
            let fork = live.engine.tasks().fork(&live.world.actor, id, Some("last".to_owned())).await.unwrap();
            let forked = live.proven(fork.id).await;
            assert_eq!((forked.status, &forked.state["said"]), (TaskStatus::Failed, &json!("shut")), "{say}");
            shut.store(false, std::sync::atomic::Ordering::SeqCst);
            let fork = live.engine.tasks().fork(&live.world.actor, id, Some("last".to_owned())).await.unwrap();
            let forked = live.proven(fork.id).await;
            assert_eq!(forked.result, Some(json!({"said": "open"})), "{say}");
            live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
            let task = live.proven(id).await;
            assert_eq!((task.status, &task.result), (TaskStatus::Completed, &Some(json!({"said": "open"}))), "{say}");
            let fork = live.engine.tasks().fork(&live.world.actor, id, Some("last".to_owned())).await.unwrap();
            let forked = live.proven(fork.id).await;
            assert_eq!((forked.status, &forked.result), (TaskStatus::Completed, &task.result), "{say}");
        });
    }
}

#[test]
fn what_runs_always_beside_a_failure_and_not_behind_it_stays_as_it_ended() {
    let (gate, shut) = gate();
    let beside = Arc::new(ScriptedTool::noop("t.beside", EffectClass::Keyed));
    World::with([Arc::new(gate), beside.clone()]).run(async |live| {
        let first = json!({"id": "beside", "tool": "t.beside", "dependsOn": [], "when": "always"});
        let steps = json!([
            {"id": "gate", "tool": "t.gate", "dependsOn": []},
            first,
            {"id": "behind", "tool": "t.beside", "dependsOn": ["gate"], "when": "always"},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        assert_eq!(live.proven(id).await.status, TaskStatus::Failed);
        shut.store(false, std::sync::atomic::Ordering::SeqCst);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        let mut keys: Vec<String> = beside
            .calls()
            .into_iter()
            .filter_map(|call| Some(call.key.split_once(&id.to_string())?.1.to_owned()))
            .collect();
        keys.sort();
        assert_eq!(keys, [":behind:0", ":behind:1", ":beside:0"]);
    });
}

#[test]
fn the_log_tells_what_happened_in_order_by_names_and_never_by_values() {
    World::new().run(async |live| {
        let steps = json!([
            step("a", "core.set", json!({"secret": "hush-hush"})),
            {"id": "s", "tool": "core.noop", "condition": false},
            {"id": "f", "tool": "core.fail", "args": {"message": "no"}, "stopOnFailure": false},
            step("ask", "core.ask", json!({"title": "t", "fields": {"word": {"type": "string"}}})),
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        live.review(id, None, json!({"word": "hush-again"})).await.unwrap();
        live.proven(id).await;
        let named = |event, step: Option<&str>| (event, step.map(str::to_owned));
        let expected = [
            named(EventType::TaskCreated, None),
            named(EventType::StepStarted, Some("a")),
            named(EventType::StepCompleted, Some("a")),
            named(EventType::StepSkipped, Some("s")),
            named(EventType::StepStarted, Some("f")),
            named(EventType::StepFailed, Some("f")),
            named(EventType::NeedsReview, Some("ask")),
            named(EventType::HumanReview, Some("ask")),
            named(EventType::StepStarted, Some("ask")),
            named(EventType::StepCompleted, Some("ask")),
            named(EventType::TaskCompleted, None),
        ];
        assert_eq!(live.events(id).await, expected);
        let log = live.log(id).await;
        assert!(log.is_sorted_by(|a, b| a.seq < b.seq));
        assert_eq!(log[2].data_keys, ["secret"]);
        assert_eq!((&log[6].metadata["title"], &log[7].metadata["answersSeq"]), (&json!("t"), &json!(log[6].seq)));
        assert!(!json!(log).to_string().contains("hush"));
    });
}

#[test]
fn the_log_says_once_that_a_step_has_begun() {
    World::new().run(async |live| {
        live.put(json!({"key": "test.child", "steps": [step("a", "core.noop", json!({}))]})).await;
        let steps = json!([
            {"id": "both", "kind": "parallel", "branches": [[step("x", "core.noop", json!({}))]]},
            {"id": "each", "kind": "loop", "over": [1, 2], "steps": [step("y", "core.noop", json!({}))]},
            {"id": "again", "kind": "loop", "while": "(state.n | default(0)) < 3", "steps": [
                step("z", "core.set", json!({"n": "{{ (state.n | default(0)) + 1 }}"}))
            ]},
            {"id": "never", "kind": "loop", "over": "{{ 1 }}", "steps": [], "stopOnFailure": false},
            {"id": "pause", "tool": "core.wait", "args": {"ms": 10}},
            {"id": "sub", "kind": "task", "planKey": "test.child", "input": {}},
        ]);
        let id = live.begin(plan(steps), json!({})).await;
        let task = live.proven(id).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let fork = live.engine.tasks().fork(&live.world.actor, id, Some("sub".to_owned())).await.unwrap();
        live.proven(fork.id).await;
        for id in [id, fork.id] {
            let events = live.events(id).await;
            let of =
                |event, step: &str| events.iter().filter(|found| **found == (event, Some(step.to_owned()))).count();
            for step in ["both", "each", "again", "never", "pause", "sub"] {
                let ends = of(EventType::StepCompleted, step) + of(EventType::StepFailed, step);
                assert_eq!((of(EventType::StepStarted, step), ends), (1, 1), "{step}");
            }
            assert_eq!((of(EventType::RoundStarted, "again"), of(EventType::ChildEnded, "sub")), (2, 1));
        }
    });
}

#[test]
fn a_follower_resumes_after_any_entry_and_learns_of_the_end() {
    World::new().run(async |live| {
        let id = live.begin(plan(steps()), json!({"n": 2})).await;
        let (mut seen, mut after) = (Vec::new(), -1);
        loop {
            let news =
                live.engine.tasks().follow(&live.world.actor, id, EventId::at(after), Millis(60_000)).await.unwrap();
            after = news.entries.last().map_or(after, |entry| entry.seq);
            seen.extend(news.entries);
            if news.ended {
                break;
            }
        }
        let log = live.log(id).await;
        assert_eq!(seen, log);
        for (n, entry) in log.iter().enumerate() {
            let rest =
                live.engine.tasks().follow(&live.world.actor, id, EventId::at(entry.seq), Millis(0)).await.unwrap();
            assert_eq!(rest.entries, log[n + 1..], "after {}", entry.seq);
            let (page, _) = live.engine.tasks().log(&live.world.actor, id, entry.seq, 1_000).await.unwrap();
            assert_eq!(page, log[n + 1..]);
        }
        let (mut paged, mut after) = (Vec::new(), -1);
        loop {
            let (page, next) = live.engine.tasks().log(&live.world.actor, id, after, 2).await.unwrap();
            paged.extend(page);
            let Some(next) = next else { break };
            after = next;
        }
        assert_eq!(paged, log);
    });
}

#[test]
fn acts_and_decisions_are_in_a_valid_audit_chain() {
    let tool = Arc::new(ScriptedTool::noop("t.act", EffectClass::Keyed));
    World::with([tool]).run(async |live| {
        let steps =
            json!([step("a", "t.act", json!({})), step("ask", "core.ask", json!({"title": "t", "fields": {}}))]);
        let id = live.begin(plan(steps), json!({})).await;
        live.rest(id).await;
        live.review(id, None, json!({})).await.unwrap();
        live.proven(id).await;
        let other = live.begin(plan(json!([step("w", "core.wait", json!({"ms": 60_000}))])), json!({})).await;
        live.engine.tasks().pause(&live.world.actor, other).await.unwrap();
        live.engine.tasks().resume(&live.world.actor, other).await.unwrap();
        live.engine.tasks().cancel(&live.world.actor, other).await.unwrap();
        live.end(other).await;
        let events = live.engine.audit().events(live.world.scope(), 0, 100).await.unwrap();
        let actions: Vec<&str> = events.iter().map(|event| event.event.action.as_str()).collect();
        for action in ["plan.put", "tool.call", "task.review", "task.pause", "task.resume", "task.cancel"] {
            assert!(actions.contains(&action), "{action} in {actions:?}");
        }
        let call = &events.iter().find(|event| event.event.action == "tool.call").unwrap().event.detail;
        let key = live.engine.keys().digest_key(live.world.scope().tenant());
        assert_eq!(call["inputHash"], key.digest(&json!({})).unwrap());
        assert_eq!((&call["tool"], &call["status"]), (&json!("t.act"), &json!("completed")));
        assert!(call["durationMs"].is_u64() && call["traceId"].as_str().is_some_and(|id| !id.is_empty()), "{call}");
        let report = live.engine.audit().verify(live.world.scope()).await.unwrap();
        assert!(report.valid && report.length == i64::try_from(events.len()).unwrap());
    });
}
