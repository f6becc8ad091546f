//! What messages of the trade are made of: pieces with names of things in braces, and those things, by number.

/// Pieces as people and their programs write them.
pub(super) const PIECES: &[&str] = &[
    "Please send the loss runs for {company}. ",
    "loss runs now for {person} ",
    "loss runs now for A B ",
    "Please send the loss runs for policy {policy}. ",
    "We need five years of currently valued loss runs from {insurer} and {insurer} for {company}, DOT {dot}.\r\n",
    "Could you order reports on {company}? They renew in May. ",
    "Only {policy} and {policy}, please. ",
    "All except {policy}. ",
    "everything but {insurer} ",
    "{line} is not needed ",
    "cargo ",
    "foo cargo x not needed ",
    "foo cargo not the cargo only ",
    "loss runs for policy number {policy}, ",
    "skip those ",
    "leave the {line} out ",
    "we already have {line} ",
    "do not need it for {insurer} ",
    "policies that expired after {date} ",
    "everything that is active ",
    "the ones I marked ",
    "the first two carriers only ",
    "both companies, {company} and {company} ",
    "not the {line}, just {policy} ",
    "{insurer} has it now, it was with {insurer} before. ",
    "the one from {date}, not the one from {date}. ",
    "{policy}, ",
    "{policy} ",
    "{policy}. ",
    "{policy}/{policy} ",
    "{insurer}, ",
    "{insurer}\r\n",
    "{company}; ",
    "{company}, ",
    "Larkspur Valley, ",
    "Larkspur Valley Bulk Haulers LLC ",
    "dba Larkspur Valley Bulk Haulers LLC ",
    "{company} ",
    "{company}\r\n",
    "{company} and ",
    "{person}, ",
    "{person} of {company} ",
    "this is {person} from {company}, ",
    "{company} dba {company} ",
    "{company}, also known as {company}. ",
    "{company} (DOT {dot})\r\n",
    "DOT {dot} ",
    "MC {dot}, USDOT# {dot}\r\n",
    "{vin} ",
    "{vin}\r\n",
    "2019 Freightliner Cascadia {vin} ${money}\r\n",
    "{date} ",
    "{date} - {date}\r\n",
    "${money} ",
    "{phone} ",
    "{email}, ",
    "{address}\r\n",
    "Policy number: {policy}\r\n",
    "Policy number: ",
    "policy number? ",
    "what is the policy number for {policy}? ",
    "Policy numbers: {policy}, {policy} and {policy}\r\n",
    "Insurer: {insurer}\r\nPolicy number: {policy}\r\nEffective: {date}\r\nExpires: {date}\r\n\r\n",
    "Insurer: {insurer}\r\n",
    "Named insured: {company}\r\n",
    "Insured: {company} Policy: {policy} ",
    "Company Name: {company}\r\nUSDOT #: {dot}\r\nPhone: {phone}\r\nEmail: {email}\r\nAddress: {address}\r\n",
    "Phone: {phone}\r\n",
    "VIN: {vin}\r\n",
    "Limit: ${money}\r\n",
    "Coverage: {line}\r\nLimit: ${money}\r\n",
    "Date of loss: {date}  Paid: ${money}  Reserve: ${money}  Claimant: {person}\r\n",
    "Driver: {person}, DOB {date}, license {policy}, state TX\r\n",
    "Pickup: {address} {date} 08:00\r\nDelivery: {address} {date} 14:30\r\n",
    "{line} | {insurer} | {policy} | {date} | {date}\r\n",
    "| {line} | {policy} |\r\n",
    "{line}\t{insurer}\t{policy}\t{date}\r\n",
    "{line}    {insurer}    {policy}    {date}    ${money}\r\n",
    "{line}      {insurer}\r\n            {policy}\r\n",
    "{policy},{insurer},{line},{date},{date},{money}\r\n",
    "Policy Number,Insurer,Coverage,Effective,Expires,Limit\r\n",
    "Year,Make,VIN,Value\r\n",
    "2019,Freightliner,{vin},{money}\r\n",
    "{date},{money},{money},{person}\r\n",
    "\"{company}\",\"{address}\",\"{phone}\"\r\n",
    ",,,,\r\n",
    "- {policy} {line}\r\n",
    "* {insurer}: {policy}\r\n",
    "1. {insurer} {policy} {date}\r\n",
    "({line}) ",
    "{line} with {insurer}, {line} with {insurer}. ",
    "> {person} wrote:\r\n",
    "> Policy number: {policy}\r\n",
    "> {company}\r\n",
    ">>>> ",
    "---------- Forwarded message ---------\r\nFrom: {person} <{email}>\r\nDate: {date}\r\nSubject: loss runs\r\nTo: {email}\r\n\r\n",
    "-----Original Message-----\r\nFrom: {person}\r\nSent: {date}\r\nTo: {person}\r\nSubject: RE: loss runs {company}\r\n\r\n",
    "On {date}, {person} <{email}> wrote:\r\n",
    "Begin forwarded message:\r\n",
    "Thanks,\r\n{person}\r\n{company}\r\n{phone}\r\n\r\n",
    "-- \r\n",
    "[Request:00000000-0000-7000-8000-{hex}] ",
    "Attached are the loss runs for {policy}, {insurer}.\r\n",
    "We would like a quote for {line}, {company}, ten trucks. ",
    "Please send a certificate for {company} to {email}. ",
    "If {company} agrees, go ahead, otherwise wait. ",
    "Do not order them yet. ",
    "and also for {company} ",
    "Necesitamos el historial de siniestros de la póliza {policy}, {company}. ",
    "Veuillez demander les relevés de sinistres de {company}, police n° {policy}. ",
    "Schadenverlauf für {company}, Vertrag {policy}, bitte. ",
    "保険 {policy} 損害 ",
    "\u{a0}\u{202e}\u{200b}\u{feff} ",
    "{word} ",
    "{Word} ",
    "{Word} {Word} ",
    "{Word}",
    "{long} ",
    "{policy}-",
    "don't, ",
    "A B ",
    "A. B. ",
    "a",
    "é",
    "1",
    "1 ",
    ": ",
    "# ",
    "- ",
    "\r\n",
    "\r\n\r\n",
    "   ",
    "\t",
    "?! ",
    "((((",
    "____ ",
    "Insured: ",
    "N/A\r\n",
    "{{ state.x }} ",
];

