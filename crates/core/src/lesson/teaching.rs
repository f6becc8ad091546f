//! What a lesson teaches: plain words, bounded, and never a pattern.

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::error::{Error, Result};

/// The most characters of an example.
pub const MAX_EXAMPLE: usize = 1_500;
/// The most characters of a label.
pub const MAX_LABEL: usize = 60;
/// The most words of a label.
const MAX_WORDS: usize = 6;
/// The most characters of an address.
pub const MAX_ADDRESS: usize = 254;
/// The most characters of the key of an intent, a schema or a field, and of a term's value.
pub const MAX_KEY: usize = 200;

/// What a lesson teaches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Teaching {
    /// A message that asks for an intent. Messages like it do so too.
    IntentExample {
        /// The intent's key.
        intent: String,
        /// What the message says, without the values that were read out of it, numbers and addresses.
        text: String,
    },
    /// Words under which a field's value stands, or which are themselves a value of its closed list.
    Label {
        /// The extraction schema.
        schema: String,
        /// The field, as `buyer.name`, or `orders/number` in a list.
        field: String,
        /// The words.
        label: String,
        /// The value that the words stand for; `None` when the value stands beside them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// Another way in which a field's value is written. It is a kind of its own, so that a program that does not know it
    /// leaves it out and does not take it for a label.
    Spelling {
        /// The extraction schema.
        schema: String,
        field: String,
        /// The words as they are written.
        label: String,
        /// The value that they mean.
        value: String,
    },
    /// A sender who is believed: that mail is theirs although the receiving server could not prove it.
    TrustedSender {
        /// The e-mail address.
        address: String,
    },
    /// A sender who answers for a company, and of whom nothing else is believed. It is a kind of its own, so that a
    /// program that does not know it leaves it out and does not trust the sender.
    Speaker {
        /// The e-mail address.
        address: String,
        /// The company that they answer for.
        company: String,
    },
}

words! {
    /// What a lesson teaches.
    pub enum LessonKind {
        IntentExample = "intent_example",
        Label = "label",
        Spelling = "spelling",
        TrustedSender = "trusted_sender",
        Speaker = "speaker",
    }
}

impl Teaching {
    #[must_use]
    pub const fn kind(&self) -> LessonKind {
        match self {
            Self::IntentExample { .. } => LessonKind::IntentExample,
            Self::Label { .. } => LessonKind::Label,
            Self::Spelling { .. } => LessonKind::Spelling,
            Self::TrustedSender { .. } => LessonKind::TrustedSender,
            Self::Speaker { .. } => LessonKind::Speaker,
        }
    }

    /// The same as it is kept: one space between words, labels and addresses in small letters.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` naming what is empty, too long, or no plain words.
    pub fn checked(self) -> Result<Self> {
        match self {
            Self::IntentExample { intent, text } => {
                let intent = key("/intent", &intent)?;
                let text = spaced(&text);
                if text.chars().filter(|c| c.is_alphabetic()).count() < 3 {
                    return Err(Error::invalid("/text", "an example is a message in words"));
                }
                bounded("/text", &text, MAX_EXAMPLE)?;
                Ok(Self::IntentExample { intent, text })
            }
            Self::Label { schema, field, label, value } => {
                let label = label_of(&label).map_err(|fault| Error::invalid("/label", fault))?;
                let value = value.map(|value| key("/value", &value)).transpose()?;
                Ok(Self::Label { schema: key("/schema", &schema)?, field: key("/field", &field)?, label, value })
            }
            Self::Spelling { schema, field, label, value } => Ok(Self::Spelling {
                label: label_of(&label).map_err(|fault| Error::invalid("/label", fault))?,
                value: key("/value", &spaced(&value))?,
                schema: key("/schema", &schema)?,
                field: key("/field", &field)?,
            }),
            Self::TrustedSender { address } => Ok(Self::TrustedSender { address: address_of(&address)? }),
            Self::Speaker { address, company } => {
                Ok(Self::Speaker { address: address_of(&address)?, company: key("/company", &spaced(&company))? })
            }
        }
    }

    /// What tells it from every other lesson of the tenant.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let parts: [&str; 5] = match self {
            Self::IntentExample { intent, text } => ["intent_example", intent, &text.to_lowercase(), "", ""],
            Self::Label { schema, field, label, value } => {
                ["label", schema, field, label, value.as_deref().unwrap_or_default()]
            }
            Self::Spelling { schema, field, label, value } => ["spelling", schema, field, label, value],
            Self::TrustedSender { address } => ["trusted_sender", address, "", "", ""],
            Self::Speaker { address, company } => ["speaker", address, &company.to_lowercase(), "", ""],
        };
        digest::hash_of(parts.map(str::as_bytes))
    }

    /// How much it takes: the bytes of its words.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::IntentExample { intent, text } => intent.len() + text.len(),
            Self::Label { schema, field, label, value } => {
                schema.len() + field.len() + label.len() + value.as_ref().map_or(0, String::len)
            }
            Self::Spelling { schema, field, label, value } => schema.len() + field.len() + label.len() + value.len(),
            Self::TrustedSender { address } => address.len(),
            Self::Speaker { address, company } => address.len() + company.len(),
        };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bounded(path: &str, text: &str, most: usize) -> Result<()> {
    fits(text, most).map_err(|fault| Error::invalid(path, fault))
}

/// Refuses a text that is empty, too long or not plain.
pub(crate) fn fits(text: &str, most: usize) -> std::result::Result<(), String> {
    match text.chars().count() {
        0 => Err("it says nothing".to_owned()),
        long if long > most => Err(format!("at most {most} characters, not {long}")),
        _ if text.contains(char::is_control) => Err("plain text without control characters".to_owned()),
        _ => Ok(()),
    }
}

