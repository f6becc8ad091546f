//! Turns with models that do as they please.

use proptest::prelude::*;

use super::*;
use crate::money::{NanoUsd, Tokens};
use CallKind::{Acts, Reads};

const LONG: Millis = Millis::from_secs(60);

fn limits(iterations: u32, calls: u32) -> TurnLimits {
    TurnLimits { iterations, calls, ..TurnLimits::default() }
}

fn used(tokens: u64) -> Usage {
    Usage { input_tokens: Tokens(tokens), output_tokens: Tokens(1), cost_nanos: NanoUsd(10) }
}

fn says(text: &str, calls: &[CallKind]) -> Reply {
    let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    Reply { text: text.to_owned(), calls: calls.to_vec(), finish: Some(finish), usage: used(10) }
}

fn asked(tools: bool, cap: Option<Cap>) -> TurnMove {
    TurnMove::Ask(AskOptions { tools, cap })
}

#[test]
fn a_question_a_call_and_an_answer() {
    let mut turn = Turn::new(TurnLimits::default(), true);
    assert_eq!(turn.go_on(LONG).unwrap(), asked(true, None));
    let call = TurnMove::Call { batches: vec![vec![0, 1], vec![2]], unmade: Vec::new() };
    assert_eq!(turn.replied(says("I look.", &[Reads, Reads, Acts])).unwrap(), call);
    turn.answered(used(5)).unwrap();
    assert_eq!(turn.go_on(LONG).unwrap(), asked(true, None));
    assert_eq!(turn.replied(says("Four.", &[])).unwrap(), TurnMove::End(TurnFinish::Complete));
    assert_eq!((turn.text(), turn.iterations(), turn.calls()), ("Four.", 2, 3));
    assert_eq!(turn.usage(), used(10).plus(used(10)).plus(used(5)));
    assert_eq!(turn.go_on(LONG).unwrap(), TurnMove::End(TurnFinish::Complete), "an end stays one");
}

#[test]
fn at_its_last_question_the_model_answers_with_what_it_has() {
    let mut turn = Turn::new(limits(2, 25), true);
    turn.go_on(LONG).unwrap();
    turn.replied(says("First.", &[Reads])).unwrap();
    turn.answered(Usage::default()).unwrap();
    assert_eq!(turn.go_on(LONG).unwrap(), asked(false, Some(Cap::Iterations)));
    // It wants another call all the same: that is not made, and what it said before stays.
    assert_eq!(turn.replied(says("", &[Acts])).unwrap(), TurnMove::End(TurnFinish::IterationLimit));
    assert_eq!((turn.text(), turn.calls()), ("First.", 1));
}

#[test]
fn no_more_calls_are_made_than_may_be_and_the_others_are_answered() {
    let mut turn = Turn::new(limits(10, 2), true);
    turn.go_on(LONG).unwrap();
    let call = turn.replied(says("", &[Acts, Reads, Reads])).unwrap();
    assert_eq!(call, TurnMove::Call { batches: vec![vec![0], vec![1]], unmade: vec![UnmadeCall { place: 2 }] });
    turn.answered(Usage::default()).unwrap();
    assert_eq!(turn.go_on(LONG).unwrap(), asked(false, Some(Cap::Calls)));
    assert_eq!(turn.replied(says("Half.", &[])).unwrap(), TurnMove::End(TurnFinish::ToolLimit));
}

#[test]
fn without_tools_an_answer_is_complete() {
    let mut turn = Turn::new(limits(1, 0), false);
    assert_eq!(turn.go_on(LONG).unwrap(), asked(false, None));
    assert_eq!(turn.replied(says("Four.", &[])).unwrap(), TurnMove::End(TurnFinish::Complete));
}

#[test]
fn what_a_provider_ends_has_its_reason() {
    for (finish, calls, reason) in [
        (FinishReason::ContentFilter, vec![], Some(TurnFinish::ContentFilter)),
        (FinishReason::Refusal, vec![Reads], Some(TurnFinish::ContentFilter)),
        (FinishReason::Length, vec![], Some(TurnFinish::MaxTokens)),
        (FinishReason::NoModel, vec![], Some(TurnFinish::NoModel)),
        (FinishReason::Length, vec![Reads], None),
    ] {
        let mut turn = Turn::new(TurnLimits::default(), true);
        turn.go_on(LONG).unwrap();
        let reply = Reply { finish: Some(finish), ..says("Half", &calls) };
        turn.replied(reply).unwrap();
        assert_eq!((turn.finish(), turn.text()), (reason, "Half"), "{finish:?}");
    }
}

