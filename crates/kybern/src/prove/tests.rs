//! Faults that were planted in plans, each with a twin in which it is put right; and the bundled plans.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;

/// Proves plans that are sound as plans.
fn proved(plans: Vec<Value>, tools: &Value, answers: Map<String, Value>) -> Vec<Proof> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let tools = tools.as_array().unwrap().iter().cloned().map(|tool| own_definition(tool).unwrap()).collect();
    let options = ProveOptions { plans, payload: None, answers, tools };
    match prove(runtime.handle(), options).unwrap() {
        Proving::Proved(proofs) => proofs,
        Proving::Refused(key, faults) => panic!("{key}: {faults:#?}"),
    }
}

fn one(plan: &Value, tools: &Value) -> Proof {
    proved(vec![plan.clone()], tools, Map::new()).remove(0)
}

fn faults(proof: &Proof) -> Vec<(Value, Option<String>)> {
    let short = proof.in_short().into_iter().filter(|finding| !finding.is_note);
    short.map(|finding| (json!(finding.kind), finding.step.clone())).collect()
}

fn planted() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prove/planted");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let case = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    };
    files.map(case).collect()
}

#[test]
fn every_planted_fault_is_found_and_nothing_in_its_sound_twin() {
    let all = planted();
    assert!(all.len() >= 10, "{}", all.len());
    let mut wrong = Vec::new();
    for (name, case) in &all {
        let found = one(&case["faulty"], &case["tools"]);
        let expected = (case["finds"]["kind"].clone(), case["finds"]["step"].as_str().map(str::to_owned));
        if faults(&found) != [expected] {
            wrong.push(format!("{name}, faulty: {:#?}", found.findings));
        }
        let sound = one(&case["sound"], &case["tools"]);
        if !faults(&sound).is_empty() {
            wrong.push(format!("{name}, sound: {:#?}", sound.findings));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_found_in_the_bundled_plans() {
    let keys = plans::bundled_keys().unwrap();
    assert!(keys.len() >= 10, "{keys:?}");
    let plans = keys.iter().map(|key| bundled(key).unwrap().unwrap()).collect();
    for proof in proved(plans, &json!([]), Map::new()) {
        assert_eq!(faults(&proof), [], "{}: {:#?}", proof.plan, proof.findings);
        assert!(proof.runs.len() > 3 && proof.left_out == 0, "{}: {:#?}", proof.plan, proof.runs);
    }
}

#[test]
fn delegations_children_and_waits_of_days_are_walked_without_waiting() {
    let call = |id: &str, json: Value| json!({"id": id, "tool": "core.http_request", "args": {"method": "POST", "url": "https://shop.example.com/x", "json": json}});
    let child = json!({"key": "planted.child", "steps": [call("note", json!({"from": "{{ task.payload.name }}"}))]});
    let parent = json!({"key": "planted.parent", "steps": [
        {"id": "quote", "kind": "workflow", "workflow": "quotes", "args": {"order": "{{ task.payload.order }}"}},
        {"id": "rest", "tool": "core.wait", "args": {"ms": 864_000_000}},
        {"id": "sub", "kind": "task", "planKey": "planted.child", "input": {"name": "{{ steps.quote.result.price }}"}},
        {"id": "summary", "kind": "agent", "agent": "desk", "task": "Sum up {{ state.price }}."},
        call("order", json!({"text": "{{ steps.summary.result.content }}"})),
    ]});
    let proofs = proved(vec![child, parent], &json!([]), Map::new());
    for proof in &proofs {
        assert_eq!(faults(proof), [], "{:#?}", proof.findings);
    }
    let told: Vec<&str> = proofs[1].runs.iter().map(|run| run.fault.name()).collect();
    for fault in ["called_back_twice", "called_back_failed", "not_called_back", "dies_before", "dies_after", "slow"] {
        assert!(told.contains(&fault), "{told:?}");
    }
}

#[test]
fn an_answer_that_is_given_decides_what_is_walked() {
    let plan = json!({"key": "planted.given", "steps": [
        {"id": "find", "tool": "core.http_request", "args": {"method": "GET", "url": "https://shop.example.com/x"}},
        {"id": "tell", "tool": "core.http_request", "condition": "{{ steps.find.result.json.open }}",
         "args": {"method": "POST", "url": "https://shop.example.com/tell"}},
    ]});
    let answered = |open: bool| {
        let answers = json!({"find": {"status": 200, "json": {"open": open}}}).as_object().cloned().unwrap();
        proved(vec![plan.clone()], &json!([]), answers).remove(0)
    };
    let reached = |proof: &Proof| !proof.findings.iter().any(|found| found.kind == FindingKind::NotReached);
    assert!(reached(&answered(true)) && !reached(&answered(false)));
}

#[test]
fn every_run_in_which_a_fault_shows_fails_in_the_report_for_machines() {
    let (_, case) = planted().into_iter().find(|(name, _)| name == "in_doubt").unwrap();
    let proof = one(&case["faulty"], &case["tools"]);
    assert_eq!(faults(&proof).len(), 1, "people read it once: {:#?}", proof.findings);
    let failing = proof.faults().count();
    assert!(failing > 1, "{:#?}", proof.findings);
    assert_eq!(junit(&[proof]).matches("<failure ").count(), failing);
}

#[test]
fn a_person_gives_one_answer_after_the_other() {
    let ask =
        json!({"id": "ask", "tool": "core.ask", "args": {"title": "More?", "fields": {"more": {"type": "boolean"}}}});
    let plan = json!({"key": "planted.more", "steps": [
        {"id": "first", "tool": "core.set", "args": {"more": true}},
        {"id": "again", "kind": "loop", "while": "{{ state.more }}", "steps": [ask]},
    ]});
    let answers = json!({"ask": [{"more": true}, {"more": true}, {"more": false}]}).as_object().cloned().unwrap();
    let proof = proved(vec![plan], &json!([]), answers).remove(0);
    assert_eq!(faults(&proof), [], "{:#?}", proof.findings);
}

#[test]
fn a_plan_that_the_check_refuses_is_not_run() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let plan = json!({"key": "planted.ghost", "steps": [{"id": "a", "tool": "ghost.call", "args": {}}]});
    let options = ProveOptions { plans: vec![plan], payload: None, answers: Map::new(), tools: Vec::new() };
    let Proving::Refused(key, faults) = prove(runtime.handle(), options).unwrap() else { panic!("it was run") };
    assert_eq!((key.as_str(), faults[0].step_id.as_deref()), ("planted.ghost", Some("a")));
}
