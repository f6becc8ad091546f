//! The plans of the helpdesk, walked by hand.

use kybern_core::actor::Role;
use serde_json::json;

use super::walk::walk;
use super::world::World;

const TICKET: &str = "helpdesk.ticket";
const INCIDENT: &str = "helpdesk.incident_pipeline";

fn helpdesk() -> World {
    let mut world = World::new();
    world.user("lead@lanternworks.example", &[Role::Admin]);
    world
}

fn outage(world: &mut World) {
    world.mail("desk@bluefern.example", "Booking system is down", "Nobody can open it.\nProduct: Booking system");
}

#[tokio::test]
async fn a_severe_incident_is_escalated_and_gets_a_receipt() {
    let mut world = helpdesk();
    outage(&mut world);
    let result = walk(&mut world, INCIDENT).await.unwrap();
    assert_eq!((&result["ticket_is_new"], &result["severity"]), (&json!(true), &json!("critical")));
    let ticket = world.records(TICKET).remove(0);
    let prop = |name: &str| ticket.props[name].clone();
    assert_eq!((prop("status"), prop("escalated_because")), (json!("escalated"), json!("severity critical")));
    assert_eq!((prop("product"), prop("requester")), (json!("Booking system"), json!("desk@bluefern.example")));
    assert_eq!(world.present_state()["notification_queued"], true);
    assert_eq!(world.present_state()["reply_answers"], false);
    assert!(!prop("replied_at").is_null());
}

#[tokio::test]
async fn the_same_mail_in_another_task_makes_no_second_ticket_and_no_second_receipt() {
    let mut world = helpdesk();
    for n in 0..3 {
        world.next_task();
        outage(&mut world);
        let result = walk(&mut world, INCIDENT).await.unwrap();
        assert_eq!((&result["ticket_is_new"], world.records(TICKET).len()), (&json!(n == 0), 1));
        assert_eq!(world.present_state().contains_key("reply_body"), n == 0);
    }
    assert_eq!(world.records("helpdesk.requester").len(), 1);
}

#[tokio::test]
async fn a_plain_incident_is_not_escalated() {
    let mut world = helpdesk();
    world.mail("desk@bluefern.example", "Printer", "It jams, but it is not urgent.");
    let result = walk(&mut world, INCIDENT).await.unwrap();
    assert_eq!((&result["severity"], &world.records(TICKET)[0].props["status"]), (&json!("low"), &json!("open")));
}

#[tokio::test]
async fn questions_and_requests_for_access_wait_for_a_persons_answer() {
    for plan in ["helpdesk.question_pipeline", "helpdesk.access_request_pipeline"] {
        let mut world = helpdesk();
        world.mail("office@bluefern.example", "A calendar", "How do I share it? May we have access?");
        let (step, review) = walk(&mut world, plan).await.unwrap_err();
        assert_eq!((step.as_str(), review.title.as_deref()), ("draft", Some("What is the answer?")));
        assert_eq!(world.records(TICKET)[0].props["status"], "open");
        world.state(json!({"answer": "Choose Share."}));
        walk(&mut world, plan).await.unwrap();
        assert_eq!(world.present_state()["reply_answers"], true, "{plan}");
    }
}

#[tokio::test]
async fn a_text_message_ends_with_a_person_who_calls_back() {
    let mut world = helpdesk();
    world.sms("+15125550142", "The scanner is frozen");
    let (step, review) = walk(&mut world, INCIDENT).await.unwrap_err();
    assert_eq!((step.as_str(), world.records(TICKET).len()), ("call_back", 1));
    assert!(review.reason.contains("5125550142"), "{}", review.reason);
}

#[tokio::test]
async fn a_form_is_read_by_its_labels_and_asks_who_where_it_does_not_say() {
    let mut world = helpdesk();
    world.input("email: till2@bluefern.example\nproduct: Card reader\npriority: high\nmessage: It is offline.");
    let result = walk(&mut world, INCIDENT).await.unwrap();
    assert_eq!(result["severity"], "high");
    world.next_task();
    world.input("message: It is offline.");
    let (step, review) = walk(&mut world, INCIDENT).await.unwrap_err();
    assert_eq!((step.as_str(), review.title.as_deref()), ("open", Some("Who asks?")));
    assert_eq!(world.records(TICKET).len(), 1);
}
