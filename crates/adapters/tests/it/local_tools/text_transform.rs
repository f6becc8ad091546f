use proptest::prelude::*;
use serde_json::{Value, json};

use super::{call, check_refusals, check_table};

fn of(operation: &str, text: &str) -> Value {
    json!({"operation": operation, "text": text})
}

fn with(operation: &str, text: &str, options: Value) -> Value {
    json!({"operation": operation, "text": text, "options": options})
}

fn results(cases: &[(&str, &str, &str)]) {
    let cases: Vec<(Value, &str, Value)> =
        cases.iter().map(|(operation, text, result)| (of(operation, text), "/result", json!(result))).collect();
    check_table("text_transform", &cases);
}

#[test]
fn words_sentences_and_paragraphs_are_counted() {
    let text = "Dr. Lee paid $3.50. Was it late? No!\n\nA second paragraph, e.g. this one\n";
    check_table(
        "text_transform",
        &[
            (of("word_count", text), "/words", json!(14)),
            (of("word_count", text), "/sentences", json!(4)),
            (of("word_count", text), "/paragraphs", json!(2)),
            (of("word_count", text), "/lines", json!(3)),
            (of("word_count", "abc def"), "/characters", json!(7)),
            (of("word_count", "abc def"), "/charactersWithoutSpaces", json!(6)),
            (of("word_count", "e\u{301}👨‍👩‍👧🇷🇼"), "/characters", json!(3)),
            (of("word_count", ""), "/words", json!(0)),
            (of("word_count", ""), "/sentences", json!(0)),
            (of("word_count", ""), "/paragraphs", json!(0)),
            (of("word_count", " - … -- "), "/words", json!(0)),
            (of("word_count", "No end"), "/sentences", json!(1)),
            (of("word_count", "Really?! Yes... \"Done.\""), "/sentences", json!(3)),
            (of("word_count", "J. Smith and A. Jones met at 9 a.m. today."), "/sentences", json!(1)),
            (of("word_count", "one\n\n\n\ntwo\n \nthree"), "/paragraphs", json!(3)),
        ],
    );
}

#[test]
fn letters_change_their_case() {
    results(&[
        ("uppercase", "straße é", "STRASSE É"),
        ("lowercase", "ÀB C", "àb c"),
        ("title_case", "the quick-brown FOX", "The Quick-Brown Fox"),
        ("title_case", "it's o'clock", "It's O'clock"),
        ("title_case", "élan vital", "Élan Vital"),
        ("sentence_case", "HELLO WORLD. HOW ARE YOU? FINE", "Hello world. How are you? Fine"),
        ("sentence_case", "version 2.5 is OUT", "Version 2.5 is out"),
        ("sentence_case", "ONE\nTWO", "One\nTwo"),
        ("snake_case", "Hello World", "hello_world"),
        ("snake_case", "parseHTTPResponse", "parse_http_response"),
        ("snake_case", "already_snake", "already_snake"),
        ("snake_case", "version2Beta", "version2_beta"),
        ("kebab_case", "Hello, big World!", "hello-big-world"),
        ("camel_case", "hello big world", "helloBigWorld"),
        ("camel_case", "user_id", "userId"),
        ("camel_case", "HTTPServer", "httpServer"),
        ("slugify", "Café au Lait!", "cafe-au-lait"),
        ("slugify", "  --Hello__World--  ", "hello-world"),
        ("slugify", "Straße & Øl", "strasse-ol"),
        ("slugify", "it's 100% fun", "its-100-fun"),
        ("slugify", "日本 2026", "日本-2026"),
        ("slugify", "Trần Phở Ångström", "tran-pho-angstrom"),
        ("slugify", "हिन्दी भाषा", "हिन्दी-भाषा"),
        ("slugify", "Чёрный Й", "чёрный-й"),
        ("slugify", "ガイド", "ガイド"),
        ("slugify", "한국어", "한국어"),
        ("slugify", "1\u{fe0f}\u{20e3} ok", "1-ok"),
    ]);
    check_table(
        "text_transform",
        &[
            (with("slugify", "one two three", json!({"maxLength": 9})), "/result", json!("one-two")),
            (with("slugify", "one two three", json!({"maxLength": 7})), "/result", json!("one-two")),
            (with("slugify", "abcdefgh", json!({"maxLength": 4})), "/result", json!("abcd")),
        ],
    );
}

