use super::*;

fn of(role: PassageRole, text: &str, subject: &str) -> String {
    let (text, passages) = split(text.to_owned(), subject, "Ann Example");
    let mut end = 0;
    for passage in &passages {
        assert_eq!(passage.start, end, "a gap or an overlap in {text:?}");
        end = passage.end;
    }
    assert_eq!(end, text.len());
    kybern_core::mail::text_of(&text, &passages, role)
}

fn newest(text: &str) -> String {
    of(PassageRole::Newest, text, "Re: x")
}

#[test]
fn quotations_are_history_in_every_language() {
    for below in [
        "On Mon, May 4, 2026 at 2:50 PM Ann Example <ann@x.example> wrote:\n> old\n> words",
        "On Mon, May 4, 2026 at 2:50 PM Ann Example\n<ann@x.example> wrote:\n\nold words without marks",
        "El lun, 4 may 2026 a las 14:50, Ana (<ana@x.example>) escribió:\n> old",
        "Le 4 mai 2026 à 14:50, Anne Exemple a écrit :\n> old",
        "Am 04.05.2026 um 14:50 schrieb Anna Beispiel <anna@x.example>:\n> old",
        "-----Original Message-----\nFrom: Ann\nSent: Monday\nTo: Bob\nSubject: old\n\nold words",
        "________________________________\nFrom: Ann Example\nSent: Monday, May 4, 2026\nTo: Bob\n\nold words",
        "*From:* Ann <ann@x.example>\n*Date:* Monday\n*To:* Bob\n*Subject:* old\n\nold words",
        "De : Anne Exemple\nEnvoyé : lundi 4 mai 2026\nÀ : Bob\nObjet : old\n\nold words",
        "De: Ana\nEnviado el: lunes\nPara: Bob\nAsunto: old\n\nold words",
        "Von: Anna\nGesendet: Montag\nAn: Bob\nBetreff: old\n\nold words",
        "-------- Mensaje original --------\nold words",
        "-----Message d'origine-----\nold words",
    ] {
        let found = newest(&format!("new words\n\n{below}\n"));
        let found = found.trim_end_matches(['_', '\n']);
        assert_eq!(found, "new words", "{below}");
    }
}

#[test]
fn an_answer_may_stand_below_or_between() {
    let below = "On May 4, 2026, Ann wrote:\n> old one\n> old two\n\nnew words\n";
    assert_eq!(newest(below), "new words");
    let between = "On May 4, 2026, Ann wrote:\n> question one\nanswer one\n> question two\nanswer two\n";
    assert_eq!(newest(between), "answer one\nanswer two");
    let html = format!("On May 4, 2026, Ann wrote:\n{QUOTE_OPEN}old one\nold two{QUOTE_CLOSE}\nnew words");
    assert_eq!(newest(&html), "new words");
    assert_eq!(of(PassageRole::Quoted, &html, "Re: x"), "On May 4, 2026, Ann wrote:\nold one\nold two");
}

#[test]
fn an_answer_may_stand_beneath_a_message_without_marks() {
    let older = "________________________________\nFrom: Bob Sample\nSent: Monday\nTo: Ann\nSubject: insurance\n\nSend it.\n\n\
                 Bob Sample\nOak Agency\n555-0101\n";
    for (between, answer) in [("\n", "Team,\nplease order it."), ("", "Hi Bob,\nplease order it."), ("\n", "Order it.")]
    {
        assert_eq!(newest(&format!("{older}{between}{answer}")).trim_start_matches('_').trim(), answer);
    }
    // What is written above is the answer, and an older message that nobody signed ends nowhere.
    assert_eq!(newest(&format!("Mine.\n\n{older}\nTeam,\nold.")).trim_end_matches(['_', '\n']), "Mine.");
    let unsigned = older.replace("Bob Sample\nOak", "Oak");
    assert_eq!(newest(&format!("{unsigned}\nTeam,\norder it.")).trim_matches(['_', '\n']), "");
}

