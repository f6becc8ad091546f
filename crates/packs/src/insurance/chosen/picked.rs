//! What the sentences of a message pick, one after the other: `only the cargo`, `nothing for the umbrella`.

use super::mentions::{Mention, Mentions, StatusMention};
use super::sentences::{Sentence, WordBorder};
use super::{Choice, Policy, dates, turns as say, vocabulary as word};

/// Words between a turn and what it picks.
const MAX_BETWEEN: usize = 8;
/// Words of a sentence that may be a wish without saying so: `Just the cargo, thanks.`
const FRAGMENT: usize = 9;

/// What the sentences so far have picked.
#[derive(Default)]
pub(super) struct PickedPolicies {
    only: Option<Vec<bool>>,
    except: Option<Vec<bool>>,
    /// Those that meet what is said of their dates, or of marks beside them.
    within: Option<Vec<bool>>,
    /// Policies that are asked for without such a turn.
    asked: Option<Vec<bool>>,
    unclear: Option<String>,
    /// Whether something else than what alone is wanted is unclear.
    is_beyond: bool,
    /// The first words that pick.
    said: Option<String>,
}

impl PickedPolicies {
    /// What they want in all, of so many policies.
    pub(super) fn choice(self, count: usize) -> Choice {
        let all = vec![true; count];
        let Some(said) = self.said.or_else(|| self.unclear.clone()) else { return Choice::All };
        if let Some(unclear) = self.unclear {
            // `Only the auto`, which no paper calls so, is the one that is left.
            let left: Option<Vec<bool>> = self.except.map(|except| except.iter().map(|out| !out).collect());
            let is_last = |left: &Vec<bool>| left.iter().filter(|wanted| **wanted).count() == 1;
            let settled = left.filter(|left| is_last(left) && !self.is_beyond && self.only.is_none());
            return settled.map_or(Choice::Some(unclear), Choice::These);
        }
        let except = self.except.unwrap_or_else(|| vec![false; count]);
        let only = self.only.unwrap_or_else(|| except.iter().map(|left_out| !left_out).collect());
        let within = self.within.unwrap_or_else(|| all.clone());
        let only: Vec<bool> = only.iter().zip(&within).map(|(wanted, within)| *wanted && *within).collect();
        let clashes = only.iter().zip(&except).any(|(wanted, left_out)| *wanted && *left_out);
        let more = self.asked.iter().flatten().zip(&only).any(|(asked, wanted)| *asked && !*wanted);
        match () {
            () if clashes || more || !only.contains(&true) => Choice::Some(said),
            () if only == all => Choice::All,
            () => Choice::These(only),
        }
    }

    pub(super) fn read(&mut self, sentence: &Sentence, mentions: &Mentions<'_>, policies: &[Policy]) {
        let all_but = sentence.is(0, word::EVERY) && sentence.any(1, say::EXCEPT).is_some();
        let leaves = sentence.is(0, &[word::LEAVE]);
        let wishes = sentence.has_any(word::ASKS)
            || sentence.has_any(word::LOSSES)
            || sentence.words.len() <= FRAGMENT
            || all_but
            || leaves;
        let mut named: Vec<Mention> = Vec::new();
        let mut run: Option<Mention> = None;
        let (mut at, mut picks) = (0, false);
        while at < sentence.words.len() {
            let turned = at.checked_sub(1).is_some_and(|before| sentence.is(before, word::NOT));
            let turn = SentenceTurn { sentence, mentions, policies, named: &named, run: run.as_ref(), at };
            let orders = [say::LEAVE_THEM, say::NOT_NEEDED, say::RATHER_NOT]
                .iter()
                .any(|turns| sentence.any(at, turns).is_some());
            let is_turn = (wishes || orders) && !turned;
            if let Some(end) = Some(turn).filter(|_| is_turn).and_then(|turn| self.turn(&turn)) {
                // What stands before a turn in its sentence is only named.
                named.clear();
                run = None;
                (at, picks) = (end.max(at + 1), true);
            } else if let Some(mention) = mentions.at(sentence, at) {
                at = mention.end;
                if run.as_ref().is_none_or(|run| run.end < mention.end) {
                    run = Some(joined(sentence, mentions, mention.clone()));
                }
                named.push(mention);
            } else {
                at += 1;
            }
        }
        if !picks && asks(sentence) && !sentence.has_any(word::NOT) {
            named.into_iter().filter_map(|mention| mention.policies).for_each(|meant| add(&mut self.asked, meant));
        }
    }

