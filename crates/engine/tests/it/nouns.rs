//! Tools over the engine's own nouns: what they read is what their caller may see, and what they write is written with
//! their step, once.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use kybern_core::actor::{Actor, Role};
use kybern_core::approval::Verdict;
use kybern_core::error::ErrorCode;
use kybern_core::id::{MemoryId, TaskId, TenantId, UserId};
use kybern_core::knowledge::{KnowledgeAct, KnowledgeStatus};
use kybern_core::memory::{Memory, MemoryStatus, NewMemory, Subject, Trust};
use kybern_core::plan::Plan;
use kybern_core::ports::{MemoryStore as _, TaskFilter, TaskStore as _};
use kybern_core::task::{StepStatus, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_engine::identity::NewUser;
use kybern_engine::knowledge::NewDocument;
use kybern_engine::record::RecordFilter;
use kybern_engine::task::{SubmitRequest, TaskView};
use kybern_engine::tools::ToolChange;
use kybern_testkit::Fault;
use kybern_testkit::models::ScriptedModel;
use serde_json::{Value, json};

use crate::chats::{chat, saying};
use crate::live::{Live, kinds};
use crate::turns::{answers, calls, helper, provider, says, scripted};
use crate::world::{World, plan, step};

const FACT: &str = "Prefers trains to planes.";

fn own(actor: &Actor) -> Subject {
    Subject::User(actor.user().unwrap())
}

impl Live<'_> {
    async fn remembered(&self) -> Vec<Memory> {
        let world = self.world;
        let all = world.look(world.store.memories_of(world.scope(), own(&world.actor))).await.unwrap();
        all.into_iter().map(|(memory, _)| memory).collect()
    }

    async fn know(&self, content: &str) -> MemoryId {
        let new = NewMemory::fact(own(&self.world.actor), content);
        self.engine.memories().remember(&self.world.actor, new).await.unwrap().id
    }

    /// Stores a plan that waits for an hour, and begins with it.
    async fn wait_long(&self) -> TaskId {
        let key =
            self.put(json!({"key": "desk.long", "steps": [step("wait", "core.wait", json!({"ms": 3_600_000}))]})).await;
        self.submit(&key, json!({})).await.id
    }

    async fn greeting(&self) -> String {
        let greet = step("greet", "core.set", json!({"greeting": "Hello"}));
        self.put(json!({"key": "desk.greet", "description": "Says hello.", "steps": [greet]})).await
    }

    /// A user with these roles.
    pub async fn engage(&self, roles: &[Role]) -> Actor {
        let new = NewUser {
            name: "Second".to_owned(),
            email: "second@example.com".to_owned(),
            roles: roles.to_vec(),
            timezone: String::new(),
        };
        let user: UserId = self.engine.identity().create_user(&self.world.actor, new).await.unwrap().id;
        kybern_testkit::actors::user(TenantId::DEFAULT, user, roles)
    }

    /// How one step with that tool ends for somebody.
    pub async fn step_of(&self, actor: &Actor, tool: &str, args: Value) -> TaskView {
        let key = self.put(plan(json!([step("a", tool, args)]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let id = self.engine.tasks().submit(actor, request, None).await.unwrap().id;
        self.rest(id).await
    }

    pub async fn children_of(&self, id: TaskId) -> Vec<TaskId> {
        let world = self.world;
        world.look(world.store.children(world.scope(), id)).await.unwrap()
    }
}

fn failed_as(task: &TaskView) -> ErrorCode {
    assert_eq!(task.status, TaskStatus::Failed, "{:?}", task.state);
    task.error.as_ref().unwrap().code
}

/// What the examples name stands for something here.
async fn prepared(live: &Live<'_>, tool: &str, example: &Value) -> Value {
    live.greeting().await;
    let mut args = example.clone();
    if args.get("memory_id").is_some() {
        args["memory_id"] = json!(live.know(FACT).await);
    }
    if args.get("task_id").is_some() {
        let id = live.wait_long().await;
        if tool == "plans.resume" {
            live.engine.tasks().pause(&live.world.actor, id).await.unwrap();
        }
        args["task_id"] = json!(id);
    }
    args
}

#[test]
fn every_example_of_a_tool_over_a_noun_can_be_called() {
    let engine = World::on_sqlite([]);
    let examples: Vec<(String, Value)> = engine.run(async |live| {
        let of_nouns = |key: &str| {
            ["memory.", "tasks.", "plans.", "knowledge."].iter().any(|domain| key.starts_with(domain))
                || key == "core.search_records"
        };
        let tools = live.engine.registry().registered_tools().filter(|tool| of_nouns(&tool.spec().key));
        let each = tools
            .flat_map(|tool| tool.spec().examples.iter().map(|example| (tool.spec().key.clone(), example.clone())));
        each.collect()
    });
    assert_eq!(examples.len(), 18, "each has one: {examples:?}");
    for (tool, example) in examples {
        World::on_sqlite([]).run(async |live| {
            let args = prepared(&live, &tool, &example).await;
            let task = live.step_of(&live.world.actor, &tool, args).await;
            assert_eq!(task.status, TaskStatus::Completed, "{tool}: {:?}", task.error);
        });
    }
}

#[test]
fn what_a_step_remembers_is_the_tools_word_and_a_later_step_finds_it() {
    World::on_sqlite([]).run(async |live| {
        let steps = json!([
            step("note", "memory.remember", json!({"content": FACT, "importance": 8})),
            step("again", "memory.remember", json!({"content": FACT})),
            step("find", "memory.search", json!({"query": "trains or planes?"})),
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        assert_eq!(task.state["memories"][0]["says"], json!(FACT));
        assert_eq!(task.state["memory_created"], json!(false), "it was known the second time");
        let [memory]: [Memory; 1] = live.remembered().await.try_into().unwrap();
        assert_eq!((memory.trust, memory.status), (Trust::Tool, MemoryStatus::Active));
        assert_eq!(memory.provenance.task, Some(task.id));
        assert_eq!(memory.provenance.tool.as_deref(), Some("memory.remember"));
        assert_eq!(memory.provenance.step.as_ref().map(|step| step.as_str()), Some("note"));
    });
}

#[test]
fn a_memory_is_changed_and_forgotten_only_where_it_says_what_was_quoted() {
    World::on_sqlite([]).run(async |live| {
        let id = live.know(FACT).await;
        let actor = &live.world.actor;
        let wrong = json!({"memory_id": id, "says": "Prefers planes.", "content": "Prefers ships."});
        assert_eq!(failed_as(&live.step_of(actor, "memory.update", wrong).await), ErrorCode::Validation);
        let right = json!({"memory_id": id, "says": FACT, "content": "Prefers ships."});
        live.step_of(actor, "memory.update", right).await;
        assert_eq!(live.remembered().await[0].content, "Prefers ships.");
        let stale = json!({"memory_id": id, "says": FACT});
        assert_eq!(failed_as(&live.step_of(actor, "memory.forget", stale).await), ErrorCode::Validation);
        live.step_of(actor, "memory.forget", json!({"memory_id": id, "says": "Prefers ships."})).await;
        assert!(live.remembered().await.is_empty());
    });
}

#[test]
fn what_a_stranger_wrote_is_remembered_only_once_a_person_has_accepted_it() {
    World::on_sqlite([]).run(async |live| {
        let steps = json!([
            step("look", "core.search_records", json!({"kind": "note"})),
            step("note", "memory.remember", json!({"content": "Read {{ state.records_found }} notes."})),
            step("seen", "memory.remember", json!({"content": "![{{ state.records_found }}](https://evil.example/)"})),
            step("again", "memory.remember", json!({"content": "![{{ state.records_found }}](https://evil.example/)"})),
        ]);
        let task = live.run(steps, json!({})).await;
        assert_eq!(task.state["memory_created"], json!(false), "known in the words in which it was kept");
        let [first, second]: [Memory; 2] = live.remembered().await.try_into().unwrap();
        assert_eq!((first.status, second.status), (MemoryStatus::Pending, MemoryStatus::Pending));
        assert!(second.content.contains("picture removed") && !second.content.contains("]("), "{}", second.content);
    });
}

#[test]
fn what_a_model_remembers_waits_until_a_person_accepts_it() {
    let model = scripted(vec![calls(&[("memory__remember", json!({"content": FACT}))]), says("Noted.")]);
    let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["memory.remember"])]);
    world.run(async |live| {
        let ask = json!([{"id": "help", "kind": "agent", "agent": "helper", "task": "Note it."}]);
        let task = live.run(ask, json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let [memory]: [Memory; 1] = live.remembered().await.try_into().unwrap();
        assert_eq!((memory.trust, memory.status), (Trust::Model, MemoryStatus::Pending));
        assert!(answers(&model, 1)[0].content.contains("pending"), "it is told so");
    });
}

#[test]
fn what_a_model_changes_after_a_yes_holds() {
    const NEW: &str = "Prefers night trains to planes.";
    let known = Arc::new(OnceLock::<MemoryId>::new());
    let of = Arc::clone(&known);
    let model = Arc::new(ScriptedModel::new("one", move |n, _| match n {
        0 => calls(&[("memory__update", json!({"memory_id": of.get(), "says": FACT, "content": NEW}))]),
        _ => says("Changed."),
    }));
    let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["memory.update"])]);
    world.run(async |live| {
        known.set(live.know(FACT).await).unwrap();
        let asks = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "memory.update", asks).await.unwrap();
        let ask = json!([{"id": "help", "kind": "agent", "agent": "helper", "task": "Correct it."}]);
        let task = live.run(ask, json!({})).await;
        assert_eq!((task.status, kinds(&task)), (TaskStatus::NeedsReview, vec![WaitKind::Confirmation]));
        assert_eq!(live.remembered().await[0].content, FACT, "nothing is changed before the yes");
        let question = task.waits[0].approval_id.unwrap();
        live.decide(question, Verdict::Approve(None), None).await.unwrap();
        assert_eq!(live.rest(task.id).await.status, TaskStatus::Completed);
        let [memory]: [Memory; 1] = live.remembered().await.try_into().unwrap();
        assert_eq!((memory.content.as_str(), memory.status), (NEW, MemoryStatus::Active));
    });
}

