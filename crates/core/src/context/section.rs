//! The sections beside a governed prompt, and which of them stay when they are too long together.

use serde::Serialize;

use super::layer::Layer;
use crate::money::Tokens;

/// What a section is about, in the order in which sections stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// Who the agent is, and how it works: the governed prompt itself.
    Base,
    /// What the user has told about themselves.
    Profile,
    /// What the user always wants.
    Instructions,
    /// How tools are found and used.
    Tools,
    /// Triggers and plans, where there are tools for them.
    Automation,
    /// Where files may lie.
    Workspace,
    /// What the agent can do.
    Capabilities,
    /// What it may do without asking. It only tells: the server decides.
    Autonomy,
    /// Day and time where the user is.
    Time,
    /// What is known of the conversation.
    Conversation,
}

/// In which order sections are left out: from the last backwards, autonomy at the very end. The base stays always.
const LEFT_OUT: [SectionKind; 9] = [
    SectionKind::Conversation,
    SectionKind::Time,
    SectionKind::Capabilities,
    SectionKind::Workspace,
    SectionKind::Automation,
    SectionKind::Tools,
    SectionKind::Instructions,
    SectionKind::Profile,
    SectionKind::Autonomy,
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
            Self::Profile | Self::Instructions => Layer::Preferences,
            Self::Conversation => Layer::Retrieved,
        }
    }
}

/// A section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// What it is about.
    pub kind: SectionKind,
    /// What it says.
    pub text: String,
    /// How many tokens it takes.
    pub tokens: Tokens,
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

    const ALL: [SectionKind; 10] = [
        SectionKind::Base,
        SectionKind::Profile,
        SectionKind::Instructions,
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
        let section = |kind| Section { kind, text: format!("{kind:?}"), tokens: Tokens(10) };
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
    fn sections_are_left_out_from_the_last_backwards_and_autonomy_after_all_others() {
        use SectionKind::{Autonomy, Base, Capabilities, Instructions, Profile, Tools};
        assert_eq!(kinds(99), ALL[..9]);
        assert_eq!(kinds(89), [&ALL[..8]].concat(), "time goes before capabilities, autonomy stays");
        assert!(kinds(70).contains(&Autonomy) && !kinds(70).contains(&Capabilities));
        assert_eq!(kinds(50), [Base, Profile, Instructions, Tools, Autonomy]);
        assert_eq!(kinds(20), [Base, Autonomy]);
        assert_eq!(kinds(10), [Base]);
        assert_eq!(kinds(0), [Base], "never without itself");
    }

    #[test]
    fn what_the_user_has_said_stands_in_a_weaker_layer_than_what_the_server_says() {
        assert!(SectionKind::Profile.layer() > SectionKind::Autonomy.layer());
        assert_eq!(SectionKind::Conversation.layer(), Layer::Retrieved);
    }
}
