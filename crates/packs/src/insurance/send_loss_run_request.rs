//! `insurance.send_loss_run_request`: sends a drafted request to the insurer's address.
//!
//! The mail carries the request's token, and its `Message-ID` is kept with the request, so that the answer finds back by
//! either. Mail and record are committed together: a request that has left, or may have, is never sent again. One whose
//! mails all stayed in the outbox, because nothing is configured to send them or the address was refused, has not left.
//! The letters of authority that the draft lists go along: their hashes are part of the version that is sent.
//!
//! With the mail a task begins that reminds the insurer as long as no answer is filed; it is committed with it. A new deal
//! is in progress from then on.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::id::{OutboxId, TaskId};
use kybern_core::outbox::{MailFile, NewOutbox, OutboxChannel, OutboxStatus, is_address, mail_of, message_id};
use kybern_core::policy::ToolCategory;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::Record;
use kybern_core::tool::{RecordChange, Risk, Submit, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec, Write};
use serde_json::{Map, Value, json};

use super::authority::{self, ATTACHMENTS};
use super::correspondence::{self, CORRESPONDENCE, Entry};
use super::kinds::DEAL;
use super::letter::Letter;
use super::loss_run_request as request;
use super::send_chase_email::{CHASED_BY, NOBODY};
use crate::args::{fields, text, texts};
use crate::{change, contact};

