//! The sections beside a governed prompt, and which of them stay when they are too long together.

use super::layer::Layer;
use crate::money::Tokens;

words! {
    /// What a section is about, in the order in which sections stand.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = PromptSection))]
    pub enum SectionKind {
        /// Who the agent is, and how it works: the governed prompt itself.
        Base = "base",
        /// How long the user wants answers, and how they sound.
        Style = "style",
        /// What the user has told about themselves.
        Profile = "profile",
        /// What the user always wants.
        Instructions = "instructions",
        /// How tools are found and used.
        Tools = "tools",
        /// Triggers and plans, where there are tools for them.
        Automation = "automation",
        /// Where files may lie.
        Workspace = "workspace",
        /// What the agent can do.
        Capabilities = "capabilities",
        /// What it may do without asking. It only tells: the server decides.
        Autonomy = "autonomy",
        /// Day and time where the user is.
        Time = "time",
        /// What is known of the conversation.
        Conversation = "conversation",
    }
}

/// In which order sections are left out, from the last backwards. The base and autonomy stay always.
const LEFT_OUT: [SectionKind; 6] = [
    SectionKind::Conversation,
    SectionKind::Time,
    SectionKind::Capabilities,
    SectionKind::Workspace,
    SectionKind::Automation,
    SectionKind::Tools,
];

impl SectionKind {
    /// Where it stands: what the server says is beside the prompt, what the user has said among preferences.
    #[must_use]
    pub const fn layer(self) -> Layer {
        match self {
            Self::Base
            | Self::Tools
            | Self::Automation
            | Self::Workspace
            | Self::Capabilities
            | Self::Autonomy
            | Self::Time => Layer::Prompt,
            Self::Style | Self::Profile | Self::Instructions => Layer::Preferences,
            Self::Conversation => Layer::Retrieved,
        }
    }

    /// Whether the section stays however long it is: whoever asks has to refuse what is too long.
    #[must_use]
    pub fn stays(self) -> bool {
        matches!(self, Self::Base | Self::Autonomy)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// What it is about.
    pub kind: SectionKind,
    /// What it says.
    pub text: String,
    /// What follows it, item by item.
    pub items: Vec<String>,
    /// How many tokens it takes.
    pub tokens: Tokens,
}

impl Section {
    #[must_use]
    pub const fn new(kind: SectionKind, text: String, tokens: Tokens) -> Self {
        Self { kind, text, items: Vec::new(), tokens }
    }

    /// A section of a text and items, as many of which stay as there is room for.
    #[must_use]
    pub fn list(kind: SectionKind, text: &str, items: &[String]) -> Self {
        Self { kind, text: text.to_owned(), items: items.to_vec(), tokens: Tokens(0) }
    }