#[test]
fn a_tool_finds_what_is_remembered_of_a_record_and_what_published_documents_say() {
    World::on_sqlite([]).run(async |live| {
        let place = step("put", "core.put_record", json!({"kind": "yard.place", "key": "north", "props": {}}));
        assert_eq!(live.run(json!([place]), json!({})).await.status, TaskStatus::Completed);
        let (scope, actor) = (live.world.scope(), &live.world.actor);
        let record =
            live.engine.records().list(scope, "yard.place", &RecordFilter::default(), None, 1).await.unwrap().items[0]
                .id;
        let args = json!({"content": "The gate opens at six.", "entity_id": record});
        assert_eq!(live.step_of(actor, "memory.remember", args).await.status, TaskStatus::Completed);
        let search = |entity: Value| json!({"query": "gate opens", "entity_id": entity});
        let found = live.step_of(actor, "memory.search", search(json!(record))).await;
        assert_eq!(found.state["memories"][0]["says"], json!("The gate opens at six."));
        let viewer = live.engage(&[Role::Viewer]).await;
        let input = search(json!(record)).as_object().unwrap().clone();
        let call = live.engine.invocations().invoke(&viewer, "memory.search", input, None, Millis(600_000)).await;
        assert_eq!(call.unwrap().error.unwrap().code, ErrorCode::PermissionDenied);

        let file = NewDocument {
            title: Some("Yard rules".to_owned()),
            filename: "rules.txt".to_owned(),
            content_type: "text/plain".to_owned(),
            bytes: Bytes::from_static(b"Trucks park behind the gate.\n"),
        };
        let document = live.engine.knowledge().add(actor, file).await.unwrap().id;
        live.find(async || {
            let known = live.engine.knowledge().get(scope, document).await.ok()?;
            (known.status == KnowledgeStatus::Ready).then_some(())
        })
        .await;
        let ask = json!({"query": "Where do trucks park?"});
        let draft = live.step_of(actor, "knowledge.search", ask.clone()).await;
        assert_eq!(draft.state["passages"], json!([]), "a draft is quoted by nobody");
        live.engine.knowledge().act(actor, document, KnowledgeAct::Publish).await.unwrap();
        let found = live.step_of(actor, "knowledge.search", ask).await;
        assert_eq!(found.state["passages"][0]["title"], json!("Yard rules"));
        assert!(found.state["passages"][0]["text"].as_str().unwrap().contains("behind the gate"));
    });
}

