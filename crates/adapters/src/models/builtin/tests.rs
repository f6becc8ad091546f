//! What the built-in provider answers.

use super::*;

fn cosine(a: &str, b: &str) -> f32 {
    let (a, b) = (Builtin::new().vector(a).0, Builtin::new().vector(b).0);
    a.iter().zip(&b).map(|(x, y)| x * y).sum()
}

async fn embed(request: EmbedRequest) -> Result<Embedded, ModelFailure> {
    Builtin::new().embed(&request, ModelTimeouts::DEFAULT).await
}

fn request(texts: &[&str]) -> EmbedRequest {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    EmbedRequest { model: MODEL.to_owned(), texts, ..EmbedRequest::default() }
}

#[test]
fn every_vector_is_of_length_one() {
    assert_eq!(Builtin::new().table.dimensions(), DIMENSIONS);
    for text in ["", "...", "\u{1F600}", "the", "Please send the certificate.", "\u{4e2d}\u{6587}"] {
        let (vector, _) = Builtin::new().vector(text);
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!(vector.len() == DIMENSIONS && (length - 1.0).abs() < 1e-5, "{text}: {length}");
    }
}

#[test]
fn a_text_without_a_known_word_has_the_even_vector() {
    let even = vec![NOTHING_KNOWN; DIMENSIONS];
    assert_eq!(Builtin::new().vector(""), (even.clone(), 0));
    assert_eq!(Builtin::new().vector("\u{1F600}"), (even.clone(), 1));
    assert_eq!(Builtin::new().vector("?! ..."), (even, 5));
}

#[test]
fn what_is_alike_is_nearer() {
    let about = "Invoices are paid thirty days after delivery.";
    let (near, far) = (cosine(about, "when do we pay the bill"), cosine(about, "the dog bit a letter carrier"));
    assert!(near > far + 0.1, "{near} {far}");
    assert!((cosine("Insurance, certificate!", "certificate INSURANCE") - 1.0).abs() < 1e-6);
}

#[test]
fn a_text_has_the_same_vector_on_every_machine() {
    let mut hasher = blake3::Hasher::new();
    for text in ["", "the", "Please send the certificate of insurance.", "caf\u{e9} \u{6771}\u{4eac} 12,5 %"] {
        for value in Builtin::new().vector(text).0 {
            hasher.update(&value.to_le_bytes());
        }
    }
    assert_eq!(hasher.finalize().to_hex().as_str(), "61381151f139004bd14bd8ee20c6c73787e127e83c6efa13e4d044b2fbff76fc");
}

#[test]
fn what_is_past_the_end_does_not_count() {
    let full = "word ".repeat(MAX_CHARACTERS / 5);
    assert_eq!(Builtin::new().vector(&full), Builtin::new().vector(&format!("{full}insurance")));
    let wide = "\u{e9}".repeat(MAX_CHARACTERS + 10);
    assert_eq!(Builtin::new().vector(&wide).1, 1);
}

#[tokio::test]
async fn texts_are_embedded_in_order_and_their_tokens_counted() {
    let embedded = embed(request(&["the driver", "", "unaffable"])).await.unwrap();
    assert_eq!(embedded.model, MODEL);
    assert_eq!(embedded.vectors[0], Builtin::new().vector("the driver").0);
    assert_eq!(embedded.vectors.len(), 3);
    assert_eq!(embedded.usage, Some(TokenUsage { input: 2 + 3, ..TokenUsage::default() }));
    assert_eq!(embed(request(&[])).await.unwrap().vectors, Vec::<Vec<f32>>::new());
}

#[tokio::test]
async fn what_it_cannot_do_is_refused_with_its_name() {
    let other = EmbedRequest { model: "text-embedding-3-small".to_owned(), ..request(&["a"]) };
    let short = EmbedRequest { dimensions: Some(64), ..request(&["a"]) };
    let exact = EmbedRequest { dimensions: Some(160), ..request(&["a"]) };
    assert_eq!(embed(other).await.unwrap_err().kind, ModelFailureKind::UnknownModel);
    assert_eq!(embed(short).await.unwrap_err().kind, ModelFailureKind::Unsupported);
    assert!(embed(exact).await.is_ok());
    let (request, times) = (ModelRequest::default(), ModelTimeouts::DEFAULT);
    let refused = Builtin::new().complete(&request, times).await.unwrap_err();
    assert_eq!((refused.kind, refused.provider.as_str()), (ModelFailureKind::Unsupported, PROVIDER));
    assert!(Builtin::new().stream(&request, times).await.is_err_and(|failure| failure == refused));
}

#[tokio::test]
async fn its_one_model_is_listed_and_costs_nothing() {
    assert_eq!(Builtin::new().models(ModelTimeouts::DEFAULT).await.unwrap(), [ListedModel::named(spec().name)]);
    assert_eq!(spec().kind, ModelKind::Embedding);
    assert_eq!(spec().prices.map(|prices| prices.most(1_000_000, 0)), Some(kybern_core::money::NanoUsd(0)));
}
