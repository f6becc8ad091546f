//! The in-memory store passes its own suite.

use kybern_testkit::conformance::Harness;

async fn memory() -> Harness {
    Harness::in_memory()
}

kybern_testkit::kernel_suite!(memory);

#[test]
fn every_behaviour_is_in_the_list() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
    let list = include_str!(concat!(env!("OUT_DIR"), "/behaviours.rs"));
    let mut told = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let names =
            text.lines().filter_map(|line| line.strip_prefix("pub async fn ")).filter_map(|rest| rest.split_once('('));
        for (name, _) in names.filter(|(_, rest)| rest.ends_with("Harness) {")) {
            assert!(list.contains(&format!("\n{name},\n")), "{name} of {} is not listed", path.display());
            told += 1;
        }
    }
    assert!(told > 100, "the behaviours are found");
}
