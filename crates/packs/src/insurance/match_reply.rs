//! `insurance.match_reply`: which request an insurer's answer is about, and whether whoever sent it may answer.
//!
//! A request's token says which one is meant and proves nothing: anybody can write one. So the sender's domain is held
//! against the insurer that was asked, and what the report is about against what was asked for. What does not fit goes
//! to a person, once.
//!
//! Nothing that the mail itself says makes its sender a colleague: whoever hands on an insurer's answer is a user of the
//! tenant, by their address.

use async_trait::async_trait;
use kybern_core::id::RecordId;
use kybern_core::identity::User;
use kybern_core::mail::{ParsedMail, PassageRole};
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::record::Record;
use kybern_core::tool::{Needs, Review, ToolFailure, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::insurers;
use super::kinds::LOSS_RUN_REQUEST;
use crate::args::{as_text, fields, objects, text, texts};
use crate::{change, company};

/// The state's name for a person's word that the sender may answer.
const CONFIRMED: &str = "answer_confirmed";

/// Letters and digits of a policy number that may be followed by a term, and those of the term: `PLM-77001-02` is the
/// second renewal of `PLM-77001`. Shorter numbers are too like each other.
const MIN_NUMBER: usize = 6;
const TERM: usize = 2;

/// The tool.
#[derive(Debug)]
pub struct MatchReply {
    spec: ToolSpec,
}

impl Default for MatchReply {
    fn default() -> Self {
        Self::new()
    }
}

impl MatchReply {
    /// The tool with its spec.
    #[must_use]
    pub fn new() -> Self {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let description = "Finds the loss-run request that a mail answers by its token; asks a person when the sender \
                           is not the insurer that was asked, or the report is about something else.";
        Self {
            spec: ToolSpec {
                needs: Needs { task: true, documents: true, records: true, users: true, ..Needs::default() },
                ..ToolSpec::local("insurance.match_reply", description, schema)
            },
        }
    }
}

#[async_trait]
impl Tool for MatchReply {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let Some(mail) = context.documents()?.mail().await? else { return Ok(unmatched("not an e-mail")) };
        let ids: Vec<&str> = mail.request_tokens.iter().map(|token| token.id.as_str()).collect();
        if ids.is_empty() {
            return Ok(unmatched("the answer names no request"));
        }
        let users = match &context.users {
            Some(directory) => directory.users_of(context.scope).await?,
            None => Vec::new(),
        };
        let senders = senders(&mail, &users);
        let mut requests = Vec::new();
        for id in &ids {
            requests.extend(request(context, id).await?);
        }
        if requests.is_empty() && knows_one_of(context, &senders).await? {
            return Ok(unmatched("an insurer's answer names a request that is none of ours"));
        }
        let confirmed = context.state.get(CONFIRMED).and_then(Value::as_bool);
        let doubts = if requests.is_empty() {
            vec![format!("the answer names the request {}, which is none of ours", ids.join(", "))]
        } else {
            doubts(&senders, &requests, &context.state)
        };
        match confirmed {
            Some(false) => {
                return Err(ToolFailure::permanent(format!("a person refused the answer: {}", doubts.join("; "))));
            }
            None if !doubts.is_empty() => return Ok(ToolOutcome::ask(review(&doubts, &mail, &requests))),
            Some(true) | None => {}
        }
        let data = fields([
            ("request_ids", json!(requests.iter().map(|request| request.id).collect::<Vec<_>>())),
            ("reply_doubts", json!(doubts)),
        ]);
        let outcome = ToolOutcome::new(data, format!("the answer is about {} requests", requests.len()));
        Ok(ToolOutcome { links: requests.iter().map(change::resolve).collect(), ..outcome })
    }
}

fn unmatched(why: &str) -> ToolOutcome {
    ToolOutcome::new(fields([("request_ids", json!([])), ("reply_doubts", json!([]))]), why)
}

