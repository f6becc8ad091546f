use serde_json::json;

use super::*;

/// Names, values and sentences that have to stay as they are.
const HARMLESS: &str = include_str!("harmless.txt");

/// Texts with something to take out, and what is left of them. Keys are put together here, so that no scanner of
/// repositories takes them for real ones.
fn planted() -> Vec<(String, &'static str)> {
    let key = |prefix: &str| format!("{prefix}{}", "a1B2c3D4e5F6g7H8i9J0");
    vec![
        (format!("key {} is unknown", key("kyb_")), "key [redacted:api_key] is unknown"),
        (format!("Incorrect API key provided: {}.", key("sk-")), "Incorrect API key provided: [redacted:api_key]"),
        (format!("{} and {}", key("sk-ant-api03-"), key("ghp_")), "[redacted:api_key] and [redacted:api_key]"),
        (format!("AIza{}", "b".repeat(35)), "[redacted:api_key]"),
        (format!("({})", key("glpat-")), "([redacted:api_key])"),
        (format!("x={}", key("whsec_")), "x=[redacted:api_key]"),
        (format!("{}-{}", "xoxb", "123456789012-abcdef"), "[redacted:api_key]"),
        (
            format!("AKIA{} {}", "ABCDEFGHIJKLMNOP", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            "[redacted:api_key] [redacted:secret]",
        ),
        (format!("jwt eyJ{}.eyJ{}.{}", "hbGciOiJIUzI1NiJ9", "zdWIiOiIxIn0", "c2lnbmF0dXJl"), "jwt [redacted:token]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nrest".into(),
            "[redacted:private_key]\nrest",
        ),
        ("-----BEGIN PRIVATE KEY-----\\nMIIB…".into(), "[redacted:private_key]"),
        ("Authorization: Bearer abc123def".into(), "Authorization: [redacted:authorization]"),
        ("authorization: Basic dXNlcjpwYXNz".into(), "authorization: [redacted:authorization]"),
        ("sent Bearer abc123def456 to it".into(), "sent Bearer [redacted:authorization] to it"),
        ("Cookie: sid=abc; theme=dark".into(), "Cookie: [redacted:cookie]"),
        ("postgres://bob:hunter2@db.example.com/x".into(), "postgres://[redacted:credentials]@db.example.com/x"),
        ("root:hunter2@tcp(127.0.0.1:3306)/db".into(), "[redacted:credentials]@tcp(127.0.0.1:3306)/db"),
        ("Server=db;User Id=bob;Password=hun;ter2".into(), "Server=db;User Id=bob;Password=[redacted:password];ter2"),
        ("https://example.com/?token=hunter2&x=1".into(), "https://example.com/?token=[redacted:token]&x=1"),
        ("https://example.com/?key=a1B2c3D4e5F6g7H8&x=1".into(), "https://example.com/?key=[redacted:api_key]&x=1"),
        ("password=hunter2".into(), "password=[redacted:password]"),
        ("password is hunter2".into(), "password is [redacted:password]"),
        ("contraseña: gato12345".into(), "contraseña: [redacted:password]"),
        ("Mi contrasena = gato12345".into(), "Mi contrasena = [redacted:password]"),
        ("mot de passe : chat12345".into(), "mot de passe : [redacted:password]"),
        ("the password 'swordfish' is wrong".into(), "the password '[redacted:password]' is wrong"),
        ("the API key provided was \"blue fish\"".into(), "the API key provided was \"[redacted:api_key]\""),
        ("my card number is 1234abcd".into(), "my card number is [redacted:card]"),
        ("DB_PASSWORD: swordfish".into(), "DB_PASSWORD: [redacted:password]"),
        ("{\"apiKey\":\"swordfish\",\"a\":1}".into(), "{\"apiKey\":\"[redacted:api_key]\",\"a\":1}"),
        (
            "{\"a\":\"{\\\"client_secret\\\":\\\"swordfish\\\"}\"}".into(),
            "{\"a\":\"{\\\"client_secret\\\":\\\"[redacted:secret]\\\"}\"}",
        ),
        ("Config { password: Some(\"sword fish\"), n: 1 }".into(), "Config { password: [redacted:password], n: 1 }"),
        (
            "\u{1b}[3mpassword\u{1b}[0m\u{1b}[2m=\u{1b}[0mhunter2 x".into(),
            "\u{1b}[3mpassword\u{1b}[0m\u{1b}[2m=\u{1b}[0m[redacted:password] x",
        ),
        (
            "status \"Config { token: Some(\\\"hunter2\\\"), n: 1 }\"".into(),
            "status \"Config { token: [redacted:token], n: 1 }\"",
        ),
        ("GET /%28Bearer%20abc123def456%29".into(), "GET /%28Bearer%20[redacted:authorization]%29"),
        ("GET /%7B%22apiKey%22%3A%22sword%20fish%22%7D".into(), "GET /%7B%22apiKey%22%3A%22[redacted:api_key]%22%7D"),
        ("/postgres:~1~1bob:hunter2@db~1x".into(), "/postgres:~1~1[redacted:credentials]@db~1x"),
        ("?phone=%2B14155550100&name=%C3%BC".into(), "?phone=[redacted:phone]&name=%C3%BC"),
        ("credentials: {\"user\":\"bob\",\"pass\":\"x}\"} end".into(), "credentials: [redacted:credentials] end"),
        ("to bob.o'neil+x@mail.example.com.".into(), "to [redacted:email]."),
        ("?to=bob%40example.com&x".into(), "?to=[redacted:email]&x"),
        ("call +1 415 555 0100 or (212) 555-0123".into(), "call [redacted:phone] or [redacted:phone]"),
        ("212-555-0199, 020 7946 0018, 0711 123456".into(), "[redacted:phone], [redacted:phone], [redacted:phone]"),
        ("phone: 555-0100".into(), "phone: [redacted:phone]"),
        ("4111 1111 1111 1111 and 378282246310005".into(), "[redacted:card] and [redacted:card]"),
        ("ssn 123-45-6789".into(), "ssn [redacted:ssn]"),
        ("driving_license_number=D123".into(), "driving_license_number=[redacted:id_number]"),
        (
            "driving licence: D123, driver license: D123".into(),
            "driving licence: [redacted:id_number], driver license: [redacted:id_number]",
        ),
        ("passport: X123".into(), "passport: [redacted:id_number]"),
        ("{\"driverLicence\":\"D123\"}".into(), "{\"driverLicence\":\"[redacted:id_number]\"}"),
        ("DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432".into(), "[redacted:iban] and [redacted:iban]"),
        ("Zoë's password: grün".into(), "Zoë's password: [redacted:password]"),
    ]
}

#[test]
fn what_is_planted_is_taken_out_and_nothing_else() {
    for (text, expected) in planted() {
        assert_eq!(redact_text(&text), expected, "{text}");
    }
}

#[test]
fn harmless_words_and_values_stay() {
    let lines: Vec<&str> = HARMLESS.lines().collect();
    assert!(lines.len() >= 150, "{}", lines.len());
    for line in lines {
        assert_eq!(redact_text(line), line);
        let quoted = json!({"x": [line]});
        let mut value = quoted.clone();
        redact_value(&mut value);
        assert_eq!(value, quoted);
    }
}

#[test]
fn a_redacted_text_stays_as_it_is() {
    for (text, _) in planted() {
        let once = redact_text(&text).into_owned();
        assert_eq!(redact_text(&once), once, "{text}");
    }
}

#[test]
fn members_go_by_their_names_at_every_depth() {
    let mut value = json!({
        "apiKey": "x", "API_KEY": "x", "api-key": "x", "x-api-key": "x", "ApiKey2": "x", "apikey": "x",
        "list": [{"userPassword": "a"}, {"deep": {"client_secret": ["a", "b"], "privateKey": {"d": 1}}}],
        "cvv": 123, "pin": "1234", "dateOfBirth": "1980-01-02", "phoneNumber": "555 0100", "ssn": 123_456_789,
        "password": null, "hasSecret": true, "token": "", "inputTokens": 12, "card": {"last4": "1111"},
        "note": "{\"passwd\":\"a\"}", "paid": 4_111_111_111_111_111_u64, "nanos": 4_111_111_111_111_112_u64,
    });
    redact_value(&mut value);
    let key = "[redacted:api_key]";
    assert_eq!(
        value,
        json!({
            "apiKey": key, "API_KEY": key, "api-key": key, "x-api-key": key, "ApiKey2": key, "apikey": key,
            "list": [
                {"userPassword": "[redacted:password]"},
                {"deep": {"client_secret": "[redacted:secret]", "privateKey": "[redacted:private_key]"}},
            ],
            "cvv": "[redacted:code]", "pin": "[redacted:code]", "dateOfBirth": "[redacted:birth_date]",
            "phoneNumber": "[redacted:phone]", "ssn": "[redacted:ssn]", "password": null, "hasSecret": true,
            "token": "", "inputTokens": 12, "card": "[redacted:card]",
            "note": "{\"passwd\":\"[redacted:password]\"}", "paid": "[redacted:card]",
            "nanos": 4_111_111_111_111_112_u64,
        })
    );
}

#[test]
fn names_that_are_secrets_go_too_and_none_is_lost() {
    let mut value = json!({"a@example.com": 1, "b@example.com": 2, "plain": 3});
    redact_value(&mut value);
    assert_eq!(value, json!({"[redacted:email]": 1, "[redacted:email] 2": 2, "plain": 3}));
}

#[test]
fn a_value_goes_by_the_name_it_is_told_with() {
    assert_eq!(redact_named("db.password", "swordfish"), "[redacted:password]");
    assert_eq!(redact_named("http.route", "/api/tasks"), "/api/tasks");
    assert_eq!(redact_named("to", "bob@example.com"), "[redacted:email]");
}

/// A megabyte of each pattern that could make a detector read the same text again and again: whoever does, does not
/// come back from this within the time of a test.
#[test]
fn no_text_takes_more_than_linear_time() {
    let patterns = [
        "password:",
        "password:{",
        "password=\"",
        "token is ",
        "api key ",
        "@",
        "a@",
        "a@a.",
        "%40",
        "//",
        "://a@",
        "eyJ-",
        "eyJ.",
        "eyJa.",
        "sk-",
        "sk-a",
        "sk_live_",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "1 ",
        "1-",
        "0 1",
        "+1",
        "(1",
        "4111 ",
        "DE8",
        "DE89 ",
        "Bearer ",
        "basic a",
        "\\",
        "\\\"",
        "\"",
        "{",
        "[",
        "password:[{",
        "AKIA",
        "AKIAABCDEFGHIJKLMNOP",
        "\u{1b}[",
        "Cookie: a; ",
        "%28",
        "%40a",
        "%28sk-",
        "token=(\\",
        "cookie=a=b; ",
        "a=b&",
        "&",
        ",",
        "é",
        "password é",
        "card number ",
        "date of ",
        "[redacted:",
        "0",
        "a",
        "-",
        ".",
        "key=",
        "?key=",
    ];
    for pattern in patterns {
        let text = pattern.repeat((1 << 19) / pattern.len());
        let clean = redact_text(&text);
        assert!(clean.len() <= 24 * text.len(), "{pattern}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_can_be_redacted(text in "(\\PC|[@:=\"'\\\\/{}\\[\\]0-9 ]|password|token|sk-|Bearer |//|%40){0,60}") {
        let clean = redact_text(&text);
        proptest::prop_assert!(clean.len() <= 24 * text.len());
        proptest::prop_assert!(*clean == *text || clean.contains("[redacted:"));
    }

    #[test]
    fn no_detector_finds_anything_in_an_id(id in "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{8}(-[0-9]{4}){3}-[0-9]{12}|[0-9a-f]{32}|[0-9]{32}") {
        let mut found = SecretSpans::default();
        find(&id, &bytes::TextSigns::of(&id), &mut found);
        proptest::prop_assert!(bytes::is_id(id.as_bytes()));
        proptest::prop_assert_eq!(found.apply(&id), id.as_str());
    }
}

#[test]
fn a_secret_is_told_from_what_is_only_personal() {
    for secret in [
        "the password is hunter2hunter2",
        "token=0123456789abcdef0123456789abcdef",
        "postgres://bob:hunter2@db.example.com/x",
        "my card is 4111 1111 1111 1111",
        "pay to DE89 3704 0044 0532 0130 00",
    ] {
        assert!(has_secret(secret), "{secret}");
    }
    for plain in [
        "",
        "Write to ada@example.com before noon",
        "The tokens were counted, and the password policy was changed",
        "the password is [redacted:password]",
        "prefers the key of G major",
    ] {
        assert!(!has_secret(plain), "{plain}");
    }
}
