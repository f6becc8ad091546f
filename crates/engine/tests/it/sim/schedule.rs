//! What goes wrong, and what persons do, while a program runs.

use std::collections::BTreeMap;

use kybern_core::time::Millis;
use kybern_testkit::Fault;

use super::crowd::Crowd;
use super::dice::Dice;
use super::harm::Harm;
use super::hooks::Hook;

/// Everything that disturbs one run. An empty one is a quiet day.
#[derive(Clone, Default, Debug)]
pub struct Schedule {
    /// One process after the other; when they are used up, the last lives undisturbed.
    pub lives: Vec<Life>,
    /// A second engine works beside the first from this moment of each life on.
    pub second: Option<u64>,
    /// The first engine is told to stop at this moment of each life, while the second goes on.
    pub drain: Option<u64>,
    /// Leases are not renewed, and short: whoever takes long is taken over.
    pub sleepy: bool,
    /// The task is submitted twice at the same time, and again later.
    pub twice: bool,
    pub cancel: Option<u64>,
    /// Paused at the first moment, resumed at the second.
    pub pause: Option<(u64, u64)>,
    /// Whether a person wants a failed task tried again, once.
    pub retry: bool,
    /// Persons answer twice at the same time, and differently.
    pub eager: bool,
    /// How many rows wait for each other to be committed together.
    pub steps_per_commit: u32,
    /// What persons say when nobody knows whether an effect happened, and how long they think.
    pub mood: u64,
    /// Where the store has a clock of its own: by how much each process's clock differs from it, in milliseconds.
    pub clocks: Option<[i64; 2]>,
    /// Whoever asks the engine for something may leave before the answer; the chance of it.
    pub leaves: Option<u64>,
    /// Whoever hands values in tries it first with one that is nested too deep.
    pub rude: bool,
    /// How deep the submitted payload is nested.
    pub payload: usize,
    /// Other tenants beside it.
    pub crowd: Option<Crowd>,
    /// Which row of one of them is spoilt.
    pub harm: Option<Harm>,
    /// Who wants to hear of the ends of tasks.
    pub hook: Option<Hook>,
    /// What has long ended is removed from this moment of each life on.
    pub purge: Option<u64>,
}

/// The store is away for a while: every call ends like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// By the age of the life.
    pub from: u64,
    pub span: Millis,
    pub how: Fault,
}

/// One life of the process.
#[derive(Clone, Default, Debug)]
pub struct Life {
    /// By the number of the point: calls of the store, and moments inside of outside calls.
    pub faults: BTreeMap<u64, Fault>,
    /// The call with that name and number is taken only so much later: its caller was asleep, and most often its lease
    /// is over.
    pub slow: Option<(&'static str, u64, Millis)>,
    /// By how many milliseconds the clock is wrong after this life, and from which moment of this life on already.
    pub clock: Option<(u64, i64)>,
    pub outages: Vec<Outage>,
    /// It is told to stop at that moment, and has so long for it.
    pub stop: Option<(u64, Millis)>,
}

impl Life {
    fn is_calm(&self) -> bool {
        self.is_fair() && self.stop.is_none()
    }

    /// Whether every call of its store goes as it should.
    fn is_fair(&self) -> bool {
        self.faults.is_empty() && self.slow.is_none() && self.outages.is_empty()
    }
}

impl Schedule {
    /// The schedule of a seed.
    pub fn of(dice: &Dice) -> Self {
        if dice.percent(8) {
            return Self { steps_per_commit: 32, mood: dice.below(1 << 32), ..Self::default() };
        }
        let deaths = dice.one(&[0, 0, 1, 1, 1, 2, 2, 3, 4]);
        let lives = (0..=deaths).map(|life| one_life(dice, life < deaths)).collect();
        let second = dice.percent(35).then(|| dice.from(0, 1_500));
        Self {
            lives,
            second,
            drain: second.filter(|_| dice.percent(25)).map(|second| second + dice.below(1_500)),
            sleepy: dice.percent(20),
            twice: dice.percent(30),
            cancel: dice.percent(15).then(|| dice.below(4_000)),
            pause: dice.percent(15).then(|| {
                let from = dice.below(2_500);
                (from, from + dice.from(100, 4_000))
            }),
            retry: dice.percent(50),
            eager: dice.percent(40),
            mood: dice.below(1 << 32),
            steps_per_commit: dice.one(&[1, 2, 32, 32]),
            ..Self::default()
        }
    }

    /// What only the wider world knows.
    pub fn widen(&mut self, dice: &Dice) {
        let quiet = self.lives.is_empty();
        self.payload = usize::try_from(dice.one(&[1, 1, 1, 63, 64])).unwrap();
        self.rude = dice.percent(10);
        self.crowd = dice.percent(if quiet { 60 } else { 10 }).then(|| Crowd::of(dice));
        if quiet {
            return;
        }
        self.leaves = dice.percent(20).then(|| dice.below(1 << 32));
        if dice.percent(25) {
            self.clocks = Some([0, 0].map(|_| i64::try_from(dice.below(40_000)).unwrap() - 20_000));
        }
        for life in &mut self.lives {
            let outages = dice.one(&[0, 0, 0, 0, 1, 1, 2]);
            life.outages = (0..outages).map(|_| one_outage(dice)).collect();
        }
        // A process that is alone is stopped now and then, and started again.
        if self.second.is_none() && dice.percent(25) {
            let gentle = dice.percent(60);
            for life in &mut self.lives {
                let stop = (dice.from(50, 3_000), Millis(dice.one(&[0, 50, 1_000])));
                if gentle {
                    *life = Life { stop: Some(stop), clock: life.clock, ..Life::default() };
                } else if dice.percent(50) {
                    life.stop = Some(stop);
                }
            }
        }
    }

