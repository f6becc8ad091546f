use proptest::prelude::*;

use super::*;

fn shown(text: &str) -> String {
    without_links(text, &BTreeSet::new()).0
}

#[test]
fn nothing_is_loaded_and_nothing_can_be_clicked() {
    for (reply, expected) in [
        ("a ![x](https://evil.example/p?q=secret) b", "a ![x] (picture removed: `evil[.]example/…`) b"),
        ("[more](https://evil.example/a)", "[more] (`evil[.]example/…`)"),
        ("[more](//evil.example/a)", "[more] (`evil[.]example/…`)"),
        ("[more](<https://evil.example/a b>)", "[more] (`evil[.]example/…`)"),
        ("![x][r]\n\n[r]: https://evil.example/p", "![x][r]\n\n[r] : `evil[.]example/…`"),
        ("![r]\n[r]:\nhttps:evil.example", "![r]\n[r] :\nhttps:evil.example"),
        ("See https://evil.example/p?q=1.", "See `evil[.]example/…`."),
        ("See HTTPS://api.example.com@evil.test/", "See `evil[.]test/…`"),
        ("www.evil.example/x, and", "`www[.]evil[.]example/…`, and"),
        ("<https://evil.example/x>", "&lt;`evil[.]example/…`>"),
        ("<img src=\"https://evil.example/x\">", "&lt;img src=\"`evil[.]example/…`\">"),
        ("<img src=//evil.example/x>", "&lt;img src=//evil[.]example/x>"),
        ("<div style=\"background:url(//evil.example)\">", "&lt;div style=\"background:url(//evil[.]example)\">"),
        ("<style>@import '//evil.example'</style>", "&lt;style>@import '//evil[.]example'&lt;/style>"),
        ("<!--[if x]><img src=x>", "&lt;!--[if x]>&lt;img src=x>"),
        ("[x](data:text/html,1)", "[x] (`data/…`)"),
        ("[x](https&colon;&sol;&sol;evil.example)", "[x] (`httpscolonsolsolevil[.]example/…`)"),
        ("![x](\\\\evil.example\\p)", "![x] (picture removed: `/…`)"),
        ("![x](https://evil.example/\n)", "![x] (`evil[.]example/…`\n)"),
        ("![x](https://evil.example/", "![x] (`evil[.]example/…`"),
        ("ws://evil.example", "ws: //evil[.]example"),
        ("(https:evil.example) behind a bracket", " (https:evil.example) behind a bracket"),
        ("ends with <", "ends with &lt;"),
        ("See evil.example/x?q=secret.", "See evil[.]example/x?q=secret."),
        ("a secret.evil.com, **evil.io** and _evil.de_", "a secret[.]evil[.]com, **evil[.]io** and _evil[.]de_"),
        ("a (evil.example:8080) //evil.example", "a (evil[.]example:8080) //evil[.]example"),
        ("[x](see evil.com`)", "[x] (`seeevil[.]com/…`)"),
        ("[x](evil.com)", "[x] (`evil[.]com/…`)"),
        ("at evil.com. Or evil.com..com", "at evil[.]com. Or evil[.]com..com"),
        ("//evil.com and ws://evil.com/x", "//evil[.]com and ws: //evil[.]com/x"),
        ("foo_www.evil.example %evil.рф", "foo_www[.]evil[.]example %evil[.]рф"),
        ("a@evil.example/x?q=secret", "a@evil[.]example/x?q=secret"),
        ("mailto:a@evil.example?body=secret", "mailto: a@evil[.]example?body=secret"),
        ("[x](mailto:a@evil.example) TEL:+15550100", "[x] (`evil[.]example/…`) TEL: +15550100"),
        ("evil.com.@evil.com, a@_evil.com", "evil[.]com.@evil[.]com, a@_evil[.]com"),
        ("evil.com_a@evil.com", "evil[.]com_a@evil[.]com"),
        (r"https:\/\/evil.example/x?q=secret", r"https:\\/\\/evil[.]example/x?q=secret"),
        ("https:&sol;&sol;evil&period;com/y?q=1", "https:&amp;sol;&amp;sol;evil&amp;period;com/y?q=1"),
        (r"www\.evil.com/z and \\.evil.com", r"www\\.evil[.]com/z and \\\\.evil[.]com"),
        ("&#46;x and &#x2e;", "&amp;#46;x and &amp;#x2e;"),
        ("a/evil.com/?q=1, x -evil.com/?q=1", "a/evil[.]com/?q=1, x -evil[.]com/?q=1"),
        ("evil.zip/?q=1 .evil.com", "evil[.]zip/?q=1 .evil[.]com"),
        ("`see https://evil.example/x`", "`see `evil[.]example/…``"),
    ] {
        assert_eq!(shown(reply), expected, "{reply}");
    }
}

