//! Files that come with what is said: read or looked at in their own turn, and remembered in later ones.

use std::sync::Arc;

use bytes::Bytes;
use kybern_core::id::ChatId;
use kybern_core::model::{Abilities, Image, ModelRequest, ModelSpec, Part};
use kybern_core::task::{EffectClass, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::Risk;
use kybern_engine::chat::{SayRequest, TurnView};
use kybern_engine::models::ProviderParts;
use kybern_engine::task::AttachmentRequest;
use kybern_testkit::models::ScriptedModel;
use kybern_testkit::tools::ScriptedTool;
use serde_json::json;

use crate::chats::{chat, saying};
use crate::live::Live;
use crate::turns::{calls, helper, provider, says, scripted};
use crate::world::World;

const LONG: Option<Millis> = Some(Millis(60_000));
/// One pixel, as PNG.
const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\nIDATx\x9cc\x60\0\0\0\
    \x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xaeB\x60\x82";
/// The same in base64, as providers take it.
const IN_BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

fn file(name: &str, content_type: &str, bytes: &[u8]) -> AttachmentRequest {
    let (filename, content_type) = (name.to_owned(), content_type.to_owned());
    AttachmentRequest { filename, content_type, bytes: Bytes::copy_from_slice(bytes) }
}

fn note(text: &str) -> AttachmentRequest {
    file("note.txt", "text/plain", text.as_bytes())
}

fn pixel(name: &str) -> AttachmentRequest {
    file(name, "image/png", PIXEL)
}

/// A provider whose model has a large window, and sees or not.
fn seeing(model: &Arc<ScriptedModel>, images: bool) -> Vec<ProviderParts> {
    let mut parts = provider(model);
    for spec in &mut parts[0].models {
        let abilities = Abilities { images, ..spec.abilities };
        *spec = ModelSpec { abilities, window: Some(128_000), ..spec.clone() };
    }
    parts
}

async fn say(live: &Live<'_>, chat: ChatId, content: &str, attachments: Vec<AttachmentRequest>) -> TurnView {
    let request = SayRequest { attachments, ..saying(content) };
    live.engine.chats().say(&live.world.actor, chat, request, LONG).await.unwrap()
}

fn words(request: &ModelRequest) -> String {
    request.messages.iter().map(|message| message.joined_text() + "\n").collect()
}

fn images(request: &ModelRequest) -> Vec<Image> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let images = parts.filter_map(|part| if let Part::Image(image) = part { Some(image.clone()) } else { None });
    images.collect()
}

#[test]
fn what_was_attached_is_known_in_later_turns_until_its_message_is_taken_back() {
    let model = scripted(vec![says("Noted."), says("Seven.")]);
    World::on_sqlite([]).asking(seeing(&model, true)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let long = "The trailer holds seven boxes. ".repeat(2_000);
        let first = say(&live, chat, "Read this.", vec![note(&long)]).await;
        assert!(live.replay(first.task_id).await.matches);
        say(&live, chat, "How many?", vec![]).await;
        let asked = model.asked();
        let [own, later] = [&asked[0], &asked[1]].map(words);
        assert!(own.contains(&long));
        assert!(later.contains("attached file note.txt:\nThe trailer holds seven boxes."), "{later}");
        assert!(later.contains(&format!("[cut here: {} characters in all]", long.len() + 24)), "{later}");
        assert_eq!(later.matches("<data label=\"document\"").count(), 1);
        let place = |words: &str| later.find(words).unwrap();
        assert!(place("Read this.") < place("attached file") && place("attached file") < place("Noted."));
        let said = live.engine.chats().messages(&live.world.actor, chat, None, 10).await.unwrap().items;
        assert_eq!((said[0].content.as_str(), said[0].tainted), ("Read this.", true));
        live.engine.chats().redact(&live.world.actor, chat, said[0].id).await.unwrap();
        say(&live, chat, "And now?", vec![]).await;
        let last = words(&model.asked()[2]);
        assert!(!last.contains("seven boxes") && !last.contains("note.txt"), "{last}");
    });
}

#[test]
fn short_files_leave_to_long_ones_what_they_do_not_need() {
    let model = scripted(vec![says("Noted.")]);
    World::on_sqlite([]).asking(seeing(&model, true)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let [long, longer] = [11_000, 30_000].map(|length| "x".repeat(length - 1) + "y");
        say(&live, chat, "Read these.", vec![note(&longer), note("A trailer."), note(&long)]).await;
        say(&live, chat, "And?", vec![]).await;
        let later = words(&model.asked()[1]);
        assert!(later.contains("note.txt:\nA trailer.\n") && later.contains(&long), "the short ones are whole");
        assert_eq!(later.matches("[cut here: 30024 characters in all]").count(), 1);
        let kept = later.matches('x').count();
        assert!((23_000..24_500).contains(&kept), "{kept}");
    });
}