#[test]
fn time_tokens_and_money_are_looked_at_before_the_model_is_asked() {
    let after = |limits: TurnLimits, left: Millis| {
        let mut turn = Turn::new(limits, true);
        turn.go_on(LONG).unwrap();
        turn.replied(says("I look.", &[Reads])).unwrap();
        turn.answered(Usage::default()).unwrap();
        (turn.go_on(left).unwrap(), turn.text().to_owned())
    };
    let of = TurnLimits::default();
    let ends = |finish| (TurnMove::End(finish), "I look.".to_owned());
    assert_eq!(after(of, Millis(1_999)), ends(TurnFinish::Timeout));
    assert_eq!(after(TurnLimits { tokens: Some(Tokens(11)), ..of }, LONG), ends(TurnFinish::MaxTokens));
    assert_eq!(after(TurnLimits { cost: Some(NanoUsd(10)), ..of }, LONG), ends(TurnFinish::Error));
    assert_eq!(after(TurnLimits { tokens: Some(Tokens(12)), ..of }, LONG).0, asked(true, None));
    let turn = Turn::new(TurnLimits { time: Millis(5_000), ..of }, true);
    let at = Timestamp::from_millis;
    assert_eq!((turn.left(at(0), at(1_000)), turn.left(at(0), at(9_000))), (Millis(4_000), Millis(0)));
}

#[test]
fn a_turn_that_is_stopped_keeps_what_it_has_and_counts_what_it_took() {
    let mut turn = Turn::new(TurnLimits::default(), true);
    turn.go_on(LONG).unwrap();
    turn.replied(says("I look.", &[Acts])).unwrap();
    assert_eq!(turn.stop(TurnFinish::Cancelled, used(7)), TurnFinish::Cancelled);
    assert_eq!((turn.text(), turn.usage()), ("I look.", used(10).plus(used(7))));
    assert_eq!(turn.stop(TurnFinish::Error, Usage::default()), TurnFinish::Cancelled, "the first end counts");
    assert!(turn.answered(Usage::default()).is_err() && turn.replied(says("late", &[])).is_err());
}

#[test]
fn nothing_is_taken_in_that_was_not_asked_for() {
    let mut turn = Turn::new(TurnLimits::default(), true);
    assert_eq!(turn.replied(says("x", &[])).unwrap_err().code(), ErrorCode::Internal);
    assert!(turn.answered(Usage::default()).is_err());
    turn.go_on(LONG).unwrap();
    assert!(turn.go_on(LONG).is_err() && turn.answered(Usage::default()).is_err());
}

proptest! {
    #[test]
    fn every_turn_ends_within_its_limits_whatever_the_model_wants(
        iterations in 1_u32..=50,
        calls in 0_u32..=200,
        tools in any::<bool>(),
        tokens in proptest::option::of(0_u64..500),
        wants in proptest::collection::vec((proptest::collection::vec(any::<bool>(), 0..12), 0_u64..40), 60),
        broken_off in proptest::option::of(0_usize..60),
    ) {
        let limits = TurnLimits { tokens: tokens.map(Tokens), ..limits(iterations, calls) };
        let mut turn = Turn::new(limits, tools);
        let (mut asks, mut made, mut total) = (0, 0, Usage::default());
        let mut wants = wants.into_iter().enumerate();
        let finish = loop {
            // It may be written down and read again at any moment.
            turn = serde_json::from_str(&serde_json::to_string(&turn).unwrap()).unwrap();
            let asked = match turn.go_on(LONG).unwrap() {
                TurnMove::Ask(asked) => asked,
                TurnMove::End(finish) => break finish,
                other @ TurnMove::Call { .. } => panic!("{other:?}"),
            };
            prop_assert!(!asked.tools || (tools && turn.calls() < calls));
            asks += 1;
            let (n, (want, tokens)) = wants.next().expect("a turn asks at most fifty times");
            if broken_off == Some(n) {
                total = total.plus(used(tokens));
                break turn.stop(TurnFinish::Cancelled, used(tokens));
            }
            let kinds: Vec<CallKind> = want.iter().map(|acts| if *acts { Acts } else { Reads }).collect();
            total = total.plus(used(tokens));
            match turn.replied(Reply { usage: used(tokens), ..says("text", &kinds) }).unwrap() {
                TurnMove::Call { batches, unmade } => {
                    prop_assert!(asked.tools);
                    let mut places: Vec<usize> = batches.concat();
                    made += places.len();
                    places.extend(unmade.iter().map(|unmade| unmade.place));
                    prop_assert_eq!(places, (0..kinds.len()).collect::<Vec<_>>(), "every call has one answer");
                    turn.answered(Usage::default()).unwrap();
                }
                TurnMove::End(finish) => break finish,
                TurnMove::Ask(_) => panic!("a reply is never followed by a question at once"),
            }
        };
        prop_assert_eq!(turn.finish(), Some(finish));
        prop_assert!(asks <= iterations && made <= calls as usize);
        prop_assert_eq!((turn.iterations() <= asks, turn.calls() as usize), (true, made));
        prop_assert_eq!(turn.usage(), total, "what was used is counted on every path");
    }
}
