//! Windows over conversations that are short enough to be seen, and over any.

use proptest::prelude::*;

use super::*;
use crate::model::{ToolCall, ToolResult};

const WIDE: WindowLimits = WindowLimits { messages: 100, tokens: Tokens(1_000_000), since: None };

fn spoken(at: i64, role: Role, parts: Vec<Part>) -> WindowMessage {
    let message = ModelMessage { role, parts };
    WindowMessage {
        message,
        at: Timestamp::from_millis(at),
        tokens: Tokens(10),
        redacted: false,
        tainted: false,
        beside: false,
    }
}

fn text() -> Vec<Part> {
    vec![Part::Text { text: "words".to_owned() }]
}

fn calls(ids: &[&str]) -> Vec<Part> {
    let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "t".to_owned(), arguments: "{}".to_owned() };
    ids.iter().map(|id| Part::ToolCall(call(id))).collect()
}

fn answers(ids: &[&str]) -> Vec<Part> {
    let answer = |id: &&str| ToolResult {
        call_id: (*id).to_owned(),
        name: "t".to_owned(),
        content: "4".to_owned(),
        is_error: false,
    };
    ids.iter().map(|id| Part::ToolAnswer(answer(id))).collect()
}

/// `u` a user, `a` an answer, `c` a reply with two calls, `r` both results, `h` one of them.
fn conversation(signs: &str) -> Vec<WindowMessage> {
    let one = |(n, sign): (usize, char)| {
        let at = i64::try_from(n).unwrap();
        match sign {
            'u' => spoken(at, Role::User, text()),
            'a' => spoken(at, Role::Assistant, text()),
            'c' => spoken(at, Role::Assistant, calls(&["1", "2"])),
            'r' => spoken(at, Role::Tool, answers(&["1", "2"])),
            'h' => spoken(at, Role::Tool, answers(&["2"])),
            other => panic!("{other}"),
        }
    };
    signs.chars().enumerate().map(one).collect()
}

fn shown(signs: &str, limits: &WindowLimits) -> Vec<usize> {
    window(&conversation(signs), limits)
}

#[test]
fn files_that_are_too_long_are_left_out_alone() {
    let file = |tokens: u64| WindowMessage { beside: true, tokens: Tokens(tokens), ..spoken(1, Role::User, text()) };
    let around = |file: WindowMessage| {
        let said = [Role::User, Role::Assistant].map(|role| spoken(1, role, text()));
        let [user, answer] = said.clone();
        vec![said[0].clone(), said[1].clone(), user, file, answer, spoken(2, Role::User, text())]
    };
    let limits = |tokens: u64| WindowLimits { messages: 100, tokens: Tokens(tokens), since: None };
    assert_eq!(window(&around(file(10)), &limits(60)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(window(&around(file(41)), &limits(60)), [0, 1, 2, 4, 5], "everything else fits");
    // Files alone are no beginning.
    assert_eq!(window(&around(file(10)), &limits(35)), [5]);
    assert_eq!(window(&around(file(10)), &limits(40)), [2, 3, 4, 5]);
}

#[test]
fn everything_is_shown_that_fits() {
    assert_eq!(shown("uaucrau", &WIDE), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(shown("u", &WIDE), [0]);
    assert_eq!(window(&[], &WIDE), Vec::<usize>::new());
}

#[test]
fn a_call_and_its_result_are_never_apart() {
    // The limit falls between the call at 3 and its result at 4: both go, and what has lost its question.
    for messages in 2..=6 {
        let limits = WindowLimits { messages, ..WIDE };
        let places = shown("uaucrau", &limits);
        assert_eq!(places.contains(&3), places.contains(&4), "{messages}: {places:?}");
        assert!(places.len() <= messages && places.last() == Some(&6));
    }
    assert_eq!(shown("uaucrau", &WindowLimits { messages: 5, ..WIDE }), [2, 3, 4, 5, 6]);
    assert_eq!(shown("uaucrau", &WindowLimits { messages: 4, ..WIDE }), [6], "an answer without its question");
    assert_eq!(shown("uaucrau", &WindowLimits { tokens: Tokens(50), ..WIDE }), [2, 3, 4, 5, 6]);
}

#[test]
fn calls_that_never_got_all_their_results_are_left_out() {
    assert_eq!(shown("ucu", &WIDE), [0, 2]);
    assert_eq!(shown("uchu", &WIDE), [0, 3]);
    assert_eq!(shown("uchhu", &WIDE), [0, 4], "one result twice is not two");
    assert_eq!(shown("uchrau", &WIDE), [0, 4, 5], "nor are three");
    assert_eq!(shown("ruau", &WIDE), [1, 2, 3], "a result whose call is gone");
}

#[test]
fn what_was_taken_back_is_never_shown() {
    let mut all = conversation("ucraua");
    all.push(spoken(9, Role::User, text()));
    for redacted in 0..6 {
        let mut all = all.clone();
        all[redacted].redacted = true;
        let places = window(&all, &WIDE);
        assert!(!places.contains(&redacted), "{redacted}: {places:?}");
        assert_eq!(places.contains(&1), places.contains(&2), "{redacted}: {places:?}");
    }
}

#[test]
fn what_is_too_old_is_left_out_with_everything_before_it() {
    let limits = WindowLimits { since: Some(Timestamp::from_millis(2)), ..WIDE };
    assert_eq!(shown("uauau", &limits), [2, 3, 4]);
    // A result that is young enough does not bring its old call along.
    let limits = WindowLimits { since: Some(Timestamp::from_millis(2)), ..WIDE };
    assert_eq!(shown("ucrauau", &limits), [4, 5, 6]);
}

#[test]
fn what_is_asked_now_is_there_however_long_it_is() {
    let mut all = conversation("uau");
    all[2].tokens = Tokens(u64::MAX);
    assert_eq!(window(&all, &WindowLimits { tokens: Tokens(10), ..WIDE }), [2]);
    assert_eq!(shown("uau", &WindowLimits { messages: 0, ..WIDE }), [2]);
}

proptest! {
    #[test]
    fn a_window_keeps_its_promises(
        signs in "[uacrh]{0,40}",
        messages in 0_usize..45,
        tokens in 0_u64..450,
        redacted in proptest::collection::vec(any::<bool>(), 41),
        since in proptest::option::of(0_i64..45),
    ) {
        let mut all = conversation(&format!("{signs}u"));
        let last = all.len() - 1;
        all[..last].iter_mut().zip(redacted).for_each(|(spoken, redacted)| spoken.redacted = redacted);
        let limits = WindowLimits { messages, tokens: Tokens(tokens), since: since.map(Timestamp::from_millis) };
        let places = window(&all, &limits);
        prop_assert_eq!(places.last(), Some(&last));
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert_eq!(all[places[0]].message.role, Role::User);
        if places.len() > 1 {
            prop_assert!(places.len() <= messages);
            prop_assert!(places.iter().map(|place| all[*place].tokens.0).sum::<u64>() <= tokens);
        }
        for place in &places[..places.len() - 1] {
            prop_assert!(!all[*place].redacted);
            prop_assert!(limits.since.is_none_or(|since| all[*place].at >= since));
        }
        let seen: Vec<&WindowMessage> = places.iter().map(|place| &all[*place]).collect();
        for unit in units(&seen.into_iter().cloned().collect::<Vec<_>>()) {
            let of: Vec<&WindowMessage> = unit.iter().map(|place| &all[places[*place]]).collect();
            prop_assert!(is_whole(&of), "{:?}", places);
        }
    }
}
