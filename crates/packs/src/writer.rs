//! Who writes a message, as its sender's address and name tell: the person by the name beside the address, and the
//! company whose name in the text is the address's domain.
//!
//! Both count only where they stand in the text, so that every value keeps its place.

use kybern_core::list;
use kybern_core::model::{ExtractedField, ExtractionSchema, FieldSource, FoundBy, ValueKind};

use crate::field::COMPANIES;
use crate::names::{MAX_WORDS, NameInText, names};
use crate::reading::{MESSAGE_NUMBER, ReadDocument, UNSURE};
use crate::{company, contact, introduced, named};

/// How sure it is that the company from whose domain a message came is the one it is about.
const WRITES: f64 = 0.8;
/// The same for a company from whose domain something came that is handed on.
const HANDED_ON: f64 = 0.7;
/// How sure the name beside the sender's address is.
const SENDS: f64 = 0.9;
/// Bytes of a message in which names are looked for.
const MAX_LOOK: usize = 64 * 1024;
/// Addresses in a text whose companies are looked for.
const MAX_ADDRESSES: usize = 5;
/// Words of names that several people write under.
const DESKS: &[&str] = list!(
    "services, service, department, dept, desk, team, office, underwriting, claims, records, dispatch, safety, \
     accounting, billing, sales, support, risk, management, operations, control, compliance, certificates"
);
/// Trades that stand before the name of a company in Spanish and French.
const TRADES: &[&str] = list!(
    "transportes, transporte, autotransportes, transports, transport, camionnage, fletes, acarreos, mudanzas, grúas, \
     gruas, logística, entreprises, grupo"
);

/// Who is already known when a message comes in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender<'s> {
    /// The tenant's name, which is never the company that a message is about.
    pub(crate) us: &'s str,
    /// The name beside the address; empty when there is none.
    pub(crate) name: &'s str,
    pub(crate) address: &'s str,
}

/// Puts what the sender tells into the fields of its message, and takes out guesses that it contradicts.
pub(crate) fn tell(message: &mut ReadDocument, schema: &ExtractionSchema, sender: &Sender<'_>) {
    let text = message.text.clone();
    let Some(page) = text.pages.first() else { return };
    let body = head(&page.text);
    if let Some(family) = &schema.writer {
        let name = format!("{family}.name");
        if schema.fields.iter().any(|field| field.name == name)
            && let Some(named) = person_of(body, sender)
        {
            put(message, &name, named, SENDS);
        }
        // An address of another domain, which nobody labelled, is hardly the sender's.
        let strange = |field: &ExtractedField| {
            let address = field.value.as_str().unwrap_or_default();
            field.name == format!("{family}.email")
                && field.confidence <= UNSURE
                && !same_domain(address, sender.address)
        };
        message.extraction.fields.retain(|field| !strange(field));
    }
    part_from_companies(message, schema, sender);
    let is_field = |about: &&str| schema.fields.iter().any(|field| field.name == *about);
    let Some(about) = schema.about.as_deref().filter(is_field) else {
        return;
    };
    let is_known = |field: &ExtractedField| field.name == about && field.confidence > UNSURE;
    if message.extraction.fields.iter().any(is_known) {
        return;
    }
    let refused = |name: &str| is_office(name, schema) || company::normal_name(name) == company::normal_name(sender.us);
    if introduced::sends_somebody(body) {
        let is_senders = |name: &str| contact::is_domain_of(sender.address, &company::normal_name(name));
        let other = introduced::only_other(&message.extraction.fields, |name| refused(name) || is_senders(name));
        let other = other.filter(|(_, field)| field.source.page == page.number);
        if let Some((name, start)) = other.and_then(|(name, _)| Some((name, body.find(name)?))) {
            let named = NameInText { name: name.to_owned(), start };
            put(message, about, named, WRITES);
            return;
        }
    }
    let of = |address: &str| company_of(body, address).filter(|named| !refused(&named.name));
    // `Fern Hollow Hauling LLC, you know us as Big F` is called by its legal name.
    if let Some(named) = of(sender.address).and_then(|short| named::legal(body, &short)) {
        put(message, about, named, WRITES);
        return;
    }
    let subject = text.pages.get(1).map_or("", |page| page.text.as_str());
    let is_senders = |name: &str| company::normal_name(name) == company::normal_name(sender.name);
    let labels = schema.fields.iter().filter(|field| field.name == about).flat_map(|field| field.labels.iter());
    let labels: Vec<String> = labels.cloned().collect();
    let by_name = || named::company(body, subject, &labels, |name| refused(name) || is_senders(name));
    // A lender writes about somebody else: the company with its number comes before the sender's own.
    if let Some((named, sure)) = named::numbered(body, |name| refused(name) || is_senders(name)) {
        let named = longer_of(message, body, named);
        put(message, about, named, sure);
    } else if let Some(named) = of(sender.address) {
        put(message, about, named, WRITES);
    } else if let Some((named, sure)) = by_name() {
        put(message, about, named, sure);
    } else if let Some(named) = addresses(body).into_iter().find_map(of)
        && !is_another(message, about, &named.name)
    {
        put(message, about, named, HANDED_ON);
    }
}