#[test]
fn what_is_no_link_stays_as_it_is() {
    for reply in [
        "Vec<String>, a < b, 3 <= 4, <br>, </b> and vec![1, 2]",
        "`x[0](y)` and [name](page.html) and [part](#part)",
        "report.pdf, v1.2.3, 3.50, e.g. this, archive.tar.gz/inner.pdf and state.customer.total",
        "ann@example.com, ann.lee+a_b@example.com, core.noop, core.wait? Tel: +1 555 0100, mailto: nobody, hotel:5",
        "12.05.2026/13.05.2026 and/or a.m./p.m. and ...x.y",
        "at 10:30: yes; who, how, what? hhttp",
        r"R&D, AT&T, a && b, \d+\s and \*not bold\*",
        "src/main.rs, crates/a/b.rs and dir/ann@example.com",
        "Größe: 7 €",
        "",
    ] {
        assert_eq!(shown(reply), reply);
    }
}

#[test]
fn addresses_that_a_trusted_text_has_stay() {
    let kept = links_in("Look at https://docs.example.com/a?b=1. Or (www.example.com), or <HTTP://x.example/>!");
    let expected = ["HTTP://x.example/", "https://docs.example.com/a?b=1", "www.example.com"].map(str::to_owned);
    assert_eq!(kept, BTreeSet::from(expected));
    let reply = "[it](https://docs.example.com/a?b=1) https://docs.example.com/a?b=1, www.example.com ";
    let (text, stayed) = without_links(reply, &kept);
    assert_eq!((text.as_str(), stayed.len()), (reply, 2));
    let kept_bare = links_in("Look at docs.example.com/a, or example.org.");
    assert_eq!(kept_bare, BTreeSet::from(["docs.example.com/a", "example.org"].map(str::to_owned)));
    let bare = "docs.example.com/a, docs.example.com/a?q=1, example.org. x.example.org";
    let (text, stayed) = without_links(bare, &kept_bare);
    assert_eq!(text, "docs.example.com/a, docs[.]example[.]com/a?q=1, example.org. x[.]example[.]org");
    assert_eq!(stayed.len(), 2);
    let other = "[it](https://docs.example.com/a?b=2) https://docs.example.com/a?b=1&c=2 www.example.com.evil.test";
    let (text, stayed) = without_links(other, &kept);
    assert_eq!(text, "[it] (`docs[.]example[.]com/…`) `docs[.]example[.]com/…` `www[.]example[.]com[.]evil[.]test/…`");
    assert_eq!(stayed, BTreeSet::new());
}

#[test]
fn an_address_without_an_end_is_not_held_back() {
    let mut filter = LinkFilter::default();
    let mut text = filter.push("https://evil.example/");
    for _ in 0..100 {
        text.push_str(&filter.push(&"a".repeat(100)));
        assert!(filter.held.len() <= MAX_URL + 100, "{}", filter.held.len());
    }
    text.push_str(&filter.push(" end"));
    text.push_str(&filter.end());
    assert_eq!(text, "`evil[.]example/…` end");
}

/// A text as readers of Markdown take it before they look for links.
fn decoded(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(next) if letter == '\\' && next.is_ascii_punctuation() => plain.extend(letters.next()),
            _ => plain.push(letter),
        }
    }
    ["&sol;/", "&period;.", "&amp;&"].iter().fold(plain, |plain, entity| {
        let (name, sign) = entity.split_at(entity.len() - 1);
        plain.replace(name, sign)
    })
}