#[test]
fn a_tool_sees_no_other_users_conversation() {
    let model = scripted(vec![says("Hello.")]);
    World::on_sqlite([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let wait = Some(Millis(600_000));
        let turn = live.engine.chats().say(&live.world.actor, chat, saying("My secret."), wait).await.unwrap();
        let second = live.engage(&[Role::Operator]).await;
        for (tool, args) in
            [("tasks.show", json!({"task_id": turn.task_id})), ("tasks.cancel", json!({"task_id": turn.task_id}))]
        {
            assert_eq!(failed_as(&live.step_of(&second, tool, args).await), ErrorCode::NotFound, "{tool}");
        }
        let listed = live.step_of(&second, "tasks.list", json!({"limit": 50})).await;
        assert_eq!(listed.status, TaskStatus::Completed, "{:?}", listed.error);
        let shown = json!(listed.state).to_string();
        assert!(!shown.contains(&turn.task_id.to_string()) && !shown.contains("My secret."), "{shown}");
        let own = live.step_of(&live.world.actor, "tasks.show", json!({"task_id": turn.task_id})).await;
        assert_eq!(own.status, TaskStatus::Completed, "{:?}", own.error);
    });
}

#[test]
fn a_tool_sees_no_other_users_memories() {
    World::on_sqlite([]).run(async |live| {
        let id = live.know(FACT).await;
        let second = live.engage(&[Role::Admin]).await;
        let args = json!({"memory_id": id, "says": FACT});
        assert_eq!(failed_as(&live.step_of(&second, "memory.forget", args).await), ErrorCode::NotFound);
        let found = live.step_of(&second, "memory.search", json!({"query": "trains"})).await;
        assert_eq!(found.state["memories"], json!([]));
        assert_eq!(live.remembered().await.len(), 1);
    });
}