const COMPANIES: &[&str] = &["Fern Hollow", "Gravel Bend", "Larkspur Valley", "Oak Bend", "Ninebark", "Sorrel Canyon"];
const TRADES: &[&str] = &["Hauling", "Trucking", "Logistics", "Bulk Haulers", "Freight Lines", "Transport"];
const FORMS: &[&str] = &["LLC", "Inc.", "Corp.", "", "Co", "LP", "GmbH", "S.A. de C.V."];
const INSURERS: &[&str] = &["Lodestar", "Harrow Plains", "Northfork", "Halberd", "Corvane", "Plainfare"];
const HOUSES: &[&str] = &["Casualty", "Mutual", "Insurance Company", "Indemnity", "Assurance", "Risk Retention Group"];
const FIRST: &[&str] = &["Ada", "Denise", "Tavish", "Merrit", "José", "Ömer", "Mary-Jane", "O'Neil"];
const LAST: &[&str] = &["Moor", "Sloane", "Breck", "Example", "de la Cruz", "McAllister", "Ng"];
const LINES: &[&str] = &[
    "Auto Liability",
    "Motor Truck Cargo",
    "Physical Damage",
    "General Liability",
    "AL",
    "Excess",
    "Workers Compensation",
];
const NUMBERS: &[&str] = &["CP-", "BA", "NFC-TX-", "QRS-123-", "WC 77", "", "pol", "A1B2"];
const SYLLABLES: &[&str] = &["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo"];

