//! The schema of an answer as fields that a person can fill in.

use serde_json::Value;

use super::text::{clean, field, short};

/// How many ways of an object are shown.
const MAX_SAMPLES: usize = 3;
/// How deep an object is shown.
const MAX_SAMPLE_DEPTH: usize = 6;

/// The pattern of a day.
const DAY: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

/// One field of a form.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Field {
    /// Its key in the answer.
    pub(crate) key: String,
    pub(crate) description: String,
    /// The values that are accepted, when they are few.
    pub(crate) choices: Vec<Value>,
    /// Whether the answer is refused without it.
    pub(crate) required: bool,
    types: Vec<String>,
    /// What an object, or a list of objects, may look like, as JSON: one for each way.
    samples: Vec<String>,
    /// What each object of a list must have.
    needs: Vec<String>,
}

/// The members that an object must have.
fn needed(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The fields that a schema names, in its order.
pub(crate) fn fields(schema: &Value) -> Vec<Field> {
    let required = needed(schema);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let field_of = |(key, schema): (&String, &Value)| {
        let types = match schema.get("type") {
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _unsaid => Vec::new(),
        };
        let choices = match (schema.get("enum").and_then(Value::as_array), schema.get("const")) {
            (Some(values), _) => values.clone(),
            (None, Some(value)) => vec![value.clone()],
            (None, None) => Vec::new(),
        };
        let description = match field(schema, "description") {
            text if text.is_empty() => field(schema, "title"),
            text => text,
        };
        let (key, required) = (key.clone(), required.contains(&key.as_str()));
        let needs = schema.get("items").map(needed).unwrap_or_default().into_iter().map(clean).collect();
        Field { key, description, choices, required, types, samples: samples(schema), needs }
    };
    properties.iter().map(field_of).collect()
}

impl Field {
    /// One line about it: `dotNumber (text, required): the carrier's number`. The command that answers has its examples
    /// in full.
    pub(crate) fn describe(&self) -> String {
        let samples: Vec<String> = self.samples.iter().map(|sample| without_hashes(sample)).collect();
        let mut line = self.question();
        if !samples.is_empty() {
            line.push_str(&format!(", such as {}", samples.join(" or ")));
        }
        if !self.needs.is_empty() {
            line.push_str(&format!("; each needs {}", self.needs.join(" and ")));
        }
        line
    }

    /// The same without examples, which stand above where it is asked.
    pub(crate) fn question(&self) -> String {
        let mut notes = Vec::new();
        if !self.types.is_empty() {
            let names: Vec<&str> = self.types.iter().map(|name| type_name(name)).collect();
            notes.push(names.join(" or "));
        }
        match self.choices.as_slice() {
            [] => {}
            [only] => notes.push(format!("only {}", short(only, 40))),
            choices => {
                let choices: Vec<String> = choices.iter().map(|value| short(value, 40)).collect();
                notes.push(format!("one of {}", choices.join(", ")));
            }
        }
        if self.required {
            notes.push("required".to_owned());
        }
        let mut line = clean(&self.key);
        if !notes.is_empty() {
            line.push_str(&format!(" ({})", notes.join("; ")));
        }
        if !self.description.is_empty() {
            line.push_str(&format!(": {}", self.description));
        }
        line
    }

    /// An example for `--set`, with the likely choice where there are several.
    pub(crate) fn example(&self, likely: Option<&str>) -> String {
        let among = likely.filter(|likely| self.choices.iter().any(|choice| choice == *likely));
        let value = match self.choices.as_slice() {
            [_, _, ..] if among.is_some() => among.unwrap_or_default().to_owned(),
            [value] => short(value, 60),
            [_, _, ..] => "…".to_owned(),
            [] => self.sample(),
        };
        format!("--set {}={value}", clean(&self.key))
    }

    fn sample(&self) -> String {
        match self.samples.first() {
            Some(sample) => format!("'{sample}'"),
            None if self.is("boolean") => "true".to_owned(),
            None if self.is("array") => "'[…]'".to_owned(),
            None if self.is("object") => "'{…}'".to_owned(),
            None => "…".to_owned(),
        }
    }

    /// What a person typed, as the value that the schema wants: a text needs no quotes.
    ///
    /// # Errors
    /// A sentence, when it is neither JSON nor allowed to be a text, or none of the choices.
    pub(crate) fn read(&self, typed: &str) -> Result<Value, String> {
        let value = self.value(typed)?;
        if self.choices == [Value::Bool(true)] && value == Value::Bool(false) {
            return Err("only true is an answer: until then leave it open, or say no with --no".to_owned());
        }
        if !self.choices.is_empty() && !self.choices.contains(&value) {
            let choices: Vec<String> = self.choices.iter().map(|value| short(value, 40)).collect();
            return Err(format!("{typed:?} is none of {}", choices.join(", ")));
        }
        Ok(value)
    }

    fn value(&self, typed: &str) -> Result<Value, String> {
        let json: Option<Value> = serde_json::from_str(typed).ok();
        let text = || Value::String(typed.to_owned());
        if self.types.is_empty() {
            return Ok(json.unwrap_or_else(text));
        }
        match json {
            // 0042 for a policy number is a text, even where it could be a number.
            Some(value) if self.types.iter().any(|name| has_type(&value, name)) => Ok(value),
            _other if self.is("string") => Ok(text()),
            _other if self.is("boolean") && matches!(typed, "yes" | "y") => Ok(Value::Bool(true)),
            _other if self.is("boolean") && matches!(typed, "no" | "n") => Ok(Value::Bool(false)),
            _other => {
                let names: Vec<&str> = self.types.iter().map(|name| type_name(name)).collect();
                let article = |name: &str| if name == "yes or no" { "" } else { "a " };
                let names: Vec<String> = names.iter().map(|name| format!("{}{name}", article(name))).collect();
                Err(format!("{typed:?} is not {}", names.join(" or ")))
            }
        }
    }

    fn is(&self, name: &str) -> bool {
        self.types.iter().any(|known| known == name)
    }
}

/// The text with what only a machine reads, hashes, cut short.
fn without_hashes(text: &str) -> String {
    let hash = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split('"').map(|word| match word.get(..8) {
        Some(begins) if hash(word) => format!("{begins}…"),
        _other => word.to_owned(),
    });
    words.collect::<Vec<_>>().join("\"")
}

/// What an object with known members, or a list of such, may look like: one text for each way that its members may take.
fn samples(schema: &Value) -> Vec<String> {
    if !has_members(schema) && !schema.get("items").is_some_and(has_members) {
        return Vec::new();
    }
    let mut samples: Vec<String> = (0..MAX_SAMPLES).map(|way| clean(&sample(schema, way, 0).to_string())).collect();
    samples.dedup();
    samples
}

fn has_members(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty())
}

