//! What a caller wants made once, however often they ask for it.

use uuid::Uuid;

/// A request under an idempotency key. What it makes has ids that follow from its seed, so that a try after a crash
/// finds what the first one has made, and two tries at once cannot both make it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    seed: Uuid,
    repeated: bool,
}

impl Command {
    /// The command with that seed, a UUIDv7 that was minted when its key was taken first. `repeated` says whether an
    /// earlier try may have made something.
    #[must_use]
    pub fn new(seed: Uuid, repeated: bool) -> Self {
        Self { seed, repeated }
    }

    /// From which everything that it makes takes its id. As secret as what is made: keys are drawn from it too.
    #[must_use]
    pub fn seed(&self) -> Uuid {
        self.seed
    }

    /// Whether an earlier try may have made something.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// The id of the one thing of that noun that it makes: a UUIDv7 of the seed's millisecond, the same at every try.
    /// The seed does not follow from it.
    #[must_use]
    pub fn id_of(&self, noun: &str) -> Uuid {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.seed.as_bytes());
        hasher.update(noun.as_bytes());
        let mut bytes = [0_u8; 16];
        hasher.finalize_xof().fill(&mut bytes);
        bytes[..6].copy_from_slice(&self.seed.as_bytes()[..6]);
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        Uuid::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_the_seed_and_the_noun() {
        let seed = Uuid::from_u128(0x0190_0000_0001_7abc_8def_0123_4567_89ab);
        let (first, again) = (Command::new(seed, false), Command::new(seed, true));
        assert_eq!(first.id_of("user"), again.id_of("user"));
        assert_ne!(first.id_of("user"), first.id_of("key"));
        assert_ne!(first.id_of("user"), Command::new(Uuid::from_u128(seed.as_u128() + 1), false).id_of("user"));
    }

    #[test]
    fn ids_are_of_version_7_and_of_the_seeds_millisecond() {
        let seed = Uuid::from_u128(0x0190_0000_0001_7abc_8def_0123_4567_89ab);
        let id = Command::new(seed, false).id_of("task");
        assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        assert_eq!(id.as_bytes()[..6], seed.as_bytes()[..6]);
        assert_ne!(id.as_bytes()[6..], seed.as_bytes()[6..]);
    }
}
