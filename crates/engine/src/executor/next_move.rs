//! What a run does next: a function of where it stands, and nothing else.

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunState {
    /// Whether signals have been left that the walk has not taken in.
    pub(super) has_news: bool,
    /// Whether somebody wants the task cancelled.
    pub(super) is_cancelled: bool,
    /// Whether the task is paused, or its process stops: it gives its lease back once nothing is on its way.
    pub(super) gives_back: bool,
    /// Whether the lease is somebody else's.
    pub(super) is_lost: bool,
    /// Whether the plan is known.
    pub(super) has_plan: bool,
    /// How the phases before the plan stand.
    pub(super) phases: Phases,
    /// Whether a step can begin, go on or run out of time, and has a place to do it.
    pub(super) can_begin: bool,
    /// The calls on their way, with the questions that are only written.
    pub(super) calls: usize,
    /// How many of them change something outside.
    pub(super) effectful: usize,
    /// How many of them are questions to a model.
    pub(super) asking: usize,
    /// How many of these are written, and for which nothing is reserved.
    pub(super) written: usize,
    /// The rows that the walk has taken in and the store has not.
    pub(super) rows: Rows,
}

/// How the phases before the plan stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phases {
    /// They have ended, or there are none.
    #[default]
    Over,
    /// One can be walked.
    Open,
    /// One waits for a person, or has failed.
    Stuck,
}

/// The rows that the store does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rows {
    /// There are none.
    #[default]
    None,
    /// They may wait for company, as long as the run waits for nothing but models.
    MayWait,
    /// They have to be on the disk before anybody outside is asked.
    Owed,
}

/// What a run does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextMove {
    /// Takes in the signals that have been left.
    TakeSignals,
    /// Gives up the calls on their way, none of which changes anything outside.
    GiveUpCalls,
    /// Walks the next phase.
    WalkPhase,
    /// Begins what can begin.
    Begin,
    /// Writes the rows that the store does not have.
    Write,
    /// Reserves for the questions that are written, writes what is owed together with that, and asks.
    Ask,
    /// Waits until a call ends, or something changes.
    Wait,
    /// Ends the task, or gives its lease back.
    Rest,
    /// Stops, and writes nothing of what is not its own any more.
    Leave,
}

