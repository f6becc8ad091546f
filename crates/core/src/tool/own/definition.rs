//! What an own tool says of itself and does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Detail;
use crate::json_schema;
use crate::plan::RetryPolicy;
use crate::policy::{PermissionLevel, TRAVELLING_HEADERS, ToolCategory};
use crate::secret::SecretName;
use crate::task::EffectClass;
use crate::time::{Millis, Timestamp};
use crate::tool::{Risk, ToolNeeds, ToolPrice, ToolSetting, ToolSpec};

/// Bytes of a definition as JSON.
pub const MAX_DEFINITION: usize = 96 * 1024;
/// Characters of a key.
pub const MAX_KEY: usize = 100;
/// Characters of a description.
pub const MAX_DESCRIPTION: usize = 2_000;
/// Tags of a tool.
pub const MAX_TAGS: usize = 20;
/// Characters of one.
pub const MAX_TAG: usize = 50;
/// Characters of a URL.
pub const MAX_URL: usize = 4_096;
/// Characters of a header's value.
pub const MAX_HEADER: usize = 4_096;
/// Headers of a request.
pub const MAX_HEADERS: usize = 50;
/// The shortest time for one try.
pub const MIN_TIMEOUT: Millis = Millis(100);
/// The longest time for one try.
pub const MAX_TIMEOUT: Millis = Millis(300_000);
/// The time for one try of a tool that says none: that of `core.http_request`.
const TIMEOUT: Millis = Millis(60_000);
/// Methods that only look.
const READING: [&str; 2] = ["GET", "HEAD"];
/// Methods that change something outside.
const WRITING: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];

/// The HTTP request that a call makes. Texts may be templates, which read the call's arguments as `args`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpCall {
    /// `GET`, `HEAD`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Where it goes. Scheme, host and port are written out; what a template puts behind them is encoded, so that it
    /// stays one part of the path, or one value of the query.
    pub url: String,
    /// Its headers: each a text, or `{"secret": NAME}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Value>,
    /// The secret that is sent as `Authorization: Bearer`, as `{"secret": NAME}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Value>,
    /// Its body; no body when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

/// What an own tool says of itself and does: everything that a model or a checker sees, and what is sent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnDefinition {
    /// Its key, `domain.verb_object`. No bundled tool has its domain.
    pub key: String,
    /// What it does, for people and models; a model sees the first 1,024 characters.
    pub description: String,
    /// JSON Schema of its arguments: an object.
    #[serde(alias = "input_schema")]
    pub input_schema: Value,
    /// JSON Schema of what a call returns; `None` for anything.
    #[serde(default, alias = "output_schema", skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What happens if the process dies during a call: `read`, `keyed` or `unkeyed`.
    pub effect: EffectClass,
    /// How much harm a call can do; what its method makes of it when it says nothing, and never less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// What a call costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ToolPrice>,
    /// What it works on; the network when it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolCategory>,
    /// Words by which it is found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Arguments that name a receiver. When their values come from mail, documents or the web, a person is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destinations: Vec<String>,
    /// How long one try may take.
    #[serde(default, alias = "timeout_ms", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<Millis>,
    /// The request that a call makes.
    pub http: HttpCall,
}

/// Whether a key has the form `domain.verb_object`.
fn is_key(key: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    key.len() <= MAX_KEY && key.split_once('.').is_some_and(|(domain, verb)| is_word(domain) && is_word(verb))
}

/// The secret that a value names.
fn secret_of(value: &Value) -> Option<&str> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.get("secret").and_then(Value::as_str).filter(|name| name.parse::<SecretName>().is_ok())
}

impl HttpCall {
    /// Whether its method only looks.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        READING.contains(&self.method.as_str())
    }

    fn faults(&self) -> Vec<Detail> {
        let mut faults = Vec::new();
        let mut fault = |path: String, message: String| faults.push(Detail::new(format!("/http{path}"), message));
        if !READING.iter().chain(&WRITING).any(|method| *method == self.method) {
            let known = READING.iter().chain(&WRITING).copied().collect::<Vec<_>>().join(", ");
            fault("/method".to_owned(), format!("method is one of {known}"));
        }
        if self.url.is_empty() || self.url.chars().count() > MAX_URL || self.url.chars().any(char::is_control) {
            fault("/url".to_owned(), format!("url is one line of 1 to {MAX_URL} characters"));
        }
        if self.headers.len() > MAX_HEADERS {
            fault("/headers".to_owned(), format!("a request has at most {MAX_HEADERS} headers"));
        }
        for (name, value) in &self.headers {
            let path = format!("/headers/{name}");
            let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            if name.is_empty() || name.len() > 200 || !name.bytes().all(is_token) {
                fault(path, format!("{name:.60?} is not the name of a header"));
            } else if let Some(text) = value.as_str() {
                if text.chars().count() > MAX_HEADER || text.chars().any(char::is_control) {
                    fault(path, format!("a header is one line of at most {MAX_HEADER} characters"));
                }
            } else if secret_of(value).is_none() {
                fault(path, "a header is a text, or an object whose member secret names a secret".to_owned());
            } else if TRAVELLING_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                fault(path, format!("header {name} follows redirects to other hosts, so it takes no secret"));
            }
        }
        if let Some(auth) = &self.auth {
            if secret_of(auth).is_none() {
                fault("/auth".to_owned(), "auth is an object whose member secret names a secret".to_owned());
            }
            if self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
                fault("/auth".to_owned(), "auth and a header Authorization are both given; leave one out".to_owned());
            }
        }
        if self.json.is_some() && self.only_looks() {
            fault("/json".to_owned(), format!("{} sends no body", self.method));
        }
        faults
    }
}