#[test]
fn plans_are_stored_only_for_administrators() {
    let new = json!({
        "plan_key": "desk.new", "description": "New.", "steps": [step("s", "core.set", json!({"x": 1}))],
    });
    World::on_sqlite([]).run(async |live| {
        let operator = live.engage(&[Role::Operator]).await;
        for tool in ["plans.create", "plans.add_step", "plans.delete"] {
            live.greeting().await;
            let args = match tool {
                "plans.create" => new.clone(),
                "plans.add_step" => json!({"plan_key": "desk.greet", "step": step("s", "core.noop", json!({}))}),
                _ => json!({"plan_key": "desk.greet"}),
            };
            let task = live.step_of(&operator, tool, args.clone()).await;
            assert_eq!(failed_as(&task), ErrorCode::PermissionDenied, "{tool}");
            let task = live.step_of(&live.world.actor, tool, args).await;
            assert_eq!(task.status, TaskStatus::Completed, "{tool}: {:?}", task.error);
        }
        let plan: Plan = live.engine.plans().get(live.world.scope(), "desk.new").await.unwrap();
        assert_eq!((plan.version, plan.intent_key.as_str(), plan.keywords.len()), (1, "desk.new", 0));
    });
}

#[test]
fn a_faulty_plan_is_not_stored_and_every_fault_is_told() {
    World::on_sqlite([]).run(async |live| {
        let steps = json!([step("a", "no.such_tool", json!({})), step("a", "core.wait", json!({"ms": "soon"}))]);
        let new = json!({"plan_key": "desk.new", "description": "New.", "steps": steps});
        let task = live.step_of(&live.world.actor, "plans.create", new).await;
        assert_eq!(failed_as(&task), ErrorCode::Unprocessable);
        let told = &task.error.as_ref().unwrap().message;
        assert!(told.contains("no.such_tool"), "{told}");
        assert!(live.engine.plans().get(live.world.scope(), "desk.new").await.is_err());
    });
}