#[test]
fn a_message_that_is_handed_on_says_who_wrote_it() {
    for (text, subject) in [
        (
            "Please handle.\n\n---------- Forwarded message ---------\nFrom: Ann <ann@X.example>\nDate: Monday\nSubject: old\nTo: Bob\n\nold words",
            "Fwd: old",
        ),
        (
            "Please handle.\n\nBegin forwarded message:\n\nFrom: Ann <ann@X.example>\nSubject: old\nDate: Monday\n\nold words",
            "old",
        ),
        ("Please handle.\n\nFrom: Ann <ann@x.example>\nSent: Monday\nTo: Bob\nSubject: old\n\nold words", "FW: old"),
        ("Please handle.\n\nDe : Ann [mailto:ann@x.example]\nEnvoyé : lundi\nObjet : old\n\nold words", "TR: old"),
    ] {
        assert_eq!(of(PassageRole::Newest, text, subject), "Please handle.", "{text}");
        assert!(of(PassageRole::Forwarded, text, subject).ends_with("old words"), "{text}");
        let (_, passages) = split(text.to_owned(), subject, "Ann Example");
        let author = passages.iter().find_map(|passage| passage.author.clone()).unwrap();
        assert_eq!((author.name.as_str(), author.address.as_str()), ("Ann", "ann@x.example"));
    }
    let marked = "See below.\n\nBegin forwarded message:\n\n> From: Ann <ann@x.example>\n> Subject: old\n>\n> the wish\n>> older words\n> the end";
    assert_eq!(of(PassageRole::Newest, marked, "Fwd: old"), "See below.");
    let found = of(PassageRole::Forwarded, marked, "Fwd: old");
    assert!(found.contains("> the wish") && found.contains("> the end") && !found.contains("older"), "{found}");
    let chain = "FYI\n\nFrom: Ann\nSent: Monday\n\none\n\nFrom: Bob\nSent: Sunday\n\ntwo";
    let (_, passages) = split(chain.to_owned(), "FW: x", "");
    assert_eq!(passages.iter().filter(|passage| passage.role == PassageRole::Forwarded).count(), 2);
    assert_eq!(of(PassageRole::Forwarded, "> a\n> b", "Fwd: x"), "> a\n> b");
}

#[test]
fn signatures_and_disclaimers_are_no_words_of_the_message() {
    let text = "CAUTION: This email originated from outside of the organization.\n\nPlease order it.\n\nBest regards,\n\
        Ann Example\nClaims Desk\n555-0100\n\nCONFIDENTIALITY NOTICE: it is secret.\nVery secret.\n\nSent from my iPhone\n";
    assert_eq!(newest(text), "Please order it.");
    assert_eq!(of(PassageRole::Signature, text, ""), "Best regards,\nAnn Example\nClaims Desk\n555-0100");
    assert!(of(PassageRole::Footer, text, "").contains("Very secret."));
    assert_eq!(newest("new\n-- \nAnn\nQuotes daily!"), "new");
    let more = "Thank you,\nplease also send the certificate that we had asked you for in the last week of the year, will you?";
    assert_eq!(newest(more), more);
    assert!(newest("Thanks\nP.S. can you send a quote?").contains("quote"));
}

#[test]
fn the_senders_own_name_beneath_the_words_signs_them() {
    for signed in ["Ann Example\n\n\nWe are hiring! Ask us.", "Ann", "- Ann", "Ann Example | Owner | 555-0100"] {
        assert_eq!(newest(&format!("Please order it.\n\n{signed}\n")), "Please order it.", "{signed}");
    }
    for whole in [
        "Ann Example wants a quote.",
        "Ann Example",
        "Please insure her:\nAnn Example\n2019 truck",
        "Please order it.\nAnn\nWhen will we have it?",
        "Please order it.\nAnna\nBob",
    ] {
        assert_eq!(newest(whole), whole);
    }
    let (text, passages) = split("Order it.\nAnn Example".to_owned(), "", "Example, Ann");
    assert_eq!(kybern_core::mail::text_of(&text, &passages, PassageRole::Newest), "Order it.");
}

#[test]
fn forms_and_loads_are_no_headers() {
    for text in [
        "From: Dallas, TX\nTo: Memphis, TN\nDate: May 4\nWeight: 40,000",
        "Subject: a quote\nName: Ann",
        "On Monday we bought two trucks.\nPlease add them.",
        "De acuerdo: gracias",
    ] {
        assert_eq!(newest(text), text);
    }
}

#[test]
fn there_are_no_more_passages_than_allowed() {
    let text = "> a\nb\n".repeat(5_000);
    let (whole, passages) = split(text, "", "");
    assert_eq!((passages.len(), passages.last().unwrap().end), (MAX_PASSAGES, whole.len()));
    // Nor is a part of the text lost where an answer would be one more.
    let older = "From: Bob Sample\nSent: Monday\n\nBob Sample\n\nplease order it\n".repeat(5_000);
    let (whole, passages) = split(older, "", "");
    assert_eq!(passages.len(), MAX_PASSAGES);
    let ends = passages.iter().map(|passage| passage.end).zip(passages.iter().skip(1).map(|next| next.start));
    assert!(passages[0].start == 0 && passages.last().unwrap().end == whole.len());
    assert!(ends.into_iter().all(|(end, start)| end == start));
}