/// An address as it is kept, if it is one.
fn address_of(address: &str) -> Result<String> {
    let address = address.trim().to_lowercase();
    bounded("/address", &address, MAX_ADDRESS)?;
    let parts = address.split_once('@').filter(|(local, domain)| {
        !local.is_empty()
            && domain.contains('.')
            && !domain.starts_with('.')
            && !domain.contains('@')
            && !address.contains(|c: char| c.is_whitespace() || c.is_control() || "<>,;*".contains(c))
    });
    if parts.is_none() {
        let message = "a whole address, with its name, @ and host: one person's or one system's, never a pattern";
        return Err(Error::invalid("/address", message));
    }
    Ok(address)
}

fn key(path: &str, text: &str) -> Result<String> {
    let text = text.trim().to_owned();
    bounded(path, &text, MAX_KEY)?;
    Ok(text)
}

/// A label as it is kept, if it can be one: a few plain words. What stands in a stranger's paper has no other way in.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn label_of(label: &str) -> std::result::Result<String, String> {
    let label = spaced(label.trim_end_matches(|c: char| c == ':' || c.is_whitespace())).to_lowercase();
    fits(&label, MAX_LABEL)?;
    let plain = |c: char| c.is_alphanumeric() || " .,-/'’#&()°º".contains(c);
    let in_words = label.chars().all(plain) && label.starts_with(char::is_alphabetic);
    let letters = label.chars().filter(|c| c.is_alphabetic()).count();
    if !in_words || letters < 2 || label.split(' ').count() > MAX_WORDS {
        return Err(format!(
            "a label is at most {MAX_WORDS} plain words, which begin with a letter and have two or more"
        ));
    }
    Ok(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Teaching {
        let (schema, field) = ("cars".to_owned(), "owner.name".to_owned());
        Teaching::Label { schema, field, label: text.to_owned(), value: None }
    }

    fn sender(address: &str) -> Teaching {
        Teaching::TrustedSender { address: address.to_owned() }
    }

    fn example(text: &str) -> Teaching {
        Teaching::IntentExample { intent: "cars.sell".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_is_said_is_kept_in_one_form() {
        assert_eq!(label("  Named\tKeeper: ").checked().unwrap(), label("named keeper"));
        assert_eq!(sender(" Ada@Example.COM ").checked().unwrap(), sender("ada@example.com"));
        assert_eq!(example("Please  sell\n it").checked().unwrap(), example("Please sell it"));
        assert_eq!(label("named keeper").fingerprint(), label("Named Keeper").checked().unwrap().fingerprint());
        assert_ne!(label("keeper").fingerprint(), label("owner").fingerprint());
    }

    #[test]
    fn only_plain_words_are_a_label() {
        for bad in ["", ":", "x", "keeper=Ada", ".*", "[a-z]+", "4711", "a b c d e f g", "keeper\u{7}", "{{ state }}"] {
            assert!(label(bad).checked().is_err(), "{bad:?}");
        }
        assert!(label(&"x".repeat(MAX_LABEL + 1)).checked().is_err());
        for good in ["Titular de la póliza", "Insured / Asegurado", "Nom de l'assuré", "Policy #"] {
            assert!(label(good).checked().is_ok(), "{good:?}");
        }
    }

    #[test]
    fn a_sender_is_one_address_and_an_example_says_something() {
        for bad in ["", "ada", "@example.com", "ada@", "*@example.com", "a b@example.com", "a@b@example.com", "a@.com"]
        {
            assert!(sender(bad).checked().is_err(), "{bad:?}");
        }
        let speaker =
            |company: &str| Teaching::Speaker { address: "Ada@example.com".to_owned(), company: company.to_owned() };
        let kept = speaker(" Fern  Hollow Mutual ").checked().unwrap();
        assert_eq!(kept.fingerprint(), speaker("fern hollow mutual").checked().unwrap().fingerprint());
        assert_ne!(kept.fingerprint(), sender("ada@example.com").fingerprint());
        assert!(speaker(" ").checked().is_err());
        let nobody = Teaching::Speaker { address: "ada".to_owned(), company: "Fern Hollow Mutual".to_owned() };
        assert!(nobody.checked().is_err());
        for bad in ["", " ", "12 34", &"word ".repeat(MAX_EXAMPLE)] {
            assert!(example(bad).checked().is_err());
        }
    }

    /// The kinds of lessons as a program before these two knew them.
    #[derive(Deserialize, Debug)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    #[expect(dead_code, reason = "only whether they can be read counts")]
    enum Older {
        Label { label: String, value: Option<String> },
        TrustedSender { address: String },
    }

    #[test]
    fn an_older_program_leaves_out_what_it_would_take_for_more() {
        let older = |teaching: &Teaching| serde_json::from_value::<Older>(serde_json::json!(teaching));
        let (address, company) = ("ada@example.com".to_owned(), "Fern Hollow Mutual".to_owned());
        let speaker = Teaching::Speaker { address, company };
        let spelling = Teaching::Spelling {
            schema: "cars".to_owned(),
            field: "cars/maker".to_owned(),
            label: "fern holow".to_owned(),
            value: "Fern Hollow Motors".to_owned(),
        };
        for new in [speaker, spelling] {
            assert!(older(&new).is_err(), "{new:?}");
            assert_eq!(serde_json::from_value::<Teaching>(serde_json::json!(new)).unwrap(), new);
        }
        assert!(older(&sender("ada@example.com")).is_ok() && older(&label("keeper")).is_ok());
    }
}