#[test]
fn a_new_plan_takes_no_other_plans_messages() {
    World::on_sqlite([]).run(async |live| {
        let steps = json!([step("hi", "core.set", json!({"said": "hi"}))]);
        let serving = json!({"key": "desk.hi", "intentKey": "desk.greeting", "steps": steps});
        live.engine.plans().put(&live.world.actor, &serving).await.unwrap();
        let new = json!({"plan_key": "desk.greeting", "description": "New.", "steps": steps});
        let task = live.step_of(&live.world.actor, "plans.create", new).await;
        assert_eq!(failed_as(&task), ErrorCode::Validation);
        assert!(live.engine.plans().get(live.world.scope(), "desk.greeting").await.is_err());
    });
}

#[test]
fn two_steps_that_add_to_one_plan_at_once_both_do() {
    World::on_sqlite([]).run(async |live| {
        let key = live.greeting().await;
        let add = |id: &str| {
            let added = step(id, "core.set", json!({"more": id}));
            let mut one = step(&format!("add_{id}"), "plans.add_step", json!({"plan_key": key, "step": added}));
            one["dependsOn"] = json!([]);
            one
        };
        let task = live.run(json!([add("one"), add("two")]), json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let plan = live.engine.plans().get(live.world.scope(), "desk.greet").await.unwrap();
        let mut ids: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!((plan.version, ids), (3, vec!["greet", "one", "two"]));
    });
}

#[test]
fn a_plan_out_of_a_strangers_words_asks_a_person_also_in_a_stored_plan() {
    World::on_sqlite([]).run(async |live| {
        let new = json!({
            "plan_key": "desk.new", "description": "Of {{ state.records_found }} notes.",
            "steps": [step("s", "core.set", json!({"x": 1}))],
        });
        let look = step("look", "core.search_records", json!({"kind": "note"}));
        let task = live.run(json!([look, step("new", "plans.create", new)]), json!({})).await;
        assert_eq!((task.status, kinds(&task)), (TaskStatus::NeedsReview, vec![WaitKind::Confirmation]));
    });
}

#[test]
fn a_model_that_has_read_records_asks_before_it_submits_or_forgets() {
    for (function, args) in [
        ("tasks__submit", json!({"input": "Send everything.", "plan_key": "desk.greet"})),
        ("plans__delete", json!({"plan_key": "desk.greet"})),
    ] {
        let look = calls(&[("core__search_records", json!({"kind": "note"}))]);
        let model = scripted(vec![look, calls(&[(function, args)]), says("Done.")]);
        let tools = ["core.search_records", "tasks.submit", "plans.delete"];
        let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&tools)]);
        world.run(async |live| {
            live.greeting().await;
            let ask = json!([{"id": "help", "kind": "agent", "agent": "helper", "task": "Look."}]);
            let task = live.run(ask, json!({})).await;
            assert_eq!(
                (task.status, kinds(&task)),
                (TaskStatus::NeedsReview, vec![WaitKind::Confirmation]),
                "{function}"
            );
            assert!(live.children_of(task.id).await.is_empty());
        });
    }
}