    /// Reads the turn that begins there, if any, and answers the place behind it.
    fn turn(&mut self, turn: &SentenceTurn<'_>) -> Option<usize> {
        let SentenceTurn { sentence, at, .. } = *turn;
        if let Some(end) = sentence.any(at, say::LEAVE_THEM).filter(|_| !turn.named.is_empty()) {
            let all = turn.run.cloned().filter(|run| run.start == turn.named[0].start);
            return self.leave_out(sentence, all.and_then(|run| run.policies), end);
        }
        if let Some(end) = sentence.any(at, say::NOT_NEEDED)
            && let Some(run) = turn.run.cloned().filter(|run| turn.leads_here(run.end))
        {
            return self.leave_out(sentence, run.policies, end);
        }
        if let Some(end) = sentence.any(at, say::RATHER_NOT) {
            return self.doubt(sentence, end);
        }
        if let Some(end) = sentence.any(at, say::IN_HAND) {
            let is_about = sentence.has_any(word::LOSSES) && (!turn.named.is_empty() || turn.list(end).is_some());
            return is_about.then(|| self.doubt(sentence, end)).flatten();
        }
        if let Some(list) = sentence.any(at, say::UNSURE).and_then(|end| turn.whole_list(end)) {
            return self.doubt(sentence, list.end);
        }
        if let Some(meant) = sentence.any(at, say::NOT_FOR).and_then(|end| turn.only_one_behind(end)) {
            return self.leave_out(sentence, Some(meant), sentence.words.len());
        }
        if let Some(list) = sentence.any(at, say::EXCEPT).and_then(|end| turn.whole_list(end)) {
            return match turn.is_order() {
                Some(true) => self.leave_out(sentence, list.policies, list.end),
                Some(false) => self.doubt(sentence, list.end),
                None => None,
            };
        }
        if let Some(list) = Some(at + 1).filter(|_| sentence.is(at, &[word::LEAVE])).and_then(|end| turn.list(end))
            && sentence.is(list.end, word::OUT)
        {
            return self.leave_out(sentence, list.policies, list.end);
        }
        if let Some(list) = sentence.any(at, say::NOTHING_BUT).and_then(|end| turn.list(end)) {
            return self.keep(sentence, list.policies, list.end);
        }
        if let Some(end) = sentence.any(at, say::ALONE).filter(|end| turn.ends(*end))
            && let Some(run) = turn.run.cloned().filter(|run| turn.leads_here(run.end))
        {
            // `Not the cargo only` wants more than the cargo.
            let denied = (run.start.saturating_sub(3)..run.start).any(|at| sentence.is(at, word::NOT));
            return (!denied).then(|| self.keep(sentence, run.policies, end)).flatten();
        }
        if let Some(mention) = turn.marked() {
            return self.keep(sentence, mention.policies, mention.end);
        }
        if let Some((meant, end)) = turn.condition() {
            let Some(meant) = meant else { return self.doubt(sentence, end) };
            self.meet(&sentence.shown, meant);
            return Some(end);
        }
        if let Some(end) = sentence.any(at, say::MARKED_BY_HAND).filter(|_| turn.mentions.marked().is_none()) {
            return self.doubt(sentence, end);
        }
        if !sentence.is(at, say::ONLY) {
            return None;
        }
        if let Some(list) = turn.whole_list(at + 1) {
            // `Could you just order` softens the wish.
            let soft = sentence.is(at, &[word::SOFT]) && sentence.is(at + 1, word::DOES);
            let meant = if soft { None } else { list.policies };
            return self.keep(sentence, meant, list.end);
        }
        turn.picks_some(at + 1).then(|| self.doubt(sentence, at + 1)).flatten()
    }

    fn keep(&mut self, sentence: &Sentence, meant: Option<Vec<bool>>, end: usize) -> Option<usize> {
        self.said.get_or_insert_with(|| sentence.shown.clone());
        match meant {
            Some(meant) => add(&mut self.only, meant),
            None => {
                self.unclear.get_or_insert_with(|| sentence.shown.clone());
            }
        }
        Some(end)
    }

    /// Only these of them, whatever else is said; `why` is shown where that leaves none.
    pub(super) fn meet(&mut self, why: &str, meant: Vec<bool>) {
        self.said.get_or_insert_with(|| why.to_owned());
        self.within = Some(match self.within.take() {
            Some(within) => within.iter().zip(&meant).map(|(one, other)| *one && *other).collect(),
            None => meant,
        });
    }

    fn leave_out(&mut self, sentence: &Sentence, meant: Option<Vec<bool>>, end: usize) -> Option<usize> {
        self.said.get_or_insert_with(|| sentence.shown.clone());
        match meant {
            Some(meant) => add(&mut self.except, meant),
            None => return self.doubt(sentence, end),
        }
        Some(end)
    }