/// What replies are made of that are meant to get through.
fn reply() -> impl Strategy<Value = String> {
    let parts = [
        "![",
        "[",
        "]",
        "](",
        ")",
        "]:",
        "(",
        "<",
        ">",
        "<img ",
        "<b>",
        "</",
        "!",
        "https://",
        "http://",
        "HTTPS://",
        "//",
        "www.",
        "ftp://",
        ":",
        "/",
        "evil.example",
        "ok.example",
        " ",
        "\n",
        "a",
        "hh",
        "é",
        "data:",
        "&sol;",
        "&period;",
        "-",
        "\\",
        "`",
        "https://ok.example",
        ".",
        "style",
        "\"",
        "=",
        "evil.com",
        ".com",
        "mailto:",
        "tel:",
        "@",
        "_",
        "?",
    ];
    let long = Just("x".repeat(700));
    let part = prop_oneof![12 => prop::sample::select(parts.to_vec()).prop_map(str::to_owned), 1 => long];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn however_a_reply_is_cut_it_is_shown_alike(text in reply(), cuts in prop::collection::vec(0_usize..3_000, 0..12)) {
        let kept = BTreeSet::from(["https://ok.example".to_owned()]);
        let (whole, stayed) = without_links(&text, &kept);
        let mut filter = LinkFilter::new(kept);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.sort_unstable();
        let (mut pieces, mut from) = (String::new(), 0);
        for cut in cuts {
            pieces.push_str(&filter.push(&text[from..cut]));
            from = cut;
        }
        pieces.push_str(&filter.push(&text[from..]));
        pieces.push_str(&filter.end());
        prop_assert_eq!(&pieces, &whole);
        // What stayed is all that a later look needs.
        prop_assert_eq!(without_links(&text, &stayed).0, whole);
    }

    #[test]
    fn no_reply_gets_an_address_through(text in reply()) {
        let shown = shown(&text);
        let text = decoded(&shown);
        prop_assert!(!text.contains("://"), "{}", text);
        prop_assert!(!text.contains("]:"), "{}", text);
        let stands_alone = |at: usize| {
            let before = &text[..at];
            // The host of a mailbox carries nothing.
            let name = before.trim_end_matches(|letter: char| letter.is_alphanumeric() || ".-".contains(letter));
            let is_of_mailbox = name.strip_suffix('@').is_some_and(|name| name.ends_with(char::is_alphanumeric));
            !is_of_mailbox && bare::may_follow(before.chars().next_back())
        };
        for protocol in ["mailto:a", "tel:a"] {
            prop_assert!(!text.match_indices(protocol).any(|(at, _)| stands_alone(at)), "{}", text);
        }
        for (at, _) in text.match_indices("evil.example/") {
            prop_assert!(!stands_alone(at), "{}", text);
        }
        for (at, host) in text.match_indices("evil.com") {
            // A longer name is another host, and the name of a mailbox is none.
            let after = &text[at + host.len()..];
            let name = after.split(|letter: char| !(letter.is_alphanumeric() || ".-".contains(letter))).next().unwrap();
            let is_mailbox_name = after[name.len()..].starts_with('@') && !name.ends_with(['.', '-']);
            let goes_on = is_mailbox_name || name.starts_with(char::is_alphanumeric);
            prop_assert!(goes_on || !stands_alone(at), "{}", text);
        }
        for (at, _) in shown.match_indices("](") {
            let target = shown[at + 2..].split(')').next().unwrap_or_default();
            prop_assert!(is_local(target), "{}", text);
        }
        for (at, _) in shown.match_indices('<') {
            let inside = shown[at + 1..].split('>').next().unwrap_or_default().trim_start_matches('/');
            let is_tag = inside.starts_with(|letter: char| letter.is_ascii_alphabetic() || "!?".contains(letter));
            prop_assert!(!is_tag || inside.chars().all(|letter| letter.is_ascii_alphanumeric()), "{}", text);
        }
    }
}
