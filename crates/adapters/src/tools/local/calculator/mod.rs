//! `calculator`: works out one arithmetic expression, exactly where that is possible.
//!
//! The grammar is our own and closed: numbers, operators, and the functions and constants that are listed. There is
//! no assignment, no string, no list, and no name that reaches anything else. Whole numbers, decimals and fractions
//! are exact; roots, logarithms and angles that have no exact value are the nearest machine number, and the answer
//! says so. `fend-core` knows how units relate to one another; it never sees the expression.

mod answer;
mod arithmetic;
mod functions;
mod lexer;
mod number;
mod parser;
mod power;
mod statistics;
mod trigonometry;
mod unit_names;
mod units;

use async_trait::async_trait;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::{optional_text, refuse, text};
use crate::workers::Workers;

/// Letters of an expression.
const MAX_LETTERS: usize = 1_000;
/// Letters of an expression that is worked out where it is called.
const MAX_SIMPLE: usize = 100;

/// The tool.
#[derive(Debug)]
pub(super) struct Calculator {
    spec: ToolSpec,
    workers: Workers,
}

impl Calculator {
    /// The tool with its spec.
    pub(super) fn new(workers: Workers) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "One expression, such as (19.99 + 5) * 3, sqrt(16) + 2^3, 200 + 10%, 15% of 80, \
                                    round(mean(1, 2, 4), 2), sin(30 deg), 5 km to miles. Write every * and no commas \
                                    in numbers. Operators: + - * / ^ % mod ! and parentheses. Functions: sqrt cbrt \
                                    root abs sign floor ceil trunc round min max sum mean median exp ln log log2 \
                                    log10 sin cos tan asin acos atan atan2 degrees radians factorial ncr npr gcd \
                                    lcm pow. log is to base 10. Constants: pi, e, tau."
                }
            },
            "required": ["expression"],
            "additionalProperties": false
        });
        let description = "Works out an arithmetic expression or converts units. Decimals and fractions are exact: \
                           0.1 + 0.2 is 0.3. The answer's exact says whether result is the exact value or rounded; \
                           a result that a JSON number cannot hold comes as a text with all its digits.";
        Self {
            spec: ToolSpec::read("calculator", description, schema)
                .shown(&["arithmetic", "units", "percent", "sum"], json!({"expression": "(19.99 + 5) * 3"})),
            workers,
        }
    }
}

#[async_trait]
impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn computes(&self, args: &Map<String, Value>) -> bool {
        optional_text(args, "expression").is_some_and(|expression| !is_simple(expression))
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        if !self.computes(&args) {
            return outcome(&args);
        }
        super::compute(&self.workers, context, move |_| outcome(&args)).await?
    }
}

/// Whether an expression is a few short numbers with signs between them. Powers, factorials and functions make large
/// numbers out of small ones.
fn is_simple(expression: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_digit() || " +-*/().%".contains(letter);
    expression.len() <= MAX_SIMPLE && expression.chars().all(plain) && !expression.contains("**")
}

fn outcome(args: &Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let expression = text(args, "expression")?;
    let mut data = calculate(expression)?;
    data.shift_insert(0, "expression".to_owned(), json!(expression));
    Ok(ToolOutcome::new(data, "worked out one expression"))
}

/// Everything but the expression itself.
fn calculate(expression: &str) -> Result<Map<String, Value>, ToolFailure> {
    if expression.trim().is_empty() {
        return Err(refuse("the expression is empty: give one, such as (2 + 3) * 4"));
    }
    let letters = expression.chars().take(MAX_LETTERS + 1).count();
    if letters > MAX_LETTERS {
        return Err(refuse(format!("the expression has more than {MAX_LETTERS} characters: work it out in parts")));
    }
    let tokens = lexer::read(expression)?;
    if let Some(keyword) = units::conversion(&tokens) {
        return units::convert(&tokens, keyword);
    }
    let mut parser = parser::Parser::new(&tokens);
    let value = parser.whole()?;
    answer::build(&value, parser.notes())
}