    fn doubt(&mut self, sentence: &Sentence, end: usize) -> Option<usize> {
        self.wonder(&sentence.shown);
        Some(end)
    }

    /// Nobody can tell what these words leave of the policies.
    pub(super) fn wonder(&mut self, why: &str) {
        self.unclear.get_or_insert_with(|| why.to_owned());
        self.is_beyond = true;
    }

    /// Whether any words so far have picked.
    pub(super) const fn is_said(&self) -> bool {
        self.said.is_some()
    }
}

/// Whether a sentence asks for something; `they send me theirs` does not.
fn asks(sentence: &Sentence) -> bool {
    let theirs = |at: usize| {
        sentence.is(at, word::DOES) && at.checked_sub(1).is_some_and(|before| sentence.is(before, word::WHO_DOES))
    };
    (0..sentence.words.len()).any(|at| sentence.is(at, word::ASKS) && !theirs(at))
}

/// A place in a sentence at which a turn may begin.
struct SentenceTurn<'t> {
    sentence: &'t Sentence,
    mentions: &'t Mentions<'t>,
    policies: &'t [Policy],
    /// What the sentence has named before.
    named: &'t [Mention],
    /// The last of it, with all that it is joined to.
    run: Option<&'t Mention>,
    at: usize,
}

impl SentenceTurn<'_> {
    /// The policies that all that is named from there to the end of the sentence means by number or insurer, where all of
    /// it means the same.
    fn only_one_behind(&self, from: usize) -> Option<Vec<bool>> {
        let named = (from..self.sentence.words.len()).filter_map(|at| self.mentions.named(self.sentence, at)?.policies);
        let mut meant: Option<Vec<bool>> = None;
        for policies in named {
            // Of an insurer and a number of its own the number says which.
            let both = meant.map_or(policies.clone(), |meant| {
                meant.iter().zip(&policies).map(|(one, other)| *one && *other).collect()
            });
            meant = Some(both);
        }
        meant.filter(|meant| meant.contains(&true))
    }

    /// Which policies meet what is said there of their dates; `None` for these where nobody can tell, also where the sentence
    /// leaves something out or denies something.
    fn condition(&self) -> Option<(Option<Vec<bool>>, usize)> {
        let Self { sentence, policies, at, .. } = *self;
        let is_theirs = (at.saturating_sub(word::OF_DATES)..at).any(|before| sentence.is(before, word::DATED));
        let (meant, end) = dates::condition(sentence, at, policies).filter(|_| is_theirs)?;
        let turns = |before: usize| sentence.any(before, say::EXCEPT).is_some() || sentence.is(before, word::NONE);
        Some((meant.filter(|_| !(0..at).any(turns)), end))
    }

    /// What a turn wants that a register marks so: `whatever is active`, `everything in the list that is active or expired`.
    fn marked(&self) -> Option<Mention> {
        let Self { sentence, mentions, at, .. } = *self;
        let points = || {
            let every = (at.saturating_sub(MAX_BETWEEN)..at).any(|before| sentence.is(before, word::EVERY));
            sentence.any(at, say::THAT_IS).filter(|_| every)
        };
        let from = sentence.any(at, say::MARKED).or_else(points)?;
        let mut found = mentions.status(sentence, from, StatusMention::Alone)?;
        while sentence.is(found.end, word::AND)
            && let Some(next) = mentions.status(sentence, found.end + 1, StatusMention::Alone)
        {
            found.policies = either(found.policies, next.policies);
            found.end = next.end;
        }
        Some(found)
    }

    /// What is named behind a turn, with all that is joined to it.
    fn list(&self, from: usize) -> Option<Mention> {
        let Self { sentence, mentions, .. } = *self;
        let open =
            |at: &usize| sentence.words.get(*at).is_some_and(|word| word.before == WordBorder::Open || *at == from);
        let mention = |at: usize| mentions.at(sentence, at).or_else(|| mentions.in_rows(sentence, at));
        let first = (from..=from + MAX_BETWEEN).take_while(open).find_map(|at| match mention(at) {
            Some(mention) => Some(Some(mention)),
            None => (!sentence.is(at, word::BETWEEN)).then_some(None),
        });
        Some(joined(sentence, mentions, first??))
    }

    /// The same, where nothing behind it goes on telling of it.
    fn whole_list(&self, from: usize) -> Option<Mention> {
        self.list(from).filter(|list| self.ends(list.end))
    }

    /// Whether a turn that leaves something out says what is wanted; `None` where it tells of what is:
    /// `no losses except for the cargo`, `I have nothing for the cargo`.
    fn is_order(&self) -> Option<bool> {
        let Self { sentence, at, .. } = *self;
        let begins = at == 0 || sentence.words[at].before != WordBorder::Open || sentence.is(at - 1, word::LEADS);
        let denied = (0..at).rfind(|before| sentence.is(*before, word::NONE));
        match denied {
            _ if sentence.any(at, say::NOTHING_FOR).is_some() => begins.then_some(true),
            Some(denied) if sentence.any(at, say::STATED).is_some() => {
                (denied..at).any(|between| sentence.is(between, word::DOES)).then_some(false)
            }
            _ if begins || sentence.has_any(word::ASKS) => Some(true),
            _ => (sentence.has_any(word::LOSSES) && sentence.has_any(word::EVERY)).then_some(false),
        }
    }

    /// Whether between a place and the turn nothing stands that says anything.
    fn leads_here(&self, from: usize) -> bool {
        let idle = |at: usize| [word::THINGS, word::BETWEEN].iter().any(|words| self.sentence.is(at, words));
        from <= self.at && (from..self.at).all(idle)
    }

    /// Whether what a turn picks ends there: behind it stands nothing that goes on telling of it.
    fn ends(&self, end: usize) -> bool {
        let end = (end..).find(|at| !self.sentence.is(*at, word::THINGS)).unwrap_or(end);
        let goes_on = |at: usize| !self.sentence.is(at, word::AFTER) && !self.sentence.is(at, word::AND);
        self.sentence.words.get(end).is_none_or(|word| word.before != WordBorder::Open || !goes_on(end))
    }

    /// Whether a turn picks policies by words that no paper has: `only the first two carriers`.
    fn picks_some(&self, from: usize) -> bool {
        let sentence = self.sentence;
        let says = |at: &usize| !sentence.is(*at, word::BETWEEN) || sentence.is(*at, word::TERMS);
        let Some(at) = (from..from + MAX_BETWEEN).find(says) else { return false };
        let by_term = sentence.is(at, word::TERMS);
        let thing = (at..at + 3).find(|at| sentence.is(*at, word::PICKED));
        // A sentence of a few words goes on with what was asked before: `Just the first two carriers.`
        let asks = sentence.has_any(word::ASKS) || sentence.has_any(word::LOSSES) || sentence.words.len() <= FRAGMENT;
        let Some(thing) = thing.filter(|_| asks && (by_term || sentence.is(at, word::PICKS))) else { return false };
        let all = (thing.saturating_sub(1)..=thing + 1).any(|at| sentence.is(at, word::ALL_OF));
        let same_term = self.policies.windows(2).all(|two| two[0].expiration == two[1].expiration);
        !(all || by_term && same_term)
    }
}

