//! What is looked for in documents: the fields with their labels and kinds, as a pack or a tenant declares them.

use std::sync::Arc;

use super::pattern::ValuePattern;
use super::range::ValueRange;
use crate::id::TenantId;

/// What a pack, or a tenant, looks for in documents.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExtractionSchema {
    /// The name under which it is registered.
    pub name: String,
    /// The kinds of documents it knows.
    pub categories: Arc<[CategoryPattern]>,
    /// The sections a document may have. A field that names a section is only looked for when it is present.
    pub sections: Arc<[SectionPattern]>,
    pub fields: Arc<[FieldPattern]>,
    /// The family of the fields that tell about whoever writes a message, for instance `contact` of `contact.phone`.
    pub writer: Option<String>,
    /// The field of the company that a message is about, where that is mostly the company of whoever writes it; `None`
    /// where others write as well.
    pub about: Option<String>,
    /// Labels and terms that a tenant has added to those of the pack.
    pub own_labels: Vec<OwnLabel>,
    /// Whose it is; `None` for a schema of the program, which all tenants share.
    pub owner: Option<TenantId>,
}

impl ExtractionSchema {
    /// The fields of that [path](FieldPattern::is_at).
    pub fn fields_at<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s FieldPattern> {
        self.fields.iter().filter(move |field| field.is_at(path))
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = |words: &[String]| words.iter().map(|word| word.len() + size_of::<String>()).sum::<usize>();
        let field = |field: &FieldPattern| {
            let patterns = field.pattern.iter().map(|_| ValuePattern::BYTES).sum::<usize>();
            size_of::<FieldPattern>() + field.name.len() + words(&field.labels) + words(&field.signs) + patterns
        };
        let category = |known: &CategoryPattern| {
            let markers = known.markers.iter().map(|(phrase, _)| phrase.len() + size_of::<(String, u8)>());
            known.key.len() + markers.sum::<usize>() + known.main_field.as_ref().map_or(0, String::len)
        };
        let sections = self.sections.iter().map(|known| known.key.len() + words(&known.markers));
        size_of::<Self>()
            + self.fields.iter().map(field).sum::<usize>()
            + self.categories.iter().map(category).sum::<usize>()
            + sections.sum::<usize>()
    }

    /// The labels that a tenant has added to a field.
    pub fn own_labels_of<'s>(&'s self, field: &'s FieldPattern) -> impl Iterator<Item = &'s OwnLabel> {
        self.own_labels.iter().filter(move |own| field.is_at(&own.field))
    }
}

impl FieldPattern {
    /// A single field that is always looked for.
    #[must_use]
    pub fn new(name: &str, labels: &[&str], value: ValueKind) -> Self {
        Self { name: name.to_owned(), labels: owned(labels), value, ..Self::default() }
    }

    /// The values of its closed list; none when it has other values.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        let values = self.labels.iter().filter_map(|label| label.split_once('=')).map(|(_, value)| value);
        values.filter(|value| !value.is_empty())
    }

    /// The same in a list.
    #[must_use]
    pub fn of(self, group: &str) -> Self {
        Self { group: Some(group.to_owned()), ..self }
    }

    /// The same with words by which its names or amounts are known.
    #[must_use]
    pub fn signed(self, signs: &[&str]) -> Self {
        Self { signs: owned(signs), ..self }
    }

    /// The same with bounds, outside which an amount is kept and doubted.
    #[must_use]
    pub fn within(self, range: ValueRange) -> Self {
        Self { range: Some(range), ..self }
    }

    /// Whether that is its path: `buyer.name`, or `orders/number` in a list.
    #[must_use]
    pub fn is_at(&self, path: &str) -> bool {
        match &self.group {
            None => self.name == path,
            Some(group) => path.split_once('/') == Some((group, &self.name)),
        }
    }

    #[must_use]
    pub fn path(&self) -> String {
        self.group.as_ref().map_or_else(|| self.name.clone(), |group| format!("{group}/{}", self.name))
    }
}

impl CategoryPattern {
    /// A kind of documents with its markers.
    #[must_use]
    pub fn new(key: &str, markers: &[(&str, u8)]) -> Self {
        let markers = markers.iter().map(|(phrase, weight)| ((*phrase).to_owned(), *weight)).collect();
        Self { key: key.to_owned(), markers, main_field: None }
    }

    /// The same with the field that such a document is sent along for.
    #[must_use]
    pub fn sent_for(self, field: &str) -> Self {
        Self { main_field: Some(field.to_owned()), ..self }
    }
}

