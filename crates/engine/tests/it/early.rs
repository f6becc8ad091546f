//! Turns that begin while they are being stored: nobody is asked before they are, and nothing is left when they are not.

use kybern_core::approval::Word;
use kybern_core::budget::Budget;
use kybern_core::chat::Speaker;
use kybern_core::error::ErrorCode;
use kybern_core::model::Role;
use kybern_core::ports::LedgerStore as _;
use kybern_core::time::Millis;
use kybern_engine::approval::ApprovalDecision;
use kybern_testkit::Fault;
use kybern_testkit::models::Scripted;
use serde_json::json;

use crate::chats::{chat, contents, saying};
use crate::live::Live;
use crate::models::wide;
use crate::outside::pause;
use crate::turns::{calls, helper, provider, reading, says, scripted, sending};
use crate::world::World;

const LONG: Option<Millis> = Some(Millis(60_000));
/// A store that takes its time.
const SLOW: Fault = Fault::Stall(Millis(50));

impl Live<'_> {
    async fn is_reserved(&self, budget: &Budget) -> bool {
        let standing =
            self.world.store.standing(self.world.scope(), budget, self.world.clock()).await.unwrap().unwrap();
        !standing.reserved.is_zero()
    }
}

#[test]
fn the_budget_is_held_while_the_message_is_stored_and_the_model_is_asked_when_it_is() {
    let model = scripted(vec![says("Hello.")]);
    World::with([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let (chat, budget) = (chat(&live).await, live.limit(wide()).await);
        live.world.ails(Some(("submit", SLOW)));
        let mut said = Box::pin(live.engine.say(&live.world.actor, chat, saying("Hi!"), LONG));
        assert!(tokio::time::timeout(Millis(20).as_duration(), &mut said).await.is_err());
        assert!(live.is_reserved(&budget).await && contents(&live, chat).await.is_empty());
        assert_eq!(model.count(), 0, "nobody is asked for a turn that is not stored");
        assert_eq!(said.await.unwrap().content, "Hello.");
        assert_eq!((model.count(), live.settled(&budget).await.calls()), (1, 1));
    });
}

#[test]
fn a_message_that_is_refused_leaves_nothing_reserved() {
    let model = scripted(vec![Scripted::After(Millis(1_000), Box::new(says("Done.")))]);
    World::with([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let budget = live.limit(wide()).await;
        // The chat goes while something is said in it.
        live.world.ails(Some(("submit", SLOW)));
        let actor = &live.world.actor;
        let said = live.engine.say(actor, chat, saying("Hi!"), None);
        let gone = async {
            pause(Millis(10)).await;
            assert!(live.is_reserved(&budget).await);
            live.engine.delete_chat(actor, chat).await.unwrap();
        };
        let (refused, ()) = futures::join!(said, gone);
        assert_eq!(refused.unwrap_err().code(), ErrorCode::NotFound);
        live.settled(&budget).await;
        assert_eq!(model.count(), 0);
    });
}

#[test]
fn a_message_that_comes_while_another_one_is_answered_is_told_the_answer() {
    let model = scripted(vec![Scripted::After(Millis(100), Box::new(says("Seven."))), says("Eight.")]);
    World::with([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let actor = &live.world.actor;
        let both = [0, 1].map(|n| live.engine.say(actor, chat, saying(&n.to_string()), LONG));
        futures::future::join_all(both).await.into_iter().for_each(|turned| drop(turned.unwrap()));
        let said: Vec<Speaker> = contents(&live, chat).await.into_iter().map(|(role, _)| role).collect();
        assert_eq!(said, [Speaker::User, Speaker::Assistant, Speaker::User, Speaker::Assistant]);
        let told = model.asked()[1].messages.iter().filter(|one| one.role == Role::Assistant).count();
        assert_eq!((model.count(), told), (2, 1));
    });
}

#[test]
fn whoever_leaves_while_the_message_is_stored_is_answered_all_the_same() {
    let model = scripted(vec![says("Hello.")]);
    World::with([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
        let (chat, budget) = (chat(&live).await, live.limit(wide()).await);
        live.world.ails(Some(("submit", Fault::CrashAfter)));
        let said = live.engine.say(&live.world.actor, chat, saying("Hi!"), LONG);
        assert!(tokio::time::timeout(Millis(20).as_duration(), Box::pin(said)).await.is_err());
        live.world.ails(None);
        live.settled(&budget).await;
        assert_eq!(model.count(), 0, "who cannot know whether it was stored does nothing");
        let all = live.find(async || Some(contents(&live, chat).await).filter(|all| all.len() == 2)).await;
        assert_eq!((all[1].1.as_str(), model.count()), ("Hello.", 1));
    });
}

#[test]
fn a_turn_that_fails_before_it_is_stored_begins_anew_when_it_is() {
    // At once, or after a while: then nobody is there any more when its message is stored.
    for rules in [Fault::None, Fault::Stall(Millis(10))] {
        let model = scripted(vec![says("Hello.")]);
        World::with([]).asking(provider(&model)).employing([helper(&[])]).run(async |live| {
            let chat = chat(&live).await;
            let fails = ("tool_settings", Fault::Unavailable);
            live.world.ails([("submit", SLOW), ("user_rules", rules), fails]);
            let mut said = Box::pin(live.engine.say(&live.world.actor, chat, saying("Hi!"), LONG));
            assert!(tokio::time::timeout(Millis(20).as_duration(), &mut said).await.is_err());
            live.world.ails(None);
            let said = said.await.unwrap();
            assert_eq!((said.content.as_str(), model.count()), ("Hello.", 1));
            assert_eq!(live.engine.running(), 0, "its lease is not held for ever");
        });
    }
}

#[test]
fn nothing_is_gathered_behind_a_turn_that_waits_for_a_person() {
    let sends = calls(&[("t__send", json!({"to": "a@example.com"}))]);
    let model = scripted(vec![calls(&[("t__read", json!({}))]), sends, says("Sent."), says("Hello.")]);
    let helper = helper(&["t.read", "t.send"]);
    World::with([reading(), sending()]).asking(provider(&model)).employing([helper]).run(async |live| {
        let (chat, actor) = (chat(&live).await, &live.world.actor);
        let budget = live.limit(wide()).await;
        let first = live.engine.say(actor, chat, saying("Send it."), LONG).await.unwrap();
        live.settled(&budget).await;
        live.world.ails([("submit", SLOW)]);
        let mut second = Box::pin(live.engine.say(actor, chat, saying("Hi!"), LONG));
        assert!(tokio::time::timeout(Millis(20).as_duration(), &mut second).await.is_err());
        assert!(!live.is_reserved(&budget).await, "it would only wait");
        live.world.ails(None);
        let decision = ApprovalDecision { word: Word::Approve(None), note: None, resolution: None };
        live.engine.decide(actor, first.approval_id.unwrap(), decision).await.unwrap();
        assert_eq!(second.await.unwrap().content, "Hello.");
    });
}
