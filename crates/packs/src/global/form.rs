//! Forms: whatever shape a web form, a form service or a `Label: value` mail has, as labelled answers, and which
//! label means what.

use kybern_core::list;

use serde_json::{Map, Value};

use crate::args::as_text;
use crate::contact;

/// How deep answers may be nested.
const MAX_DEPTH: usize = 4;

/// The most answers that are read.
const MAX_ANSWERS: usize = 500;

/// The longest label of a `Label: value` line.
const MAX_LABEL: usize = 40;

/// What a label means, and its spellings without spaces and punctuation.
const MEANINGS: &[(&str, &[&str])] = &[
    (
        "company_name",
        list!(
            "companyname, company, businessname, business, legalname, legalbusinessname, carriername, insuredname, \
             namedinsured, organization, organisation, organizationname, accountname, nameofcompany, nameofbusiness, \
             yourcompany, whatisyourcompanyname, whatsyourcompanyname"
        ),
    ),
    ("dot_number", &["dotnumber", "dot", "usdot", "usdotnumber", "dotno", "usdotno", "dotid", "whatisyourdotnumber"]),
    ("mc_number", &["mcnumber", "mc", "mcno", "docketnumber", "mcdocket", "mcid"]),
    (
        "lead_name",
        &["name", "fullname", "contactname", "contact", "contactperson", "leadname", "yourname", "whatisyourname"],
    ),
    ("first_name", &["firstname", "givenname"]),
    ("last_name", &["lastname", "surname", "familyname"]),
    ("lead_email", &["email", "emailaddress", "contactemail", "leademail", "workemail", "youremail", "businessemail"]),
    (
        "lead_phone",
        list!(
            "phone, phonenumber, telephone, tel, mobile, mobilephone, cell, cellphone, contactphone, leadphone, \
             yourphone, businessphone"
        ),
    ),
    ("address", &["address", "mailingaddress", "physicaladdress", "businessaddress", "companyaddress"]),
    ("street", &["street", "streetaddress", "address1", "addressline1"]),
    ("city", &["city", "town"]),
    ("state", &["state", "province", "addressstate"]),
    ("zip", &["zip", "zipcode", "postalcode", "postcode"]),
    (
        "coverage",
        list!(
            "coveragetypes, coveragetype, coverages, coverage, coverageneeded, coveragesneeded, linesofcoverage, \
             linesofbusiness, lines, insurancetype, insurancetypes, typeofinsurance, insuranceneeded, interestedin, \
             whatcoveragedoyouneed"
        ),
    ),
    (
        "message",
        &["message", "comments", "comment", "notes", "note", "additionalinformation", "details", "howcanwehelp"],
    ),
];

/// One answer of a form.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FormAnswer {
    /// The label as it was written.
    pub(super) label: String,
    /// What was answered.
    pub(super) value: Value,
}

/// The answers of a payload, whatever its shape.
pub(super) fn answers(payload: &Value) -> Vec<FormAnswer> {
    let mut found = Vec::new();
    match payload.get("form_response") {
        Some(response) => typeform(response, &mut found),
        None => collect(body_of(payload), 0, &mut found),
    }
    found.truncate(MAX_ANSWERS);
    found
}

/// The answers that stand in a text as `Label: value` lines.
pub(super) fn labelled_lines(text: &str) -> Vec<FormAnswer> {
    let line = |line: &str| {
        let (label, value) = line.split_once(':')?;
        let (label, value) = (label.trim().trim_start_matches(['-', '*', '•', '>']).trim(), value.trim());
        let sound = !label.is_empty() && label.len() <= MAX_LABEL && !value.is_empty() && !value.starts_with("//");
        sound.then(|| FormAnswer { label: label.to_owned(), value: Value::String(value.to_owned()) })
    };
    text.lines().filter_map(line).take(MAX_ANSWERS).collect()
}

/// What an answer's label means; `None` when it is one of the form's own.
pub(super) fn meaning(label: &str) -> Option<&'static str> {
    let bare: String = label.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    MEANINGS.iter().find(|(_, spellings)| spellings.contains(&bare.as_str())).map(|(name, _)| *name)
}

/// The first answer that says something, by what its label means.
pub(super) fn first<'a>(answers: &'a [FormAnswer], wanted: &str) -> Option<&'a Value> {
    answers
        .iter()
        .filter(|answer| meaning(&answer.label) == Some(wanted))
        .map(|answer| &answer.value)
        .find(|value| as_text(value).is_some() || value.as_array().is_some_and(|items| !items.is_empty()))
}

/// The answers whose labels mean nothing here, by label.
pub(super) fn others(answers: &[FormAnswer]) -> Map<String, Value> {
    let own = answers.iter().filter(|answer| meaning(&answer.label).is_none());
    own.map(|answer| (answer.label.clone(), answer.value.clone())).collect()
}

