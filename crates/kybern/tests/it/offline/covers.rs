//! Messages that are handed on with a few words above them, and offers: what is wanted, and what is not.

use kybern_core::model::ClassifyInput;

use super::{THRESHOLD, classify};

const REQUEST: &str = "insurance.loss_run_request";

fn handed_on(text: &str) -> ClassifyInput {
    ClassifyInput {
        subject: "Fwd: loss runs".to_owned(),
        text: text.to_owned(),
        forwarded:
            "Hi,\n\nwe are changing insurers. Please order currently valued loss runs from Brindle Bay for policy \
                    BB-26-5512, five years.\n\nThanks,\nAda"
                .to_owned(),
        ..ClassifyInput::default()
    }
}

#[tokio::test]
async fn a_short_order_for_something_else_above_a_request_asks_a_person() {
    for text in [
        "Please order lunch for Friday.",
        "Can you pick up the dry cleaning today?",
        "Please send Gil the holiday schedule.",
        "Could you water the plants while I am out? Thanks",
        "I need a new badge for the garage.",
        "Are you coming to the picnic on Saturday?",
        "FYI. Please book two seats on the morning flight to Waco.",
        "Please hold off for now.",
        "pls renew my parking permit",
        "Por favor pide flores para la oficina.",
        "Merci de commander du papier.",
        "Bitte bestellen Sie Kaffee.",
    ] {
        let found = classify(&handed_on(text)).await;
        assert!(found.intent.as_deref() != Some(REQUEST) || found.confidence < THRESHOLD, "{text}: {found:?}");
    }
}

#[tokio::test]
async fn a_text_that_only_hands_a_request_on_leaves_it_as_sure_as_it_is() {
    for text in [
        "",
        "Please see below",
        "Please handle.",
        "FYI, can you take care of this?",
        "Can you do this one today?\nDawn",
        "Gil - see below and please order. Thx",
        "Could your office pull these? We cannot.",
        "Dawn can you get her what she wants. thx",
        "Please process for Brindle Bay by Friday.",
        "Please forward to the right person and keep me posted.",
        "Pls assist the insured with the below request",
        "New one for you. Can you jump on this today?",
        "Favor de atender, gracias.",
        "Pourriez-vous vous en occuper ?",
    ] {
        let found = classify(&handed_on(text)).await;
        assert!(found.intent.as_deref() == Some(REQUEST) && found.confidence >= THRESHOLD, "{text}: {found:?}");
    }
}

#[tokio::test]
async fn an_offer_of_loss_runs_is_no_order() {
    let mail = |text: &str| ClassifyInput {
        subject: "Oak Bend".to_owned(),
        text: text.to_owned(),
        ..ClassifyInput::default()
    };
    for text in [
        "Let me know if you need the loss runs.",
        "Hi, the renewal is in May. Let me know if you need the loss runs from Brindle Bay.",
        "If you want the loss runs, just tell me.",
        "If you'd like the loss runs, I can order them.",
        "Just let me know if you want us to pull the loss runs.",
        "Should you need loss runs, call me.",
        "Please let us know if you still need loss runs.",
    ] {
        let found = classify(&mail(text)).await;
        assert!(found.confidence < THRESHOLD, "{text}: {found:?}");
    }
    for text in [
        "Please order the loss runs. Let me know if you need the policy numbers.",
        "Loss runs please, all lines. Let me know if you need anything else.",
        "We need loss runs from Brindle Bay. If you need a letter for the loss runs, tell me.",
    ] {
        let found = classify(&mail(text)).await;
        assert!(found.intent.as_deref() == Some(REQUEST) && found.confidence >= THRESHOLD, "{text}: {found:?}");
    }
}