/// Takes somebody's own name, above all the sender's, from before those of companies.
fn part_from_companies(message: &mut ReadDocument, schema: &ExtractionSchema, sender: &Sender<'_>) {
    let who = if is_person(sender) { sender.name } else { "" };
    let text = message.text.clone();
    for field in &mut message.extraction.fields {
        let is_about = field.group.is_none() && Some(&field.name) == schema.about.as_ref();
        let is_company = field.group.as_deref() == Some(COMPANIES) && field.name == "name";
        let Some(name) = field.value.as_str().filter(|_| is_about || is_company) else { continue };
        let Some(company) = company_behind(name, who) else { continue };
        let page = text.pages.iter().find(|page| page.number == field.source.page);
        let written = page.and_then(|page| page.text.get(field.source.start..field.source.end));
        if let Some(at) = written.and_then(|written| written.rfind(company)) {
            field.source.start += at;
        }
        field.value = company.into();
    }
}

/// The company behind somebody's name: `Ada Example de Transportes Fern LLC`.
fn company_behind<'n>(name: &'n str, sender: &str) -> Option<&'n str> {
    const OF: [&str; 5] = [" de ", " of ", " with ", " con ", " from "];
    let trade = |rest: &str| {
        TRADES.iter().any(|trade| rest.to_lowercase().strip_prefix(trade).is_some_and(|rest| rest.starts_with(' ')))
    };
    if !company::has_legal_form(name) {
        return None;
    }
    let own = Some(sender).filter(|sender| !sender.is_empty()).and_then(|sender| name.strip_prefix(sender));
    let own = own.and_then(|rest| OF.iter().find_map(|of| rest.strip_prefix(of)));
    let whose = || name.split_once(" de ").filter(|(who, rest)| who.contains(' ') && trade(rest)).map(|(_, rest)| rest);
    own.or_else(whose).filter(|company| company.starts_with(char::is_uppercase))
}

/// The company that was found in the message whose name ends where another name does, when it begins before that one:
/// a word in small letters stands within it, as in `Carga y Fletes Larch LLC`.
fn longer_of(message: &ReadDocument, body: &str, named: NameInText) -> NameInText {
    let end = |named: &NameInText| body[..named.start + named.name.len()].trim_end_matches('.').len();
    let companies =
        message.extraction.fields.iter().filter(|field| {
            field.group.as_deref() == Some(COMPANIES) && field.name == "name" && field.source.page == 1
        });
    let found = companies.filter_map(|field| Some((field.value.as_str()?, field.source.start)));
    let whole = found.map(|(name, start)| NameInText { name: name.to_owned(), start }).find(|whole| {
        let there = body.get(whole.start..).is_some_and(|rest| rest.starts_with(&whole.name));
        there && whole.start < named.start && end(whole) == end(&named)
    });
    whole.unwrap_or(named)
}

