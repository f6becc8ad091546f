//! One expression: compiled once, kept, evaluated often.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kybern_core::cache::ByteCache;
use kybern_core::plan::limits::MAX_EXPRESSION;
use minijinja::value::ValueKind;
use minijinja::{Environment, Expression, UndefinedBehavior};
use serde_json::Value;

use super::context::Context;
use super::filters;
use super::value::read_back;

/// Steps of the interpreter that one evaluation may take.
const FUEL: u64 = 50_000;
/// Bytes of expressions that are kept compiled, over all tenants.
const KEPT: usize = 32 * 1024 * 1024;
/// What a compiled expression takes beside what grows with its length, about.
const COMPILED: usize = 1_024;
/// What each byte of it takes compiled, at most about: an instruction of its own.
const PER_BYTE: usize = 64;
/// Bytes of an evaluation's result as JSON.
pub(super) const MAX_RESULT: usize = 4 * 1024 * 1024;
/// Operators that join texts or lists, of which each can at most add its operands' sizes.
const MAX_JOINS: usize = 64;
/// Words and signs of one expression. Each operator or look-up lies a level deeper than the one before it, and the
/// interpreter recurses: a thousand of them exhaust the stack of a thread.
const MAX_TOKENS: usize = 500;
/// How deep brackets may lie in one another: each level costs the parser a dozen calls.
const MAX_NESTING: usize = 32;
/// Filters of one expression: they take no fuel, however long the list is that they work on.
const MAX_FILTERS: usize = 32;
/// How often one expression may make lists and texts in turn: a text that is shown inside a list is escaped, so each
/// turn can double it.
const MAX_TURNS: usize = 4;

/// Filters that make no texts and no lists.
const NUMERIC: &[&str] =
    &["int", "float", "round", "abs", "bool", "length", "count", "sum", "min", "max", "first", "last", "default", "d"];
/// Filters that make lists.
const LISTS: &[&str] =
    &["list", "sort", "unique", "reverse", "map", "selectattr", "rejectattr", "items", "split", "default", "d"];

/// Words that are no names: a bracket after one opens a value of its own, and neither calls nor looks up anything.
const OPERATORS: &[&str] = &["not", "and", "or", "in", "is", "if", "else"];

/// Why an expression cannot be compiled, or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// It is no expression.
    #[error("{expression:?} is not an expression: {problem}")]
    Syntax {
        expression: String,
        /// What the parser says.
        problem: String,
    },
    /// It is over a limit, or does what is not allowed.
    #[error("{expression:?} is refused: {problem}")]
    Refused {
        expression: String,
        /// Why.
        problem: String,
    },
    /// It failed on these values.
    #[error("{expression:?} failed: {problem}")]
    Failed {
        expression: String,
        /// Why.
        problem: String,
    },
}

/// A name that an expression reads: its dotted parts, without a leading `context`.
pub type Path = Vec<String>;

/// A compiled expression.
#[derive(Debug)]
pub struct Compiled {
    source: String,
    code: Expression<'static, 'static>,
    paths: Vec<Path>,
    multiplies: bool,
    filters: usize,
    tokens: usize,
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(50);
    filters::register(&mut environment);
    environment
});

type Cache = ByteCache<String, Arc<Compiled>>;
static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(|| Mutex::new(Cache::new(KEPT)));

/// Compiles an expression (without its braces), or finds it compiled.
///
/// # Errors
/// When it is no expression, or over a limit.
pub fn compile(source: &str) -> Result<Arc<Compiled>, ExpressionError> {
    if let Some(found) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(source) {
        return Ok(found);
    }
    let compiled = Arc::new(Compiled::new(source)?);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache.keep(source.to_owned(), Arc::clone(&compiled), COMPILED + PER_BYTE * source.len());
    Ok(compiled)
}

