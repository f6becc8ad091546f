use super::*;

#[test]
fn what_is_quoted_is_blank_and_everything_keeps_its_place() {
    let text = "new ü\n> old é 1\n> [Request:7]\nnew";
    let end = text.rfind("new").unwrap();
    let passage = |role, start, end| Passage { role, start, end, author: None };
    let start = text.find('>').unwrap();
    let passages = [
        passage(PassageRole::Newest, 0, start),
        passage(PassageRole::Quoted, start, end),
        passage(PassageRole::Newest, end, text.len()),
    ];
    let said = without_quoted(text, &passages);
    assert_eq!(said.len(), text.len());
    assert_eq!(said.split('\n').map(str::trim).collect::<Vec<_>>(), ["new ü", "", "> [Request:7]", "new"]);
    assert_eq!(without_quoted(text, &[]), text);
}

#[test]
fn an_order_to_go_ahead_orders_what_it_answers_and_nothing_older() {
    let passage = |role, start, end| Passage { role, start, end, author: None };
    let ordered = |newest: &str, quoted: &str| {
        let text = format!("{newest}\n{quoted}");
        let passages =
            [passage(PassageRole::Newest, 0, newest.len()), passage(PassageRole::Quoted, newest.len(), text.len())];
        ordered(&text, &passages).map(|said| said.trim().to_owned())
    };
    let marked = "On Monday Ada wrote:\n> Shall I order A?\n>> Please cancel B.";
    assert_eq!(ordered("Go ahead.", marked).as_deref(), Some("Shall I order A?"));
    let plain = "From: Ada\nSent: Monday\n\nShall I order A?\nOr not?\n> Please cancel B.";
    assert_eq!(ordered("Go ahead.", plain).as_deref(), Some("Shall I order A?\nOr not?"));
    let one_line = "On Monday a colleague wrote:\n> Shall I order A?\n";
    assert_eq!(ordered("Go ahead.", one_line).as_deref(), Some("Shall I order A?"));
    assert_eq!(ordered("Thanks.", plain), None);
}

#[test]
fn who_only_agrees_says_what_is_answered() {
    let passage = |role, start, end| Passage { role, start, end, author: None };
    let said = |newest: &str| {
        let text = format!("{newest}\n> A is with B?\n>> older\n>> older 1");
        let passages =
            [passage(PassageRole::Newest, 0, newest.len()), passage(PassageRole::Quoted, newest.len(), text.len())];
        without_quoted(&text, &passages).split('\n').map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    for newest in [
        "Yes to both, go ahead.",
        "Desk - yes pls go ahead today",
        "Sí, por favor.",
        "It's AB-1204, still with Harrow. Go ahead and order.",
    ] {
        assert_eq!(said(newest), [newest, "A is with B?", "older", ""]);
    }
    for newest in [
        "No, wait.",
        "Yesterday we moved.",
        "Here is the new one.",
        "Please don't go ahead with the old ones.",
        "Ok. We no longer have them, please order the loss runs on the decs that come.",
        "Yes, the attached ones.",
        "Yes, and AB-1204 too.",
        "We can't go ahead yet.",
        "No need to go ahead.",
        "Did you go ahead?",
    ] {
        assert_eq!(said(newest), [newest, "", "", ""]);
    }
}
