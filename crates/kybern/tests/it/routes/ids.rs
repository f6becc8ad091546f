//! Ids and names in paths: unknown, malformed, of another kind, and of another tenant.

use super::crossing;
use super::document::Document;
use super::rows::{Part, Row};
use super::suite::Suite;
use super::things::Things;

/// An id that nobody has.
pub(crate) const NOBODY: &str = "01980000-0000-7000-8000-00000000dead";
/// A name that nobody has.
const NO_NAME: &str = "no.such";

impl Part {
    /// What stands there in a right request.
    pub(crate) fn value(self, things: &Things) -> &str {
        match self {
            Self::Id(of) | Self::Name(of) | Self::Filter(of) => of(things),
            Self::Number => "1",
            Self::Shared(name) | Self::Free(name) => name,
        }
    }

    /// What nobody has; `None` where everything that fits is right.
    pub(crate) const fn unknown(self) -> Option<&'static str> {
        match self {
            Self::Id(_) => Some(NOBODY),
            Self::Name(_) | Self::Filter(_) | Self::Shared(_) => Some(NO_NAME),
            Self::Number => Some("9"),
            Self::Free(_) => None,
        }
    }

    const fn is_tenants(self) -> bool {
        matches!(self, Self::Id(_) | Self::Name(_) | Self::Filter(_))
    }

    /// What can never stand there.
    fn malformed(self) -> Vec<String> {
        let of = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let text = |mut more: Vec<String>| {
            more.extend(["a%00b".to_owned(), "x".repeat(301)]);
            more
        };
        match self {
            Self::Id(_) => text(of(&["7", "none", "%20", "01980000-0000-7000-8000-00000000dea", "'%20or%201=1--"])),
            Self::Name(_) | Self::Filter(_) | Self::Shared(_) => text(Vec::new()),
            Self::Number => text(of(&["-1", "one", "1.5", "99999999999999999999"])),
            Self::Free(_) => text(of(&["a%20b", "a%2Fb", "%C3%A4"])),
        }
    }
}

impl Row {
    /// The path with each varying part filled in.
    pub(crate) fn path_with<'a>(&self, of: impl Fn(Part) -> &'a str) -> String {
        let mut parts = self.parts.iter();
        let fill = |piece: &'a str| if piece.starts_with('{') { of(*parts.next().unwrap()) } else { piece };
        self.path.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    /// The path in which only the `nth` part is `text`.
    fn path_but(&self, things: &Things, nth: usize, text: &str) -> String {
        let mut n = 0;
        let pieces = self.path.split('/').map(|piece| {
            if !piece.starts_with('{') {
                return piece.to_owned();
            }
            n += 1;
            if n - 1 == nth { text.to_owned() } else { self.parts[n - 1].value(things).to_owned() }
        });
        pieces.collect::<Vec<_>>().join("/")
    }
}

/// The path of a row with a tenant's things in it.
pub(crate) fn fill(row: &Row, things: &Things) -> String {
    row.path_with(|part| part.value(things))
}

/// A question about something that is not ours, and the same about something that is nobody's.
struct Pair {
    row: Row,
    nobodys: (String, Vec<String>),
    theirs: (String, Vec<String>),
}

/// For each varying part one pair, and one for all of them together.
fn pairs(suite: &Suite) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for row in &suite.rows {
        let tenants: Vec<(usize, Part)> =
            row.parts.iter().copied().enumerate().filter(|(_, part)| part.is_tenants()).collect();
        for (nth, part) in &tenants {
            let (no, their) = (part.unknown().unwrap_or_default(), part.value(&suite.theirs));
            pairs.push(Pair {
                row: *row,
                nobodys: (row.path_but(&suite.ours, *nth, no), vec![no.to_owned()]),
                theirs: (row.path_but(&suite.ours, *nth, their), vec![their.to_owned()]),
            });
        }
        if tenants.len() > 1 {
            let names = |of: &dyn Fn(Part) -> String| tenants.iter().map(|(_, part)| of(*part)).collect::<Vec<_>>();
            let unknown = |part: Part| part.unknown().unwrap_or_default();
            pairs.push(Pair {
                row: *row,
                nobodys: (row.path_with(unknown), names(&|part| unknown(part).to_owned())),
                theirs: (fill(row, &suite.theirs), names(&|part| part.value(&suite.theirs).to_owned())),
            });
        }
    }
    pairs
}

