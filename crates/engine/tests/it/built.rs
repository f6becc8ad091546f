//! Kybern as a library: a pack that is written in Rust, with a tool and an agent that has it.

use std::sync::Arc;

use kybern_core::agent::{AgentBuilder, AgentDraft};
use kybern_core::pack::{DuplicateKey, Pack, PackRegistry};
use kybern_core::plan::{Plan, PlanFault, PlanOrigin};
use kybern_core::task::EffectClass;
use kybern_core::time::Timestamp;
use kybern_core::tool::ToolOutcome;
use kybern_engine::{Engine, StartError};
use kybern_testkit::tools::ScriptedTool;
use serde_json::json;

use crate::chats::saying;
use crate::live::object;
use crate::turns::{answers, calls, provider, says, scripted};
use crate::world::World;

/// A pack of a yard: how many pallets stand in it, and somebody to ask.
struct Yard(fn(AgentBuilder) -> AgentBuilder);

impl Pack for Yard {
    fn name(&self) -> &'static str {
        "yard"
    }

    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey> {
        let count = ScriptedTool::new("yard.count_pallets", EffectClass::Read, |_, args| {
            assert_eq!(args["gate"], json!("north"));
            Ok(ToolOutcome::new(object(json!({"pallets": 40})), "counted"))
        });
        registry.tool(Arc::new(count))?;
        registry.tool_group("yard", ["yard.count_pallets".to_owned()]);
        let keeper = AgentDraft::builder("yard_keeper")
            .name("Yard keeper")
            .prompt("You know what stands in the yard.")
            .tool_group("yard")
            .triggers(["pallets"])
            .iterations(3)
            .temperature(0.1);
        registry.agent((self.0)(keeper).build().unwrap())
    }
}

#[test]
fn an_agent_of_a_pack_answers_with_the_tool_of_the_pack() {
    let model = scripted(vec![calls(&[("yard__count_pallets", json!({"gate": "north"}))]), says("40 pallets.")]);
    let world = World::on_sqlite([]).asking(provider(&model)).bringing(Yard(|keeper| keeper));
    world.run(async |live| {
        let chat = live.engine.chats().create(&world.actor, None, None).await.unwrap().id;
        let wait = Some(kybern_core::time::Millis(60_000));
        let turned = live
            .engine
            .chats()
            .say(&world.actor, chat, saying("How many pallets are at the north gate?"), wait)
            .await
            .unwrap();
        assert_eq!(turned.content, "40 pallets.");
        assert_eq!(turned.tool_calls[0]["name"], json!("yard.count_pallets"));
        let first = &model.asked()[0];
        assert_eq!((first.functions.len(), first.temperature), (1, Some(0.1)));
        assert!(first.messages.iter().any(|one| one.joined_text().contains("You know what stands in the yard.")));
        assert!(answers(&model, 1)[0].content.contains("40"));
        assert!(live.replay(turned.task_id).await.matches);
    });
}

#[test]
fn a_program_whose_agent_names_a_group_that_nobody_brings_does_not_start() {
    let world = World::on_sqlite([]);
    let mut registry = PackRegistry::default();
    Yard(|keeper| keeper.tool_group("dock")).register(&mut registry).unwrap();
    let refused = Engine::new(world.parts(registry, world.settings.clone())).err().unwrap();
    let StartError::FaultyAgent { key, fault } = refused else { panic!("{refused}") };
    assert_eq!((key.as_str(), fault.details()[0].path.as_str()), ("yard_keeper", "/toolGroups/1"));
    assert!(fault.to_string().contains("there is no group of tools \"dock\", use yard"), "{fault}");
}

#[test]
fn a_bundled_plan_that_cannot_be_read_stops_the_start_with_its_fault() {
    let world = World::on_sqlite([]);
    let mut registry = PackRegistry::default();
    let unread = PlanFault::new("", None, "the plan's file is not JSON: EOF");
    let plan = Plan {
        id: None,
        key: "yard.count".to_owned(),
        intent_key: "yard.count".to_owned(),
        domain: "yard".to_owned(),
        description: String::new(),
        keywords: Vec::new(),
        examples: Vec::new(),
        priority: 0,
        version: 1,
        output: None,
        steps: Vec::new(),
        origin: PlanOrigin::Bundled,
        active: false,
        created_at: Timestamp::from_millis(0),
        quarantine: vec![unread],
    };
    registry.plan(plan).unwrap();
    let refused = Engine::new(world.parts(registry, world.settings.clone())).err().unwrap();
    assert!(refused.to_string().contains("1 bundled plan faults"), "{refused}");
    let StartError::FaultyPlans(faults) = refused else { panic!("{refused}") };
    assert_eq!((faults.len(), faults[0].path.as_str()), (1, "yard.count"));
    assert!(faults[0].message.contains("is not JSON"), "{}", faults[0].message);
}
