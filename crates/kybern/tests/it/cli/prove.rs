//! `kybern plan prove` as a build server calls it: exit codes, JSON and JUnit. What is found is tested beside the code.

use std::path::Path;

use serde_json::{Value, json};

use super::server::{Run, kybern};

/// Calls the command line in a folder with the two plans of a planted fault.
fn prove(args: &[&str]) -> (Run, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let planted = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prove/planted/dropped_items.json");
    let case: Value = serde_json::from_slice(&std::fs::read(planted).unwrap()).unwrap();
    std::fs::write(folder.path().join("faulty.json"), case["faulty"].to_string()).unwrap();
    std::fs::write(folder.path().join("sound.json"), json!([case["sound"]]).to_string()).unwrap();
    std::fs::write(folder.path().join("text.json"), "no plan").unwrap();
    let ghost = json!({"key": "planted.ghost", "steps": [{"id": "a", "tool": "ghost.call", "args": {}}]});
    std::fs::write(folder.path().join("ghost.json"), ghost.to_string()).unwrap();
    std::fs::write(folder.path().join("answers.json"), json!({"ghost": {}}).to_string()).unwrap();
    let in_doubt = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prove/planted/in_doubt.json");
    let mut tool: Value =
        serde_json::from_slice::<Value>(&std::fs::read(in_doubt).unwrap()).unwrap()["tools"][0].take();
    tool["http"]["url"] = json!("no address");
    std::fs::write(folder.path().join("tool.json"), tool.to_string()).unwrap();
    let args: Vec<&str> = ["plan", "prove"].into_iter().chain(args.iter().copied()).collect();
    let run = kybern(folder.path(), &args, &[]);
    (run, folder)
}

#[test]
fn a_finding_is_a_line_with_step_run_and_remedy_and_ends_with_1() {
    let (run, folder) = prove(&["faulty.json", "--junit", "report.xml"]);
    assert_eq!(run.code, 1, "{} {}", run.out, run.err);
    let line = run.out.lines().find(|line| line.contains("send: lost: ")).unwrap();
    assert!(line.contains("fails for good") && line.contains("Remedy: "), "{line}");
    let summary = run.out.lines().last().unwrap();
    assert!(summary.contains("planted.dropped_items: ") && summary.contains("1 finding"), "{summary}");
    let xml = std::fs::read_to_string(folder.path().join("report.xml")).unwrap();
    assert!(
        xml.contains("<testsuite name=\"planted.dropped_items\"") && xml.contains("<failure type=\"lost\""),
        "{xml}"
    );
}

#[test]
fn a_sound_plan_ends_with_0_and_one_that_cannot_be_run_with_2() {
    let (run, _folder) = prove(&["sound.json", "--json"]);
    let printed: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &printed["plans"][0]["findings"]), (0, &json!([])), "{} {}", run.out, run.err);
    for (file, says) in [("ghost.json", "ghost.call"), ("text.json", "is not JSON"), ("missing.json", "missing.json")] {
        let (run, _folder) = prove(&[file]);
        assert!(run.code == 2 && format!("{}{}", run.out, run.err).contains(says), "{file}: {} {}", run.out, run.err);
    }
    for (option, file, says) in [("--answers", "answers.json", "ghost"), ("--tools", "tool.json", "cannot be used")] {
        let (run, _folder) = prove(&["sound.json", option, file]);
        assert!(run.code == 2 && run.err.contains(says), "{option}: {} {}", run.out, run.err);
    }
}