/// A piece, each thing that it names put in its place.
pub(super) fn filled(piece: &str, mut number: impl FnMut() -> usize) -> String {
    let mut made = String::new();
    let mut rest = piece;
    while let Some((before, after)) = rest.split_once('{') {
        made.push_str(before);
        let thing = after.split_once('}').and_then(|(name, after)| Some((thing(name, number())?, after)));
        let Some((thing, after)) = thing else {
            made.push('{');
            rest = after;
            continue;
        };
        made.push_str(&thing);
        rest = after;
    }
    made + rest
}

fn thing(name: &str, n: usize) -> Option<String> {
    let of = |list: &[&'static str], turn: usize| list[turn % list.len()];
    Some(match name {
        "company" => {
            let own = if n < 12 { of(COMPANIES, n).to_owned() } else { capital(&word(n)) };
            format!("{own} {} {}", of(TRADES, n / 2), of(FORMS, n / 3)).trim_end().to_owned()
        }
        "insurer" => {
            let own = if n < 12 { of(INSURERS, n).to_owned() } else { capital(&word(n)) };
            format!("{own} {}", of(HOUSES, n / 2))
        }
        "person" => format!("{} {}", of(FIRST, n), if n < 20 { of(LAST, n / 3).to_owned() } else { capital(&word(n)) }),
        "policy" => format!("{}{n:05}", of(NUMBERS, n / 50)),
        "vin" => vin(n),
        "date" => match n % 4 {
            0 => format!("{:02}/{:02}/20{:02}", n % 12 + 1, n % 28 + 1, n % 30),
            1 => format!("20{:02}-{:02}-{:02}", n % 30, n % 12 + 1, n % 28 + 1),
            2 => format!("{}/{}", n % 12 + 1, n % 28 + 1),
            _ => format!("March {}, 20{:02}", n % 28 + 1, n % 30),
        },
        "phone" => format!("({:03}) 555-01{:02}", 200 + n % 700, n % 100),
        "email" => format!("{}@{}.example", word(n), word(n / 7 + 3)),
        "dot" => format!("{}", 9_100_000 + n),
        "money" => format!("{},{:03}", n % 990 + 1, n * 7 % 1000),
        "line" => of(LINES, n).to_owned(),
        "address" => format!("{} Quarry Lane, San Marcos, TX {:05}", n + 1, 70_000 + n % 9_999),
        "hex" => format!("{n:012x}"),
        "word" => word(n),
        "Word" => capital(&word(n)),
        "long" => word(n).repeat(40 + n % 400),
        _ => return None,
    })
}

/// A word that no other number has.
fn word(n: usize) -> String {
    let mut made = String::new();
    let mut left = n + 200;
    while left > 0 {
        made.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    made
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

/// A number of a vehicle, most with the right check digit.
fn vin(n: usize) -> String {
    const WEIGHTS: [usize; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    const LETTERS: &str = "ABCDEFGH..JKLMN.P.R..STUVWXYZ";
    let plain = format!("1FUJGLDR0KLAB{:04}", n % 10_000);
    let worth = |letter: char| match letter.to_digit(10) {
        Some(digit) => digit as usize,
        None => LETTERS.find(letter).map_or(0, |at| match at {
            0..21 => at % 10 + 1,
            _ => at - 21 + 2,
        }),
    };
    let sum: usize = plain.chars().zip(WEIGHTS).map(|(letter, weight)| worth(letter) * weight).sum();
    let check = if n % 9 == 8 { 'X' } else { "0123456789X".chars().nth(sum % 11).unwrap_or('0') };
    format!("{}{check}{}", &plain[..8], &plain[9..])
}

#[test]
fn a_piece_is_filled_with_things() {
    let mut next = 0;
    let made = filled("{policy} for {company} {no such} {", || {
        next += 1;
        next
    });
    assert_eq!(made, "CP-00001 for Larkspur Valley Trucking LLC {no such} {");
    assert_eq!(vin(0), "1FUJGLDR0KLAB0000");
    for piece in PIECES {
        let made = filled(piece, || 7);
        assert!(!made.replace("{{ state.x }}", "").contains('{'), "{made}");
    }
}