#[test]
fn blanks_order_and_length_change() {
    results(&[
        ("trim", "  a b \n", "a b"),
        ("normalize_whitespace", " a \t b \n\n\n\n c\u{a0}d \n", "a b\n\nc d"),
        ("normalize_whitespace", "a\nb", "a\nb"),
        ("normalize_whitespace", "\n\n", ""),
        ("reverse", "abc", "cba"),
        ("reverse", "ae\u{301}🇷🇼", "🇷🇼e\u{301}a"),
        ("reverse", "", ""),
    ]);
    check_table(
        "text_transform",
        &[
            (with("truncate", "short", json!({"maxLength": 5})), "/result", json!("short")),
            (with("truncate", "hello big world", json!({"maxLength": 10})), "/result", json!("hello big…")),
            (with("truncate", "hello big world", json!({"maxLength": 12})), "/result", json!("hello big…")),
            (with("truncate", "abcdefgh", json!({"maxLength": 4})), "/result", json!("abc…")),
            (with("truncate", "abcdefgh", json!({"maxLength": 6, "ellipsis": "..."})), "/result", json!("abc...")),
            (with("truncate", "abcdefgh", json!({"maxLength": 3, "ellipsis": ""})), "/result", json!("abc")),
            (with("truncate", "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", json!({"maxLength": 2})), "/result", json!("👨‍👩‍👧…")),
        ],
    );
}

#[test]
fn words_and_patterns_are_replaced() {
    check_table(
        "text_transform",
        &[
            (with("replace", "a.b.c", json!({"find": ".", "with": "-"})), "/result", json!("a-b-c")),
            (with("replace", "a.b.c", json!({"find": ".", "with": "-"})), "/replacements", json!(2)),
            (with("replace", "aXbx", json!({"find": "x"})), "/result", json!("aXb")),
            (with("replace", "aXbx", json!({"find": "x", "ignoreCase": true})), "/result", json!("ab")),
            (with("replace", "cost $1", json!({"find": "$1", "with": "$2"})), "/result", json!("cost $2")),
            (
                with("replace", "b 22, a 1", json!({"find": "([a-z]) (\\d+)", "with": "$2$1", "regex": true})),
                "/result",
                json!("22b, 1a"),
            ),
            (
                with("replace", "x1", json!({"find": "(?P<d>\\d)", "with": "${d}0", "regex": true})),
                "/result",
                json!("x10"),
            ),
            (with("replace", "5", json!({"find": "5", "with": "$$5", "regex": true})), "/result", json!("$5")),
        ],
    );
}

#[test]
fn lines_are_split_joined_sorted_and_made_unique() {
    check_table(
        "text_transform",
        &[
            (of("split_lines", "a\r\nb\n\nc"), "/lines", json!(["a", "b", "", "c"])),
            (of("split_lines", "a\r\nb\n\nc"), "/count", json!(4)),
            (with("split_lines", "a, b, c", json!({"separator": ", "})), "/lines", json!(["a", "b", "c"])),
            (of("join_lines", " a \n\nb\nc "), "/result", json!("a b c")),
            (with("join_lines", "a\nb", json!({"separator": ", "})), "/result", json!("a, b")),
            (of("sort_lines", "b\nB\na\n10\n9"), "/result", json!("10\n9\nB\na\nb")),
            (with("sort_lines", "b\nA\nc", json!({"ignoreCase": true})), "/result", json!("A\nb\nc")),
            (with("sort_lines", "b\na\nc", json!({"descending": true})), "/result", json!("c\nb\na")),
            (of("unique_lines", "a\nb\na\nA"), "/result", json!("a\nb\nA")),
            (with("unique_lines", "a\nb\na\nA", json!({"ignoreCase": true})), "/result", json!("a\nb")),
        ],
    );
}

#[test]
fn texts_are_encoded_and_decoded() {
    results(&[
        ("base64_encode", "Hello, wörld?", "SGVsbG8sIHfDtnJsZD8="),
        ("base64_encode", "", ""),
        ("base64_decode", "SGVsbG8sIHfDtnJsZD8=", "Hello, wörld?"),
        ("base64_decode", "SGVsbG8s\n IHfDtnJsZD8", "Hello, wörld?"),
        ("base64_decode", "Pj4_", ">>?"),
        ("url_encode", "a b&c=d/é~-_.", "a%20b%26c%3Dd%2F%C3%A9~-_."),
        ("url_decode", "a%20b%26c%C3%A9+d", "a b&cé+d"),
        ("strip_html", "<p>One &amp; <b>two</b></p><script>alert(1)</script><p>three</p>", "One & two\n\nthree"),
        ("strip_html", "no tags < here", "no tags < here"),
    ]);
    check_table(
        "text_transform",
        &[(with("base64_encode", ">>?", json!({"urlSafe": true})), "/result", json!("Pj4_"))],
    );
}

