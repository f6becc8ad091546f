//! The turns by which a message picks some of the policies, as names are compared: folded, without apostrophes.

use kybern_core::list;

/// Words that leave nothing beside what they stand with.
pub(super) const ONLY: &[&str] =
    &["only", "just", "solely", "exclusively", "solo", "solamente", "unicamente", "seulement", "uniquement", "nur"];
/// The same behind what they leave: "the cargo only".
pub(super) const ALONE: &[&str] =
    &["only", "alone", "solamente", "unicamente", "seulement", "uniquement", "solo", "nada mas", "nur"];
/// Turns that leave nothing beside what follows.
pub(super) const NOTHING_BUT: &[&str] = list!(
    "nothing but, nothing other than, nothing else than, nobody but, no one but, limited to, limit it to, \
     limit this to, nada mas que, rien que"
);
/// Turns by which what follows is left out.
pub(super) const EXCEPT: &[&str] = list!(
    "no loss runs for, no loss runs on, no loss runs from, no loss runs needed for, no loss runs needed on, \
     no loss runs needed from, nothing for, no need for, no need to order, no need to request, no need to pull, \
     no need to get, except, except for, excepting, excluding, exclude, other than, apart from, aside from, all but, \
     everything but, every one but, everybody but, everyone but, all of them but, all of it but, all of those but, \
     all lines but, all policies but, all carriers but, every line but, the lot but, the whole lot but, \
     the whole program but, but not, not for, not from, not the, skip, leave out, leave off, omit, ignore, disregard, \
     forget, forget about, never mind, do not need, dont need, do not want, dont want, do not order, dont order, \
     do not request, dont request, do not pull, dont pull, do not ask, dont ask, do not bother, dont bother, \
     do not bother with, dont bother with, do not include, dont include, nada para, excepto, salvo, menos, \
     no necesito, no necesitamos, no pidan, no pida, rien pour, sauf, excepte, hormis, a l exception de, pas pour, \
     ausser"
);
/// Turns that want what a register marks so: `whatever is active`.
pub(super) const MARKED: &[&str] = list!(
    "whatever is, whatever shows, whatever says, whichever are, everything that shows, everything that is, \
     everything that says, everything marked, everything shown as, everything listed as, anything that shows, \
     anything marked, all that show, all that are, the ones marked, the ones that show, the ones that are, \
     the ones that say, those marked, those that show, those that are"
);
/// The same behind what is wanted: `everything in the list that is active`.
pub(super) const THAT_IS: &[&str] =
    &["that is", "that are", "that shows", "that show", "that says", "that say", "marked", "listed as", "shown as"];
/// Turns that want what somebody has marked in a list.
pub(super) const MARKED_BY_HAND: &[&str] = list!(
    "i marked, ive marked, i have marked, weve marked, we marked, i highlighted, ive highlighted, i have highlighted, \
     i circled, ive circled, highlighted in, marked in, with an asterisk, with a star, marque, que marque, \
     que j ai marques"
);
/// Turns behind which the sentence tells what they leave out: "we do not need it for the garage, that is the Northfield one".
pub(super) const NOT_FOR: &[&str] = list!(
    "do not need it for, dont need it for, do not need them for, dont need them for, do not need that for, \
     dont need that for, do not need anything for, dont need anything for, do not need anything from, \
     dont need anything from, do not need one for, dont need one for, no lo necesitamos para, no lo necesito para"
);
/// Turns that leave something out, whatever it is.
pub(super) const RESTRICTS: &[&str] = list!(
    "skip, dont bother, do not bother, needs to bother, need to bother, leave those, leave that, alone, exception, \
     except, excluding, other than, apart from, nothing from, nothing for, do not need those, dont need those, \
     do not need that, dont need that, do not need the, dont need the, no need for, have everything, already have, \
     already has, already got, already sent, whatever is, expired, all of it but, all of them but, everything but, \
     all but, dont double up, do not double up, not renewing, can wait, can hold, puede esperar, peut attendre, \
     hold off on, put that in, put it in, put those in, ordered that, ordered those, requested that, requested those, \
     salvo, excepto, sauf"
);
/// Those of them that may tell what is, and want nothing: `no losses except for the cargo`.
pub(super) const STATED: &[&str] = list!(
    "except, excepting, excluding, other than, apart from, aside from, excepto, salvo, menos, sauf, excepte, hormis, \
     a l exception de, ausser"
);
/// What only says what is wanted where it begins: `I have nothing for the cargo` does not.
pub(super) const NOTHING_FOR: &[&str] =
    &["nothing for", "no loss runs for", "no loss runs on", "no loss runs from", "nada para", "rien pour"];
/// Behind what they leave out.
pub(super) const NOT_NEEDED: &[&str] = list!(
    "is not needed, are not needed, isnt needed, arent needed, not needed, is not required, are not required, \
     not required, not wanted, not necessary, is not necessary, are not necessary, no hace falta, no es necesario, \
     n est pas necessaire, ne sont pas necessaires"
);
/// Polite ones, behind which the sentence tells what is not to be done.
pub(super) const RATHER_NOT: &[&str] = list!(
    "rather you did not, rather you didnt, rather you do not, rather you dont, rather not, prefer you did not, \
     prefer you do not, prefer not, preferimos que no, preferons que non"
);
/// Orders not to turn to those whom the sentence has named before.
pub(super) const LEAVE_THEM: &[&str] = list!(
    "do not write to them, dont write to them, do not contact them, dont contact them, do not ask them, dont ask them, \
     do not order those, dont order those, do not order them, dont order them, do not order that one, \
     dont order that one, do not request those, dont request those, do not request them, dont request them, \
     dont need those, do not need those, dont need that one, do not need that one, dont need them, do not need them, \
     skip those, skip that one, skip them, leave those out, leave them out, leave that one out, leave it out, \
     leave that out, leave that one for now, leave those for now, leave that alone, leave it alone, leave those alone, \
     leave them alone, no los contacten, no les escriban, ne leur ecrivez pas, ne les contactez pas"
);
/// What says that there were no losses, or that nothing is wanted.
pub(super) const UNSURE: &[&str] = &["nothing on"];
/// What is in hand already: whether more of it is wanted nobody can tell.
pub(super) const IN_HAND: &[&str] = list!(
    "already have, already has, already got, already received, have already received, already came, ya tenemos, \
     ya tengo, ya recibimos, avons deja, ai deja"
);
/// Turns that pick some of what is meant, by its number or its place in a list. Which those are nobody here knows.
pub(super) const PICKS_SOME: &[&str] = list!(
    "some of the, some of these, some of those, some of our, some of them, some policies, a few of, half of, \
     part of the list, couple of, one of the, one of these, one of those, one of our, one of them, two of the, \
     two of these, two of those, two of them, three of the, several of, most of, any of the, first one, second one, \
     third one, last one, top one, first two, last two, top two, first three, last three, top three, first policy, \
     second policy, third policy, last policy, first row, first line, second row, last row, algunas de, algunos de, \
     una de las, la primera, las primeras, las dos primeras, quelques unes, certaines des, une des, \
     la premiere, les premieres, les deux premieres, la derniere, einige, die erste, die ersten"
);
