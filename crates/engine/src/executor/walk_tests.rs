//! The walk by itself: rows in, actions out.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::plan::{FrozenPlan, PatchMode, PlanPatch, StepId, parse};
use kybern_core::task::{ContainerOpening, JournalEntry, JournalRow, Signal, StepError, StepOutcome, StepStatus};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Value, json};

use super::walk::{Walk, WalkAction};
use super::walk_state::merge_deep;

struct Told {
    walk: Walk,
    rows: Vec<JournalRow>,
}

impl Told {
    fn of(steps: &Value) -> Self {
        let mut faults = Vec::new();
        let steps = parse::steps(steps, "/steps", &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        let plan = Arc::new(FrozenPlan::freeze("test", 1, steps, None));
        Self { walk: Walk::new(Some(plan)), rows: Vec::new() }
    }

    fn row(&mut self, step: Option<&str>, entry: JournalEntry) -> &mut Self {
        let step = step.map(StepId::trusted);
        let known = step.as_ref().and_then(|id| self.walk.find(id)).map(|index| self.walk.node(index));
        let row = JournalRow {
            seq: self.walk.last_seq() + 1,
            generation: known.map_or(0, |node| node.generation),
            step,
            tool: None,
            attempt: 1,
            at: Timestamp::default(),
            duration: Millis(0),
            summary: String::new(),
            entry,
        };
        self.walk.apply(&row);
        self.rows.push(row);
        self
    }

    fn ends(&mut self, step: &str, data: Value) -> &mut Self {
        self.row(Some(step), JournalEntry::Finished(Arc::new(StepOutcome::completed(data))))
    }

    fn fails(&mut self, step: &str, tolerated: bool) -> &mut Self {
        let error = StepError { code: ErrorCode::Tool, message: "no".to_owned(), retryable: false };
        let outcome = StepOutcome { tolerated, ..StepOutcome::failed(error, false) };
        self.row(Some(step), JournalEntry::Finished(Arc::new(outcome)))
    }

    fn opens(&mut self, step: &str, opening: ContainerOpening) -> &mut Self {
        self.row(Some(step), JournalEntry::Opened(opening))
    }

    /// What can be done, and that a walk made anew from the rows says the same.
    fn next(&self) -> Vec<String> {
        let mut again = Walk::new(self.walk.plan().cloned());
        self.rows.iter().for_each(|row| again.apply(row));
        assert_eq!(again.state(), self.walk.state());
        let now = Timestamp::from_millis(1_000);
        assert_eq!(again.actions(now), self.walk.actions(now));
        let name = |action: WalkAction| match action {
            WalkAction::Start(index) => format!("start {}", self.walk.node(index).id),
            WalkAction::Advance(index) => format!("advance {}", self.walk.node(index).id),
            WalkAction::TimeUp(index) => format!("time up {}", self.walk.node(index).id),
        };
        self.walk.actions(now).into_iter().map(name).collect()
    }
}

fn tool(id: &str) -> Value {
    json!({"id": id, "tool": "x"})
}

#[test]
fn a_list_goes_on_one_by_one_and_a_failure_stops_it() {
    let mut told = Told::of(&json!([tool("a"), tool("b"), {"id": "c", "tool": "x", "when": "always"}]));
    assert_eq!(told.next(), ["start a"]);
    told.ends("a", json!({"x": 1}));
    assert_eq!(told.next(), ["start b"]);
    told.fails("b", false);
    assert_eq!(told.next(), ["start c"]);
    told.ends("c", json!({"x": 2}));
    assert!(told.walk.is_finished() && told.walk.stopped_inside(None).is_some());
    assert_eq!(told.walk.state().get("x"), Some(&json!(2)));
}

#[test]
fn branches_stand_side_by_side_and_their_node_ends_after_all_of_them() {
    let mut told =
        Told::of(&json!([{"id": "p", "kind": "parallel", "branches": [[tool("a"), tool("b")], [tool("c")]]}]));
    told.opens("p", ContainerOpening::Branches);
    assert_eq!(told.next(), ["start p__a", "start p__c"]);
    told.ends("p__c", json!({"x": "c", "y": 1}));
    assert_eq!(told.next(), ["start p__a"]);
    told.ends("p__a", json!({"x": "a"})).ends("p__b", json!({"y": 2}));
    assert_eq!(told.next(), ["advance p"]);
    assert_eq!(json!(**told.walk.state()), json!({"x": "c", "y": 1}));
}

#[test]
fn a_failing_branch_interrupts_its_siblings_and_what_lies_in_them() {
    let inner = json!({"id": "l", "kind": "loop", "over": [1, 2], "steps": [tool("s")]});
    let mut told = Told::of(&json!([{"id": "p", "kind": "parallel", "branches": [[inner], [tool("bad")]]}]));
    told.opens("p", ContainerOpening::Branches);
    told.opens("p__l", ContainerOpening::Items { items: vec![json!(1), json!(2)], tainted: false });
    assert_eq!(told.next(), ["start p__l__0__s", "start p__bad"]);
    told.fails("p__bad", false);
    assert_eq!(told.next(), ["advance p__l"]);
    let skipped = JournalEntry::Finished(Arc::new(StepOutcome::bare(StepStatus::Skipped)));
    told.row(Some("p__l"), skipped).fails("p", false);
    assert!(told.walk.is_finished());
    told.row(None, JournalEntry::Answered { number: 1, signal: Box::new(Signal::Retry { by: "me".to_owned() }) });
    assert_eq!(told.next(), ["start p__l__0__s", "start p__bad"]);
}

#[test]
fn a_node_is_cut_short_when_a_step_in_it_never_had_its_turn_because_of_a_failure_outside() {
    let always = json!({"id": "z", "tool": "x", "when": "always"});
    let inner = json!({"id": "p", "kind": "parallel", "branches": [[tool("s1"), tool("s2"), always]]});
    let outer = json!({"id": "o", "kind": "condition", "if": "true", "then": [inner]});
    for (outside_first, short) in [(true, true), (false, false)] {
        let mut told =
            Told::of(&json!([{"id": "both", "kind": "parallel", "branches": [[tool("a")], [outer.clone()]]}]));
        told.opens("both", ContainerOpening::Branches).opens("both__o", ContainerOpening::Branch { taken: true });
        told.opens("both__o__p", ContainerOpening::Branches);
        if outside_first {
            // `s2` would be next, and does not begin any more.
            told.fails("both__a", false).ends("both__o__p__s1", json!({}));
        } else {
            told.ends("both__o__p__s1", json!({})).ends("both__o__p__s2", json!({})).fails("both__a", false);
        }
        told.fails("both__o__p__z", false);
        let index = |id: &str| told.walk.find(&StepId::trusted(id)).unwrap();
        assert_eq!(told.walk.is_cut_short(index("both__o__p")), short);
        assert_eq!(told.walk.is_cut_short(index("both__o")), short, "also from further out");
    }
}

#[test]
fn a_retry_leaves_what_was_tolerated_as_it_ended() {
    let soft = json!({"id": "c", "kind": "condition", "if": "true", "then": [tool("x"), tool("y")]});
    let mut told = Told::of(&json!([soft, tool("hard")]));
    told.opens("c", ContainerOpening::Branch { taken: true })
        .fails("c__x", false)
        .fails("c", true)
        .fails("hard", false);
    told.row(None, JournalEntry::Answered { number: 1, signal: Box::new(Signal::Retry { by: "me".to_owned() }) });
    assert_eq!(told.next(), ["start hard"]);
    assert_eq!(told.walk.failed(), ["c", "c__x"]);
    let hard = told.walk.find(&StepId::trusted("hard")).unwrap();
    assert_eq!((told.walk.node(hard).generation, told.walk.node(hard).attempts), (1, 0));
}

#[test]
fn what_an_always_container_held_begins_under_another_generation_when_it_runs_once_more() {
    let always = json!({"id": "p", "kind": "parallel", "branches": [[tool("x")]], "when": "always"});
    let mut told = Told::of(&json!([tool("a"), always]));
    told.fails("a", false).opens("p", ContainerOpening::Branches).ends("p__x", json!({"x": 1})).ends("p", json!({}));
    assert!(told.walk.is_finished());
    let scheduled = told.walk.scheduled();
    told.row(None, JournalEntry::Answered { number: 1, signal: Box::new(Signal::Retry { by: "me".to_owned() }) });
    assert_eq!((told.next(), told.walk.state().get("x")), (vec!["start a".to_owned()], None));
    told.ends("a", json!({})).opens("p", ContainerOpening::Branches);
    assert_eq!(told.next(), ["start p__x"]);
    let generation = |id: &str| told.walk.node(told.walk.find(&StepId::trusted(id)).unwrap()).generation;
    assert_eq!((generation("p"), generation("p__x")), (1, 1));
    told.ends("p__x", json!({"x": 2})).ends("p", json!({}));
    assert!(told.walk.is_finished() && told.walk.stopped_inside(None).is_none());
    assert_eq!(told.walk.scheduled(), scheduled);
}

#[test]
fn what_runs_always_waits_for_what_runs_always_before_it() {
    let always = |id: &str| {
        let mut step = tool(id);
        step["when"] = json!("always");
        step
    };
    let mut told = Told::of(&json!([tool("a"), always("b"), tool("c"), always("d")]));
    told.fails("a", false);
    assert_eq!(told.next(), ["start b"]);
    told.ends("b", json!({}));
    assert_eq!(told.next(), ["start d"]);
    told.ends("d", json!({}));
    assert!(told.walk.is_finished());
}

#[test]
fn an_always_container_that_holds_a_change_of_the_plan_stays_as_it_ended() {
    let always = json!({"id": "p", "kind": "parallel", "branches": [[tool("x")]], "when": "always"});
    let mut told = Told::of(&json!([tool("a"), always]));
    let mut changes = StepOutcome::completed(json!({"x": 1}));
    let mut faults = Vec::new();
    let steps = parse::steps(&json!([tool("more")]), "/steps", &mut faults);
    changes.patch = Some(PlanPatch { mode: PatchMode::Append, steps, reason: String::new() });
    told.fails("a", false).opens("p", ContainerOpening::Branches);
    told.row(Some("p__x"), JournalEntry::Finished(Arc::new(changes)));
    told.ends("p", json!({}));
    told.row(None, JournalEntry::Answered { number: 1, signal: Box::new(Signal::Retry { by: "me".to_owned() }) });
    assert_eq!(told.next(), ["start a"]);
    told.ends("a", json!({}));
    // Run once more, it would add its step a second time.
    assert_eq!(told.next(), ["start more"]);
    assert_eq!(told.walk.find(&StepId::trusted("p")).map(|index| told.walk.node(index).generation), Some(0));
}

#[test]
fn a_back_off_is_over_when_its_time_has_come() {
    let error = StepError { code: ErrorCode::Tool, message: "no".to_owned(), retryable: true };
    for (due, next) in [(1_000, vec!["start a"]), (1_001, vec![])] {
        let mut told = Told::of(&json!([tool("a")]));
        let due = Timestamp::from_millis(due);
        told.row(Some("a"), JournalEntry::Retrying { error: error.clone(), due, rendered: None });
        assert_eq!((told.next(), told.walk.next_due()), (next.into_iter().map(str::to_owned).collect(), Some(due)));
    }
}

#[test]
fn a_step_that_ran_while_others_were_replaced_stays_in_the_plan() {
    let mut told = Told::of(
        &json!([{"id": "a", "tool": "x", "dependsOn": []}, {"id": "b", "tool": "x", "dependsOn": []}, tool("c")]),
    );
    let mut outcome = StepOutcome::completed(json!({}));
    outcome.patch = Some(PlanPatch { mode: PatchMode::Replace, steps: Vec::new(), reason: String::new() });
    outcome.ran_meanwhile = vec![StepId::trusted("b")];
    // A crash before `b` ended: it had begun, so it is begun again.
    told.row(Some("a"), JournalEntry::Finished(Arc::new(outcome)));
    assert_eq!(told.next(), ["start b"]);
    told.ends("b", json!({}));
    let ids: Vec<Value> = told.walk.effective_plan().steps().iter().map(|step| step["id"].clone()).collect();
    assert_eq!(ids, [json!("a"), json!("b")]);
    assert!(told.walk.is_finished());
}

#[test]
fn corrections_are_merged_deeply_and_lists_are_replaced() {
    let mut into = json!({"a": {"b": 1, "c": [1]}, "d": 1}).as_object().cloned().unwrap();
    let from = json!({"a": {"c": [2], "e": {}}, "d": {"x": 1}}).as_object().cloned().unwrap();
    merge_deep(&mut into, &from, 0);
    assert_eq!(Value::Object(into), json!({"a": {"b": 1, "c": [2], "e": {}}, "d": {"x": 1}}));
}

#[test]
fn corrections_are_merged_sixteen_deep_and_replace_what_lies_deeper() {
    let nested = |depth: usize, leaf: &str| {
        let value = (0..depth).fold(json!({leaf: 1}), |inner, _| json!({"a": inner}));
        value.as_object().cloned().unwrap()
    };
    for (depth, leaves) in [(16, 2), (17, 1)] {
        let mut into = nested(depth, "x");
        merge_deep(&mut into, &nested(depth, "y"), 0);
        let leaf = Value::Object(into).pointer(&"/a".repeat(depth)).cloned().unwrap();
        assert_eq!(leaf.as_object().unwrap().len(), leaves, "{depth}");
    }
}