impl Compiled {
    fn new(source: &str) -> Result<Self, ExpressionError> {
        let refused =
            |problem: String| ExpressionError::Refused { expression: source.chars().take(80).collect(), problem };
        if source.len() > MAX_EXPRESSION {
            return Err(refused(format!("it is longer than {MAX_EXPRESSION} bytes")));
        }
        let shape = ExpressionShape::of(source);
        if shape.joins > MAX_JOINS {
            return Err(refused(format!("it joins more than {MAX_JOINS} values")));
        }
        if shape.tokens > MAX_TOKENS {
            return Err(refused(format!("it is made of more than {MAX_TOKENS} words and signs")));
        }
        if shape.nesting > MAX_NESTING {
            return Err(refused(format!("its brackets lie more than {MAX_NESTING} deep in one another")));
        }
        if shape.filters.len() > MAX_FILTERS {
            return Err(refused(format!("it uses more than {MAX_FILTERS} filters")));
        }
        if shape.turns() > MAX_TURNS {
            return Err(refused(format!("it uses ~ between lists more than {MAX_TURNS} times")));
        }
        if shape.multiplies && (shape.has_text || shape.lists > 0 || shape.tildes > 0) {
            return Err(refused("an expression with * may hold no text, no list and no ~".to_owned()));
        }
        if shape.multiplies
            && let Some(filter) = shape.filters.iter().find(|name| !NUMERIC.contains(&name.as_str()))
        {
            return Err(refused(format!("an expression with * may not use the filter {filter}")));
        }
        let code =
            ENVIRONMENT.compile_expression_owned(source.to_owned()).map_err(|error| ExpressionError::Syntax {
                expression: source.to_owned(),
                problem: error.detail().map_or_else(|| error.to_string(), str::to_owned),
            })?;
        let mut paths: Vec<Path> = code
            .undeclared_variables(true)
            .into_iter()
            .map(|name| {
                let mut parts: Path = name.split('.').map(str::to_owned).collect();
                if parts.len() > 1 && parts.first().is_some_and(|first| first == "context") {
                    parts.remove(0);
                }
                parts
            })
            .collect();
        paths.sort();
        let ExpressionShape { multiplies, tokens, filters, .. } = shape;
        Ok(Self { source: source.to_owned(), code, paths, multiplies, tokens, filters: filters.len() })
    }

    /// How many filters it uses.
    pub(super) const fn filters(&self) -> usize {
        self.filters
    }

    /// Of how many words and signs it is made.
    pub(super) const fn tokens(&self) -> usize {
        self.tokens
    }

    /// The names it reads. A name that is looked up by a computed key counts as all of what it is looked up in.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Evaluates it.
    ///
    /// # Errors
    /// When a name is unknown, an operation does not fit its values, or a limit is reached.
    pub fn evaluate(&self, context: &Context) -> Result<Value, ExpressionError> {
        let failed = |problem: String| ExpressionError::Failed { expression: self.source.clone(), problem };
        let value = self.code.eval(context.root(self.multiplies)).map_err(|error| failed(describe(&error)))?;
        if value.is_undefined() {
            return Err(failed("it names a value that does not exist".to_owned()));
        }
        let value = match read_back(&value) {
            Some(read) => read,
            None if self.multiplies && value.kind() == ValueKind::Map => {
                return Err(failed(
                    "with * it may not give an object that it makes, nor steps or the context as a whole: name a value"
                        .to_owned(),
                ));
            }
            None => serde_json::to_value(&value).map_err(|error| failed(error.to_string()))?,
        };
        if size_over(&value, MAX_RESULT).is_none() {
            return Err(failed(format!("its result is larger than {MAX_RESULT} bytes")));
        }
        Ok(value)
    }
}

/// What is left of `left` bytes after a value; `None` when it does not fit.
pub(super) fn size_over(value: &Value, left: usize) -> Option<usize> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => left.checked_sub(8),
        Value::String(text) => left.checked_sub(text.len() + 2),
        Value::Array(items) => items.iter().try_fold(left.checked_sub(2)?, |left, item| size_over(item, left)),
        Value::Object(members) => members
            .iter()
            .try_fold(left.checked_sub(2)?, |left, (name, item)| size_over(item, left.checked_sub(name.len() + 4)?)),
    }
}