/// Whether a message gives a name to somebody else than the one that it is about, such as to the holder of a certificate.
fn is_another(message: &ReadDocument, about: &str, name: &str) -> bool {
    let mut others = message.extraction.fields.iter().filter(|field| field.group.is_none() && field.name != about);
    let name = company::normal_name(name);
    others.any(|field| field.value.as_str().is_some_and(|other| company::normal_name(other) == name))
}

/// Takes out the addresses and telephones of a mail server's report: they are of whom it did not reach.
pub(crate) fn forget_contacts(message: &mut ReadDocument, schema: &ExtractionSchema) {
    let is_contact = |name: &str| {
        let mut fields = schema.fields.iter().filter(|field| field.name == name && field.group.is_none());
        fields.any(|field| matches!(field.value, ValueKind::Email | ValueKind::Phone | ValueKind::Person))
    };
    message.extraction.fields.retain(|field| field.group.is_some() || !is_contact(&field.name));
}

/// Sets a single field of a message.
fn put(message: &mut ReadDocument, name: &str, named: NameInText, confidence: f64) {
    let named = match company_behind(&named.name, "") {
        Some(company) => NameInText { start: named.start + named.name.len() - company.len(), name: company.to_owned() },
        None => named,
    };
    let fields = &mut message.extraction.fields;
    fields.retain(|field| field.name != name || field.group.is_some());
    let (start, end) = (named.start, named.start + named.name.len());
    fields.push(ExtractedField {
        name: name.to_owned(),
        group: None,
        item: None,
        value: named.name.into(),
        confidence,
        problem: None,
        source: FieldSource { document: MESSAGE_NUMBER, page: 1, start, end, ..FieldSource::default() },
        found_by: FoundBy::Rules,
        rival: None,
    });
}

/// The beginning of a text.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LOOK)]
}

/// The sender's name where it stands in the text, also when the address has only its initial: `A Example`.
fn person_of(body: &str, sender: &Sender<'_>) -> Option<NameInText> {
    if is_person(sender)
        && let Some(start) = body.find(sender.name)
    {
        return Some(NameInText { name: sender.name.to_owned(), start });
    }
    let (initial, last) = sender.name.split_once(' ')?;
    let initial = initial.trim_end_matches('.');
    if initial.chars().count() != 1 || last.contains(' ') || last.chars().count() < 2 {
        return None;
    }
    let mut at = 0;
    for line in body.split('\n') {
        let name = line.trim();
        let start = at + line.len() - line.trim_start().len();
        at += line.len() + 1;
        let is_whole = name.strip_suffix(last).is_some_and(|first| first.starts_with(initial) && first.ends_with(' '));
        if is_whole && is_person(&Sender { name, ..*sender }) {
            return Some(NameInText { name: name.to_owned(), start });
        }
    }
    None
}

/// Whether the name beside an address is a person's: two to four words with capitals that are not the domain's.
fn is_person(sender: &Sender<'_>) -> bool {
    let words: Vec<&str> = sender.name.split(' ').collect();
    let written = |word: &&str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '\'' | '’'))
    };
    let is_desk = |word: &&str| DESKS.contains(&word.to_lowercase().as_str());
    (2..=4).contains(&words.len())
        && words.iter().all(written)
        && !words.iter().any(is_desk)
        && !company::has_legal_form(sender.name)
        && !contact::is_domain_of(sender.address, &company::normal_name(sender.name))
}

fn same_domain(one: &str, other: &str) -> bool {
    let domain = |address: &str| address.rsplit_once('@').map(|(_, domain)| domain.to_lowercase());
    domain(one).is_some_and(|one| Some(one) == domain(other))
}

/// The e-mail addresses in a text, in their order.
fn addresses(text: &str) -> Vec<&str> {
    let words = text
        .split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | ',' | ';' | ':' | '"'));
    words.filter(|word| word.contains('@')).take(MAX_ADDRESSES).collect()
}