    /// As it is written down.
    #[must_use]
    pub fn written(&self) -> String {
        let mut written = self.text.clone();
        for item in &self.items {
            written.push_str(ITEM);
            written.push_str(item);
        }
        written
    }
}

/// What stands before an item.
const ITEM: &str = "\n- ";

/// What of preferences fits, in their order, and how many items of lists did not. Texts go first, then one item of each
/// list in turn, so that no long list takes the place of all others; a list is never there without an item.
#[must_use]
pub fn shortened(sections: Vec<Section>, room: Tokens, count: &dyn Fn(&str) -> Tokens) -> (Vec<Section>, usize) {
    let mut left = room.0;
    let mut take = |texts: &[&str]| {
        // The line break after it counts too.
        let tokens = texts.iter().map(|text| count(text).0).sum::<u64>() + 1;
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    let mut kept: Vec<(Section, Vec<String>)> = sections
        .into_iter()
        .map(|mut section| (std::mem::take(&mut section.items), section))
        .map(|(items, section)| (section, items))
        .collect();
    kept.retain(|(section, items)| !items.is_empty() || take(&[&section.text]));
    let longest = kept.iter().map(|(_, items)| items.len()).max().unwrap_or(0);
    for turn in 0..longest {
        for (section, items) in &mut kept {
            let Some(item) = items.get(turn) else { continue };
            let begins = if section.items.is_empty() { section.text.as_str() } else { "" };
            if take(&[begins, ITEM, item]) {
                section.items.push(item.clone());
            }
        }
    }
    let cut = kept.iter().map(|(section, items)| items.len() - section.items.len()).sum();
    kept.retain(|(section, items)| items.is_empty() || !section.items.is_empty());
    (kept.into_iter().map(|(section, _)| section).collect(), cut)
}

/// The sections that fit, in their order. Those that are too much are left out whole, in a fixed order; a base that
/// alone is too long stays as it is, and whoever asks has to refuse it.
#[must_use]
pub fn fitting(mut sections: Vec<Section>, share: Tokens) -> Vec<Section> {
    sections.sort_by_key(|section| section.kind);
    let mut total: u64 = sections.iter().map(|section| section.tokens.0).sum();
    for kind in LEFT_OUT {
        if total <= share.0 {
            break;
        }
        let of_kind = |section: &Section| section.kind == kind;
        total -= sections.iter().filter(|section| of_kind(section)).map(|section| section.tokens.0).sum::<u64>();
        sections.retain(|section| !of_kind(section));
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [SectionKind; 8] = [
        SectionKind::Base,
        SectionKind::Tools,
        SectionKind::Automation,
        SectionKind::Workspace,
        SectionKind::Capabilities,
        SectionKind::Autonomy,
        SectionKind::Time,
        SectionKind::Conversation,
    ];

    fn sections() -> Vec<Section> {
        // Out of order on purpose.
        let section = |kind| Section::new(kind, format!("{kind:?}"), Tokens(10));
        ALL.into_iter().rev().map(section).collect()
    }

    fn kinds(share: u64) -> Vec<SectionKind> {
        fitting(sections(), Tokens(share)).into_iter().map(|section| section.kind).collect()
    }

    #[test]
    fn what_fits_stands_in_its_order() {
        assert_eq!(kinds(100), ALL);
    }

    #[test]
    fn sections_are_left_out_from_the_last_backwards_and_never_the_base_nor_autonomy() {
        use SectionKind::{Autonomy, Base, Capabilities, Tools};
        assert_eq!(kinds(79), ALL[..7]);
        assert_eq!(kinds(69), ALL[..6], "time goes before capabilities, autonomy stays");
        assert!(kinds(50).contains(&Autonomy) && !kinds(50).contains(&Capabilities));
        assert_eq!(kinds(30), [Base, Tools, Autonomy]);
        assert_eq!(kinds(20), [Base, Autonomy]);
        assert_eq!(kinds(0), [Base, Autonomy], "never without them");
        assert!(kinds(0).into_iter().all(SectionKind::stays));
    }

    fn wishes() -> Vec<Section> {
        let items =
            |mark: &str, lengths: &[usize]| lengths.iter().map(|length| mark.repeat(*length)).collect::<Vec<_>>();
        vec![
            Section::new(SectionKind::Style, "Tone: formal.".to_owned(), Tokens(0)),
            Section::list(SectionKind::Instructions, "Always:", &items("i", &[10, 90, 10])),
            Section::list(SectionKind::Profile, "Facts:", &items("f", &[10, 10])),
        ]
    }

    fn letters(text: &str) -> Tokens {
        Tokens(u64::try_from(text.len()).unwrap())
    }

    fn shown(room: u64) -> (String, usize) {
        let (kept, cut) = shortened(wishes(), Tokens(room), &letters);
        (kept.iter().map(Section::written).collect::<Vec<_>>().join("\n"), cut)
    }

    #[test]
    fn preferences_are_shortened_item_by_item_and_their_style_last() {
        let (i, f) = ("i".repeat(10), "f".repeat(10));
        let all = format!("Tone: formal.\nAlways:\n- {i}\n- {}\n- {i}\nFacts:\n- {f}\n- {f}", "i".repeat(90));
        assert_eq!(shown(1_000), (all, 0));
        let most = format!("Tone: formal.\nAlways:\n- {i}\n- {i}\nFacts:\n- {f}\n- {f}");
        assert_eq!(shown(120), (most, 1), "what is too long goes, and what follows it stays");
        assert_eq!(shown(60), (format!("Tone: formal.\nAlways:\n- {i}\nFacts:\n- {f}"), 3), "one of each in turn");
        assert_eq!(shown(20), ("Tone: formal.".to_owned(), 5));
        assert_eq!(shown(5), (String::new(), 5));
    }

    proptest::proptest! {
        #[test]
        fn what_is_kept_of_preferences_fits(room in 0_u64..300) {
            let (text, cut) = shown(room);
            proptest::prop_assert!(letters(&text).0 <= room);
            proptest::prop_assert!(room < 200 || cut == 0);
        }
    }

    #[test]
    fn what_the_user_has_said_stands_in_a_weaker_layer_than_what_the_server_says() {
        assert!(SectionKind::Profile.layer() > SectionKind::Autonomy.layer());
        assert_eq!(SectionKind::Conversation.layer(), Layer::Retrieved);
    }
}
