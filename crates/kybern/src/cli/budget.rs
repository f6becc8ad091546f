//! `kybern budget` and `kybern usage`: what may be spent, and what has been.

use clap::{Args, Subcommand, ValueEnum};
use kybern_core::id::BudgetId;
use kybern_core::money::NanoUsd;
use serde_json::{Map, Value, json};

use super::list::{List, Page, items};
use super::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Cell, Failure, Table, field};

/// `kybern budget …`
#[derive(Subcommand, Debug)]
pub(super) enum BudgetCommand {
    /// List the budgets with what is used of them
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Set a budget
    Create {
        /// Whose: tenant, each_user, each_task, or user:ID
        #[arg(long, default_value = "tenant")]
        subject: String,
        /// For how long: day, month; whole for each_task [default: day, whole for each_task]
        #[arg(long)]
        period: Option<String>,
        #[command(flatten)]
        limits: LimitArgs,
        #[command(flatten)]
        format: Format,
    },
    /// Give a budget new limits; those that are not stated stay
    Change {
        /// The budget's id
        id: BudgetId,
        #[command(flatten)]
        limits: LimitArgs,
        #[command(flatten)]
        format: Format,
    },
    /// Remove a budget
    Delete {
        /// The budget's id
        id: BudgetId,
    },
}

/// What is limited.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(required = true, multiple = true)]
pub(super) struct LimitArgs {
    /// Dollars, such as 5 or 0.25
    #[arg(long, value_parser = dollars)]
    usd: Option<NanoUsd>,
    /// Tokens, read and written
    #[arg(long)]
    tokens: Option<u64>,
    /// Calls of models, and of tools that have a price
    #[arg(long)]
    calls: Option<u64>,
}

/// Dollars to the nano-dollar, without a float in between.
fn dollars(text: &str) -> Result<NanoUsd, String> {
    let wrong = || "is no amount of dollars, such as 5 or 0.25".to_owned();
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) || part.len() > 9 {
        return Err(wrong());
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| wrong())? };
    let part: i64 = format!("{part:0<9}").parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000_000_000).and_then(|nanos| nanos.checked_add(part)).map(NanoUsd).ok_or_else(wrong)
}

impl LimitArgs {
    fn body(self) -> Map<String, Value> {
        let limits = [
            ("costNanos", self.usd.map(|usd| json!(usd))),
            ("tokens", self.tokens.map(|tokens| json!(tokens))),
            ("calls", self.calls.map(|calls| json!(calls))),
        ];
        limits.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), limit?))).collect()
    }
}

pub(super) async fn run(command: BudgetCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        BudgetCommand::List { page } => {
            let headings = ["ID", "WHOSE", "PERIOD", "MONEY", "TOKENS", "CALLS"];
            List::at("/api/budgets", "budget list").print_rows(&page, headings, row, context).await
        }
        BudgetCommand::Create { subject, period, limits, format } => {
            let period = period.unwrap_or_else(|| period_of(&subject).to_owned());
            let subject = match subject.split_once(':') {
                Some((kind, id)) => json!({"type": kind, "id": id}),
                None => json!({"type": subject}),
            };
            let mut body = limits.body();
            body.insert("subject".to_owned(), subject);
            body.insert("period".to_owned(), json!(period));
            let reply = context.post("/api/budgets", PostedBody::Json(&Value::Object(body))).await?;
            Ok(context.told(&reply, format, |budget| format!("budget {} is set", field(budget, "id"))))
        }
        BudgetCommand::Change { id, limits, format } => {
            let client = context.connect().await?;
            let reply = client.patch(&format!("/api/budgets/{id}"), &Value::Object(limits.body())).await?;
            Ok(context.told(&reply, format, |_| format!("budget {id} is changed")))
        }
        BudgetCommand::Delete { id } => {
            context.remove(&format!("/api/budgets/{id}"), format!("budget {id} is removed")).await
        }
    }
}

/// The period that nobody names: a task has no days.
fn period_of(subject: &str) -> &'static str {
    if subject == "each_task" { "whole" } else { "day" }
}

fn money(nanos: &Value) -> String {
    nanos.as_i64().map(|nanos| NanoUsd(nanos).to_string()).unwrap_or_default()
}

/// What is limited, and what is used and reserved of it: `$1.2 + $0.25 of $5`.
fn of(budget: &Value, name: &str, shown: impl Fn(&Value) -> String) -> String {
    let limit = &budget[name];
    if limit.is_null() {
        return String::new();
    }
    let (used, reserved) = (&budget["used"][name], &budget["reserved"][name]);
    if used.is_null() {
        return shown(limit);
    }
    let reserved = if reserved.as_i64() == Some(0) { String::new() } else { format!(" + {}", shown(reserved)) };
    format!("{}{reserved} of {}", shown(used), shown(limit))
}

fn row(budget: &Value) -> [Cell; 6] {
    let subject = &budget["subject"];
    let whose = match subject["id"].as_str() {
        Some(id) => format!("user {id}"),
        None => field(subject, "type"),
    };
    [
        field(budget, "id").into(),
        whose.into(),
        field(budget, "period").into(),
        of(budget, "costNanos", money).into(),
        of(budget, "tokens", ToString::to_string).into(),
        of(budget, "calls", ToString::to_string).into(),
    ]
}

/// By what usage is added up.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum UsageBy {
    Day,
    Model,
    Tool,
    User,
}

/// `kybern usage`
#[derive(Args, Debug)]
pub(super) struct UsageArgs {
    /// By what it is added up
    #[arg(long, value_enum, default_value = "day")]
    by: UsageBy,
    /// The first day, YYYY-MM-DD
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last day; today when not stated
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    /// Of one user only
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn usage(args: UsageArgs, context: &mut Context) -> Result<Exit, Failure> {
    let (by, head) = match args.by {
        UsageBy::Day => ("day", "DAY"),
        UsageBy::Model => ("model", "MODEL"),
        UsageBy::Tool => ("tool", "TOOL"),
        UsageBy::User => ("user", "USER"),
    };
    let query = [("by", Some(by.to_owned())), ("from", args.from), ("to", args.to), ("userId", args.user)];
    let Some(reply) = context.read("/api/usage", &query, args.format).await? else { return Ok(Exit::Done) };
    let mut table = Table::new(&[head, "CALLS", "FAILED", "TOKENS IN", "TOKENS OUT", "COST"]);
    for line in items(&reply.value) {
        table.row([
            field(line, "name").into(),
            field(line, "calls").into(),
            field(line, "failedCalls").into(),
            field(line, "inputTokens").into(),
            field(line, "outputTokens").into(),
            money(&line["costNanos"]).into(),
        ]);
    }
    context.table(&table);
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_each_task_counts_the_whole_task_when_no_period_is_named() {
        for subject in ["tenant", "each_user", "each_task", "user:1"] {
            assert_eq!(period_of(subject) == "whole", subject == "each_task", "{subject}");
        }
    }

    #[test]
    fn dollars_are_read_to_the_nano_dollar() {
        for (text, nanos) in [("5", 5_000_000_000), ("0.25", 250_000_000), (".5", 500_000_000), ("0.000000001", 1)] {
            assert_eq!(dollars(text), Ok(NanoUsd(nanos)), "{text}");
        }
        for wrong in ["", ".", "-1", "1e3", "0.0000000001", "five", "99999999999"] {
            assert!(dollars(wrong).is_err(), "{wrong}");
        }
    }
}