fn describe(error: &minijinja::Error) -> String {
    match error.kind() {
        minijinja::ErrorKind::UndefinedError => {
            "it names a value that does not exist (use `| default(…)` where it may be missing)".to_owned()
        }
        minijinja::ErrorKind::OutOfFuel => "it takes too many steps".to_owned(),
        _other => {
            error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()))
        }
    }
}

/// What an expression is made of, by its characters alone. The interpreter multiplies texts and lists by numbers,
/// each time up to 100 MB; so an expression that multiplies gets numbers only.
#[derive(Default)]
struct ExpressionShape {
    multiplies: bool,
    has_text: bool,
    lists: usize,
    tildes: usize,
    joins: usize,
    tokens: usize,
    nesting: usize,
    filters: Vec<String>,
}

impl ExpressionShape {
    fn of(source: &str) -> Self {
        let mut shape = Self::default();
        let mut chars = source.chars().peekable();
        let mut before = ' ';
        let mut word = String::new();
        // What is open: whether a comma in it separates arguments, and not the values of a tuple.
        let mut open: Vec<bool> = Vec::new();
        let mut in_word = false;
        while let Some(c) = chars.next() {
            shape.tokens += usize::from(!(c.is_whitespace() || in_word && is_name(c)));
            if is_name(c) && !in_word {
                word.clear();
            }
            in_word = is_name(c);
            let after_name = is_name(before) && !OPERATORS.contains(&word.as_str());
            match c {
                '"' | '\'' => {
                    shape.has_text = true;
                    while let Some(inner) = chars.next() {
                        if inner == '\\' {
                            chars.next();
                        } else if inner == c {
                            break;
                        }
                    }
                }
                '*' => shape.multiplies = true,
                '~' => {
                    shape.tildes += 1;
                    shape.joins += 1;
                }
                '+' => shape.joins += 1,
                ',' => {
                    shape.joins += 1;
                    shape.lists += usize::from(open.last() != Some(&true));
                }
                '(' => open.push(after_name),
                ')' => drop(open.pop()),
                '|' => {
                    let rest: String = chars.clone().skip_while(|c| c.is_whitespace()).collect();
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                    shape.filters.push(rest.get(..end).unwrap_or_default().to_owned());
                }
                // A bracket after a name, a bracket or a parenthesis looks something up; otherwise it is a list.
                '[' => {
                    shape.lists += usize::from(!(after_name || matches!(before, ']' | ')')));
                    open.push(false);
                }
                '{' => {
                    shape.lists += 1;
                    open.push(false);
                }
                ']' | '}' => drop(open.pop()),
                name if is_name(name) => word.push(name),
                _other => {}
            }
            shape.nesting = shape.nesting.max(open.len());
            if !c.is_whitespace() {
                before = c;
            }
        }
        shape
    }

    /// How often a list that it makes can become a text that lies in the next list.
    fn turns(&self) -> usize {
        let lists = self.lists + self.filters.iter().filter(|name| LISTS.contains(&name.as_str())).count();
        lists.min(self.tildes)
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        let long = Value::String("x".repeat(1_000_000));
        Context {
            state: Arc::new(serde_json::Map::from_iter([("long".to_owned(), long)])),
            steps: Arc::default(),
            task: Arc::default(),
            tenant: Arc::default(),
            user: Arc::default(),
            args: None,
            round: None,
            weight: 0,
        }
    }

