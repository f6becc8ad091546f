//! `insurance.send_chase_email`: reminds an insurer of a request whose loss runs have not come, in the thread of the mail
//! that asked, at the address to which that went. The outbox says which that is: a record can be written by others.
//!
//! A request that was closed meanwhile, or never left, is not chased; the outcome says so, and the plan goes by that.

use kybern_core::error::ErrorCode;
use kybern_core::id::OutboxId;
use kybern_core::outbox::{NewOutbox, OutboxChannel, message_id};
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::Record;
use kybern_core::tool::{Risk, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::correspondence::{self, CORRESPONDENCE, Entry};
use super::letter::Letter;
use super::loss_run_request as request;
use super::send_loss_run_request::{MESSAGES, is_unsent};
use crate::args::{fields, text, texts};
use crate::change;

/// The member of a request that names the task that chases it.
pub(super) const CHASED_BY: &str = "chased_by";
/// What it holds where a task did and none does any more.
pub(super) const NOBODY: &str = "nobody";
/// Reminders of one request, by whomever: more would be a nuisance that no insurer answers.
const MAX_CHASES: usize = 5;
/// Policies that are told by their numbers.
const TOLD: usize = 5;

/// The tool.
#[must_use]
pub fn send_chase_email() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "request_id": {"type": "string", "format": "uuid"},
            "chase": {
                "type": ["string", "null"],
                "description": "the task that chases by schedule; nothing is sent where another has taken over"
            },
            "only_look": {"type": ["boolean", "null"], "description": "true sends nothing and only tells"}
        },
        "required": ["request_id"],
        "additionalProperties": false
    });
    let description = "Reminds the insurer of a loss-run request that was sent and not answered, in the same thread. \
                       request_open tells whether an answer is still to come.";
    let spec = ToolSpec {
        risk: Risk::R2,
        category: ToolCategory::NetworkWrite,
        needs: ToolNeeds { records: true, outbox: true, ..ToolNeeds::default() },
        // It reads records past its arguments, and they may hold what a stranger wrote.
        untrusted_output: true,
        ..ToolSpec::local("insurance.send_chase_email", description, schema).shown(
            &["loss run", "insurer", "chase", "remind"],
            json!({"request_id": "0198c1de-7c00-7000-8000-000000000001"}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let asked = request::named(context, &args).await?;
    let by = text(&asked.props, CHASED_BY);
    let taken_over = text(&args, "chase").is_some_and(|own| by.is_some_and(|by| by != own));
    let status = text(&asked.props, "status").unwrap_or_default();
    let only_look = args.get("only_look").and_then(Value::as_bool) == Some(true);
    let reason = if !request::is_awaited(&asked) {
        format!("the request is {status}")
    } else if taken_over {
        "another task chases the request, or nobody does any more".to_owned()
    } else if is_unsent(context, &asked).await? {
        "no mail of the request has left".to_owned()
    } else if correspondence::count_of(&asked.props, Entry::Chased) >= MAX_CHASES {
        format!("the insurer was reminded {MAX_CHASES} times already")
    } else if only_look {
        String::new()
    } else {
        return remind(context, &asked).await;
    };
    let open = request::is_awaited(&asked) && !taken_over;
    let outcome = ToolOutcome::new(told(&asked, open, None, &reason), format!("sent nothing; {reason}"));
    Ok(ToolOutcome { links: vec![change::resolve(&asked)], ..outcome })
}

async fn remind(context: &ToolContext, asked: &Record) -> Result<ToolOutcome, ToolFailure> {
    let thread = texts(&asked.props, MESSAGES);
    let Some(to) = request::receiver(context, &asked.props).await? else {
        let message = "no mail of the request is in the outbox any more, so nobody knows where it went; ask by hand";
        return Err(ToolFailure::permanent(message).code(ErrorCode::Conflict));
    };
    let outbox = OutboxId::from_uuid(context.ids.next());
    let message = message_id(outbox);
    let insured = request::insured(context, &asked.props).await?.unwrap_or_default();
    let letter = Letter { sender: &context.tenant_name, insured: &insured, id: asked.id };
    let (subject, body) = letter.chase(&asked.props, &request::missing(&asked.props));
    let mail = NewOutbox {
        id: outbox,
        channel: OutboxChannel::Email,
        target: to.clone(),
        key: context.key.clone(),
        body: json!({"subject": subject, "body": body, "references": thread}),
    };
    let messages: Vec<String> = thread.into_iter().chain([message.clone()]).collect();
    let entries = correspondence::with(context, &asked.props, Entry::Chased, (&to, Some(&message)));
    let changed = fields([(MESSAGES, json!(messages)), (CORRESPONDENCE, entries)]);
    let outcome = ToolOutcome::new(told(asked, true, Some(&to), ""), "queued a reminder as an e-mail");
    let records = vec![change::update(asked, changed, request::mail_lookups(&messages))];
    Ok(ToolOutcome { outbox: vec![mail], records, ..outcome })
}

/// What a plan goes by: `to` is where a reminder goes, and `why` says why none does.
fn told(request: &Record, open: bool, to: Option<&str>, why: &str) -> Map<String, Value> {
    let missing = request::missing(&request.props);
    let mut numbers: Vec<String> = missing.iter().take(TOLD).cloned().collect();
    if missing.len() > TOLD {
        numbers.push(format!("{} more", missing.len() - TOLD));
    }
    let reminders = correspondence::count_of(&request.props, Entry::Chased) + usize::from(to.is_some());
    fields([
        ("request_id", json!(request.id)),
        ("request_key", json!(request.key)),
        ("request_open", json!(open)),
        ("chased", json!(to.is_some())),
        ("reminders", json!(reminders)),
        ("not_chased_because", json!(why)),
        ("insurer", json!(text(&request.props, "insurer"))),
        ("sent_to", json!(to)),
        ("missing_policies", json!(numbers.join(", "))),
    ])
}

#[cfg(test)]
mod tests {
    use kybern_core::outbox::OutboxStatus;

    use super::*;
    use crate::insurance::kinds::LOSS_RUN_REQUEST;
    use crate::tests::World;

    fn world(more: Value) -> (World, String) {
        let mut world = World::new();
        let first = OutboxId::from_uuid(uuid::Uuid::from_u128(900));
        let mut props = json!({
            "deal_id": "d", "entity_id": "e", "insurer": "Prairie Lantern Mutual", "status": "requested",
            "policy_numbers": ["PLM-1", "PLM-2"], "lines": ["AL"], "sent_to": "desk@prairielantern.example",
            "message_ids": [message_id(first)]
        });
        props.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let id = world.put(LOSS_RUN_REQUEST, "r", props);
        world.outbox = vec![(first, OutboxStatus::Sent)];
        (world, id)
    }

    #[tokio::test]
    async fn a_reminder_goes_to_the_same_address_in_the_same_thread() {
        let (world, id) = world(json!({}));
        let outcome = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap();
        let mail = &outcome.outbox[0];
        assert_eq!(mail.target, "desk@prairielantern.example");
        let first = world.records(LOSS_RUN_REQUEST)[0].props["message_ids"][0].clone();
        assert_eq!(mail.body["references"], json!([first]));
        let (subject, body) = (mail.body["subject"].as_str().unwrap(), mail.body["body"].as_str().unwrap());
        assert!(subject.starts_with("Re: ") && subject.contains(&format!("[Request:{id}]")), "{subject}");
        assert!(body.contains("Policy number: PLM-1") && body.contains("Policy number: PLM-2"), "{body}");
        assert_eq!((&outcome.data["chased"], &outcome.data["request_open"]), (&json!(true), &json!(true)));
        world.write(&outcome);
        let props = &world.records(LOSS_RUN_REQUEST)[0].props;
        assert_eq!(props["correspondence"][0]["what"], "chased");
        assert_eq!(props["correspondence"][0]["message_id"], message_id(mail.id));
        // The next one goes on with both.
        let next = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap();
        assert_eq!(next.outbox[0].body["references"], json!([first, message_id(mail.id)]));
    }

    #[tokio::test]
    async fn the_address_is_that_of_the_mail_whatever_the_record_says() {
        let (mut world, id) = world(json!({"sent_to": "somebody@elsewhere.example"}));
        let outcome = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap();
        assert_eq!(outcome.outbox[0].target, world.receiver);
        world.outbox.clear();
        let failure = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap_err();
        assert_eq!(failure.code, ErrorCode::Conflict, "{failure:?}");
    }

    #[tokio::test]
    async fn the_request_is_found_by_each_of_its_mails() {
        let (world, id) = world(json!({}));
        let outcome = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap();
        let put = &outcome.records[0].put;
        let values: Vec<&str> = put.lookups.iter().map(|lookup| lookup.value.as_str()).collect();
        assert_eq!(json!(values), put.props["message_ids"]);
        assert_eq!(values.len(), 2);
    }

    #[tokio::test]
    async fn only_what_is_missing_is_asked_for_again() {
        let (world, id) = world(json!({
            "status": "received", "loss_runs": [{"policy_numbers": ["PLM 1"], "valuation_date": "2025-12-01"}]
        }));
        let outcome = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap();
        let body = outcome.outbox[0].body["body"].as_str().unwrap();
        assert!(body.contains("PLM-2") && !body.contains("PLM-1"), "{body}");
        assert_eq!(outcome.data["missing_policies"], "PLM-2");
    }

    #[tokio::test]
    async fn what_needs_no_reminder_gets_none() {
        for (more, open) in [
            (json!({"status": "closed"}), false),
            (json!({"status": "draft"}), false),
            (json!({"chased_by": "another"}), false),
        ] {
            let (world, id) = world(more.clone());
            let args = json!({"request_id": id, "chase": "this one"});
            let outcome = world.call(&send_chase_email(), args).await.unwrap();
            assert!(outcome.outbox.is_empty() && outcome.records.is_empty(), "{more}");
            assert_eq!(
                (&outcome.data["chased"], &outcome.data["request_open"]),
                (&json!(false), &json!(open)),
                "{more}"
            );
        }
        let (mut world, id) = world(json!({}));
        world.outbox[0].1 = OutboxStatus::Kept;
        let outcome = world.call(&send_chase_email(), json!({"request_id": id})).await.unwrap();
        assert!(outcome.outbox.is_empty(), "it never left");
        assert_eq!(outcome.data["request_open"], true, "somebody has to look");
    }

    #[tokio::test]
    async fn nobody_is_reminded_without_end() {
        let (world, id) = world(json!({}));
        for _ in 0..MAX_CHASES {
            world.run(&send_chase_email(), json!({"request_id": id})).await;
        }
        let data = world.run(&send_chase_email(), json!({"request_id": id})).await;
        assert_eq!((&data["chased"], &data["reminders"]), (&json!(false), &json!(MAX_CHASES)), "a person goes on");
        assert_eq!(data["request_open"], true);
    }
}