async fn knows_one_of(context: &ToolContext, senders: &[&str]) -> Result<bool, ToolFailure> {
    for sender in senders {
        if insurers::knows_sender(context, sender).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn request(context: &ToolContext, id: &str) -> Result<Option<Record>, ToolFailure> {
    let Ok(id) = id.parse::<RecordId>() else { return Ok(None) };
    let found = context.records()?.record_by_id(context.scope, id).await?;
    Ok(found.filter(|record| record.kind == LOSS_RUN_REQUEST))
}

/// Why the answer may not be what it says it is.
fn doubts(senders: &[&str], requests: &[Record], state: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for request in requests {
        let Some(insurer) = text(&request.props, "insurer") else { continue };
        if !senders.iter().any(|sender| insurers::writes_from(sender, &insurer)) {
            let sender = senders.first().copied().unwrap_or_default();
            found.push(format!(
                "{insurer} was asked, and the answer comes from {sender}, which is not known to be its address"
            ));
        }
    }
    let asked: Vec<String> =
        requests.iter().flat_map(|request| numbers(texts(&request.props, "policy_numbers"))).collect();
    let answered = numbers(answered(state));
    if !asked.is_empty()
        && !answered.is_empty()
        && !answered.iter().any(|one| asked.iter().any(|other| is_one_policy(one, other)))
    {
        found.push(format!("the report is about {}, and the request about {}", answered.join(", "), asked.join(", ")));
    }
    found
}

/// Whether two policy numbers, as they are compared, are of one policy: the same, or the same but for the term at the end.
fn is_one_policy(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let Some(term) = long.strip_prefix(short) else { return false };
    let is_term = term.len() == TERM && term.bytes().all(|byte| byte.is_ascii_digit());
    term.is_empty() || (is_term && short.len() >= MIN_NUMBER)
}

/// Who answers: the sender, or whoever wrote the message that a user of the tenant hands on.
fn senders<'m>(mail: &'m ParsedMail, users: &[User]) -> Vec<&'m str> {
    let colleague = users.iter().any(|user| user.email.eq_ignore_ascii_case(&mail.from.address));
    let handed_on = mail.passages.iter().filter(|passage| passage.role == PassageRole::Forwarded);
    let authors = handed_on.filter_map(|passage| passage.author.as_ref()).filter(|_| colleague);
    [mail.from.address.as_str()].into_iter().chain(authors.map(|author| author.address.as_str())).collect()
}

/// The policy numbers that the papers of the answer name.
fn answered(state: &Map<String, Value>) -> Vec<String> {
    let papers = objects(state, "extractions");
    let of_papers = papers.iter().filter(|paper| paper.get("n").and_then(Value::as_u64) > Some(0));
    let found = of_papers.flat_map(|paper| objects(paper, "fields")).collect::<Vec<_>>();
    let named = found.iter().filter(|field| text(field, "name").as_deref() == Some("policy_number"));
    named.filter_map(|field| field.get("value").and_then(as_text)).collect()
}

/// Policy numbers as they are compared, each once.
fn numbers(written: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for number in written.iter().map(|number| company::policy_number(number)).filter(|number| !number.is_empty()) {
        if !found.contains(&number) {
            found.push(number);
        }
    }
    found
}

