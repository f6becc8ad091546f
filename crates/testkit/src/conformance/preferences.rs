//! What users want to be answered like.

use kybern_core::error::ErrorCode;
use kybern_core::id::UserId;
use kybern_core::preference::{Formality, Preferences, Profile, ResponseLength};

use super::fixture::code;
use super::{FullHarness, World};

fn said() -> Preferences {
    Preferences {
        response_length: ResponseLength::Concise,
        formality: Formality::Formal,
        custom_instructions: vec!["Use metric units.".to_owned(), "Überschriften \"nie\"".to_owned()],
        profile: Profile {
            name: Some("Ada".to_owned()),
            interests: vec!["freight".to_owned()],
            goals: Vec::new(),
            facts: vec!["Works from Lisbon".to_owned()],
        },
        updated_at: None,
    }
}

pub async fn preferences_are_said_changed_and_taken_back(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let store = w.store();
    let read = async || (*store.preferences(home.scope, home.user).await.unwrap()).clone();
    assert_eq!(read().await, Preferences::default());
    let other = Preferences { formality: Formality::Casual, ..Preferences::default() };
    for next in [Some(said()), Some(other), None] {
        let event = w.event("preferences.set");
        store.set_preferences(home.scope, home.user, next.as_ref(), w.now(), event).await.unwrap();
        let expected = next.map(|said| Preferences { updated_at: Some(w.now()), ..said }).unwrap_or_default();
        assert_eq!(Preferences { updated_at: expected.updated_at, ..read().await }, expected, "it holds at once");
        assert_eq!(read().await.updated_at.is_some(), expected.updated_at.is_some());
    }
    assert_eq!(w.acts_of(&home, "preferences.set").await, 3);
}

pub async fn preferences_are_one_users_own(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let store = w.store();
    store.set_preferences(home.scope, home.user, Some(&said()), w.now(), w.event("preferences.set")).await.unwrap();
    for (scope, user) in [(home.scope, other.user), (other.scope, home.user), (other.scope, other.user)] {
        assert_eq!(*store.preferences(scope, user).await.unwrap(), Preferences::default());
    }
    for user in [home.user, UserId::from_uuid(w.id())] {
        let refused = store.set_preferences(other.scope, user, Some(&said()), w.now(), w.event("x.y")).await;
        assert_eq!(code(refused), ErrorCode::NotFound);
    }
}