/// An address from its parts, where the form has no single field for it.
pub(super) fn address(answers: &[FormAnswer]) -> Option<String> {
    if let Some(whole) = first(answers, "address").and_then(as_text) {
        return Some(whole);
    }
    let part = |name| first(answers, name).and_then(as_text);
    let (street, city) = (part("street"), part("city"));
    let state = part("state").map(|state| contact::state(&state).unwrap_or(state));
    let end = [state, part("zip")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let parts: Vec<String> = [street, city, Some(end).filter(|end| !end.is_empty())].into_iter().flatten().collect();
    (parts.len() > 1).then(|| parts.join(", "))
}

/// The body, where a caller has wrapped it together with the request's headers.
fn body_of(payload: &Value) -> &Value {
    match payload.get("body") {
        Some(body @ Value::Object(_)) if payload.get("headers").is_some() => body,
        _ => payload,
    }
}

/// Typeform and its likes: answers apart from the questions that they answer.
fn typeform(response: &Value, found: &mut Vec<FormAnswer>) {
    let questions = response.pointer("/definition/fields").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for answer in response.get("answers").and_then(Value::as_array).into_iter().flatten() {
        let field = answer.get("field").unwrap_or(&Value::Null);
        let asks = |question: &&Value| {
            ["id", "ref"].iter().any(|key| field.get(*key).is_some() && question.get(*key) == field.get(*key))
        };
        let title = questions.iter().find(asks).and_then(|question| question.get("title")).and_then(Value::as_str);
        let label = title.filter(|title| meaning(title).is_some());
        let label = label.or_else(|| field.get("ref").and_then(Value::as_str)).or(title).unwrap_or("answer");
        let kind = answer.get("type").and_then(Value::as_str).unwrap_or("text");
        let value = match answer.get(kind) {
            Some(choices) if kind == "choices" => choices.get("labels").cloned().unwrap_or(Value::Null),
            Some(choice) if kind == "choice" => choice.get("label").cloned().unwrap_or(Value::Null),
            Some(value) => value.clone(),
            None => Value::Null,
        };
        found.push(FormAnswer { label: label.to_owned(), value });
    }
    if let Some(hidden) = response.get("hidden") {
        collect(hidden, 0, found);
    }
}

/// Every leaf of an object under its own name; lists of `{label, value}` under their labels.
fn collect(value: &Value, depth: usize, found: &mut Vec<FormAnswer>) {
    if depth > MAX_DEPTH || found.len() >= MAX_ANSWERS {
        return;
    }
    let Value::Object(fields) = value else { return };
    for (name, value) in fields {
        match value {
            Value::Object(_) => collect(value, depth + 1, found),
            Value::Array(items) if items.iter().any(|item| labelled(item).is_some()) => {
                found.extend(items.iter().filter_map(labelled));
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                items.iter().for_each(|item| collect(item, depth + 1, found));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                found.push(FormAnswer { label: name.clone(), value: value.clone() });
            }
        }
    }
}

/// `{label|name|key|title|question, value|answer}`.
fn labelled(item: &Value) -> Option<FormAnswer> {
    let label = ["label", "name", "key", "title", "question"].iter().find_map(|key| item.get(*key)?.as_str())?;
    let value = ["value", "answer"].iter().find_map(|key| item.get(*key))?;
    Some(FormAnswer { label: label.to_owned(), value: value.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(payload: &Value, name: &str) -> Option<String> {
        first(&answers(payload), name).and_then(as_text)
    }

    #[test]
    fn flat_nested_and_listed_forms_say_the_same() {
        for payload in [
            json!({"companyName": "Acme LLC", "USDOT #": 9104417}),
            json!({"headers": {"host": "x"}, "body": {"lead": {"company_name": "Acme LLC", "dot": "9104417"}}}),
            json!({"fields": [{"label": "Company Name", "value": "Acme LLC"}, {"name": "dot_number", "value": 9104417}]}),
        ] {
            assert_eq!(said(&payload, "company_name").as_deref(), Some("Acme LLC"), "{payload}");
            assert_eq!(said(&payload, "dot_number").as_deref(), Some("9104417"), "{payload}");
        }
    }

    #[test]
    fn typeform_answers_find_their_questions() {
        let payload = json!({"form_response": {
            "definition": {"fields": [
                {"id": "a1", "title": "What is your company name?"}, {"id": "b2", "title": "Coverage needed"},
            ]},
            "answers": [
                {"type": "text", "text": "Acme LLC", "field": {"id": "a1"}},
                {"type": "choices", "choices": {"labels": ["Auto Liability"]}, "field": {"id": "b2"}},
                {"type": "email", "email": "a@b.example", "field": {"id": "c3", "ref": "email"}},
            ],
        }});
        assert_eq!(said(&payload, "company_name").as_deref(), Some("Acme LLC"));
        assert_eq!(said(&payload, "lead_email").as_deref(), Some("a@b.example"));
        assert_eq!(first(&answers(&payload), "coverage"), Some(&json!(["Auto Liability"])));
    }

    #[test]
    fn lines_of_a_mail_are_answers_and_addresses_are_put_together() {
        let found = labelled_lines(
            "Hello,\nUSDOT #: 9190027\nsee https://x.example\nStreet: 5 Quarry Lane\nCity: Waco\nState: TX",
        );
        assert_eq!(first(&found, "dot_number"), Some(&json!("9190027")));
        assert_eq!(address(&found).as_deref(), Some("5 Quarry Lane, Waco, TX"));
    }
}