/// Every varying part of every path, for every role: another tenant's thing is as if it were not there.
pub(crate) async fn what_is_not_ours_is_not_there(suite: &Suite) {
    every_part_is_as_the_document_says(suite);
    crossing::theirs_are_there(suite).await;
    let pairs = pairs(suite);
    let asked = pairs.iter().flat_map(|pair| suite.callers.roles().map(move |caller| (pair, caller)));
    suite
        .each(asked, async |(pair, caller)| {
            let row = &pair.row;
            let send = async |(path, named): &(String, Vec<String>)| {
                let named: Vec<&str> = named.iter().map(String::as_str).collect();
                let answer = suite.ask(row, Some(&caller.key), &row.good(path, &suite.ours, 1), &named).await;
                (answer.essence(&named), answer)
            };
            let (nobodys, answer) = send(&pair.nobodys).await;
            let about = || format!("{} as {} by {}", row.name(), pair.nobodys.0, caller.name);
            match row.right() {
                Some(right) if !caller.may(right) => suite.refused(&answer, 403, "PERMISSION_DENIED", about),
                _may if row.parts.iter().all(|part| matches!(part, Part::Filter(_))) => {
                    let is_table = pair.nobodys.0.ends_with("/export");
                    let empty = match is_table {
                        true => answer.text().lines().count() == 1,
                        false => answer.json()["items"] == serde_json::json!([]),
                    };
                    let empty = answer.status == 200 && empty;
                    suite.expect(empty, || format!("{}: is no empty list: {}", about(), answer.text()));
                }
                _may => suite.refused(&answer, 404, "NOT_FOUND", about),
            }
            let (theirs, _) = send(&pair.theirs).await;
            suite.expect(theirs == nobodys, || {
                format!("{}: theirs differs from nobody's\n  {theirs}\n  {nobodys}", about())
            });
        })
        .await;
    malformed(suite).await;
}

/// What cannot stand there is refused with its name, and a thing of another kind is not found.
async fn malformed(suite: &Suite) {
    let parts = suite
        .rows
        .iter()
        .flat_map(|row| row.parts.iter().copied().enumerate().map(move |(nth, part)| (row, nth, part)));
    let asks = parts.flat_map(|(row, nth, part)| part.malformed().into_iter().map(move |text| (row, nth, text)));
    suite
        .each(asks, async |(row, nth, text)| {
            let key = suite.able(row).map(|caller| caller.key.as_str());
            let path = row.path_but(&suite.ours, nth, &text);
            let answer = suite.ask(row, key, &row.good(&path, &suite.ours, 1), &[]).await;
            suite.refused(&answer, 400, "VALIDATION_ERROR", || path.clone());
            let place = format!("/{}", row.names()[nth]);
            suite.expect(answer.places() == [place.as_str()], || format!("{path}: names {:?}", answer.places()));
        })
        .await;
    let others = suite.rows.iter().filter(|row| !row.parts.is_empty());
    suite
        .each(others, async |row| {
            let key = suite.able(row).map(|caller| caller.key.as_str());
            for (nth, part) in row.parts.iter().enumerate() {
                let other = match part {
                    Part::Id(_) => suite.ours.tenant.as_str(),
                    Part::Number | Part::Shared(_) => part.unknown().unwrap_or_default(),
                    Part::Name(_) | Part::Filter(_) | Part::Free(_) => continue,
                };
                let path = row.path_but(&suite.ours, nth, other);
                let answer = suite.ask(row, key, &row.good(&path, &suite.ours, 1), &[]).await;
                suite.refused(&answer, 404, "NOT_FOUND", || path.clone());
            }
        })
        .await;
}

/// Ids are ids in the document too, and numbers are numbers.
fn every_part_is_as_the_document_says(suite: &Suite) {
    let document: &Document = &suite.document;
    for row in &suite.rows {
        let described = document.parameters(row, "path");
        for (name, part) in row.names().into_iter().zip(row.parts) {
            let schema =
                described.iter().find(|(known, _)| known == name).map(|(_, schema)| schema.clone()).unwrap_or_default();
            let fits = match part {
                Part::Id(_) => schema["format"] == "uuid",
                Part::Number => schema["type"] == "integer",
                Part::Name(_) | Part::Filter(_) | Part::Shared(_) | Part::Free(_) => {
                    schema["type"] == "string" && schema.get("format").is_none()
                }
            };
            suite.expect(fits, || format!("{}: {name} is described as {schema}", row.name()));
        }
    }
}