#[test]
fn entities_are_found_and_normalised() {
    let text = "Mail Sales@Example.com or sales@example.com, call (555) 234-0142 or 555.234.0199. See \
                https://example.com/a_(b)?q=1. and (http://example.org/x). Due 2026-11-22, November 23, 2026, 24 Nov \
                2026, 25/11/2026 and 03/04/2026; paid $1,200.50, €30, 45 EUR, USD 7 and -$5. Not 31/02/2026 or https://nowhere";
    check_table(
        "text_transform",
        &[
            (of("extract_entities", text), "/emails", json!(["sales@example.com"])),
            (of("extract_entities", text), "/urls", json!(["https://example.com/a_(b)?q=1", "http://example.org/x"])),
            (of("extract_entities", text), "/phones/0/digits", json!("5552340142")),
            (of("extract_entities", text), "/phones/1/text", json!("555.234.0199")),
            (of("extract_entities", text), "/phones/2", Value::Null),
            (
                of("extract_entities", text),
                "/dates",
                json!([
                    {"text": "2026-11-22", "date": "2026-11-22"},
                    {"text": "November 23, 2026", "date": "2026-11-23"},
                    {"text": "24 Nov 2026", "date": "2026-11-24"},
                    {"text": "25/11/2026", "date": "2026-11-25"},
                    {"text": "03/04/2026", "date": null, "ambiguous": true}
                ]),
            ),
            (
                of("extract_entities", text),
                "/amounts",
                json!([
                    {"text": "$1,200.50", "value": "1200.50", "currency": "USD"},
                    {"text": "€30", "value": "30", "currency": "EUR"},
                    {"text": "45 EUR", "value": "45", "currency": "EUR"},
                    {"text": "USD 7", "value": "7", "currency": "USD"},
                    {"text": "-$5", "value": "-5", "currency": "USD"}
                ]),
            ),
            (of("extract_entities", text), "/method", json!("patterns")),
            (with("extract_entities", text, json!({"kinds": ["emails"]})), "/amounts", Value::Null),
            (of("extract_entities", ""), "/emails", json!([])),
        ],
    );
}

#[test]
fn keywords_are_the_words_that_stand_most_often() {
    let text = "The engine starts. The engine's oil is low; check the Oil and the engine. A bolt, bolts.";
    let words = |args: Value| -> Vec<String> {
        let data = call("text_transform", &args).unwrap();
        data["keywords"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| format!("{} {}", k["word"].as_str().unwrap(), k["count"]))
            .collect()
    };
    assert_eq!(words(with("keywords", text, json!({"count": 2}))), ["engine 3", "oil 2"]);
    assert_eq!(words(of("keywords", text)), ["engine 3", "oil 2", "starts 1", "low 1", "check 1", "bolt 1", "bolts 1"]);
    assert_eq!(words(of("keywords", "the and of 12 345")), Vec::<String>::new());
    assert_eq!(words(of("keywords", "日本 café")).len(), 3);
}

