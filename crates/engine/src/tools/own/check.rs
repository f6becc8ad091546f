//! Whether a definition can become a tool: its form, its schemas, and what its templates read.

use kybern_core::error::Detail;
use kybern_core::policy::place::behind_scheme;
use kybern_core::tool::own::OwnDefinition;
use serde_json::Value;
use url::Url;

use crate::schema;
use crate::templates::{Path, RenderError, check_text, compile, expressions_in};

/// The one name that an expression of an own tool reads.
const ROOT: &str = "args";
/// Characters that end the part of a URL in which its host stands.
const AFTER_HOST: [char; 4] = ['/', '?', '#', '\\'];

/// Everything that is wrong with a definition; empty when it can be a tool. What other tools there are is not looked at.
pub(crate) fn faults(definition: &OwnDefinition) -> Vec<Detail> {
    let mut faults = definition.faults();
    let schemas =
        [("/inputSchema", Some(&definition.input_schema)), ("/outputSchema", definition.output_schema.as_ref())];
    for (path, written) in schemas {
        let is_known = faults.iter().any(|fault| fault.path == path);
        if let (false, Some(Err(problem))) = (is_known, written.map(schema::compile)) {
            faults.push(Detail::new(path, problem));
        }
    }
    let arguments = definition.input_schema.get("properties").and_then(Value::as_object);
    let is_declared = |name: &str| arguments.is_some_and(|arguments| arguments.contains_key(name));
    for (path, text) in definition.texts() {
        faults.extend(read_faults(check_text(text), &path, is_declared));
    }
    if let Some(json) = &definition.http.json {
        faults.extend(read_faults(expressions_in(json), "/http/json", is_declared));
    }
    if !faults.iter().any(|fault| fault.path == "/http/url")
        && let Err(problem) = check_url(&definition.http.url)
    {
        faults.push(Detail::new("/http/url", problem));
    }
    faults
}

/// What is wrong with the names that the expressions at a place read.
fn read_faults(read: Result<Vec<Path>, RenderError>, place: &str, is_declared: impl Fn(&str) -> bool) -> Vec<Detail> {
    let paths = match read {
        Ok(paths) => paths,
        Err(error) => return vec![Detail::new(place, error.to_string())],
    };
    let mut faults = Vec::new();
    for path in paths {
        let message = match (path.first().map(String::as_str), path.get(1)) {
            (Some(ROOT), Some(name)) if is_declared(name) => continue,
            (Some(ROOT), Some(name)) => format!("inputSchema declares no argument {name:.100?}"),
            (Some(ROOT), None) => format!("{ROOT} is read as a whole: name the argument, as in {ROOT}.id"),
            (root, _) => {
                let root = root.unwrap_or_default();
                format!("{root:.100?} is no name an expression of a tool can read, use {ROOT}.NAME")
            }
        };
        faults.push(Detail::new(place, message));
    }
    faults
}

/// Whether a URL says by itself where it goes: what a template makes is only ever behind the host.
///
/// # Errors
/// A sentence that says what is wrong with it.
fn check_url(text: &str) -> Result<(), String> {
    let literal = without_expressions(text);
    let Some(rest) = ["https", "http"].into_iter().find_map(|scheme| behind_scheme(text, scheme)) else {
        return Err("url begins with https:// or http://, written out".to_owned());
    };
    let authority = rest.split(AFTER_HOST).next().unwrap_or_default();
    if authority.is_empty() || authority.contains("{{") || authority.contains("}}") {
        return Err("url names its host and port without an expression, and then a /".to_owned());
    }
    if authority.contains('@') {
        return Err("url names a user in front of its host: leave that out, and use auth or a header".to_owned());
    }
    if literal.contains('#') {
        return Err("url has no fragment: what stands behind # is never sent".to_owned());
    }
    if let Some(other) = literal.chars().find(|c| c.is_whitespace() || c.is_control() || *c == '\\') {
        return Err(format!("url holds {other:?} outside of an expression, which is no part of a URL"));
    }
    match Url::parse(&literal) {
        Ok(url) if url.host_str().is_some() => Ok(()),
        Ok(_) => Err("url names no host".to_owned()),
        Err(error) => Err(format!("url cannot be read: {error}")),
    }
}