fn review(doubts: &[String], mail: &ParsedMail, requests: &[Record]) -> Review {
    let asked = |request: &Record| {
        json!({
            "id": request.id,
            "insurer": text(&request.props, "insurer"),
            "policy_numbers": texts(&request.props, "policy_numbers"),
        })
    };
    Review {
        reason: format!("{}; say whether it counts as the answer", doubts.join("; ")),
        title: Some("Is this the insurer's answer?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": {CONFIRMED: {"type": "boolean", "description": "true: it counts as the insurer's answer"}},
            "required": [CONFIRMED],
            "additionalProperties": false
        }),
        details: json!({"sender": mail.from.address, "requests": requests.iter().map(asked).collect::<Vec<_>>()}),
        answer_is_result: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    const INSURER: &str = "Prairie Lantern Mutual Insurance Company";

    fn world(sender: &str, policies: &[&str]) -> (World, String) {
        let mut world = World::new();
        let props = json!({
            "deal_id": "d", "entity_id": "e", "insurer": INSURER, "status": "requested",
            "policy_numbers": policies, "lines": []
        });
        let id = world.put(LOSS_RUN_REQUEST, "r", props);
        world.mail(sender, "Loss runs", "attached");
        world.answers(&id);
        (world, id)
    }

    async fn asked(world: &World) -> Option<Review> {
        world.call(&MatchReply::new(), json!({})).await.unwrap().review.map(|review| *review)
    }

    #[tokio::test]
    async fn the_insurers_own_answer_finds_its_request() {
        for sender in ["desk@prairielantern.example", "noreply@claims.prairie-lantern-mutual.example"] {
            let (world, id) = world(sender, &["A-1"]);
            let outcome = world.call(&MatchReply::new(), json!({})).await.unwrap();
            assert!(outcome.review.is_none(), "{sender}");
            assert_eq!((&outcome.data["request_ids"], outcome.links.len()), (&json!([id]), 1));
        }
    }

    #[tokio::test]
    async fn an_answer_from_somebody_else_asks_and_a_person_decides() {
        let (mut world, _) = world("kim@hearthadjusters.example", &["A-1"]);
        let review = asked(&world).await.unwrap();
        assert!(review.reason.contains(INSURER) && review.reason.contains("kim@hearthadjusters.example"), "{review:?}");
        let answer = json!({CONFIRMED: true});
        assert!(jsonschema::is_valid(&review.schema, &answer));
        world.state(answer);
        assert!(asked(&world).await.is_none());
        world.state(json!({CONFIRMED: false}));
        assert!(world.call(&MatchReply::new(), json!({})).await.is_err());
    }

    #[tokio::test]
    async fn a_domain_that_only_contains_the_name_asks() {
        for sender in ["a@prairielantern.evil.example", "a@prairie-lantern-claims.example", "a@prairie.example"] {
            let (world, _) = world(sender, &["A-1"]);
            assert!(asked(&world).await.is_some(), "{sender}");
        }
    }

    #[tokio::test]
    async fn only_a_user_of_the_tenant_hands_on_an_insurers_answer() {
        let handed_on = |sender: &str| {
            let (mut world, _) = world(sender, &["A-1"]);
            world.user("kim@ironwoodlane.example", &[]);
            world.forwards("desk@prairielantern.example", sender);
            world
        };
        assert!(asked(&handed_on("Kim@ironwoodlane.example")).await.is_none());
        // A stranger writes to themselves, too, or from a domain that the organisation's mail has.
        for sender in ["kim@hearthadjusters.example", "kym@ironwoodlane.example"] {
            assert!(asked(&handed_on(sender)).await.is_some(), "{sender}");
        }
    }

    #[test]
    fn policy_numbers_are_the_same_but_for_their_term() {
        for (one, other) in [("PLM77001", "PLM77001"), ("PLM77001", "PLM7700102"), ("PLM7700102", "PLM77001")] {
            assert!(is_one_policy(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("A1", "PLMA100"),
            ("A1", "A102"),
            ("77001", "PLM77001"),
            ("PLM77001", "PLM770012"),
            ("PLM77001", "PLM77001002"),
            ("PLM77001", "PLM77001AB"),
            ("PLM7700101", "PLM7700102"),
        ] {
            assert!(!is_one_policy(one, other), "{one} {other}");
        }
    }

    #[tokio::test]
    async fn a_report_about_something_else_asks() {
        let (mut world, _) = world("desk@prairielantern.example", &["PLM-77001-01"]);
        let report = |number: &str| {
            let field = json!({"name": "policy_number", "group": "policies", "value": number});
            json!({"extractions": [{"n": 1, "fields": [field]}]})
        };
        world.state(report("PLM 77001"));
        assert!(asked(&world).await.is_none(), "the term is left out");
        world.state(report("ZZ 99"));
        assert!(asked(&world).await.unwrap().reason.contains("ZZ99"));
    }

    #[tokio::test]
    async fn a_token_that_is_none_of_ours_asks_and_none_at_all_does_not() {
        let mut world = World::new();
        world.mail("a@b.example", "Loss runs", "x");
        world.answers("019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
        assert!(asked(&world).await.is_some());
        world.mail("a@b.example", "Loss runs", "x");
        assert!(asked(&world).await.is_none());
        // A known insurer may answer what somebody else asked: that goes to a person at the end of the plan anyway.
        let resolver = crate::tests::insurer_tool();
        world.run(resolver.as_ref(), json!({"insurer_name": INSURER, "naic_number": "77001", "create": true})).await;
        world.mail("a@prairielantern.example", "Loss runs", "x");
        world.answers("019d2eae-b7a3-7eae-a7a3-2eaeb7a33a7b");
        assert!(asked(&world).await.is_none());
    }
}