/// Whether a name is that of an agency, an insurer or a bank, by the schema's words or by its own.
fn is_office(name: &str, schema: &ExtractionSchema) -> bool {
    let normal = format!(" {} ", company::normal_name(name));
    let whole = format!(
        " {} ",
        name.to_lowercase().replace(['.', ',', '&'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let has = |sign: &str| whole.contains(&format!(" {sign} ")) || normal.contains(&format!(" {sign} "));
    let signs = schema.fields.iter().filter(|field| field.value == ValueKind::Name).map(|field| &field.signs);
    let signed = |signs: &Vec<String>| {
        let against = signs.iter().filter_map(|sign| sign.strip_prefix('-')).any(has);
        !against && signs.iter().any(|sign| has(sign))
    };
    company::OFFICES.iter().chain(&company::FIRMS).any(|sign| has(sign)) || signs.into_iter().any(signed)
}

/// Words of a line behind a name that says what it is.
const MAX_DESCRIBED: usize = 5;
/// Whether what stands behind a name and a comma, or right beneath it, says that it is such a firm: `Fern & Pike, Certified
/// Public Accountants`.
fn is_described_as_firm(behind: &str) -> bool {
    let described = behind.strip_prefix(',').or_else(|| behind.trim_start_matches(['\r', ' ']).strip_prefix('\n'));
    let line = described.unwrap_or_default().lines().next().unwrap_or_default();
    // A line may go on without an end.
    let words: Vec<String> = line.split_whitespace().take(MAX_DESCRIBED + 1).map(company::normal_name).collect();
    words.len() <= MAX_DESCRIBED && words.iter().any(|word| company::FIRMS.contains(&word.as_str()))
}

/// The name in a text that an address's domain is made of: one with a legal form, else the last one.
fn company_of(text: &str, address: &str) -> Option<NameInText> {
    let mut best: Option<(bool, NameInText)> = None;
    let mut at = 0;
    for line in text.split('\n') {
        for named in names(line)
            .chain(uncapitalised(line))
            .filter(|named| contact::is_domain_of(address, &company::normal_name(&named.name)))
        {
            if is_described_as_firm(&text[at + named.start + named.name.len()..]) {
                return None;
            }
            let formed = company::has_legal_form(&named.name);
            if best.as_ref().is_none_or(|(known, _)| formed || !known) {
                best = Some((formed, with_trade(line, at, named)));
            }
        }
        at += line.len() + 1;
    }
    let (formed, named) = best?;
    Some(if formed { named } else { whole_of(text, named) })
}

/// All of a line in small letters that ends with a legal form, as it is typed on a telephone: `fern hollow hauling inc`.
fn uncapitalised(line: &str) -> Option<NameInText> {
    let name = line.trim();
    let words = name.split(' ').count();
    let small = name.chars().all(|c| c.is_lowercase() || matches!(c, ' ' | '.' | ',' | '&' | '\'' | '’' | '-'));
    let formed = name.rsplit(' ').next().is_some_and(company::has_legal_form);
    let is_name = small && formed && (2..=MAX_WORDS).contains(&words);
    is_name.then(|| NameInText { name: name.to_owned(), start: line.len() - line.trim_start().len() })
}

/// The first name of a text with a legal form that begins with this one, or it: `Fern Hollow` is short for `Fern Hollow
/// Hauling, Inc.`
fn whole_of(text: &str, short: NameInText) -> NameInText {
    let begins = |named: &NameInText| {
        let rest = named.name.strip_prefix(short.name.as_str());
        rest.is_some_and(|rest| rest.starts_with([' ', ','])) && company::has_legal_form(&named.name)
    };
    let mut at = 0;
    for line in text.split('\n') {
        if let Some(whole) = names(line).find(begins) {
            return NameInText { start: at + whole.start, ..whole };
        }
        at += line.len() + 1;
    }
    short
}

/// A name of a line that begins at `at`, with the trade that in Spanish and French stands before it and belongs to it.
fn with_trade(line: &str, at: usize, named: NameInText) -> NameInText {
    let before = line[..named.start].strip_suffix(' ').unwrap_or_default();
    let word = before.rsplit(' ').next().unwrap_or_default();
    if !TRADES.contains(&word.to_lowercase().as_str()) || !word.starts_with(char::is_uppercase) {
        return NameInText { start: at + named.start, ..named };
    }
    NameInText { name: format!("{word} {}", named.name), start: at + named.start - word.len() - 1 }
}

#[cfg(test)]
mod tests;
