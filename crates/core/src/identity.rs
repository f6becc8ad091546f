//! Tenants, users and keys. A key is shown once; only its keyed hash is stored.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::actor::{Right, Role, grant};
use crate::id::{KeyId, TenantId, UserId, WebhookId};
use crate::time::Timestamp;

/// A tenant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name.
    pub name: String,
    /// The local part of its intake address.
    pub slug: String,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Tenant {
    /// The name and the slug of the [first one](TenantId::DEFAULT).
    pub const FIRST: &str = "default";
}

/// A user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: String,
    /// Their roles.
    pub roles: Vec<Role>,
    /// Their IANA time zone.
    pub timezone: String,
    /// When they were created.
    pub created_at: Timestamp,
    /// Who made the account. Where two persons are asked for, both count as one.
    #[cfg_attr(feature = "schema", schema(required))]
    pub made_by_user_id: Option<UserId>,
}

/// An API key as it is stored and shown: never the key itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub id: KeyId,
    pub user_id: UserId,
    pub name: String,
    /// Its first characters, to recognise it by.
    pub prefix: String,
    /// Roles it has beyond none; empty means its user's.
    pub roles: Vec<Role>,
    /// What narrows it; empty means nothing.
    pub scopes: Vec<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, by itself or with a key that it was made with.
    pub revoked_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The key it was made with. When that one is revoked, it does not work any more either.
    pub made_by_key_id: Option<KeyId>,
    /// Who made it, and so has seen it.
    pub made_by_user_id: Option<UserId>,
}

impl ApiKey {
    /// How every key begins.
    pub const BEGINS: &str = "kyb_";
    /// Characters that one has at least.
    pub const MIN_CHARS: usize = 32;

    /// What keeps a text from being a key, as what is said of it; `None` when nothing does.
    #[must_use]
    pub fn fault_of(text: &str) -> Option<String> {
        if !text.starts_with(Self::BEGINS) {
            return Some(format!("does not begin with {}", Self::BEGINS));
        }
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            return Some("has a character other than letters, digits and signs of ASCII".to_owned());
        }
        // One byte each, by now.
        (text.len() < Self::MIN_CHARS).then(|| format!("has fewer than {} characters", Self::MIN_CHARS))
    }
}

/// Who made whose accounts and keys. Whoever makes an account or a key for somebody can act as them, so where two
/// persons are asked for, they count as one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccountMakers(BTreeMap<UserId, BTreeSet<UserId>>);

/// Pairs of somebody and who has made their account or a key of theirs.
impl FromIterator<(UserId, UserId)> for AccountMakers {
    fn from_iter<T: IntoIterator<Item = (UserId, UserId)>>(pairs: T) -> Self {
        let mut makers: BTreeMap<UserId, BTreeSet<UserId>> = BTreeMap::new();
        for (made, maker) in pairs.into_iter().filter(|(made, maker)| made != maker) {
            makers.entry(made).or_default().insert(maker);
        }
        Self(makers)
    }
}

impl AccountMakers {
    /// Whether two users count as one person: they are the same, or one of them made the other, or made who made them,
    /// and so on.
    #[must_use]
    pub fn are_one(&self, one: UserId, other: UserId) -> bool {
        one == other || self.has_made(one, other) || self.has_made(other, one)
    }

    /// Who made both of two users, directly or through others. They count as two persons, because an administrator makes
    /// everybody's account; whether they are is for whoever reads the audit.
    #[must_use]
    pub fn common(&self, one: UserId, other: UserId) -> BTreeSet<UserId> {
        self.above(one).intersection(&self.above(other)).copied().collect()
    }

    fn has_made(&self, maker: UserId, made: UserId) -> bool {
        self.above(made).contains(&maker)
    }