/// A value that fits, taking that way where there are several.
fn sample(schema: &Value, way: usize, depth: usize) -> Value {
    let first = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|all| all.get(way).or(all.last()));
    if depth > MAX_SAMPLE_DEPTH {
        return Value::from("…");
    }
    if let Some(value) = schema.get("const").or_else(|| first("enum")) {
        return value.clone();
    }
    if let Some(inner) = first("oneOf").or_else(|| first("anyOf")) {
        return sample(inner, way, depth + 1);
    }
    let kind = schema.get("type").and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str()));
    match kind {
        Some("string") if schema.get("pattern").is_some_and(|pattern| pattern == DAY) => Value::from("2026-01-31"),
        Some("object") => {
            let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            members.map(|(name, member)| (name.clone(), sample(member, way, depth + 1))).collect()
        }
        Some("array") => {
            let items = schema.get("items").filter(|items| has_members(items));
            items.map(|items| sample(items, way, depth + 1)).into_iter().collect()
        }
        Some("boolean") => Value::Bool(true),
        Some("integer" | "number") => Value::from(0),
        _text_or_unsaid => Value::from("…"),
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _unknown => false,
    }
}

fn type_name(name: &str) -> &str {
    match name {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "yes or no",
        "array" => "JSON list",
        "object" => "JSON object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(schema: Value) -> Field {
        let schema = json!({"type": "object", "required": ["x"], "properties": {"x": schema}});
        fields(&schema).remove(0)
    }

    #[test]
    fn a_hash_is_whole_only_in_the_command_that_answers() {
        let hash = "54d186582f6c90bb44fa2257fff9b4e4339a2ea96d65e5255199cc4a870b6e9b";
        let members = json!({"confirm": {"const": hash}});
        let schema = json!({"properties": {"documents": {"type": "object", "properties": members}}});
        let asked = &fields(&schema)[0];
        assert_eq!(asked.describe(), "documents (JSON object), such as {\"confirm\":\"54d18658…\"}");
        assert_eq!(asked.question(), "documents (JSON object)");
        assert!(asked.example(None).contains(hash));
    }

    #[test]
    fn a_text_needs_no_quotes() {
        let text = one(json!({"type": "string", "description": "policy number"}));
        assert_eq!(text.read("0042"), Ok(json!("0042")));
        assert_eq!(text.read("\"0042\""), Ok(json!("0042")));
        assert_eq!(text.describe(), "x (text; required): policy number");
        assert_eq!(text.example(None), "--set x=…");
    }

    #[test]
    fn other_types_are_read_as_json() {
        assert_eq!(one(json!({"type": "integer"})).read("42"), Ok(json!(42)));
        assert!(one(json!({"type": "integer"})).read("4.5").is_err());
        assert_eq!(one(json!({"type": "boolean"})).read("yes"), Ok(json!(true)));
        assert_eq!(one(json!({"type": ["string", "null"]})).read("null"), Ok(json!(null)));
        assert_eq!(one(json!({})).read("[1]"), Ok(json!([1])));
        assert_eq!(one(json!({})).read("plain"), Ok(json!("plain")));
    }

    #[test]
    fn a_list_shows_what_stands_in_it() {
        let day = json!({"type": ["string", "null"], "pattern": DAY});
        let policy = json!({"type": "object", "required": ["number"],
            "properties": {"number": {"type": "string"}, "premium": {"type": ["integer", "null"]}, "from": day}});
        let list = one(json!({"type": "array", "items": policy}));
        let sample = "[{\"number\":\"…\",\"premium\":0,\"from\":\"2026-01-31\"}]";
        assert_eq!(list.describe(), format!("x (JSON list; required), such as {sample}; each needs number"));
        assert_eq!(list.example(None), format!("--set x='{sample}'"));
        assert_eq!(list.read("[…]").unwrap_err(), "\"[…]\" is not a JSON list");
    }

    #[test]
    fn what_must_be_done_is_not_answered_with_a_no() {
        let handled = one(json!({"type": "boolean", "const": true}));
        assert_eq!((handled.read("yes"), handled.example(None)), (Ok(json!(true)), "--set x=true".to_owned()));
        assert!(handled.read("no").unwrap_err().contains("--no"));
    }

    #[test]
    fn only_a_choice_is_accepted() {
        let choice = one(json!({"enum": ["insurance.new_lead", "global.other"]}));
        assert!(choice.read("insurance.new_lead").is_ok());
        assert_eq!(choice.read("x").unwrap_err(), "\"x\" is none of insurance.new_lead, global.other");
        assert_eq!(choice.example(None), "--set x=…");
        assert_eq!(choice.example(Some("global.other")), "--set x=global.other");
        assert_eq!(choice.example(Some("unknown")), "--set x=…");
    }

    #[test]
    fn an_object_shows_each_of_its_shapes() {
        let file = json!({"oneOf": [{"type": "object", "properties": {"ignore": {"const": true}}},
            {"type": "object", "properties": {"text": {"type": "string"}}}]});
        let documents = one(json!({"type": "object", "properties": {"1": file}}));
        assert_eq!(documents.example(None), "--set x='{\"1\":{\"ignore\":true}}'");
        let shapes = "such as {\"1\":{\"ignore\":true}} or {\"1\":{\"text\":\"…\"}}";
        assert!(documents.describe().ends_with(shapes), "{}", documents.describe());
        assert_eq!(one(json!({"type": "object"})).example(None), "--set x='{…}'");
    }
}