#[test]
fn the_mood_of_english_words_is_scored() {
    check_table(
        "text_transform",
        &[
            (of("sentiment", "Great service, thanks!"), "/sentiment", json!("positive")),
            (of("sentiment", "Great service, thanks!"), "/score", json!(1.0)),
            (of("sentiment", "Terrible. The part was broken and late."), "/sentiment", json!("negative")),
            (of("sentiment", "Terrible. The part was broken and late."), "/negativeWords", json!(3)),
            (of("sentiment", "It was not good."), "/sentiment", json!("negative")),
            (of("sentiment", "No problem, it isn’t bad"), "/sentiment", json!("positive")),
            (of("sentiment", "I do not know. Great work"), "/sentiment", json!("positive")),
            (of("sentiment", "The box is on the table"), "/sentiment", json!("neutral")),
            (of("sentiment", "good bad"), "/score", json!(0.0)),
            (of("sentiment", "good good bad"), "/score", json!(0.333)),
            (of("sentiment", ""), "/sentiment", json!("neutral")),
            (of("sentiment", "x"), "/method", json!("lexicon")),
        ],
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    let cases = [
        (of("truncate", "abc"), "needs options.maxLength"),
        (with("truncate", "abcdef", json!({"maxLength": 2, "ellipsis": "..."})), "longer than options.maxLength"),
        (of("replace", "abc"), "needs options.find"),
        (with("replace", "abc", json!({"find": ""})), "needs options.find"),
        (with("replace", "abc", json!({"find": "(", "regex": true})), "no regular expression"),
        (with("replace", "abc", json!({"find": "(?=a)", "regex": true})), "no regular expression"),
        (with("replace", "abc", json!({"find": "(a)\\1", "regex": true})), "no regular expression"),
        (with("replace", "abc", json!({"find": "(\\w{100}){100}", "regex": true})), "too large a pattern"),
        (with("uppercase", "abc", json!({"count": 3})), "takes no option count"),
        (with("truncate", "abc", json!({"maxLength": 3, "find": "a"})), "only maxLength, ellipsis"),
        (with("split_lines", "abc", json!({"separator": ""})), "separator is empty"),
        (of("split_lines", &"\n".repeat(100_001)), "more than 100000 pieces"),
        (of("base64_decode", "a*b"), "no base64"),
        (of("base64_decode", "gICA"), "no UTF-8"),
        (of("url_decode", "100%"), "percent sign at byte 4"),
        (of("url_decode", "%zz"), "percent sign at byte 1"),
        (of("url_decode", "%ff"), "no UTF-8"),
        (of("slugify", "!!!"), "no letters or digits"),
        (of("camel_case", ""), "no letters or digits"),
        (of("snake_case", "--"), "no letters or digits"),
        (of("trim", &"a".repeat(1024 * 1024 + 1)), "more than 1048576"),
        (with("replace", &"a".repeat(10_000), json!({"find": "a", "with": "b".repeat(10_000)})), "more than 4194304"),
        (with("join_lines", &"a\n".repeat(50_000), json!({"separator": "-".repeat(100)})), "more than 4194304"),
    ];
    check_refusals("text_transform", &cases);
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(text in any::<String>(), url_safe in any::<bool>()) {
        let packed = call("text_transform", &with("base64_encode", &text, json!({"urlSafe": url_safe}))).unwrap();
        let again = call("text_transform", &of("base64_decode", packed["result"].as_str().unwrap())).unwrap();
        prop_assert_eq!(again["result"].as_str(), Some(text.as_str()));
        let packed = call("text_transform", &of("url_encode", &text)).unwrap();
        let again = call("text_transform", &of("url_decode", packed["result"].as_str().unwrap())).unwrap();
        prop_assert_eq!(again["result"].as_str(), Some(text.as_str()));
    }

    #[test]
    fn doing_it_again_changes_nothing(text in any::<String>()) {
        for operation in ["trim", "normalize_whitespace", "lowercase", "sort_lines", "unique_lines", "slugify", "snake_case"] {
            if let Ok(once) = call("text_transform", &of(operation, &text)) {
                let once = once["result"].as_str().unwrap();
                let again = call("text_transform", &of(operation, once)).unwrap();
                prop_assert_eq!(again["result"].as_str().unwrap(), once, "{}", operation);
            }
        }
    }

    #[test]
    fn a_cut_text_is_no_longer_than_asked(text in any::<String>(), most in 1_usize..40) {
        let data = call("text_transform", &with("truncate", &text, json!({"maxLength": most}))).unwrap();
        let count = call("text_transform", &of("word_count", data["result"].as_str().unwrap())).unwrap();
        prop_assert!(count["characters"].as_u64().unwrap() <= most as u64);
    }

    #[test]
    fn every_operation_answers_any_text(text in any::<String>(), prose in "[a-zA-Z0-9@$€%&<>./:,()'\\- \n]{0,120}") {
        for operation in ["word_count", "title_case", "sentence_case", "camel_case", "kebab_case", "reverse", "split_lines", "join_lines", "extract_entities", "keywords", "sentiment", "strip_html", "base64_decode", "url_decode"] {
            for text in [&text, &prose] {
                drop(call("text_transform", &of(operation, text)));
            }
        }
    }
}
