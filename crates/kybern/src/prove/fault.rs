//! What can go wrong in one run.

/// The one disturbance of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Fault {
    /// Everything goes well.
    #[default]
    None,
    /// The process dies once a call is about to leave; another process goes on.
    DiesBefore,
    /// The process dies when the call has had its effect and its answer is not written yet.
    DiesAfter,
    /// The process dies when a person's answer, or a callback, has been taken and not been worked on yet.
    DiesAnswered,
    /// The first try fails without an effect.
    FailsOnce,
    /// Every try fails without an effect.
    FailsForGood,
    /// The first try has its effect, and its answer is lost.
    AnswerLost,
    /// Every try has its effect, and answers later than it may.
    Slow,
    /// A workflow calls back twice.
    CalledBackTwice,
    /// A workflow calls back that it failed.
    CalledBackFailed,
    /// A workflow never calls back.
    NotCalledBack,
    /// A person refuses.
    Refused,
    /// A person answers a form, and says no wherever it asks for yes or no.
    AnsweredNo,
    /// No person ever answers.
    Unanswered,
    /// The condition of a step is false, and with it every condition of the same words.
    Skipped,
    /// A condition takes its other way.
    OtherWay,
}

impl Fault {
    /// What happens, in a sentence about that step; `what` is what the step calls or asks.
    pub(crate) fn told(self, step: &str, what: &str) -> String {
        match self {
            Self::None => "nothing goes wrong".to_owned(),
            Self::DiesBefore => format!("the process dies before {what} of {step} arrives"),
            Self::DiesAfter => {
                format!("the process dies after {what} of {step} took effect, before its answer is written")
            }
            Self::DiesAnswered => format!("the process dies when {step} has just been answered"),
            Self::FailsOnce => format!("{what} of {step} fails once, the next try succeeds"),
            Self::FailsForGood => format!("{what} of {step} fails for good"),
            Self::AnswerLost => format!("{what} of {step} takes effect, and its answer is lost"),
            Self::Slow => format!("{what} of {step} takes effect, and answers later than its timeout"),
            Self::CalledBackTwice => format!("{what} of {step} calls back twice"),
            Self::CalledBackFailed => format!("{what} of {step} calls back that it failed"),
            Self::NotCalledBack => format!("{what} of {step} never calls back"),
            Self::Refused => format!("a person refuses {step}"),
            Self::AnsweredNo => format!("a person answers no in {step}"),
            Self::Unanswered => format!("nobody answers {step}"),
            Self::Skipped => format!("{step} is skipped"),
            Self::OtherWay => format!("{step} takes its other way"),
        }
    }

    /// Its name in reports for machines.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::DiesBefore => "dies_before",
            Self::DiesAfter => "dies_after",
            Self::DiesAnswered => "dies_answered",
            Self::FailsOnce => "fails_once",
            Self::FailsForGood => "fails_for_good",
            Self::AnswerLost => "answer_lost",
            Self::Slow => "slow",
            Self::CalledBackTwice => "called_back_twice",
            Self::CalledBackFailed => "called_back_failed",
            Self::NotCalledBack => "not_called_back",
            Self::Refused => "refused",
            Self::AnsweredNo => "answered_no",
            Self::Unanswered => "unanswered",
            Self::Skipped => "skipped",
            Self::OtherWay => "other_way",
        }
    }

    /// Whether the end must be that of the run in which nothing goes wrong.
    pub(crate) const fn is_survived(self) -> bool {
        matches!(
            self,
            Self::None
                | Self::DiesBefore
                | Self::DiesAfter
                | Self::DiesAnswered
                | Self::FailsOnce
                | Self::AnswerLost
                | Self::CalledBackTwice
        )
    }
}