    /// Who made a user, and who made those, without the user.
    fn above(&self, made: UserId) -> BTreeSet<UserId> {
        let (mut known, mut open) = (BTreeSet::from([made]), vec![made]);
        while let Some(user) = open.pop() {
            let makers = self.0.get(&user).into_iter().flatten();
            open.extend(makers.copied().filter(|maker| known.insert(*maker)));
        }
        known.remove(&made);
        known
    }
}

/// What a key proves: whose it is and what that user may do. Read in one query by the key's hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyHolder {
    pub tenant: TenantId,
    pub user: UserId,
    pub key: KeyId,
    /// The roles that hold: the key's own, where it has any, limited to its user's.
    pub roles: Vec<Role>,
    /// What narrows it.
    pub scopes: Vec<String>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

impl KeyHolder {
    /// Whether the key has every right: neither its roles nor its scopes leave one out.
    #[must_use]
    pub fn opens_all(&self) -> bool {
        Right::ALL.into_iter().all(|right| grant(&self.roles, &self.scopes, right))
    }
}

/// A subscription to the ends of tasks: each is POSTed, signed after Standard Webhooks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboundWebhook {
    pub id: WebhookId,
    pub url: String,
    /// Which events; empty means all of `task.completed`, `task.failed`, `task.cancelled`, `task.needs_review`.
    pub events: Vec<String>,
    /// Whether it is in use.
    pub active: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn id(n: u8) -> UserId {
        UserId::from_uuid(Uuid::from_u128(u128::from(n)))
    }

    /// Who was made by whom.
    fn makers(pairs: &[(u8, u8)]) -> AccountMakers {
        pairs.iter().map(|(made, maker)| (id(*made), id(*maker))).collect()
    }

    #[test]
    fn what_is_wrong_with_a_key_is_one_thing() {
        let long = "k".repeat(28);
        for (text, fault) in [
            (format!("kyb_{long}"), None),
            (format!("key_{long}"), Some("does not begin with kyb_")),
            (format!("kyb_{}", &long[1..]), Some("has fewer than 32 characters")),
            // 32 bytes, and fewer characters.
            (format!("kyb_{}é", &long[2..]), Some("has a character other than letters, digits and signs of ASCII")),
            (format!("kyb_{long} "), Some("has a character other than letters, digits and signs of ASCII")),
        ] {
            assert_eq!(ApiKey::fault_of(&text).as_deref(), fault, "{text}");
        }
    }

    #[test]
    fn who_made_an_account_or_a_key_counts_as_its_holder_in_both_directions() {
        // 1 made the account of 2, and 2 a key for 3; 4 made a key for 5. 6 made one for itself.
        let makers_of = makers(&[(2, 1), (3, 2), (5, 4), (6, 6)]);
        let one = [(1, 2), (2, 3), (1, 3), (4, 5)];
        for (a, b) in (1..=6).flat_map(|a| (1..=6).map(move |b| (a, b))) {
            let expected = a == b || one.contains(&(a, b)) || one.contains(&(b, a));
            assert_eq!(makers_of.are_one(id(a), id(b)), expected, "{a} {b}");
        }
        let makers_of_both = makers(&[(2, 1), (3, 1), (4, 3)]);
        let common = |one: u8, other: u8| makers_of_both.common(id(one), id(other)).into_iter().collect::<Vec<_>>();
        assert_eq!((common(2, 4), common(1, 2)), (vec![id(1)], Vec::new()));
        let both = makers(&[(2, 1), (3, 1)]);
        assert!(!both.are_one(id(2), id(3)), "two that a third made are two");
    }

    proptest! {
        #[test]
        fn it_is_mutual_and_ends(made in prop::collection::vec((0_u8..6, 0_u8..6), 0..20), a in 0_u8..6, b in 0_u8..6) {
            let makers = makers(&made);
            prop_assert_eq!(makers.are_one(id(a), id(b)), makers.are_one(id(b), id(a)));
            prop_assert!(makers.are_one(id(a), id(a)));
            prop_assert!(made.iter().all(|(user, by)| makers.are_one(id(*user), id(*by))));
        }
    }
}