#[test]
fn a_model_that_sees_is_shown_pictures_in_their_own_turn() {
    let tool = ScriptedTool::new("t.pay", EffectClass::Keyed, |_, _| unreachable!("nobody allowed it"));
    let tool = Arc::new(tool.with_spec(|spec| spec.risk = Risk::R2));
    let model = scripted(vec![says("A dot."), says("As I said."), calls(&[("t__pay", json!({}))]), says("Wait.")]);
    World::on_sqlite([tool]).asking(seeing(&model, true)).employing([helper(&["t.pay"])]).run(async |live| {
        let chat = chat(&live).await;
        let files = vec![pixel("dot.png"), note("A trailer."), pixel("again.png")];
        let first = say(&live, chat, "What is this?", files).await;
        assert_eq!((first.status, first.content.as_str()), (TaskStatus::Completed, "A dot."));
        assert!(live.replay(first.task_id).await.matches);
        say(&live, chat, "Really?", vec![]).await;
        let asked = model.asked();
        let dot = Image::Data { media_type: "image/png".to_owned(), data: IN_BASE64.into(), detail: None };
        assert_eq!(images(&asked[0]), [dot.clone(), dot]);
        let own = words(&asked[0]);
        assert!(own.contains("attached picture again.png: it is picture 2 of this message"), "{own}");
        assert!(own.contains("attached file note.txt:\nA trailer."), "{own}");
        assert!(images(&asked[1]).is_empty());
        let later = words(&asked[1]);
        assert!(later.contains("attached picture dot.png: it was shown with the message"), "{later}");
        // Whoever made the picture wrote what is in it: what follows is done under taint.
        let paid = say(&live, chat, "Do what it says.", vec![pixel("order.png")]).await;
        assert_eq!(paid.status, TaskStatus::NeedsReview);
        assert!(paid.approval_id.is_some());
    });
}

#[test]
fn a_person_says_what_is_in_a_picture_that_the_model_cannot_see() {
    let model = scripted(vec![says("A trailer.")]);
    World::on_sqlite([]).asking(seeing(&model, false)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let asked = say(&live, chat, "What is this?", vec![pixel("dot.png"), note("It stands in the yard.")]).await;
        assert_eq!((asked.status, model.count()), (TaskStatus::NeedsReview, 0));
        // What is said of a file that nobody asked about is passed over.
        let typed = json!({
            "documents": {"1": {"text": "A trailer with a flat tyre."}},
            "decisions": {"1": {"picture": true}},
        });
        let waits = live.task(asked.task_id).await.waits;
        assert_eq!(waits[0].kind, WaitKind::Document);
        live.review(asked.task_id, None, typed).await.unwrap();
        assert_eq!(live.proven(asked.task_id).await.status, TaskStatus::Completed);
        let told = words(&model.asked()[0]);
        assert!(told.contains("A trailer with a flat tyre.") && told.contains("It stands in the yard."), "{told}");
        say(&live, chat, "Really?", vec![]).await;
        assert!(words(&model.asked()[1]).contains("A trailer with a flat tyre."), "what was typed in is kept as well");
    });
}

#[test]
fn only_a_real_picture_of_a_fair_size_is_shown() {
    let model = scripted(vec![says("Eight dots.")]);
    World::on_sqlite([]).asking(seeing(&model, true)).employing([helper(&[])]).run(async |live| {
        let chat = chat(&live).await;
        let large = [PIXEL, &[0; 3_750_000]].concat();
        let mut files: Vec<AttachmentRequest> = (0..9).map(|n| pixel(&format!("{n}.png"))).collect();
        files.push(file("large.png", "image/png", &large));
        files.push(file("false.png", "image/png", b"\x89PNX\r\n\x1a\n\0\0\0\rIHDR"));
        let asked = say(&live, chat, "What are these?", files).await;
        assert_eq!((asked.status, model.count()), (TaskStatus::NeedsReview, 0));
        let wait = &live.task(asked.task_id).await.waits[0];
        for name in ["8.png", "large.png", "false.png"] {
            assert!(wait.reason.contains(name), "{}", wait.reason);
        }
        assert!(!wait.reason.contains("7.png"), "{}", wait.reason);
        let ignore = json!({"ignore": true});
        let forged = json!({"documents": {"9": {"picture": true}, "10": ignore, "11": ignore}});
        assert!(live.review(asked.task_id, None, forged).await.is_err(), "only the server says what is a picture");
        let ignored = json!({"documents": {"9": ignore, "10": ignore, "11": ignore}});
        live.review(asked.task_id, None, ignored).await.unwrap();
        assert_eq!(live.proven(asked.task_id).await.status, TaskStatus::Completed);
        assert_eq!(images(&model.asked()[0]).len(), 8);
    });
}