/// A text with a letter in place of each of its expressions.
fn without_expressions(text: &str) -> String {
    let (mut literal, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("{{") {
        literal.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        // An end may stand in a text of the expression; the first that leaves one which compiles is its end.
        let ends = inner.match_indices("}}").map(|(end, _)| end);
        let Some(end) = ends.into_iter().find(|end| compile(inner[..*end].trim()).is_ok()) else { break };
        literal.push('x');
        rest = &inner[end + 2..];
    }
    literal + rest
}

#[cfg(test)]
mod tests {
    use kybern_core::policy::redact::redact_text;
    use serde_json::json;

    use super::*;

    fn definition(http: &Value) -> OwnDefinition {
        let written = json!({
            "key": "crm.find_customer",
            "description": "Finds a customer.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "deep": {"type": "object"}}},
            "effect": "keyed",
            "http": http,
        });
        serde_json::from_value(written).unwrap()
    }

    fn of_url(url: &str) -> Vec<Detail> {
        faults(&definition(&json!({"method": "GET", "url": url})))
    }

    #[test]
    fn a_url_says_by_itself_where_it_goes() {
        for url in [
            "https://crm.example.com",
            "http://crm.example.com:8080/a?b=c",
            "https://crm.example.com/{{ args.id }}",
            "https://crm.example.com?id={{ args.id }}",
            "https://crm.example.com/{{ args.id | replace('#', '}}') }}/x",
            "https://[2001:db8::1]/{{ args.id }}",
            "HTTPS://crm.example.com/",
        ] {
            assert_eq!(of_url(url), [], "{url}");
        }
        for url in [
            "{{ args.id }}",
            "ftp://crm.example.com/",
            "//crm.example.com/",
            "https:crm.example.com/",
            "https:///crm.example.com/",
            "https://",
            "https://{{ args.id }}/",
            "https://crm.example.com:{{ args.id }}/",
            "https://crm.example.com{{ args.id }}/",
            "https://crm.example.com{{ '/' ~ args.id }}",
            "https://{{ args.id }}.example.com/",
            "https://user@crm.example.com/",
            "https://user:{{ args.id }}@crm.example.com/",
            "https://crm.example.com/#top",
            "https://crm.example.com/{{ args.id }}#{{ args.id }}",
            "https://crm.example.com/a b",
            "https://crm.example.com\\@other.example.com/",
            "https://crm.example.com:port/",
            "https://crm.example.com/{{ args.id",
            "https://crm.example.com/{% if args.id %}x{% endif %}",
        ] {
            let found = of_url(url);
            assert_eq!(found.iter().map(|fault| fault.path.as_str()).collect::<Vec<_>>(), ["/http/url"], "{url}");
            assert_eq!(redact_text(&found[0].message), found[0].message, "it arrives as it is written");
        }
    }

    #[test]
    fn an_expression_reads_declared_arguments_and_nothing_else() {
        let of_json = |json: &Value| {
            let http = json!({"method": "POST", "url": "https://crm.example.com/", "json": json,
                "headers": {"X-Id": "{{ args.id }}"}});
            faults(&definition(&http))
        };
        assert_eq!(of_json(&json!({"a": ["{{ args.id }}", "{{ args.deep.er }}", 1]})), []);
        for (text, says) in [
            ("{{ state.id }}", "\"state\""),
            ("{{ tenant.name }}", "args.NAME"),
            ("{{ args }}", "as a whole"),
            ("{{ args[args.id] }}", "as a whole"),
            ("{{ args.other }}", "no argument \"other\""),
            ("{{ args['other'] }}", "args"),
            ("{{ id }}", "\"id\""),
            ("{{ 1 + }}", "not an expression"),
        ] {
            let found = of_json(&json!({"a": [text]}));
            assert!(found.iter().any(|fault| fault.path == "/http/json" && fault.message.contains(says)), "{found:?}");
        }
        let header = json!({"method": "GET", "url": "https://crm.example.com/", "headers": {"X-Id": "{{ task.id }}"}});
        assert_eq!(faults(&definition(&header))[0].path, "/http/headers/X-Id");
    }

    #[test]
    fn both_schemas_can_be_checked_with() {
        let good = definition(&json!({"method": "GET", "url": "https://crm.example.com/"}));
        let broken = json!({"type": "object", "properties": {"a": {"type": "strange"}}});
        let bad_output = OwnDefinition { output_schema: Some(broken.clone()), ..good.clone() };
        assert_eq!(faults(&bad_output)[0].path, "/outputSchema");
        let bad_input = OwnDefinition { input_schema: broken, ..good };
        assert_eq!(faults(&bad_input)[0].path, "/inputSchema");
    }
}
