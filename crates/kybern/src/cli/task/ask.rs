//! Asking a person field by field, on a terminal.

use std::io::BufRead;

use serde_json::Value;

use super::ask_papers;
use super::review::ReviewAnswer;
use crate::output::{Failure, Field, Screen, field, fields, papers};

/// How often a field is asked again after a wrong answer.
pub(super) const MAX_TRIES: usize = 5;

/// Asks for the answer to a wait.
///
/// # Errors
/// When standard input ends, or an answer stays wrong.
pub(super) fn answer(wait: Option<&Value>, screen: &mut Screen) -> Result<ReviewAnswer, Failure> {
    answer_from(wait, screen, &mut std::io::stdin().lock())
}

fn answer_from(wait: Option<&Value>, screen: &mut Screen, input: &mut dyn BufRead) -> Result<ReviewAnswer, Failure> {
    let Some(wait) = wait else { return Ok(ReviewAnswer::default()) };
    screen.line("");
    screen.line(format!("step {}", field(wait, "stepId")));
    let mut answer = ReviewAnswer::default();
    if field(wait, "kind") == "ambiguous" {
        answer.resolution = Some(resolution(screen, input)?);
        return Ok(answer);
    }
    let asked = fields(wait.get("schema").unwrap_or(&Value::Null));
    if asked.is_empty() {
        screen.text("nothing is asked for; let it go on as it is? (yes / no) ");
        return match read(input)?.as_str() {
            "yes" | "y" => Ok(answer),
            _no => Err(Failure::usage("nothing was sent", "say what to change with --set KEY=VALUE")),
        };
    }
    let papers = papers(wait);
    if !papers.is_empty() {
        answer.corrections.insert("documents".to_owned(), ask_papers::answers(&papers, screen, input)?);
    }
    for asked in asked.into_iter().filter(|asked| papers.is_empty() || asked.key != "documents") {
        if let Some(value) = one(&asked, screen, input)? {
            answer.corrections.insert(asked.key, value);
        }
    }
    if answer.corrections.is_empty() && field(wait, "kind") != "confirmation" {
        return Err(Failure::usage("nothing was answered, nothing was sent", "fill in a field, or say no with --no"));
    }
    Ok(answer)
}

/// Whether a person says yes to that; anything but a yes is a no.
///
/// # Errors
/// When standard input ends.
pub(super) fn says_yes(question: &str, screen: &mut Screen, input: &mut dyn BufRead) -> Result<bool, Failure> {
    screen.text(format!("{question} (yes / no) "));
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(_) => Ok(matches!(line.trim(), "yes" | "y")),
        Err(source) => Err(Failure::File { path: "standard input".to_owned(), source }),
    }
}

fn resolution(screen: &mut Screen, input: &mut dyn BufRead) -> Result<&'static str, Failure> {
    for _ in 0..MAX_TRIES {
        screen.text("did it happen? (done: yes / retry: do it again / fail: give up) ");
        let typed = read(input)?;
        let known = ["done", "retry", "fail"].into_iter().find(|name| *name == typed);
        if let Some(name) = known {
            return Ok(name);
        }
        screen.line("type done, retry or fail");
    }
    Err(gave_up())
}

fn one(asked: &Field, screen: &mut Screen, input: &mut dyn BufRead) -> Result<Option<Value>, Failure> {
    for _ in 0..MAX_TRIES {
        screen.text(format!("{}{} ", asked.question(), if asked.required { ":" } else { ", enter to leave it:" }));
        let typed = read(input)?;
        if typed.is_empty() && !asked.required {
            return Ok(None);
        }
        if typed.is_empty() {
            screen.line("this one is needed");
            continue;
        }
        match asked.read(&typed) {
            Ok(value) => return Ok(Some(value)),
            Err(problem) => screen.line(problem),
        }
    }
    Err(gave_up())
}

pub(super) fn read(input: &mut dyn BufRead) -> Result<String, Failure> {
    let mut line = String::new();
    let count = input.read_line(&mut line);
    match count {
        Ok(0) => Err(Failure::usage("there is no more input", "answer with --set KEY=VALUE")),
        Ok(_) => Ok(line.trim().to_owned()),
        Err(source) => Err(Failure::File { path: "standard input".to_owned(), source }),
    }
}

pub(super) fn gave_up() -> Failure {
    Failure::usage("the answer was wrong too often, nothing was sent", "answer with --set KEY=VALUE")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Environment;

    fn ask(wait: &Value, typed: &str) -> Result<ReviewAnswer, Failure> {
        answer_from(Some(wait), &mut Screen::stdout(&Environment::default()), &mut typed.as_bytes())
    }

    #[test]
    fn each_field_is_asked_until_it_is_right() {
        let wait = json!({"stepId": "a", "kind": "input", "schema": {"required": ["units"],
            "properties": {"units": {"type": "integer"}, "note": {"type": "string"}}}});
        let answer = ask(&wait, "\nmany\n7\n\n").unwrap();
        assert_eq!(Value::Object(answer.corrections), json!({"units": 7}));
        assert!(ask(&wait, "").is_err());
    }

    #[test]
    fn a_form_that_is_left_blank_is_not_sent() {
        let wait = json!({"stepId": "a", "kind": "review", "schema": {"properties": {
            "name": {"type": "string"}, "number": {"type": "string"}}}});
        assert!(ask(&wait, "\n\n").unwrap_err().to_string().contains("nothing was sent"));
        let wait = json!({"stepId": "a", "kind": "review", "schema": {"required": ["handled"], "properties": {
            "handled": {"type": "boolean", "const": true}, "note": {"type": "string"}}}});
        assert!(ask(&wait, "\n\n\n\n\n\n").is_err() && ask(&wait, "no\nno\nno\nno\nno\n").is_err());
        assert_eq!(Value::Object(ask(&wait, "\nyes\n\n").unwrap().corrections), json!({"handled": true}));
    }

    #[test]
    fn nothing_goes_on_without_a_yes() {
        let wait = json!({"stepId": "a", "kind": "review", "reason": "look at it"});
        assert!(ask(&wait, "yes\n").unwrap().corrections.is_empty());
        assert!(ask(&wait, "\n").is_err());
    }

    #[test]
    fn an_unknown_effect_is_asked_for_plainly() {
        let answer = ask(&json!({"stepId": "a", "kind": "ambiguous"}), "perhaps\nretry\n").unwrap();
        assert_eq!(answer.resolution, Some("retry"));
    }
}
