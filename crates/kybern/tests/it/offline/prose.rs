//! What people say in their own words: with no term of the trade, over the telephone, or as an answer.

use kybern_adapters::models::offline::RulesModel;
use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::model::ClassifyInput;
use kybern_core::ports::Extractor;

use super::{THRESHOLD, classify, registry};

fn mail(subject: &str, text: &str) -> ClassifyInput {
    ClassifyInput { subject: subject.to_owned(), text: text.to_owned(), ..ClassifyInput::default() }
}

#[tokio::test]
async fn intents_are_known_in_everyday_words() {
    for (intent, subject, text) in [
        (
            "insurance.new_lead",
            "trucks",
            "hey whats it run for two box trucks, going on my own next month. need a mil liab and 50 cargo, my authority is \
             pending. txt me",
        ),
        (
            "insurance.new_lead",
            "A friend sent me",
            "Ben at the feed store told me you write trucks. Our agent never answers. We are looking for general liability and \
             a bigger umbrella. Who do I send the driver list to?",
        ),
        (
            "insurance.new_lead",
            "NB for you",
            "Team, new one for your consideration: nine tankers, two mixers. They are after $1M CSL. Incumbent has \
             non-renewed, losses to follow.",
        ),
        (
            "insurance.loss_run_request",
            "board meeting",
            "What I lack is the claims experience from our underwriters. Would you see to it that each is approached?",
        ),
        (
            "insurance.loss_run_request",
            "Cold Spring",
            "Any movement on the experience letters? The market closes Friday.",
        ),
        (
            "insurance.loss_run_reply",
            "account",
            "We do not show you as the broker on this account. Before anything is released we need something in writing from \
             the policyholder.",
        ),
        (
            "insurance.service_request",
            "this morning",
            "My driver put the trailer on its side in the ditch, state patrol has the road closed. Who do I talk to at the \
             insurance?",
        ),
        (
            "insurance.service_request",
            "payment",
            "The automatic draft hit twice this month, can you get one back? It is the policy ending in 31.",
        ),
        (
            "insurance.new_lead",
            "Lead: Oak Bend Waste",
            "--- form data ---\n\ncompany: Oak Bend Waste LLC\nTrucks: 7\nRadius of operation: 500 mi\nDrivers: 11\nI am interested \
             in: auto liability / Cargo\nFirst and last name: Ada Example\nYears in business: 9",
        ),
        (
            "fleet.new_driver",
            "crew",
            "Please add driver Ada Example to our list, TX license 40281173 (expires 11/30/2028). Her first day is May 4, 2026.",
        ),
    ] {
        let found = classify(&mail(subject, text)).await;
        assert!(found.intent.as_deref() == Some(intent) && found.confidence >= THRESHOLD, "{text}: {found:?}");
    }
}