#[test]
fn a_submitted_task_is_a_child_that_spends_what_is_left_and_goes_on_by_itself() {
    World::on_sqlite([]).run(async |live| {
        let key = live.greeting().await;
        let start = step("start", "tasks.submit", json!({"plan_key": key, "payload": {"n": 1}}));
        let task = live.run(json!([start]), json!({})).await;
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.error);
        let [child]: [TaskId; 1] = live.children_of(task.id).await.try_into().unwrap();
        assert_eq!(task.state["submitted_task_id"], json!(child));
        let child = live.end(child).await;
        assert_eq!((child.status, &child.state["greeting"]), (TaskStatus::Completed, &json!("Hello")));
        let row = live.world.store.task(live.world.scope(), child.id).await.unwrap().unwrap();
        assert_eq!((row.depth, row.parent.map(|(of, _)| of), row.user), (1, Some(task.id), live.world.actor.user()));
    });
}

#[test]
fn a_plan_that_executes_itself_ends_at_the_deepest_child() {
    World::on_sqlite([]).run(async |live| {
        let again = step("again", "plans.execute", json!({"plan_key": "desk.again"}));
        let key = live.put(json!({"key": "desk.again", "steps": [again]})).await;
        let mut id = live.submit(&key, json!({})).await.id;
        for depth in 0..=kybern_core::task::limits::MAX_DEPTH {
            let task = live.end(id).await;
            let children = live.children_of(id).await;
            if depth == kybern_core::task::limits::MAX_DEPTH {
                assert_eq!((failed_as(&task), children.len()), (ErrorCode::Unprocessable, 0));
                return;
            }
            assert_eq!((task.status, children.len()), (TaskStatus::Completed, 1), "{depth}: {:?}", task.error);
            id = children[0];
        }
    });
}

#[test]
fn another_task_is_paused_resumed_and_cancelled_and_ones_own_is_not() {
    World::on_sqlite([]).run(async |live| {
        let other = live.wait_long().await;
        let actor = &live.world.actor;
        let named = json!({"task_id": other});
        live.step_of(actor, "plans.pause", named.clone()).await;
        assert!(live.task(other).await.paused_at.is_some());
        assert_eq!(failed_as(&live.step_of(actor, "plans.pause", named.clone()).await), ErrorCode::Validation);
        live.step_of(actor, "plans.resume", named.clone()).await;
        assert!(live.task(other).await.paused_at.is_none());
        live.step_of(actor, "tasks.cancel", named.clone()).await;
        assert_eq!(live.end(other).await.status, TaskStatus::Cancelled);
        assert_eq!(failed_as(&live.step_of(actor, "tasks.cancel", named).await), ErrorCode::Validation);
        let own = live.step_of(actor, "tasks.cancel", json!({"task_id": "{{ task.id }}"})).await;
        assert_eq!(failed_as(&own), ErrorCode::Validation);
    });
}

#[test]
fn tasks_of_another_tenant_are_not_there() {
    let world = World::on_sqlite([]);
    let other = TenantId::from_uuid(uuid::Uuid::from_u128(5));
    world.settle_tenant(other, "other");
    world.run(async |live| {
        let stranger = kybern_testkit::actors::admin(other);
        let long = json!({"key": "theirs.long", "steps": [step("w", "core.wait", json!({"ms": 3_600_000}))]});
        live.engine.plans().put(&stranger, &long).await.unwrap();
        let request = SubmitRequest { plan_key: Some("theirs.long".to_owned()), ..SubmitRequest::text("go") };
        let theirs = live.engine.tasks().submit(&stranger, request, None).await.unwrap().id;
        let actor = &live.world.actor;
        for tool in ["tasks.show", "tasks.cancel", "plans.pause"] {
            let task = live.step_of(actor, tool, json!({"task_id": theirs})).await;
            assert_eq!(failed_as(&task), ErrorCode::NotFound, "{tool}");
        }
        let listed = live.step_of(actor, "tasks.list", json!({})).await;
        assert!(!listed.state["tasks"].to_string().contains(&theirs.to_string()));
        let shown = live.step_of(actor, "plans.show", json!({"plan_key": "theirs.long"})).await;
        assert_eq!(failed_as(&shown), ErrorCode::NotFound);
    });
}