    #[test]
    fn an_expression_over_a_limit_is_refused_before_it_runs() {
        let long = format!("'{}'", "x".repeat(MAX_EXPRESSION));
        let joins = vec!["state.long"; MAX_JOINS + 2].join(" ~ ");
        let filters = format!("state.long{}", " | trim".repeat(MAX_FILTERS + 1));
        let deep = vec!["1"; MAX_TOKENS / 2 + 2].join("-");
        let brackets = format!("{}1{}", "(".repeat(MAX_NESTING + 1), ")".repeat(MAX_NESTING + 1));
        let turns = (0..=MAX_TURNS).fold("'x'".to_owned(), |inner, _| format!("[{inner}] ~ ''"));
        for source in [
            long.as_str(),
            joins.as_str(),
            filters.as_str(),
            turns.as_str(),
            deep.as_str(),
            brackets.as_str(),
            "'a' * 3",
            "[1] * 3",
            "(1,) * 3",
            "(1, 2) * 3",
            "3 * ((state.n), 1)",
            "not (1,) * 3",
            "1 in [1] * 3",
            "1 if state.n else (1,) * 3",
            "state.long | list * 2",
            "3 * 'a'",
        ] {
            assert!(matches!(compile(source), Err(ExpressionError::Refused { .. })), "{source:.40}");
        }
        for source in ["state.n * (state.n | default(0, true))", "state.n in state.list and state.land[0] * 3"] {
            assert!(compile(source).is_ok(), "{source}: neither a comma between arguments nor a look-up is a list");
        }
        for source in ["1 +", "a b", "", "{% x %}", "state."] {
            assert!(matches!(compile(source), Err(ExpressionError::Syntax { .. })), "{source:?}");
        }
    }

    #[test]
    fn the_deepest_expression_fits_on_the_stack_of_a_server_thread() {
        let chain = |piece: &str, tokens: usize| format!("state{}", piece.repeat((MAX_TOKENS - 1) / tokens));
        let deepest = [
            chain("-1", 2),
            chain(".a", 2),
            chain("[0]", 3),
            chain(" and 1", 2),
            chain(" if 1 else 1", 4),
            format!("{}1{}", "f(".repeat(MAX_NESTING), ")".repeat(MAX_NESTING)),
            format!("{}1", "not ".repeat(MAX_TOKENS - 1)),
            format!("{}1", "-".repeat(MAX_TOKENS - 1)),
        ];
        let run = |source: &String| compile(source).is_ok_and(|code| code.evaluate(&context()).is_ok());
        let evaluate = move || deepest.iter().map(run).collect::<Vec<bool>>().len();
        let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(evaluate).unwrap();
        assert_eq!(thread.join().unwrap(), 8);
    }

    #[test]
    fn a_result_over_the_limit_and_too_many_steps_are_failures() {
        for source in [
            "state.long ~ state.long ~ state.long ~ state.long ~ state.long",
            "[state.long, state.long, state.long, state.long, state.long]",
            "state.long | list | map('upper') | join(',') | list | length",
        ] {
            let result = compile(source).unwrap().evaluate(&context());
            assert!(
                matches!(result, Err(ExpressionError::Failed { .. })) || result.is_ok_and(|v| v.is_number()),
                "{source}"
            );
        }
    }

    #[test]
    fn no_more_bytes_of_expressions_are_kept_than_may_be() {
        let long = "x".repeat(1_900);
        for n in 0..400 {
            compile(&format!("'{long}{n}'")).unwrap();
            assert!(CACHE.lock().unwrap().bytes() <= KEPT);
        }
        assert!(CACHE.lock().unwrap().bytes() > KEPT / 4, "they are kept");
    }

    #[test]
    fn names_are_read_with_and_without_context_and_computed_ones_count_as_the_whole() {
        let paths = |source: &str| compile(source).unwrap().paths().to_vec();
        let path = |dotted: &str| dotted.split('.').map(str::to_owned).collect::<Path>();
        assert_eq!(paths("context.state.a.b + 1"), [path("state.a.b")]);
        assert_eq!(paths("state[task.input]"), [path("state"), path("task.input")]);
        assert_eq!(paths("item"), [path("item")]);
        assert_eq!(paths("1 + 1"), [] as [Path; 0]);
    }
}