/// The least risk of an own tool, by whether its method only looks: that of `core.http_request` with the same method.
/// Neither a definition nor a setting says less.
#[must_use]
pub const fn least_risk(only_looks: bool) -> Risk {
    if only_looks { Risk::R1 } else { Risk::R2 }
}

impl OwnDefinition {
    /// What is wrong with it that needs no look at other tools or at templates; empty when it can be one.
    #[must_use]
    pub fn faults(&self) -> Vec<Detail> {
        let mut faults = Vec::new();
        let mut fault = |path: &str, message: String| faults.push(Detail::new(path, message));
        if !is_key(&self.key) {
            let message = "key is domain.verb_object in lower-case letters, digits and _, as in crm.find_customer";
            fault("/key", format!("{message}, with at most {MAX_KEY} characters"));
        }
        let length = self.description.trim().chars().count();
        if length == 0 || length > MAX_DESCRIPTION {
            fault("/description", format!("description says in 1 to {MAX_DESCRIPTION} characters what the tool does"));
        } else if self.description.contains('\0') {
            fault("/description", "description holds a NUL character".to_owned());
        }
        if self.input_schema.get("type").and_then(Value::as_str) != Some("object") {
            fault("/inputSchema", "inputSchema is that of an object: {\"type\": \"object\", …}".to_owned());
        }
        let schemas = [("/inputSchema", Some(&self.input_schema)), ("/outputSchema", self.output_schema.as_ref())];
        for (path, schema) in schemas {
            if let Some(Err(problem)) = schema.map(json_schema::check) {
                fault(path, problem.to_string());
            }
        }
        match self.effect {
            EffectClass::Read | EffectClass::Keyed | EffectClass::Unkeyed => {}
            EffectClass::Local | EffectClass::Queryable => {
                let message = "effect is read, keyed or unkeyed: an HTTP tool changes nothing here, and cannot look \
                               whether a call has happened";
                fault("/effect", message.to_owned());
            }
        }
        let least = self.least_risk();
        if self.risk.is_some_and(|risk| risk < least) {
            fault("/risk", format!("a {} request has at least the risk {least:?}", self.http.method));
        }
        let is_word = |tag: &String| {
            !tag.trim().is_empty() && tag.chars().count() <= MAX_TAG && !tag.chars().any(char::is_control)
        };
        if self.tags.len() > MAX_TAGS || !self.tags.iter().all(is_word) {
            fault("/tags", format!("tags are at most {MAX_TAGS} words of at most {MAX_TAG} characters"));
        }
        let arguments = self.input_schema.get("properties").and_then(Value::as_object);
        for (n, name) in self.destinations.iter().enumerate() {
            if !arguments.is_some_and(|arguments| arguments.contains_key(name)) {
                fault(&format!("/destinations/{n}"), format!("inputSchema has no argument {name:.100?}"));
            }
        }
        if self.timeout_ms.is_some_and(|timeout| !(MIN_TIMEOUT..=MAX_TIMEOUT).contains(&timeout)) {
            fault("/timeoutMs", format!("timeoutMs is {} to {}", MIN_TIMEOUT.0, MAX_TIMEOUT.0));
        }
        if let Some(price) = &self.price {
            let setting =
                ToolSetting { price: Some(price.clone()), ..ToolSetting::of(&self.key, Timestamp::default()) };
            faults.extend(setting.faults());
        }
        faults.extend(self.http.faults());
        let bytes = self.canonical().len();
        if bytes > MAX_DEFINITION {
            faults.push(Detail::new("", format!("the tool has {bytes} bytes, more than {MAX_DEFINITION}")));
        }
        faults
    }

    fn canonical(&self) -> Vec<u8> {
        // Only keys that are no texts cannot be serialised, and there are none.
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value.sort_all_objects();
        value.to_string().into_bytes()
    }

    /// BLAKE3 of everything that it says, in hex: what an approval binds to, and what a step journals that called it.
    #[must_use]
    pub fn hash(&self) -> String {
        blake3::hash(&self.canonical()).to_hex().to_string()
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.canonical().len()
    }

