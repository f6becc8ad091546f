//! Asking: from the journal where it has the answer, else from the model, with one repair where the answer does not fit.

use async_trait::async_trait;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::money::Usage;
use kybern_core::ports::ModelAnswer;
use kybern_core::task::Lease;
use kybern_core::time::Millis;
use serde_json::Value;

use super::inquiry::Inquiry;
use crate::models::{ModelService, Route, StepModels, desk_usage, judge, said, still_held};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// No model may or can be asked, or none gives an answer that can be used: the rules' answer stands. For people.
    No(String),
    /// Nobody knows whether it may be asked, or the answer could not be journaled: whoever reads stops.
    Stopped(Error),
}

/// A way to ask. What it answers is in the journal.
#[async_trait]
pub(crate) trait AskModel: Send {
    /// The answer to a question.
    async fn answer(&mut self, inquiry: &Inquiry) -> Result<ModelAnswer, NoAnswer>;

    /// From now on nothing is asked that the journal has not answered.
    fn give_up(&mut self, why: &str);
}

/// Asks a model what no journal has answered. After a failure, or an answer that could not be put right, it asks no more:
/// what follows would wait and pay for the same.
pub(crate) struct Inquirer {
    models: ModelService,
    lease: Lease,
    /// Where it asks: all its questions within one time limit.
    desk: StepModels,
    /// Why it asks no more.
    given_up: Option<String>,
}

impl Inquirer {
    pub(crate) fn new(models: &ModelService, lease: &Lease, desk: StepModels) -> Self {
        Self { models: models.clone(), lease: lease.clone(), desk, given_up: None }
    }

    /// Asks no more. The first reason stays.
    pub(crate) fn give_up(&mut self, why: &str) {
        self.given_up.get_or_insert_with(|| format!("no language model was asked any more: {why}"));
    }

    /// Asks, and tells how long that took. The answer is not journaled yet.
    pub(crate) async fn ask(&mut self, inquiry: &Inquiry) -> Result<(ModelAnswer, Millis), NoAnswer> {
        if self.given_up.is_none() && self.desk.time_left() == Millis(0) {
            self.given_up = Some("no language model was asked: the time for all questions together is over".to_owned());
        }
        if let Some(why) = &self.given_up {
            return Err(NoAnswer::No(why.clone()));
        }
        still_held(&self.models, &self.lease).await.map_err(NoAnswer::Stopped)?;
        let clock = &self.models.inner.clock;
        let began = clock.now();
        let route: Route = self.models.settings().understanding.clone();
        match self.desk.complete(route, inquiry.request(), &inquiry.prompt).await {
            Ok(answered) => {
                let (text, model) = (answered.reply.text(), answered.model.clone());
                Ok((ModelAnswer { text, model, usage: desk_usage(&answered) }, clock.now().since(began)))
            }
            Err(error) => match error.code() {
                ErrorCode::Unavailable | ErrorCode::Internal | ErrorCode::Conflict => Err(NoAnswer::Stopped(error)),
                _ => {
                    let why = format!("no language model was asked: {error}");
                    self.given_up = Some(why.clone());
                    Err(NoAnswer::No(why))
                }
            },
        }
    }
}

/// An answer that fits its schema.
#[derive(Debug)]
pub(crate) struct ShapedAnswer {
    pub(crate) value: Value,
    /// `provider/model` that gave it.
    pub(crate) model: String,
}

/// Asks, and once more when the answer does not fit; when that does not fit either, the model is given up. `usage` grows
/// by what both took.
///
/// # Errors
/// Why there is none that fits.
pub(crate) async fn in_shape(
    asking: &mut dyn AskModel,
    inquiry: Inquiry,
    usage: &mut Usage,
) -> Result<ShapedAnswer, NoAnswer> {
    let first = asking.answer(&inquiry).await?;
    *usage = usage.plus(first.usage);
    let faults = match judge(&first.text, &inquiry.schema) {
        Ok(object) => return Ok(ShapedAnswer { value: Value::Object(object), model: first.model }),
        Err(faults) => faults,
    };
    if first.text.trim().is_empty() {
        return Err(given_up(asking, format!("{} did not answer", first.model)));
    }
    let again = inquiry.corrected(first.text, said(&faults));
    let second = asking.answer(&again).await?;
    *usage = usage.plus(second.usage);
    match judge(&second.text, &again.schema) {
        Ok(object) => Ok(ShapedAnswer { value: Value::Object(object), model: second.model }),
        Err(_) => Err(given_up(asking, format!("{} gave no answer that fits", second.model))),
    }
}

fn given_up(asking: &mut dyn AskModel, why: String) -> NoAnswer {
    asking.give_up(&why);
    NoAnswer::No(why)
}