/// The next move.
///
/// | when | it |
/// |---|---|
/// | signals have been left | takes them in |
/// | the task is cancelled, and what is on its way changes nothing outside | gives that up |
/// | nothing is on its way, and a phase can be walked | walks it |
/// | a step can begin, and no phase is before it | begins it |
/// | nothing is on its way | rests |
/// | rows wait, and anything but questions is on its way | writes them |
/// | rows are owed, or questions are written | reserves, writes and asks |
/// | otherwise | waits |
///
/// Who cancels, pauses or stops lets nothing new begin; a plan that came with the task waits until its documents have
/// been read.
pub(super) const fn next_move(state: &RunState) -> NextMove {
    let holds = state.is_cancelled || state.gives_back;
    let is_idle = state.calls == 0;
    if state.has_news {
        return NextMove::TakeSignals;
    }
    if state.is_cancelled && !is_idle && state.effectful == 0 {
        return NextMove::GiveUpCalls;
    }
    if is_idle && !holds && matches!(state.phases, Phases::Open) {
        return NextMove::WalkPhase;
    }
    let comes_now = state.has_plan && (!is_idle || matches!(state.phases, Phases::Over));
    if state.can_begin && comes_now && !holds && !state.is_lost {
        return NextMove::Begin;
    }
    if is_idle {
        // Without its lease a run knows nothing of the task's end.
        return if state.is_lost && !holds { NextMove::Leave } else { NextMove::Rest };
    }
    match state.rows {
        Rows::MayWait | Rows::Owed if state.asking < state.calls => NextMove::Write,
        Rows::Owed => NextMove::Ask,
        Rows::None | Rows::MayWait if state.written > 0 => NextMove::Ask,
        Rows::None | Rows::MayWait => NextMove::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walking() -> RunState {
        RunState { has_plan: true, ..RunState::default() }
    }

    fn asking(calls: usize) -> RunState {
        RunState { calls, asking: calls, ..walking() }
    }

    #[test]
    fn signals_come_before_everything() {
        let busy = RunState { can_begin: true, is_cancelled: true, rows: Rows::Owed, ..asking(2) };
        assert_eq!(next_move(&RunState { has_news: true, ..busy }), NextMove::TakeSignals);
        assert_eq!(next_move(&RunState { has_news: true, is_lost: true, ..walking() }), NextMove::TakeSignals);
    }

    #[test]
    fn a_cancel_gives_up_what_changes_nothing_outside_and_waits_for_what_does() {
        let cancelled = RunState { is_cancelled: true, can_begin: true, ..asking(1) };
        assert_eq!(next_move(&cancelled), NextMove::GiveUpCalls);
        let sends = RunState { asking: 0, effectful: 1, ..cancelled };
        assert_eq!(next_move(&sends), NextMove::Wait);
        assert_eq!(next_move(&RunState { calls: 0, effectful: 0, ..sends }), NextMove::Rest);
    }

    #[test]
    fn phases_come_before_the_plan_and_only_while_nothing_is_on_its_way() {
        let open = RunState { phases: Phases::Open, can_begin: true, ..walking() };
        assert_eq!(next_move(&open), NextMove::WalkPhase);
        assert_eq!(next_move(&RunState { phases: Phases::Stuck, ..open }), NextMove::Rest);
        assert_eq!(next_move(&RunState { gives_back: true, ..open }), NextMove::Rest);
        assert_eq!(next_move(&RunState { calls: 1, ..open }), NextMove::Begin);
        assert_eq!(next_move(&RunState { phases: Phases::Over, ..open }), NextMove::Begin);
        assert_eq!(next_move(&RunState { has_plan: false, phases: Phases::Stuck, ..open }), NextMove::Rest);
    }

    #[test]
    fn nothing_begins_in_a_task_that_is_held_or_lost() {
        let ready = RunState { can_begin: true, ..walking() };
        assert_eq!(next_move(&ready), NextMove::Begin);
        for held in [
            RunState { is_cancelled: true, ..ready },
            RunState { gives_back: true, ..ready },
            RunState { is_lost: true, gives_back: true, ..ready },
        ] {
            assert_eq!(next_move(&held), NextMove::Rest);
            assert_eq!(next_move(&RunState { calls: 1, effectful: 1, ..held }), NextMove::Wait);
        }
        assert_eq!(next_move(&RunState { is_lost: true, ..ready }), NextMove::Leave);
        assert_eq!(next_move(&RunState { is_lost: true, calls: 1, ..ready }), NextMove::Wait);
    }

    #[test]
    fn rows_wait_for_questions_only_and_what_is_owed_for_nobody() {
        assert_eq!(next_move(&RunState { rows: Rows::MayWait, ..asking(2) }), NextMove::Wait);
        assert_eq!(next_move(&RunState { rows: Rows::MayWait, calls: 3, ..asking(2) }), NextMove::Write);
        assert_eq!(next_move(&RunState { rows: Rows::Owed, calls: 3, ..asking(2) }), NextMove::Write);
        assert_eq!(next_move(&RunState { rows: Rows::Owed, ..asking(2) }), NextMove::Ask);
    }

    #[test]
    fn a_written_question_is_asked_whatever_else_is_on_its_way() {
        let written = RunState { written: 1, ..asking(1) };
        assert_eq!(next_move(&written), NextMove::Ask);
        assert_eq!(next_move(&RunState { calls: 2, ..written }), NextMove::Ask);
        assert_eq!(next_move(&RunState { rows: Rows::MayWait, ..written }), NextMove::Ask);
        assert_eq!(next_move(&asking(1)), NextMove::Wait);
    }
}