    /// What else there is around the program.
    pub fn surround(&mut self, dice: &Dice) {
        self.hook = dice.percent(5).then(|| Hook::of(dice));
        self.harm = (self.crowd.is_some() && dice.percent(30)).then(|| Harm::of(dice));
        self.purge = dice.percent(5).then(|| dice.below(2_000));
        // Where the store has a clock of its own, that of a process may be wrong by more than a year.
        if let Some(clocks) = self.clocks.as_mut().filter(|_| dice.percent(25)) {
            clocks[usize::from(dice.percent(50))] += 400 * 86_400_000;
        }
    }

    /// Whether a clock is set while processes run.
    pub fn sets_a_clock(&self) -> bool {
        self.lives.iter().any(|life| life.clock.is_some())
    }

    /// Whether nothing keeps a process from doing at once what is due.
    pub fn is_punctual(&self) -> bool {
        self.is_calm() && self.crowd.is_none()
    }

    /// The same, other tenants aside. Where the store has a clock of its own, those of processes may be wrong.
    pub fn is_calm(&self) -> bool {
        let disturbed = self.second.is_some() || self.sleepy || self.pause.is_some() || self.cancel.is_some();
        let is_late = self.clocks.is_none() && self.sets_a_clock();
        self.lives.iter().all(Life::is_calm) && !disturbed && self.leaves.is_none() && !is_late
    }

    /// Whether a process is told to stop.
    pub fn stops(&self) -> bool {
        self.drain.is_some() || self.lives.iter().any(|life| life.stop.is_some())
    }

    /// Whether there is one process at a time, and none ever dies: each is stopped while its store answers.
    pub fn never_dies(&self) -> bool {
        let dies = |life: &Life| {
            let dies = life.faults.values().any(|fault| matches!(fault, Fault::CrashBefore | Fault::CrashAfter));
            dies || (life.stop.is_some() && !life.is_fair())
        };
        self.second.is_none() && !self.lives.iter().any(dies)
    }

    /// Everything that could be left out, one at a time, for the search of a smaller schedule.
    pub fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        let mut with = |change: &dyn Fn(&mut Self)| {
            let mut less = self.clone();
            change(&mut less);
            if format!("{less:?}") != format!("{self:?}") {
                found.push(less);
            }
        };
        with(&|less| less.lives.clear());
        with(&|less| less.lives.truncate(1));
        // Somebody must be left who works.
        with(&|less| (less.second, less.drain) = (None, None));
        with(&|less| less.drain = None);
        with(&|less| less.sleepy = false);
        with(&|less| less.twice = false);
        with(&|less| less.cancel = None);
        with(&|less| less.pause = None);
        with(&|less| less.retry = false);
        with(&|less| less.eager = false);
        with(&|less| less.steps_per_commit = 1);
        with(&|less| less.clocks = None);
        with(&|less| less.leaves = None);
        with(&|less| less.rude = false);
        with(&|less| less.payload = 1);
        with(&|less| (less.crowd, less.harm) = (None, None));
        with(&|less| less.harm = None);
        with(&|less| less.hook = None);
        with(&|less| less.purge = None);
        with(&|less| {
            if let Some(crowd) = &mut less.crowd {
                crowd.spoils = None;
            }
        });
        with(&|less| {
            if let Some(crowd) = &mut less.crowd {
                crowd.small.truncate(1);
            }
        });
        for at in 0..self.lives.len() {
            with(&|less| drop(less.lives.remove(at)));
            with(&|less| less.lives[at].clock = None);
            with(&|less| less.lives[at].slow = None);
            with(&|less| less.lives[at].stop = None);
            for outage in 0..self.lives[at].outages.len() {
                with(&|less| {
                    less.lives[at].outages.remove(outage);
                });
            }
            for point in self.lives[at].faults.keys() {
                with(&|less| less.lives[at].faults.retain(|known, _| known != point));
            }
        }
        found
    }
}

fn one_life(dice: &Dice, dies: bool) -> Life {
    let mut faults = BTreeMap::new();
    for _ in 0..dice.one(&[0, 0, 0, 1, 2, 4]) {
        let fault = match dice.below(10) {
            0..3 => Fault::Unavailable,
            3..6 => Fault::AnswerLost,
            6..8 => Fault::Yield,
            _ => Fault::Stall(Millis(dice.one(&[20, 500, 6_000]))),
        };
        faults.insert(dice.from(1, 150), fault);
    }
    if dies {
        let how = dice.one(&[Fault::CrashBefore, Fault::CrashAfter]);
        faults.insert(dice.from(3, 130), how);
    }
    let clock = dice.percent(15).then(|| {
        let by = i64::try_from(dice.from(1, 20_000)).unwrap();
        (dice.below(3_000), if dice.percent(50) { by } else { -by / 4 })
    });
    let slow = dice.percent(35).then(|| {
        let asleep = if dice.percent(75) { dice.from(900, 1_400) } else { 7_000 };
        (dice.one(&["begin_attempt", "begin_attempt", "commit"]), dice.from(1, 4), Millis(asleep))
    });
    Life { faults, slow, clock, ..Life::default() }
}

/// Away for seconds, or for longer than a lease.
fn one_outage(dice: &Dice) -> Outage {
    let limit = Millis(1_500);
    let how = match dice.below(10) {
        0..3 => Fault::Unavailable,
        3..5 => Fault::AnswerLost,
        5..7 => Fault::Silent(limit),
        7..9 => Fault::SilentAfter(limit),
        _ => Fault::Belated(Millis(dice.from(10, 4_000))),
    };
    Outage { from: dice.below(3_000), span: Millis(dice.one(&[100, 700, 2_500, 9_000])), how }
}