impl SectionPattern {
    /// A section with its markers.
    #[must_use]
    pub fn new(key: &str, markers: &[&str]) -> Self {
        Self { key: key.to_owned(), markers: owned(markers) }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A label that a tenant has added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnLabel {
    /// The [path](FieldPattern::is_at) of its field.
    pub field: String,
    /// The words, in small letters.
    pub label: String,
    /// The value that the words are; `None` when they lead to one.
    pub value: Option<String>,
}

/// How a kind of document is known.
#[derive(Clone, PartialEq, Debug)]
pub struct CategoryPattern {
    /// Its key, for instance `INVOICE`.
    pub key: String,
    /// Phrases that speak for it, each with a weight from 1 (weak) to 5 (decisive).
    pub markers: Vec<(String, u8)>,
    /// The [path](FieldPattern::is_at) of the field that it is sent along for, where it is sent for what it says and not
    /// for what it is, as a signed letter is. A picture of such a document is not needed where the message says as much.
    pub main_field: Option<String>,
}

/// How a section is known.
#[derive(Clone, PartialEq, Debug)]
pub struct SectionPattern {
    /// Its key, for instance `has_discounts`.
    pub key: String,
    /// Phrases of which one is enough; `doc:CATEGORY` is a paper of that category.
    pub markers: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct FieldPattern {
    /// Its path in the result, for instance `buyer.name`, or `number` inside a group.
    pub name: String,
    /// The labels after, or under, which it stands; lower case, without the colon. `phrase=Value` declares a closed
    /// vocabulary instead: where the phrase stands, the value is `Value`; of an everyday word, `phrase?=Value`, only where
    /// a term is expected.
    pub labels: Vec<String>,
    /// What its value looks like.
    pub value: ValueKind,
    /// The section it belongs to; `None` when it is always looked for.
    pub section: Option<String>,
    /// The list it belongs to, for instance `orders`; `None` for a single value.
    pub group: Option<String>,
    /// Whether this field begins a new item of its group.
    pub opens_item: bool,
    /// Words by which a name that nobody labelled is known to be this field's, for instance `shipping company`; one
    /// after `-` speaks against it. Empty when such a name is nobody's.
    /// For an amount: words beside it by which it is known to be this one, for instance `deposit`.
    /// For a date or a person: words beside it in a sentence of a message, for instance `starts work`.
    pub signs: Vec<String>,
    /// Whether it may have several values, or an item of its group several of it.
    pub many: bool,
    /// Whether a row of a table is an item of its own although another one has the same opening value.
    pub repeats: bool,
    /// Whether a person is asked where it is not found.
    pub required: bool,
    /// Whether a tenant may learn that a value is written otherwise: a name with a slip of the pen, or cut short.
    pub respelled: bool,
    /// For a name: the field with the date on which somebody comes there. The name stands beside or beneath that date.
    pub visited_on: Option<String>,
    /// What an [identifier](ValueKind::Identifier) looks like.
    pub pattern: Option<ValuePattern>,
    /// Between which bounds an amount can be right; one outside is kept, and told as a problem.
    pub range: Option<ValueRange>,
}

words! {
    /// What a value looks like, and so how it is found, checked and normalised.
    #[derive(Default)]
    pub enum ValueKind {
        /// A business's or a unit's name: the rest of the line or cell.
        Name = "name",
        /// A person's name: two to five words; `LAST, First` is turned round.
        Person = "person",
        /// Free text to the end of the line or cell.
        #[default]
        Text = "text",
        /// A USDOT number: 4 to 8 digits.
        DotNumber = "dot_number",
        /// A motor carrier number: 4 to 8 digits, perhaps after `MC`.
        McNumber = "mc_number",
        /// A NAIC code: 5 digits.
        Naic = "naic",
        /// A federal employer identification number, normalised to `NN-NNNNNNN`; a prefix that nobody is given is reported,
        /// not dropped.
        Fein = "fein",
        /// A policy number: letters, digits and dashes with at least one digit.
        PolicyNumber = "policy_number",
        /// A number that somebody gave something, such as a claim or a load: letters, digits and dashes with at least two
        /// digits.
        Reference = "reference",
        /// An identifier that a tenant describes by a [pattern](FieldPattern::pattern).
        Identifier = "identifier",
        /// A driver's licence number: five digits or more with letters, perhaps after the state.
        License = "license",
        /// The id by which an answer is recognised: a UUID in `[Request:…]`.
        RequestToken = "request_token",
        /// A date, normalised to `YYYY-MM-DD`.
        Date = "date",
        /// A time of the day, normalised to `HH:MM`; a date may stand before it.
        Time = "time",
        /// Two dates, as `{"start","end"}`.
        DateRange = "date_range",
        /// An amount of US dollars, as integer nano-dollars.
        Money = "money",
        /// A share of a hundred, with its sign or its word: the decimal number as text, exactly, without zeros at its end.
        Percentage = "percentage",
        /// A telephone number, normalised to ten digits.
        Phone = "phone",
        /// An e-mail address, lower-cased.
        Email = "email",
        /// A postal address, up to three lines.
        Address = "address",
        /// A vehicle identification number; a wrong check digit is reported, not dropped.
        Vin = "vin",
        /// A four-digit year.
        Year = "year",
        /// A whole number.
        Integer = "integer",
        /// Nothing: the label is known, so that it is nobody's value, and what it leads to is not wanted.
        Nothing = "nothing",
    }
}

impl ValueKind {
    /// Whether two of its values in one list are two things: two contracts, two vehicles, two companies.
    #[must_use]
    pub const fn identifies(self) -> bool {
        matches!(
            self,
            Self::DotNumber
                | Self::McNumber
                | Self::Fein
                | Self::PolicyNumber
                | Self::Reference
                | Self::Identifier
                | Self::License
                | Self::RequestToken
                | Self::Vin
        )
    }
}

/// A word of a label as it is compared: `No`, `Nr`, `Number`, `N`, `Número` and `#` are one. The word is in small letters.
#[must_use]
pub fn one_number_word(word: &str) -> &str {
    match word {
        "no" | "nr" | "num" | "nbr" | "number" | "numbers" | "n" | "nº" | "núm" | "número" | "numero" | "numéro" => {
            "#"
        }
        other => other,
    }
}
