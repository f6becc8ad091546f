//! Mails as they come in, each under a `Message-ID` of its own and about a company of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const FIRST: [&str; 16] = [
    "Juniper",
    "Copper",
    "Saltgrass",
    "Gravel",
    "Otter",
    "Quarry",
    "Hollow",
    "Granite",
    "Sorrel",
    "Cobalt",
    "Pinewood",
    "Amber",
    "Thistle",
    "Larkspur",
    "Mesa",
    "Bramble",
];
const SECOND: [&str; 12] =
    ["Flats", "Kettle", "Prairie", "Bend", "Ridge", "Lane", "Reed", "Sparrow", "Canyon", "Harbor", "Fork", "Meadow"];
const LAST: [&str; 8] = [
    "Hauling LLC",
    "Transport Inc.",
    "Trucking LLC",
    "Freight Co.",
    "Logistics LLC",
    "Carriers Inc.",
    "Express LLC",
    "Lines Inc.",
];

/// A company with its numbers.
struct Company {
    name: String,
    domain: String,
    dot: usize,
    mc: usize,
    phone: String,
}

fn company(n: usize) -> Company {
    let (first, second) = (FIRST[n % 16], SECOND[n / 16 % 12]);
    let name = format!("{first} {second} {}", LAST[n / 192 % 8]);
    let domain = format!("{}{}{n}.example", first.to_lowercase(), second.to_lowercase());
    // Companies are told apart by their telephone too; 555-01xx is nobody's.
    let phone = format!("({}) 555-01{:02}", 200 + n % 700, n / 700 % 100);
    Company { name, domain, dot: 9_200_000 + n, mc: 1_920_000 + n, phone }
}

/// A mail without attachments, of eight kinds in turn.
pub(crate) fn mail(n: usize) -> String {
    let from = company(n);
    let Company { name, domain, dot, mc, .. } = &from;
    match n % 8 {
        0 => message(n, &from, "New quote request", &plain(&form(&from))),
        1 => message(n, &from, &format!("Quote for {name}"), &both(&form(&from), &form_table(&from))),
        2 => {
            let text = format!(
                "Hello,\r\n\r\nwe are getting ready for the renewal. Please order five years of currently valued loss \
                 runs\r\nfor our policies:\r\n\r\nNamed insured: {name}\r\nUSDOT: {dot}\r\nPolicy Number: \
                 NRC-AL-{mc}-02\r\nInsurer: Northfield Ridge Insurance Company\r\nPolicy period: 03/01/2025 to \
                 03/01/2026\r\n\r\nThank you\r\nOffice, {name}\r\n"
            );
            message(n, &from, "Loss runs needed", &plain(&text))
        }
        3 => {
            let text = format!(
                "Hi,\r\n\r\ncan you send a certificate of insurance to our shipper today? They want to be shown as \
                 certificate\r\nholder and additional insured: Otter Ridge Supply, 12 Dock Street, Tulsa, OK 74103.\r\n\
                 \r\nAdmin\r\n{name}\r\n"
            );
            message(n, &from, "COI needed - Otter Ridge Supply", &plain(&text))
        }
        4 => {
            let text = "We have a new load to move: 24 pallets, 43,200 lb, flatbed or dry van, pickup February 24, \
                        delivery to Tulsa the next day. Can you cover it? The rate is 1,850 all in.\r\n\r\nTraffic\r\n";
            message(n, &from, "New load to cover, Ada to Tulsa", &encoded(text))
        }
        5 => {
            let text = format!(
                "Attached you will find nothing, since we have no losses on record for {name}, USDOT {dot}. Please see \
                 this\r\nas our no loss letter for policy NRC-AL-{mc}-02.\r\n\r\nClaims Desk\r\n"
            );
            let subject = format!("RE: Loss run request [Request:7c1f9a52-0d3e-4b8a-9a61-{n:012x}]");
            message(n, &from, &subject, &plain(&text))
        }
        6 => {
            let text = "Spring savings: up to 60 % off. View this mail in a browser.\r\n";
            let html = format!(
                "<html><body><h1 style=\"color:#2f5d43\">Spring savings are here!</h1>\r\n<p>Chairs, desks and \
                 printers <b>up to 60&nbsp;% off</b>. Free shipping on everything!!!</p>\r\n<p><a \
                 href=\"https://shop.{domain}/spring\">Shop now</a></p><p style=\"font-size:8px\">You get this because \
                 you once bought paper.</p></body></html>\r\n"
            );
            message(n, &from, "Spring savings: 60 % off, this weekend only", &both(text, &html))
        }
        _ => {
            let text = format!(
                "---------- Forwarded message ---------\r\nFrom: Owner <owner@{domain}>\r\nSubject: insurance for our \
                 trucks\r\n\r\n{}",
                form(&from)
            );
            message(n, &from, "Fwd: insurance for our trucks", &encoded(&text))
        }
    }
}

