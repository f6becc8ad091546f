//! Lists of models, as providers give them.

use std::borrow::Cow;

use kybern_core::model::{ListedModel, ModelFailure, ModelFailureKind, Prices};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::lenient::Text;
use super::{WireFormat, anthropic, bounded, garbage};

#[derive(Deserialize)]
#[serde(untagged)]
enum ListResponse<'a> {
    /// OpenAI, Anthropic and most others.
    Data {
        #[serde(borrow)]
        data: Vec<WireModel<'a>>,
    },
    /// Gemini; also Ollama's own.
    Models {
        #[serde(borrow)]
        models: Vec<WireModel<'a>>,
    },
    /// Together.
    Bare(#[serde(borrow)] Vec<WireModel<'a>>),
}

#[derive(Deserialize)]
struct WireModel<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    pricing: Option<Pricing<'a>>,
}

/// What OpenRouter says of prices: dollars for each token, and for each request, as texts
/// (<https://openrouter.ai/docs/api-reference/list-available-models>). Of other shapes nothing is read.
#[derive(Deserialize)]
#[serde(untagged)]
enum Pricing<'a> {
    Texts {
        #[serde(borrow)]
        prompt: Cow<'a, str>,
        #[serde(borrow)]
        completion: Cow<'a, str>,
        #[serde(borrow, default)]
        request: Option<Cow<'a, str>>,
    },
    Other(IgnoredAny),
}

/// Digits behind the point of a price in dollars for one token, as nano-dollars for a million have them.
const DIGITS: usize = 15;

impl Pricing<'_> {
    /// The prices; `None` where they vary, which the list says with -1, or where each request costs something too.
    fn prices(&self) -> Option<Prices> {
        let Self::Texts { prompt, completion, request } = self else { return None };
        let free = request.as_deref().is_none_or(|request| nanos(request) == Some(0));
        let (input, output) = (nanos(prompt)?, nanos(completion)?);
        free.then_some(Prices { input, output, ..Prices::default() })
    }
}

/// Nano-dollars for a million, of what costs so many dollars for one. Only a plain number from 0 on is one.
fn nanos(dollars: &str) -> Option<u64> {
    let (whole, fraction) = dollars.split_once('.').unwrap_or((dollars, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Further digits are less than a nano-dollar for a million.
    let fraction = format!("{fraction:0<DIGITS$}");
    let fraction: u64 = fraction.get(..DIGITS)?.parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(10_u64.pow(15))?.checked_add(fraction)
}

/// The headers of the request.
#[must_use]
pub fn headers(format: WireFormat) -> Vec<(&'static str, &'static str)> {
    match format {
        WireFormat::Anthropic => vec![("anthropic-version", anthropic::VERSION)],
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses | WireFormat::Gemini => Vec::new(),
    }
}

/// The models, with their prices where the list says them as OpenRouter does.
///
/// # Errors
/// `Garbage` when the body is no such list.
pub fn decode(body: &[u8]) -> Result<Vec<ListedModel>, ModelFailure> {
    bounded(body)?;
    let answer: ListResponse<'_> = serde_json::from_slice(body).map_err(|error| garbage("the list", &error))?;
    let (ListResponse::Data { data: entries } | ListResponse::Models { models: entries } | ListResponse::Bare(entries)) =
        answer;
    let model = |entry: &WireModel<'_>| {
        let name = entry.id.some().unwrap_or(&entry.name);
        let name = name.strip_prefix("models/").unwrap_or(name).to_owned();
        ListedModel { name, prices: entry.pricing.as_ref().and_then(Pricing::prices) }
    };
    let models: Vec<ListedModel> = entries.iter().map(model).collect();
    if models.iter().any(|model| model.name.is_empty()) {
        return Err(ModelFailure::new(ModelFailureKind::Garbage, "the list holds a model without a name"));
    }
    Ok(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_list_is_read() {
        let shapes = [
            r#"{"object":"list","data":[{"id":"a","object":"model"},{"id":"b"}]}"#,
            r#"{"models":[{"name":"models/a"},{"name":"models/b"}],"nextPageToken":""}"#,
            r#"[{"id":"a","type":"chat"},{"id":"b"}]"#,
        ];
        for shape in shapes {
            let expected = ["a", "b"].map(ListedModel::named);
            assert_eq!(decode(shape.as_bytes()).unwrap(), expected, "{shape}");
        }
        let priced = r#"{"data":[{"id":"a","pricing":{"prompt":"0.00000015","completion":"0.0000006","request":"0"}},
            {"id":"varies","pricing":{"prompt":"-1","completion":"-1"}},
            {"id":"each","pricing":{"prompt":"0","completion":"0","request":"0.01"}},
            {"id":"free","pricing":{"prompt":"0","completion":"0"}},
            {"id":"other","pricing":{"input":0.2,"output":0.2}}]}"#;
        let prices: Vec<_> = decode(priced.as_bytes()).unwrap().into_iter().map(|model| model.prices).collect();
        let a = Prices { input: 150_000_000, output: 600_000_000, ..Prices::default() };
        assert_eq!(prices, [Some(a), None, None, Some(Prices::default()), None]);
        assert_eq!(decode(b"{}").unwrap_err().kind, ModelFailureKind::Garbage);
        assert_eq!(decode(br#"{"data":[{}]}"#).unwrap_err().kind, ModelFailureKind::Garbage);
    }
}