    /// The part of its key before the dot.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.key.split_once('.').map_or("", |(domain, _)| domain)
    }

    fn least_risk(&self) -> Risk {
        least_risk(self.http.only_looks())
    }

    /// What the tool says of itself: as far as `core.http_request` reaches with the same method, or farther.
    #[must_use]
    pub fn spec(&self) -> ToolSpec {
        let looks = self.http.only_looks();
        let (level, category) = if looks {
            (PermissionLevel::Read, ToolCategory::NetworkRead)
        } else {
            (PermissionLevel::Write, ToolCategory::NetworkWrite)
        };
        ToolSpec {
            effect: self.effect,
            risk: self.risk.unwrap_or_else(|| self.least_risk()),
            level,
            category: self.category.unwrap_or(category),
            timeout: self.timeout_ms.unwrap_or(TIMEOUT),
            retry: RetryPolicy::DEFAULT,
            destinations: self.destinations.clone(),
            price: self.price.clone(),
            untrusted_output: true,
            needs: ToolNeeds { http: true, secrets: true, ..ToolNeeds::default() },
            ..ToolSpec::local(&self.key, self.description.trim(), self.input_schema.clone())
        }
    }

    /// Every text of the request that may be a template, with its place.
    pub fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        let headers = self.http.headers.iter();
        let headers = headers.filter_map(|(name, value)| Some((format!("/http/headers/{name}"), value.as_str()?)));
        std::iter::once(("/http/url".to_owned(), self.http.url.as_str())).chain(headers)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(changed: &Value) -> OwnDefinition {
        let mut written = json!({
            "key": "crm.find_customer",
            "description": "Finds a customer by their number.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            "effect": "read",
            "http": {"method": "GET", "url": "https://crm.example.com/customers/{{ args.id }}"},
        });
        for (name, value) in changed.as_object().into_iter().flatten() {
            written[name] = value.clone();
        }
        serde_json::from_value(written).unwrap()
    }

    #[test]
    fn each_fault_of_a_definition_is_named_with_its_place() {
        assert_eq!(definition(&json!({})).faults(), []);
        let get = |more: Value| {
            let mut http = json!({"method": "GET", "url": "https://crm.example.com/"});
            http.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"http": http})
        };
        for (changed, path) in [
            (json!({"key": "crm"}), "/key"),
            (json!({"key": "Crm.find"}), "/key"),
            (json!({"key": "crm.find.it"}), "/key"),
            (json!({"key": format!("crm.{}", "x".repeat(100))}), "/key"),
            (json!({"description": "  "}), "/description"),
            (json!({"inputSchema": {"type": "string"}}), "/inputSchema"),
            (json!({"outputSchema": {"$ref": "https://example.com/schema"}}), "/outputSchema"),
            (json!({"effect": "local"}), "/effect"),
            (json!({"effect": "queryable"}), "/effect"),
            (json!({"risk": "R0"}), "/risk"),
            (json!({"tags": [""]}), "/tags"),
            (json!({"tags": ["a\u{0}b"]}), "/tags"),
            (json!({"description": "a\u{0}b"}), "/description"),
            (json!({"destinations": ["to"]}), "/destinations/0"),
            (json!({"timeoutMs": 5}), "/timeoutMs"),
            (json!({"price": {"fixedNanos": -1}}), "/price/fixedNanos"),
            (get(json!({"method": "CONNECT"})), "/http/method"),
            (get(json!({"url": ""})), "/http/url"),
            (get(json!({"headers": {"a b": "x"}})), "/http/headers/a b"),
            (get(json!({"headers": {"X-A": "x\r\ny"}})), "/http/headers/X-A"),
            (get(json!({"headers": {"X-A": {"secret": "no name!"}}})), "/http/headers/X-A"),
            (get(json!({"headers": {"Accept": {"secret": "crm"}}})), "/http/headers/Accept"),
            (get(json!({"auth": "Bearer x"})), "/http/auth"),
            (get(json!({"auth": {"secret": "crm"}, "headers": {"authorization": "x"}})), "/http/auth"),
            (get(json!({"json": {}})), "/http/json"),
        ] {
            let faults = definition(&changed).faults();
            assert!(faults.len() == 1 && faults[0].path == path, "{changed}: {faults:?}");
        }
    }

    #[test]
    fn a_hash_tells_definitions_apart_by_what_they_say_and_not_by_its_order() {
        let one = definition(&json!({"inputSchema": {"type": "object", "description": "x"}}));
        assert_eq!(one.hash(), definition(&json!({"inputSchema": {"description": "x", "type": "object"}})).hash());
        assert_ne!(one.hash(), definition(&json!({"inputSchema": {"type": "object", "description": "y"}})).hash());
        assert_ne!(one.hash(), OwnDefinition { effect: EffectClass::Keyed, ..one.clone() }.hash());
    }

    #[test]
    fn it_reaches_as_far_as_a_request_with_its_method_or_farther() {
        let (looks, risky) = (definition(&json!({})), definition(&json!({"risk": "R3"})));
        assert_eq!((looks.spec().risk, looks.spec().category), (Risk::R1, ToolCategory::NetworkRead));
        assert_eq!(risky.spec().risk, Risk::R3);
        let post = definition(&json!({"http": {"method": "POST", "url": "https://crm.example.com/"}})).spec();
        let reach = (post.risk, post.category, post.level);
        assert_eq!(reach, (Risk::R2, ToolCategory::NetworkWrite, PermissionLevel::Write));
        assert!(post.untrusted_output && post.needs.http);
    }
}