/// A mail that asks for loss runs, with a PDF attached.
pub(crate) fn with_pdf(n: usize, encoded: &str) -> String {
    let from = company(n);
    let lines: Vec<&str> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let body = format!(
        "Content-Type: multipart/mixed; boundary=\"=_a\"\r\n\r\n--=_a\r\n{}\r\n--=_a\r\nContent-Type: application/pdf; \
         name=\"policy.pdf\"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; \
         filename=\"policy.pdf\"\r\n\r\n{}\r\n--=_a--\r\n",
        plain("Please order five years of loss runs for the attached policy.\r\n"),
        lines.join("\r\n")
    );
    message(n, &from, "Loss runs needed", &body)
}

/// The header that mails have in common, with a body and its own header.
fn message(n: usize, from: &Company, subject: &str, body: &str) -> String {
    let Company { name, domain, .. } = from;
    format!(
        "Received: from mx.{domain} by mx.ironwoodlane.example with ESMTPS; Fri, 16 Jan 2026 18:44:00 -0600\r\n\
         Date: Fri, 16 Jan 2026 18:44:00 -0600\r\nFrom: \"{name}\" <office@{domain}>\r\n\
         To: intake@ironwoodlane.example\r\nSubject: {subject}\r\nMessage-ID: <{n}.055433@{domain}>\r\n\
         Reply-To: owner@{domain}\r\nMIME-Version: 1.0\r\n{body}"
    )
}

fn form(from: &Company) -> String {
    let Company { name, domain, dot, mc, phone } = from;
    format!(
        "A new quote request was submitted on the web site.\r\n\r\nCompany Name: {name}\r\nUSDOT #: {dot}\r\n\
         MC #: {mc}\r\nPhone: {phone}\r\nEmail: owner@{domain}\r\nAddress: 5 Quarry Lane, San Marcos, TX 78666\
         \r\nCoverage needed: Auto Liability, Motor Truck Cargo\r\nPower units: 4\r\nYears in business: 3\r\nCurrent \
         insurer: none\r\nMessage: we are growing and looking for a quote for our trucks, the sooner the better\r\n"
    )
}

fn form_table(from: &Company) -> String {
    let rows: Vec<String> = form(from)
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(label, value)| format!("<tr><td><b>{label}</b></td><td>{value}</td></tr>\r\n"))
        .collect();
    format!("<html><body><p>A new quote request.</p>\r\n<table>\r\n{}</table></body></html>\r\n", rows.concat())
}

fn plain(text: &str) -> String {
    format!("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n{text}")
}

fn encoded(text: &str) -> String {
    let text = STANDARD.encode(text);
    let lines: Vec<&str> = text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let head = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    format!("{head}{}\r\n", lines.join("\r\n"))
}

/// Text with its twin in HTML.
fn both(text: &str, html: &str) -> String {
    format!(
        "Content-Type: multipart/alternative; boundary=\"=_b\"\r\n\r\n--=_b\r\n{}\r\n--=_b\r\nContent-Type: text/html; \
         charset=utf-8\r\n\r\n{html}\r\n--=_b--\r\n",
        plain(text)
    )
}
