//! Random programs.

use super::dice::Dice;
use super::program::{Act, Bulk, Class, Kind, Program, Reply, Script, Step, Test};

/// Where a step stands, which decides what it may be.
#[derive(Clone, Copy)]
struct Place {
    depth: u32,
    /// Everything before it in plan order has settled when it begins, so it may read the state.
    calm: bool,
    in_loop: bool,
    /// It is proposed by a tool: no conditions, few kinds.
    proposed: bool,
    /// The plan's own list is a chain, so what is added to it has one place.
    chained: bool,
    /// 0 in the program itself, 1 in its children.
    generation: u32,
}

struct Maker<'d> {
    dice: &'d Dice,
    /// Decides how large and deep results are.
    bulk: &'d Dice,
    /// Decides whether one is as large as it may be, or larger.
    brim: &'d Dice,
    brimful: bool,
    next: u32,
    /// Steps that may still be made.
    left: u32,
    patched: bool,
}

/// The program of a seed.
pub fn program(dice: &Dice, bulk: &Dice, brim: &Dice) -> Program {
    let capped = dice.percent(6);
    let left = u32::try_from(dice.from(2, 11)).unwrap();
    let mut maker = Maker { dice, bulk, brim, brimful: false, next: 0, left, patched: false };
    let mut made = maker.program(0);
    made.max_steps = capped.then(|| u32::try_from(dice.from(1, 8)).unwrap());
    made
}