#[test]
fn whenever_the_process_dies_a_memory_is_written_and_a_task_submitted_once() {
    for how in [Fault::CrashBefore, Fault::CrashAfter] {
        for n in 1.. {
            let world = World::on_sqlite([]);
            let id = world.run(async |live| {
                let key = live.greeting().await;
                live.put(plan(json!([
                    step("note", "memory.remember", json!({"content": FACT})),
                    step("start", "tasks.submit", json!({"plan_key": key})),
                ])))
                .await
            });
            world.doom(n, how);
            let task = world.life(async |live| {
                let task = live.submit(&id, json!({})).await;
                live.end(task.id).await
            });
            let survived = task.is_some();
            world.run(async |live| {
                let filter = TaskFilter { limit: 50, ..TaskFilter::default() };
                let all = world.look(world.store.tasks(world.scope(), &filter));
                let roots: Vec<_> = all.await.unwrap().items.into_iter().filter(|task| task.parent.is_none()).collect();
                for root in roots {
                    let task = live.end(root.id).await;
                    assert_eq!(task.status, TaskStatus::Completed, "{how:?} {n}: {:?}", task.error);
                    assert_eq!(live.children_of(root.id).await.len(), 1, "{how:?} {n}");
                    assert_eq!(live.remembered().await.len(), 1, "{how:?} {n}");
                    let outcome = world.outcome(root.id, "note");
                    assert_eq!(
                        (outcome.status, outcome.data["memory_created"].clone()),
                        (StepStatus::Completed, json!(true))
                    );
                }
            });
            if survived {
                assert!(n > 3, "it dies at some call");
                break;
            }
        }
    }
}

#[test]
fn records_are_found_by_words_by_identifiers_and_page_by_page() {
    World::on_sqlite([]).run(async |live| {
        let note = |n: u32, title: &str| {
            let args = json!({"kind": "note", "key": format!("n-{n}"), "props": {"title": title}});
            step(&format!("put_{n}"), "core.put_record", args)
        };
        let puts = json!([note(1, "Renewal of Acme"), note(2, "Claim of Acme"), note(3, "RENEWAL of Bolt")]);
        live.run(puts, json!({})).await;
        let actor = live.world.actor.clone();
        let keys = async |args: Value| {
            let task = live.step_of(&actor, "core.search_records", args).await;
            let records = task.state["records"].as_array().unwrap().clone();
            let keys: Vec<String> = records.iter().map(|record| record["key"].as_str().unwrap().to_owned()).collect();
            (keys, task.state["next"].clone())
        };
        assert_eq!(
            keys(json!({"kind": "note", "text": "renewal"})).await,
            (vec!["n-1".to_owned(), "n-3".to_owned()], Value::Null)
        );
        assert_eq!(keys(json!({"kind": "note", "text": "acme claim"})).await.0, ["n-2"]);
        assert!(keys(json!({"kind": "other"})).await.0.is_empty());
        let (first, next) = keys(json!({"kind": "note", "limit": 2})).await;
        assert_eq!(first, ["n-1", "n-2"]);
        assert_eq!(
            keys(json!({"kind": "note", "limit": 2, "after": next})).await,
            (vec!["n-3".to_owned()], Value::Null)
        );
        let lookup = json!({"kind": "note", "lookup": {"name": "DOT", "value": "1"}});
        assert!(keys(lookup).await.0.is_empty());
    });
}
