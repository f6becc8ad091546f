//! A set of mails with the truth beside it: `mail/*.eml`, `truth.json`, and `parts.json`, which says what may be looked
//! at while rules are written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use super::normal::normal;

/// What should come of a set.
#[derive(Debug, Deserialize)]
pub(super) struct Truth {
    pub(super) preconditions: Preconditions,
    pub(super) files: BTreeMap<String, Mail>,
    pub(super) after_all: AfterAll,
}

/// What is there before the first mail comes.
#[derive(Debug, Deserialize)]
pub(super) struct Preconditions {
    /// The insurers that are known.
    pub(super) seed_records: Vec<Insurer>,
    /// Ids of requests as replies carry them, by a name.
    pub(super) tokens: BTreeMap<String, Token>,
}

/// An insurer that is known.
#[derive(Debug, Deserialize)]
pub(super) struct Insurer {
    pub(super) name: String,
    pub(super) naic: String,
}

/// The id of a request, which the server gives another one.
#[derive(Debug, Deserialize)]
pub(super) struct Token {
    pub(super) request_id: String,
    pub(super) insured: String,
    pub(super) insurer: String,
}

/// What should come of one mail.
#[derive(Debug, Deserialize)]
pub(super) struct Mail {
    pub(super) about: String,
    pub(super) intent: String,
    #[serde(default)]
    pub(super) also_acceptable: Vec<String>,
    review: Value,
    #[serde(default)]
    pub(super) review_reason: String,
    #[serde(default)]
    attachments: Vec<Paper>,
    #[serde(default)]
    pub(super) fields: BTreeMap<String, Vec<ExpectedValue>>,
    #[serde(default)]
    pub(super) not_fields: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    records: Vec<Value>,
}

/// A file of a mail.
#[derive(Debug, Deserialize)]
struct Paper {
    filename: String,
    readable: Value,
}

/// A value that stands in a mail.
#[derive(Debug, Deserialize)]
pub(super) struct ExpectedValue {
    pub(super) value: Value,
    /// How the paper writes it, where the value is a term.
    #[serde(default, rename = "as")]
    pub(super) written: Option<String>,
    #[serde(default, rename = "where")]
    places: Vec<String>,
    #[serde(default)]
    optional: bool,
}

/// What should be there after the last mail.
#[derive(Debug, Deserialize)]
pub(super) struct AfterAll {
    pub(super) loss_run_requests: Vec<ExpectedRequest>,
}

/// A request for loss runs that should be there.
#[derive(Debug, Deserialize)]
pub(super) struct ExpectedRequest {
    pub(super) insured: String,
    pub(super) insurer: String,
    #[serde(default)]
    pub(super) policies: Vec<String>,
    pub(super) made_by: String,
    #[serde(default)]
    pub(super) after_review: bool,
    #[serde(default)]
    review: Value,
}

/// Whether a person should be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Review {
    Needed,
    Needless,
    Either,
}

fn review(value: &Value) -> Review {
    match value.as_bool() {
        Some(true) => Review::Needed,
        Some(false) => Review::Needless,
        None => Review::Either,
    }
}

impl Mail {
    pub(super) fn review(&self) -> Review {
        review(&self.review)
    }

    pub(super) fn accepts(&self, intent: &str) -> bool {
        self.intent == intent || self.also_acceptable.iter().any(|other| other == intent)
    }

    /// The insurer of a policy, as far as the truth names it.
    pub(super) fn insurer_of(&self, number: &str) -> Option<&str> {
        let is_it = |record: &&Value| record["kind"] == "policy" && record["policy_number"] == number;
        self.records.iter().find(is_it)?["insurer"].as_str()
    }

    /// Whether a value need not be found: it is optional, or stands only in papers that need OCR or a password.
    pub(super) fn is_neutral(&self, wanted: &ExpectedValue) -> bool {
        wanted.optional || self.is_hidden(wanted)
    }

    /// Whether nobody can make a request without a paper that needs OCR or a password: none of its policies stands
    /// elsewhere.
    pub(super) fn hides(&self, request: &ExpectedRequest) -> bool {
        let places = |policy: &String| {
            let number = |value: &Value| normal("policy_number", value);
            let wanted = Value::from(policy.as_str());
            let known = self.fields.get("policy_number").into_iter().flatten();
            known.filter(|known| number(&known.value) == number(&wanted)).collect::<Vec<_>>()
        };
        let hidden = |policy: &String| {
            let places = places(policy);
            !places.is_empty() && places.into_iter().all(|known| self.is_hidden(known))
        };
        !request.policies.is_empty() && request.policies.iter().all(hidden)
    }

    fn is_hidden(&self, wanted: &ExpectedValue) -> bool {
        let hidden = |place: &String| {
            place.strip_prefix("att:").is_some_and(|name| {
                self.attachments.iter().any(|paper| {
                    name.starts_with(&paper.filename)
                        && (paper.readable == Value::Bool(false) || paper.readable.as_str() == Some("ocr"))
                })
            })
        };
        !wanted.places.is_empty() && wanted.places.iter().all(hidden)
    }
}

impl ExpectedRequest {
    /// Whether it should be there without anybody's answer.
    pub(super) fn is_expected(&self) -> bool {
        !self.after_review && review(&self.review) != Review::Needed
    }
}

/// Which mails of a set are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Those that rules are written with.
    Learn,
    /// Those that are scored in the end, and not looked at.
    Locked,
    /// Both.
    All,
}

impl Part {
    pub(super) fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "learn" => Self::Learn,
            "locked" => Self::Locked,
            "all" => Self::All,
            other => bail!("there is no part {other:?}; use learn, locked or all"),
        })
    }
}

#[derive(Deserialize)]
struct LockedPart {
    locked: Vec<String>,
}

/// A set that was read.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) truth: Truth,
    /// Every mail in the order in which it comes.
    pub(super) mails: Vec<PathBuf>,
    locked: Vec<String>,
}

impl Set {
    /// Reads a folder.
    ///
    /// # Errors
    /// When it has no mails, or their truth cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let file = folder.join(name);
            std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
        };
        let truth: Truth = serde_json::from_str(&text("truth.json")?).context("truth.json is no truth of mails")?;
        let locked = match folder.join("parts.json").exists() {
            true => serde_json::from_str::<LockedPart>(&text("parts.json")?).context("parts.json is damaged")?.locked,
            false => Vec::new(),
        };
        let mails = folder.join("mail");
        let mut mails: Vec<PathBuf> = std::fs::read_dir(&mails)
            .with_context(|| format!("cannot read {}", mails.display()))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "eml"))
            .collect();
        mails.sort();
        if mails.is_empty() {
            bail!("{} has no mails", folder.display());
        }
        Ok(Self { truth, mails, locked })
    }

    /// Whether a mail is of a part.
    pub(super) fn has(&self, name: &str, part: Part) -> bool {
        let locked = self.locked.iter().any(|other| other == name);
        match part {
            Part::Learn => !locked,
            Part::Locked => locked,
            Part::All => true,
        }
    }
}

/// The name of a mail's file.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