impl Maker<'_> {
    fn program(&mut self, generation: u32) -> Program {
        self.next += 1;
        let n = self.next;
        let patched = std::mem::replace(&mut self.patched, false);
        let place = Place { depth: 0, calm: true, in_loop: false, proposed: false, chained: true, generation };
        let most = self.dice.from(1, 6);
        let steps = self.list(place, most);
        self.patched = patched;
        Program { n, steps, max_steps: None }
    }

    /// A list of steps: mostly a chain, sometimes a graph.
    fn list(&mut self, place: Place, most: u64) -> Vec<Step> {
        let graph = most > 1 && self.dice.percent(15);
        let chained = place.chained && !(graph && place.depth == 0);
        let place = Place { calm: place.calm && !graph, chained, ..place };
        let mut steps: Vec<Step> = Vec::new();
        for at in 0..most {
            if self.left == 0 && at > 0 {
                break;
            }
            self.left = self.left.saturating_sub(1);
            let mut step = self.step(place, graph);
            if graph && self.dice.percent(70) {
                let known: Vec<u32> = steps.iter().map(|step| step.n).collect();
                step.after = Some(known.into_iter().filter(|_| self.dice.percent(35)).collect());
            }
            steps.push(step);
        }
        steps
    }

    fn step(&mut self, place: Place, graph: bool) -> Step {
        self.next += 1;
        let n = self.next;
        let kind = self.kind(place, graph);
        let always = !kind.is_container() && self.dice.percent(12);
        let test = match self.dice.below(100) {
            _ if place.proposed => Test::None,
            0..10 => Test::Is(self.dice.percent(50)),
            10..18 if place.calm && !always => Test::Knows(self.var()),
            _ => Test::None,
        };
        let patience = match &kind {
            Kind::Workflow(_) | Kind::Delegate(_) => Some(self.dice.from(4_000, 15_000)),
            Kind::Input => self.dice.percent(30).then(|| self.dice.from(500, 4_000)),
            _ => None,
        };
        Step {
            n,
            always,
            test,
            after: None,
            saves: self.dice.percent(15),
            tolerated: self.dice.percent(25),
            tries: u32::try_from(self.dice.from(1, 4)).unwrap(),
            patience,
            kind,
        }
    }

    fn kind(&mut self, place: Place, graph: bool) -> Kind {
        let holds = self.left > 0 && place.depth < 3;
        let inner = Place { depth: place.depth + 1, ..place };
        let aside = Place { calm: false, ..inner };
        let round = Place { in_loop: true, ..inner };
        match self.dice.below(100) {
            0..6 if holds && !place.proposed => {
                let test = if place.calm && self.dice.percent(50) {
                    Test::Knows(self.var())
                } else {
                    Test::Is(self.dice.percent(50))
                };
                let then = self.some(inner);
                let otherwise = if self.dice.percent(60) { self.some(inner) } else { Vec::new() };
                Kind::Condition { test, then, otherwise }
            }
            6..18 if holds => {
                let branches = self.dice.from(2, 3);
                Kind::Parallel((0..branches).map(|_| self.some(aside)).collect())
            }
            18..25 if holds && !place.proposed => {
                Kind::Over { rounds: u32::try_from(self.dice.below(4)).unwrap(), steps: self.some(round) }
            }
            25..29 if holds && !place.proposed && !place.in_loop && !graph && place.calm => {
                Kind::While { rounds: u32::try_from(self.dice.below(3)).unwrap(), steps: self.some(round) }
            }
            29..34 if holds && place.generation == 0 && !place.proposed => {
                let saved = self.left;
                self.left = saved.min(4);
                let child = self.program(1);
                self.left = saved.saturating_sub(2);
                Kind::Child(child)
            }
            34..40 if holds => Kind::Inject(self.some(Place { proposed: true, calm: false, ..inner })),
            40..44 if !self.patched && place.chained && !place.in_loop && !place.proposed => {
                self.patched = true;
                let place = Place { proposed: true, calm: false, depth: place.depth.max(1), ..place };
                let mut steps = self.some(place);
                for step in &mut steps {
                    step.after = None;
                }
                Kind::Patch { replaces: self.dice.percent(50), steps }
            }
            44..48 => Kind::Wait(self.dice.from(0, 1_500)),
            48..51 => Kind::Ask,
            51..54 => Kind::Review,
            54..57 => Kind::Input,
            57..60 => Kind::Delegate(self.reply()),
            60..65 => Kind::Workflow(self.reply()),
            65..73 if !place.proposed => Kind::Decision(self.act(place)),
            73..78 => Kind::Share(u8::try_from(self.dice.below(2)).unwrap()),
            _ => {
                let classes = [
                    Class::Read,
                    Class::Local,
                    Class::Local,
                    Class::Keyed,
                    Class::Keyed,
                    Class::Queryable,
                    Class::Unkeyed,
                    Class::Unkeyed,
                ];
                let class = self.dice.one(&classes);
                Kind::Call(class, Act { bulk: self.bulk(place), ..self.act(place) })
            }
        }
    }

    fn some(&mut self, place: Place) -> Vec<Step> {
        let most = self.dice.from(1, 3);
        self.list(place, most)
    }

    fn var(&self) -> u8 {
        u8::try_from(self.dice.below(4)).unwrap()
    }

    fn act(&self, place: Place) -> Act {
        let script = match self.dice.below(100) {
            0..58 => Script::Succeeds,
            58..66 => Script::Fails,
            66..72 => Script::FailsOnce,
            roll => {
                let times = u32::try_from(self.dice.from(1, 4)).unwrap();
                Script::Stumbles { times, unknown: roll >= 88 }
            }
        };
        let pause = || if self.dice.percent(50) { 0 } else { self.dice.from(1, 120) };
        // Longer than many waits beside it, and shorter than the shortest lease.
        let before = if self.dice.percent(8) { self.dice.from(450, 600) } else { pause() };
        let reads = !place.proposed && self.dice.percent(50);
        Act { var: self.var(), script, before, after: pause(), reads, bulk: Bulk::None }
    }

    fn bulk(&mut self, place: Place) -> Bulk {
        let roll = self.bulk.below(100);
        // One in a program, and where nothing collects it: what all steps have made together has a limit too.
        if place.depth == 0 && place.generation == 0 && !self.brimful && self.brim.percent(1) {
            self.brimful = true;
            return Bulk::Brim { over: self.brim.percent(50) };
        }
        match roll {
            0..3 => Bulk::Huge(usize::try_from(self.bulk.from(100, 300)).unwrap()),
            // A result is an object around it, and what holds steps collects their results in objects and lists.
            3..9 => Bulk::Deep(usize::try_from(self.bulk.from(56, 66)).unwrap()),
            _ => Bulk::None,
        }
    }

    fn reply(&self) -> Reply {
        let success = self.dice.percent(75);
        match self.dice.below(100) {
            0..35 => Reply::Once(success),
            35..50 => Reply::Early(success),
            50..65 => Reply::Twice(success),
            65..78 => Reply::Quarrel,
            78..86 => Reply::Late,
            86..93 => Reply::Never,
            _ => Reply::Refused,
        }
    }
}