#[tokio::test]
async fn a_theft_is_told_to_a_person() {
    let found =
        classify(&mail("open a claim", "Our trailer with the load was stolen overnight, please open a claim.")).await;
    assert!(found.doubts.iter().any(|doubt| doubt.contains("stolen")), "{found:?}");
    let found = classify(&mail("open a claim", "A deer hit our trailer overnight, please open a claim.")).await;
    assert!(found.doubts.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_vehicle_whose_number_cannot_be_right_is_asked_about() {
    let text = |vin: &str| format!("We bought a 2022 Western Star 4900 (VIN {vin}). Add it as of 05/06/2026.");
    let found = classify(&mail("new truck", &text("5KJJAEDR8NSB85796"))).await;
    assert!(found.doubts.iter().any(|doubt| doubt.contains("cannot be right")), "{found:?}");
    let found = classify(&mail("new truck", &text("5KJJAEDR1NSB85796"))).await;
    assert!(found.doubts.is_empty(), "{found:?}");
}

#[tokio::test]
async fn whoever_asks_for_nothing_or_on_a_condition_is_asked() {
    for text in [
        "We have already ordered the loss runs from Brindle Bay on BB-26-5512, only for your information.",
        "Brindle Bay sent us the loss runs yesterday, so that is settled.",
        "Please order the loss runs once Ada has signed.",
        "Si la renovación sale en más de 90 mil, pidan el historial de siniestros a Brindle Bay.",
    ] {
        let found = classify(&mail("loss runs", text)).await;
        assert!(!found.doubts.is_empty() || found.confidence < THRESHOLD, "{text}: {found:?}");
    }
    let found =
        classify(&mail("loss runs", "Please order the loss runs from Brindle Bay, BB-26-5512, if possible today."))
            .await;
    assert!(found.doubts.is_empty() && found.confidence >= THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn a_loss_run_that_comes_without_a_question_is_no_request() {
    let input = ClassifyInput {
        document_categories: vec!["LOSS_RUN".to_owned()],
        document_text: "Loss run. No claims reported.".to_owned(),
        ..mail("Loss run", "Report attached. Do not reply.")
    };
    let found = classify(&input).await;
    let intent = found.intent.as_deref();
    assert!(intent == Some("insurance.loss_run_reply") || found.confidence < THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn neither_names_nor_the_words_of_papers_are_a_wish() {
    let input = ClassifyInput {
        document_categories: vec!["POLICY".to_owned()],
        document_text: "Payment plan: four installments. Down payment. Collision and accident coverage.".to_owned(),
        ..mail("", "as discussed\n\nAda Example | Fern Hollow Dump Service")
    };
    let found = classify(&input).await;
    assert!(found.confidence < THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn a_paper_on_which_something_is_wanted_is_not_wanted() {
    let input = ClassifyInput {
        document_categories: vec!["COI".to_owned()],
        document_text: "Certificate of insurance. Certificate holder. Additional insured.".to_owned(),
        ..mail(
            "our account",
            "Please pull the loss runs for every line on the attached certificate. The holder on that cert does not matter.",
        )
    };
    let found = classify(&input).await;
    let intent = found.intent.as_deref();
    assert!(intent == Some("insurance.loss_run_request") && found.confidence >= THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn loss_runs_that_are_only_pointed_at_are_wanted() {
    for (subject, text) in [
        ("loss runs", "the other guy will not quote without loss runs. Can you get em from Harrow Mutual? thx"),
        (
            "Oak Bend Carriers - incumbent losses",
            "We are quoting this one and the underwriter holds it until losses are in. Please request from Harrow Mutual and \
             from Brindle Bay.",
        ),
        ("Losses - Oak Bend", "need em for Oak Bend Haulage LLC, renewing in May. Brindle Bay has it."),
        (
            "Re: your quote request",
            "you asked for loss runs. I never had any, so go ahead and ask Brindle Bay for them. Oak Bend Haulage LLC",
        ),
        ("Marketing Oak Bend 11/15", "Pls pull LRs on Oak Bend Haulage LLC. TY"),
    ] {
        let found = classify(&mail(subject, text)).await;
        let intent = found.intent.as_deref();
        assert!(intent == Some("insurance.loss_run_request") && found.confidence >= THRESHOLD, "{text}: {found:?}");
    }
    for (subject, text) in [
        ("loss runs", "The loss runs are attached. Let me know if you need them from anybody else."),
        ("Oak Bend quote", "Loss runs are attached, please quote. We will order updated ones from the carrier."),
        ("certificate", "Oak Bend needs a certificate. Please get it from your system today."),
    ] {
        let found = classify(&mail(subject, text)).await;
        assert!(found.intent.as_deref() != Some("insurance.loss_run_request"), "{text}: {found:?}");
    }
}

#[tokio::test]
async fn what_the_newest_words_ask_for_counts_before_what_stands_beneath_them() {
    let certificate = "Please send us a certificate of insurance with us as certificate holder. Thanks";
    let input = ClassifyInput {
        forwarded: certificate.to_owned(),
        document_categories: vec!["COI".to_owned()],
        document_text: "Certificate of insurance. Certificate holder. Additional insured.".to_owned(),
        ..mail(
            "FW: certificate for the warehouse",
            "Could you order loss runs on Oak Bend, all lines? The old certificate is attached.",
        )
    };
    let found = classify(&input).await;
    let intent = found.intent.as_deref();
    assert!(intent == Some("insurance.loss_run_request") && found.confidence >= THRESHOLD, "{found:?}");
    let input =
        ClassifyInput { forwarded: certificate.to_owned(), ..mail("FW: certificate", "can you do this one today?") };
    let found = classify(&input).await;
    assert_eq!(found.intent.as_deref(), Some("insurance.service_request"), "{found:?}");
    let both = "Please order loss runs for Oak Bend. Also please issue a certificate to Cedar Mill Grocers.";
    assert!(!classify(&mail("Oak Bend", both)).await.doubts.is_empty(), "two wishes stay two");
}

#[tokio::test]
async fn who_asks_how_far_it_is_asks_for_what_the_thread_is_about() {
    let found = classify(&mail("Re: loss runs", "Any word from Brindle Bay yet? Oak Bend, policy BB-26-5512.")).await;
    assert_eq!(found.intent.as_deref(), Some("insurance.loss_run_request"), "{found:?}");
    let found = classify(&mail("Re: certificate", "Have you heard back?")).await;
    assert_eq!(found.intent.as_deref(), Some("insurance.service_request"), "{found:?}");
}

#[tokio::test]
async fn whoever_has_the_loss_runs_or_sends_them_does_not_want_them() {
    for (subject, text) in [
        ("Thanks", "Got the loss runs from Brindle Bay today, all good. Thanks for your help!"),
        (
            "RE: loss runs",
            "Good afternoon, loss runs for Oak Bend are attached. Please confirm receipt of the loss runs.",
        ),
    ] {
        let found = classify(&mail(subject, text)).await;
        let intent = found.intent.as_deref();
        assert!(intent != Some("insurance.loss_run_request") || found.confidence < THRESHOLD, "{text}: {found:?}");
    }
    let found =
        classify(&mail("Oak Bend", "We never got the loss runs from Brindle Bay. Please order them again.")).await;
    let intent = found.intent.as_deref();
    assert!(intent == Some("insurance.loss_run_request") && found.confidence >= THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn a_letter_that_asks_an_insurer_for_loss_runs_is_no_loss_run() {
    let registry = registry();
    let (_, schema) = registry.extractions().find(|(name, _)| *name == "insurance").unwrap();
    let category = async |text: &str| {
        let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
        let document = DocumentText { format: DocumentFormat::Text, pages: vec![page] };
        RulesModel.analyse(&document, schema).await.unwrap().category
    };
    let letter = "To: Brindle Bay Casualty\n\nLoss history\n\nPlease let this letter serve as our request that you \
                  release currently valued loss runs on the policies below to our agent.\n\nBB-26-5512\n\nAda Example, President";
    assert_eq!(category(letter).await.as_deref(), Some("LOA"));
    let report =
        "Loss run report\nValued as of 5/1/2026\nClaim number  Date of loss  Total incurred\nNo losses reported";
    assert_eq!(category(report).await.as_deref(), Some("LOSS_RUN"));
    let input = ClassifyInput {
        document_categories: vec!["LOA".to_owned()],
        document_text: letter.to_owned(),
        ..mail(
            "loss run letter",
            "My signed letter is attached. Please send it to the insurer and tell me when they answer.",
        )
    };
    let found = classify(&input).await;
    assert_eq!(found.intent.as_deref(), Some("insurance.loss_run_request"), "{found:?}");
}

#[tokio::test]
async fn whoever_orders_from_somebody_orders_what_is_handed_on() {
    let mut input = mail(
        "Fwd: submission 26-11",
        "See below from the market. Can you order from the carriers in the prior carrier section of the app (attached)? The \
         umbrella is open until we actually have a primary quote.",
    );
    input.forwarded =
        "Thanks for the submission, we would like to look at this one. Before I can rate I need currently \
                       valued loss runs (within 60 days) from the expiring carriers. Also last four IFTA quarters."
            .to_owned();
    input.document_categories = vec!["APPLICATION".to_owned()];
    let found = classify(&input).await;
    assert_eq!(found.intent.as_deref(), Some("insurance.loss_run_request"), "{found:?}");
    assert!(found.confidence >= THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn a_letter_that_stands_three_times_stands_twice() {
    let found = classify(&mail("", "Please pull 5 years of lossses with Fern Casualty, everything is attached.")).await;
    assert_eq!(found.intent.as_deref(), Some("insurance.loss_run_request"), "{found:?}");
    assert!(found.confidence >= THRESHOLD, "{found:?}");
}

#[tokio::test]
async fn facts_are_read_from_sentences() {
    let registry = registry();
    for (pack, text, wanted) in [
        (
            "insurance",
            "getting my authority, company is Fern Hollow Transport dot 9228815 mc 654321 and I need cargo",
            vec![("insured.name", "Fern Hollow Transport"), ("insured.dot_number", "9228815")],
        ),
        (
            "freight",
            "A load for you.\n\nReference: PO 44-1203\nShips May 4, 2026 from Cedar Mill Grain\nDelivers May 5, 2026 to Dry Creek Feed",
            vec![("load_number", "PO 44-1203"), ("pickup_date", "2026-05-04"), ("shipper", "Cedar Mill Grain")],
        ),
        (
            "fleet",
            "Our driver, Ada Example, passed her DOT physical. Medical card good until 5/6/2028, CDL expires 11/2/2027.",
            vec![("name", "Ada Example"), ("expiration", "2028-05-06"), ("license_expiry", "2027-11-02")],
        ),
        (
            "insurance",
            "Our trailer was stolen in Waco on Sunday October 11, 2026 around 9 pm.",
            vec![("date", "2026-10-11")],
        ),
        (
            "insurance",
            "Please add to policy AB-12345 as of Monday 4/27/2026 our new trailer.",
            vec![("wanted_from", "2026-04-27")],
        ),
        (
            "insurance",
            "Need lost runs for Fern Hollow Timber Hauling, all of them",
            vec![("insured.name", "Fern Hollow Timber Hauling")],
        ),
        (
            "freight",
            "LOAD TENDER & RATE AGREEMENT  #88-40617\n\nIssued by: Fern Hollow Brokerage LLC (MC 654321), Waco, TX\nTruck line: Dry Creek Hauling LLC (MC 765432)",
            vec![("load_number", "88-40617"), ("company_name", "Dry Creek Hauling LLC"), ("mc_number", "765432")],
        ),
        (
            "fleet",
            "Driver\tLicense\tLicense valid to\nAda Example\tTX 40281173\t11/30/2028\n\nShe starts May 4, 2026.",
            vec![("license_expiry", "2028-11-30"), ("hire_date", "2026-05-04")],
        ),
    ] {
        let (_, schema) = registry.extractions().find(|(name, _)| *name == pack).unwrap();
        let page = PageText { number: 1, text: text.to_owned(), ..PageText::default() };
        let document = DocumentText { format: DocumentFormat::Text, pages: vec![page] };
        let analysis = RulesModel.analyse(&document, schema).await.unwrap();
        let found = RulesModel.extract(0, &document, &analysis, schema).await.unwrap().fields;
        for (name, value) in wanted {
            let is = found.iter().any(|field| field.name == name && field.value == value);
            assert!(is, "{name}: {found:?}");
        }
    }
}