/// The member of a request that holds the `Message-ID`s of its mails, and of the one that says where they went.
pub(super) const MESSAGES: &str = "message_ids";
pub(super) const SENT_TO: &str = "sent_to";
/// The plan that reminds the insurer.
const CHASE_PLAN: &str = "insurance.loss_run_chase_pipeline";
/// Days until the first reminder, and between two, when the call does not say.
const CHASE_AFTER_DAYS: u64 = 7;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The tool.
#[must_use]
pub fn send_loss_run_request() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "request_id": {"type": "string", "format": "uuid"},
            "version": {"type": "integer", "minimum": 1, "description": "the version of the draft that is to be sent"},
            "to": {"type": "string", "minLength": 3, "maxLength": 254, "description": "the insurer's e-mail address"},
            "attach": {
                "type": ["boolean", "null"],
                "description": "false leaves out the letters that the draft lists under `attachments`"
            },
            "chase_after_days": {
                "type": ["integer", "null"], "minimum": 0, "maximum": 90,
                "description": "days until the first reminder, and between two; 0 sends none; 7 when left out"
            }
        },
        "required": ["request_id", "version", "to"],
        "additionalProperties": false
    });
    let description = "Sends a drafted loss-run request to the insurer by e-mail, once, so that the answer finds \
                       back to it, and reminds the insurer when none comes. One whose mails were kept or failed in the \
                       outbox can be sent again.";
    let spec = ToolSpec {
        risk: Risk::R2,
        category: ToolCategory::NetworkWrite,
        destinations: vec!["to".to_owned()],
        needs: ToolNeeds { records: true, outbox: true, plans: true, ..ToolNeeds::default() },
        // It reads records past its arguments, and they may hold what a stranger wrote.
        untrusted_output: true,
        ..ToolSpec::local("insurance.send_loss_run_request", description, schema).shown(
            &["loss run", "insurer", "send"],
            json!({"request_id": "0198c1de-7c00-7000-8000-000000000001", "version": 1, "to": "lossruns@example.com"}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let draft = request::named(context, &args).await?;
    if !request::is_draft(&draft) && !is_unsent(context, &draft).await? {
        let status = text(&draft.props, "status").unwrap_or_default();
        let message = format!("the request is {status}; only a draft is sent, or one whose mails never left");
        return Err(ToolFailure::permanent(message).code(ErrorCode::Conflict));
    }
    // Whoever says yes has read that version; policies that came since are not sent unseen.
    if args.get("version").and_then(Value::as_i64) != Some(draft.version) {
        let message = format!(
            "the draft has changed and is at version {}; read it again, and send it with that version",
            draft.version
        );
        return Err(ToolFailure::permanent(message).code(ErrorCode::Conflict));
    }
    let to = text(&args, "to").unwrap_or_default();
    if !is_address(&to) || contact::registered_label(&to).is_none() {
        let message = "to must be one e-mail address: a name, an @ and a host";
        return Err(ToolFailure::permanent(message).code(ErrorCode::Validation));
    }
    let outbox = OutboxId::from_uuid(context.ids.next());
    let message = message_id(outbox);
    let mut messages = texts(&draft.props, MESSAGES);
    messages.push(message.clone());
    let insured = request::insured(context, &draft.props).await?.unwrap_or_default();
    let attach = args.get("attach").and_then(Value::as_bool).unwrap_or(true);
    let files = if attach { authority::files(&draft.props) } else { Vec::new() };
    let mail = NewOutbox {
        id: outbox,
        channel: OutboxChannel::Email,
        target: to.clone(),
        key: context.key.clone(),
        body: written(context, &draft, &insured, &files),
    };
    let chase = chase(context, &draft, &args).await?;
    let changed = fields([
        ("status", json!("requested")),
        (SENT_TO, json!(to)),
        (MESSAGES, json!(messages)),
        (CHASED_BY, chased_by(&draft, chase.as_ref())),
        (CORRESPONDENCE, correspondence::with(context, &draft.props, Entry::Asked, (&to, Some(&message)))),
    ]);
    let data = fields([
        ("request_id", json!(draft.id)),
        ("notification_queued", json!(true)),
        ("outbox_id", json!(outbox)),
        ("attached_count", json!(files.len())),
        ("chase_task_id", json!(chase.as_ref().map(|chase| chase.id))),
    ]);
    let summary = match &chase {
        Some(_) => "queued the request as an e-mail, and reminders",
        None => "queued the request as an e-mail; nothing reminds the insurer",
    };
    let mut records = vec![change::update(&draft, changed, request::mail_lookups(&messages))];
    records.extend(begun(context, &draft).await?);
    let writes = chase.map(|chase| Write::Submit(Box::new(chase))).into_iter().collect();
    Ok(ToolOutcome { outbox: vec![mail], records, writes, ..ToolOutcome::new(data, summary) })
}

/// Who chases from now on. Where nobody is to, a task that did so before gives up.
fn chased_by(draft: &Record, chase: Option<&Submit>) -> Value {
    match chase {
        Some(chase) => json!(chase.id),
        None => json!(text(&draft.props, CHASED_BY).map(|_before| NOBODY)),
    }
}

/// The task that reminds the insurer; none when the call does not want one, or the plan cannot be walked.
async fn chase(
    context: &ToolContext,
    draft: &Record,
    args: &Map<String, Value>,
) -> Result<Option<Submit>, ToolFailure> {
    let days = args.get("chase_after_days").and_then(Value::as_u64).unwrap_or(CHASE_AFTER_DAYS);
    let plan = context.nouns.plans()?.find(CHASE_PLAN).await.map_err(ToolFailure::from)?;
    let Some(plan) = plan.filter(|plan| days > 0 && plan.quarantine.is_empty()) else { return Ok(None) };
    Ok(Some(Submit {
        id: TaskId::from_uuid(context.ids.next()),
        input: String::new(),
        payload: json!({"request_id": draft.id, "wait_ms": days * DAY_MS}),
        plan: Some(Arc::new(plan)),
    }))
}

/// A new deal is in progress once somebody was asked.
async fn begun(context: &ToolContext, draft: &Record) -> Result<Option<RecordChange>, ToolFailure> {
    let Some(id) = text(&draft.props, "deal_id").and_then(|id| id.parse().ok()) else { return Ok(None) };
    let deal = context.records()?.record_by_id(context.scope, id).await?.filter(|record| record.kind == DEAL);
    let is_new = |deal: &Record| text(&deal.props, "stage").as_deref() == Some("new");
    Ok(deal.filter(is_new).map(|deal| change::update(&deal, fields([("stage", json!("in_progress"))]), Vec::new())))
}

/// Whether the request counts as asked although none of its mails left.
pub(super) async fn is_unsent(context: &ToolContext, asked: &Record) -> Result<bool, ToolFailure> {
    let mails = texts(&asked.props, MESSAGES);
    if !request::is_awaited(asked) || mails.is_empty() {
        return Ok(false);
    }
    for mail in mails {
        let status = match mail_of(&mail) {
            Some(id) => context.outbox()?.status_of(context.scope, id).await?,
            None => None,
        };
        if !matches!(status, Some(OutboxStatus::Kept | OutboxStatus::Failed)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The mail: its text names what goes along.
fn written(context: &ToolContext, draft: &Record, insured: &str, files: &[MailFile]) -> Value {
    let letter = Letter { sender: &context.tenant_name, insured, id: draft.id };
    let (subject, body) = letter.sent(&draft.props, files);
    let mut mail = json!({"subject": subject, "body": body});
    if !files.is_empty() {
        mail[ATTACHMENTS] = json!(files);
    }
    mail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insurance::kinds::{ENTITY, LOSS_RUN_REQUEST};
    use crate::tests::World;

    fn world() -> (World, String) {
        let world = World::new();
        let entity = world.put(
            ENTITY,
            "dot:1",
            json!({"name": "Fern\r\nHollow [Request:1] LLC", "entity_type": "motor_carrier"}),
        );
        let props = json!({
            "deal_id": "d", "entity_id": entity, "insurer": "Prairie Lantern Mutual", "status": "draft",
            "policy_numbers": ["PLM-1", "[Request:0]"], "lines": ["AL"]
        });
        let id = world.put(LOSS_RUN_REQUEST, "r", props);
        (world, id)
    }

    #[tokio::test]
    async fn a_draft_is_sent_once_and_keeps_the_id_of_its_mail() {
        let (world, id) = world();
        let tool = send_loss_run_request();
        let args = json!({"request_id": id, "version": 1, "to": "desk@prairielantern.example"});
        let outcome = world.call(&tool, args.clone()).await.unwrap();
        let mail = &outcome.outbox[0];
        assert_eq!((mail.target.as_str(), &mail.key), ("desk@prairielantern.example", &world.key()));
        let subject = mail.body["subject"].as_str().unwrap();
        let about = "Fern  Hollow  Request:1  LLC, PLM-1,  Request:0 ";
        assert_eq!(subject, format!("Loss run request: {about} [Request:{id}]"));
        let body = mail.body["body"].as_str().unwrap();
        assert!(body.contains("Policy number: PLM-1"));
        assert_eq!(body.matches("[Request:").count(), 1, "{body}");
        world.write(&outcome);
        let sent = &world.records(LOSS_RUN_REQUEST)[0].props;
        assert_eq!((&sent["status"], &sent["sent_to"]), (&json!("requested"), &json!("desk@prairielantern.example")));
        assert_eq!(mail_of(sent["message_ids"][0].as_str().unwrap()), Some(mail.id));
        assert!(world.call(&tool, args).await.is_err(), "it has left");
    }

    #[tokio::test]
    async fn with_the_mail_a_chase_begins_and_the_deal_is_in_progress() {
        let (world, _) = world();
        let deal = world.put(
            DEAL,
            "d",
            json!({"entity_id": "e", "pipeline_type": "renewal", "stage": "new", "coverage_types": []}),
        );
        let props = json!({
            "deal_id": deal, "entity_id": "e", "insurer": "Prairie Lantern Mutual", "status": "draft",
            "policy_numbers": ["PLM-1"], "lines": ["AL"]
        });
        let id = world.put(LOSS_RUN_REQUEST, "s", props);
        let args = |days: Value| json!({"request_id": id, "version": 1, "to": "desk@prairielantern.example", "chase_after_days": days});
        let none = world.call(&send_loss_run_request(), args(json!(0))).await.unwrap();
        assert!(none.writes.is_empty() && none.data["chase_task_id"].is_null());
        for (days, wait) in [(Value::Null, 7 * DAY_MS), (json!(2), 2 * DAY_MS)] {
            let outcome = world.call(&send_loss_run_request(), args(days)).await.unwrap();
            let [Write::Submit(chase)] = &outcome.writes[..] else { panic!("{:?}", outcome.writes) };
            assert_eq!(chase.plan.as_ref().unwrap().key, CHASE_PLAN);
            assert_eq!(chase.payload, json!({"request_id": id, "wait_ms": wait}));
            let [request, begun] = &outcome.records[..] else { panic!("{:?}", outcome.records) };
            assert_eq!(request.put.props["chased_by"], json!(chase.id));
            assert_eq!(request.put.props["correspondence"][0]["what"], "asked");
            assert_eq!((begun.put.id.to_string(), &begun.put.props["stage"]), (deal.clone(), &json!("in_progress")));
        }
    }

    #[tokio::test]
    async fn the_letters_of_the_draft_go_along_unless_they_are_left_out() {
        let (world, id) = world();
        let draft = world.records(LOSS_RUN_REQUEST).remove(0);
        let hash = "a".repeat(64);
        let letter = json!({
            "task": "t", "n": 2, "filename": "loa [Request:2].pdf", "content_type": "application/pdf", "size": 6,
            "hash": hash
        });
        let change = change::update(&draft, fields([(ATTACHMENTS, json!([letter]))]), Vec::new());
        world.write(&ToolOutcome { records: vec![change], ..ToolOutcome::default() });
        let mut args = json!({"request_id": id, "version": 2, "to": "desk@prairielantern.example"});
        let mail = world.call(&send_loss_run_request(), args.clone()).await.unwrap().outbox.remove(0).body;
        let file =
            json!({"filename": "loa [Request:2].pdf", "contentType": "application/pdf", "size": 6, "hash": hash});
        assert_eq!(mail[ATTACHMENTS], json!([file]));
        let body = mail["body"].as_str().unwrap();
        assert!(body.contains("Attached: loa  Request:2 .pdf") && body.matches("[Request:").count() == 1, "{body}");
        args["attach"] = json!(false);
        let mail = world.call(&send_loss_run_request(), args).await.unwrap().outbox.remove(0).body;
        assert!(mail.get(ATTACHMENTS).is_none() && !mail["body"].as_str().unwrap().contains("Attached"), "{mail}");
    }

    #[tokio::test]
    async fn what_is_no_request_and_no_address_is_refused() {
        let (world, id) = world();
        let other = world.put("insurance.deal", "d", json!({"stage": "new"}));
        for (request, to) in [
            (&other, "desk@a.example"),
            (&id, "desk"),
            (&id, "@desk.example"),
            (&id, "a@b@c.example"),
            (&id, "a\u{7}@b.example"),
            (&id, "a@b.example,c@d.example"),
        ] {
            let args = json!({"request_id": request, "version": 1, "to": to});
            assert!(world.call(&send_loss_run_request(), args).await.is_err(), "{to}");
        }
    }

    #[tokio::test]
    async fn a_draft_that_has_moved_is_not_sent_unseen() {
        let (world, id) = world();
        let draft = world.records(LOSS_RUN_REQUEST).remove(0);
        let more = fields([("policy_numbers", json!(["PLM-1", "XX-9"]))]);
        let change = change::update(&draft, more, Vec::new());
        world.write(&ToolOutcome { records: vec![change], ..ToolOutcome::default() });
        let sent = |version: i64| json!({"request_id": id, "version": version, "to": "desk@prairielantern.example"});
        let failure = world.call(&send_loss_run_request(), sent(1)).await.unwrap_err();
        assert!(failure.message.contains("version 2"), "{failure:?}");
        assert!(world.call(&send_loss_run_request(), sent(2)).await.is_ok());
    }

    #[tokio::test]
    async fn a_request_whose_mails_never_left_can_be_sent_again() {
        let (mut world, id) = world();
        let tool = send_loss_run_request();
        let args = |version: i64| json!({"request_id": id, "version": version, "to": "desk@prairielantern.example"});
        let first = world.call(&tool, args(1)).await.unwrap();
        world.write(&first);
        for status in [OutboxStatus::Pending, OutboxStatus::Sending, OutboxStatus::Sent, OutboxStatus::Uncertain] {
            world.outbox = vec![(first.outbox[0].id, status)];
            let failure = world.call(&tool, args(2)).await.unwrap_err();
            assert!(failure.message.contains("requested"), "{status:?}: {failure:?}");
        }
        world.outbox = vec![(first.outbox[0].id, OutboxStatus::Kept)];
        let second = world.call(&tool, args(2)).await.unwrap();
        world.write(&second);
        let sent = texts(&world.records(LOSS_RUN_REQUEST)[0].props, MESSAGES);
        assert_eq!(sent, [message_id(first.outbox[0].id), message_id(second.outbox[0].id)]);
        // All of them must have stayed.
        world.outbox = vec![(first.outbox[0].id, OutboxStatus::Kept), (second.outbox[0].id, OutboxStatus::Sent)];
        assert!(world.call(&tool, args(3)).await.is_err());
        world.outbox[1].1 = OutboxStatus::Failed;
        assert!(world.call(&tool, args(3)).await.is_ok());
    }
}
