//! Secrets and personal data to be planted, none of them real: each once, in a text of the kind in which one leaks.
//!
//! They are put together here, so that no scanner of repositories takes them for found ones.

/// A secret, and a text that says it.
#[derive(Clone, Debug)]
pub struct Plant {
    /// What must not be found anywhere.
    pub secret: String,
    /// The text that holds it.
    pub text: String,
}

/// Ways in which a value stands in a text, when its shape alone says what it is.
const SHOWN: [&str; 14] = [
    "@",
    "it failed with @ at noon",
    "(@)",
    "\"@\"",
    "x=@",
    "reference: @",
    "https://example.com/path?ref=@&page=2",
    "https://example.com/@/x",
    "{\"note\":\"@\",\"n\":1}",
    "{\"a\":[{\"b\":\"@\"}]}",
    "{\"raw\":\"{\\\"inner\\\":\\\"@\\\"}\"}",
    "X-Thing: @",
    "<b>@</b>",
    "one @, two",
];

/// Ways in which a value stands under a name that says that it is a secret.
const NAMED: [&str; 36] = [
    "password=@",
    "passwd=@ next",
    "DB_PASSWORD=@",
    "userPassword: @",
    "{\"password\":\"@\"}",
    "{\"a\":{\"newPassword\":\"@\"}}",
    "{\"list\":[{\"client_secret\":\"@\"}]}",
    "{\"apiKey\":\"@\",\"n\":1}",
    "{\"api_key\": \"@\"}",
    "{\"x-api-key\": [\"@\"]}",
    "{\"APIKEY\":\"@\"}",
    "{\"accessToken\":\"@\"}",
    "{\"refresh_token\":\"@\"}",
    "{\"privateKey\":{\"d\":\"@\"}}",
    "{\"credentials\":{\"user\":\"bob\",\"pass\":\"@\"}}",
    "{\"raw\":\"{\\\"sessionToken\\\":\\\"@\\\"}\"}",
    "https://example.com/?token=@&page=2",
    "https://example.com/?a=1&api_key=@",
    "https://example.com/#access_token=@",
    "https://bob:@@db.example.com/x",
    "postgres://svc:@@127.0.0.1:5432/app",
    "amqp://svc:@@127.0.0.1/",
    "Server=db;User Id=svc;Password=@;Encrypt=true",
    "Authorization: Bearer @",
    "authorization=Basic @",
    "sent with Bearer @ to it",
    "Cookie: sid=@; theme=dark",
    "Set-Cookie: session=@; Path=/",
    "password is @",
    "the password '@' is wrong",
    "the API key provided was \"@\"",
    "secret => @",
    "Config { token: Some(\"@\"), n: 1 }",
    "client_secret%3D@",
    "smtp_pass=@",
    "cvv: @",
];

/// At least `count` plants, the same ones in every run.
#[must_use]
pub fn planted(count: usize) -> Vec<Plant> {
    let shown = |n: usize| {
        let (secret, shape) = (shaped(n), SHOWN[(n / SHAPES) % SHOWN.len()]);
        Plant { text: shape.replace('@', &secret), secret }
    };
    let named = |n: usize| {
        let secret = format!("Swordfish{n}x{}", letters(n, 7, b'a', 26));
        let shape = NAMED[n % NAMED.len()];
        // Where the at sign is one of the text, the secret stands in front of it.
        let text = shape.replacen('@', &secret, 1);
        Plant { text, secret }
    };
    (0..count).map(|n| if n % 2 == 0 { shown(n / 2) } else { named(n / 2) }).collect()
}

/// How many shapes [`shaped`] knows.
const SHAPES: usize = 18;

/// A value of which the shape says what it is.
fn shaped(n: usize) -> String {
    let body = |length| letters(n, length, b'A', 26) + &letters(n, length, b'a', 26) + &(1000 + n).to_string();
    match n % SHAPES {
        0 => format!("kyb_{}", body(12)),
        1 => format!("sk-{}", body(12)),
        2 => format!("sk-ant-api03-{}", body(12)),
        3 => format!("AIza{}", body(16)),
        4 => format!("ghp_{}", body(14)),
        5 => format!("github_pat_{}", body(14)),
        6 => format!("xoxb-{}-{}", 1000 + n, body(8)),
        7 => format!("AKIA{}{}", letters(n, 12, b'A', 26), 1000 + n),
        8 => format!("glpat-{}", body(10)),
        9 => format!("whsec_{}", body(12)),
        10 => format!("eyJhbGciOi{}.eyJzdWIi{}.{}", body(3), body(4), body(9)),
        11 => format!("person{n}.{}@mail.example.com", letters(n, 5, b'a', 26)),
        12 => format!("+1 415 555 {:04}", 100 + n),
        13 => format!("(212) 555-{:04}", 1000 + n),
        14 => card(n),
        15 => format!("{:03}-{:02}-{:04}", 101 + n % 500, 10 + n % 80, 1000 + n),
        16 => iban(n),
        _ => format!("rk_live_{}", body(12)),
    }
}

/// Letters that differ with `n`.
fn letters(n: usize, length: usize, first: u8, count: u8) -> String {
    let mut seed = n as u64 * 2_654_435_761 + 12_345;
    let letter = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(first + u8::try_from((seed >> 33) % u64::from(count)).unwrap_or(0))
    };
    (0..length).map(letter).collect()
}

/// A card of the range that is kept for tests, with its check digit.
fn card(n: usize) -> String {
    let head = format!("41111111{:07}", n);
    let sum: u32 = head
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            if place % 2 == 0 { digit * 2 % 10 + digit * 2 / 10 } else { digit }
        })
        .sum();
    format!("{head}{}", (10 - sum % 10) % 10)
}

/// A German account with its check digits.
fn iban(n: usize) -> String {
    let account = format!("37040044{:010}", 532_013_000 + n);
    // `DE00` at the end counts as 131400.
    let rest = format!("{account}131400").bytes().fold(0_u32, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
    format!("DE{:02}{account}", 98 - rest)
}