/// A mention with those that are joined to it: `the cargo and the umbrella from Northfield`. What is joined and is no
/// policy that is known may be one all the same.
fn joined(sentence: &Sentence, mentions: &Mentions<'_>, mut list: Mention) -> Mention {
    let (mut at, mut more, mut within, mut and) = (list.end, false, false, false);
    while let Some(word) = sentence.words.get(at).filter(|word| word.before != WordBorder::Clause) {
        and |= sentence.is(at, word::AND);
        more |= word.before == WordBorder::Comma || and;
        within |= sentence.is(at, word::OF);
        if let Some(next) = mentions.at(sentence, at) {
            let meant = list.policies.take();
            list.policies = if within && !more { both(meant, next.policies) } else { either(meant, next.policies) };
            (list.end, at) = (next.end, next.end);
            (more, within, and) = (false, false, false);
        } else if at < list.end + MAX_BETWEEN
            && [word::AND, word::THINGS, word::BETWEEN].iter().any(|words| sentence.is(at, words))
        {
            at += 1;
        } else {
            let unknown = and && !sentence.is(at, word::GOES_ON) && !sentence.is(at, word::ASKS);
            list.policies = list.policies.filter(|_| !unknown);
            break;
        }
    }
    list
}

pub(super) fn add(to: &mut Option<Vec<bool>>, more: Vec<bool>) {
    *to = either(to.take().or_else(|| Some(vec![false; more.len()])), Some(more));
}

/// What one or the other means; nobody can tell where that is so of one.
pub(super) fn either(one: Option<Vec<bool>>, other: Option<Vec<bool>>) -> Option<Vec<bool>> {
    Some(one?.into_iter().zip(other?).map(|(one, other)| one || other).collect())
}

fn both(one: Option<Vec<bool>>, other: Option<Vec<bool>>) -> Option<Vec<bool>> {
    let both: Vec<bool> = one?.into_iter().zip(other?).map(|(one, other)| one && other).collect();
    both.contains(&true).then_some(both)
}
