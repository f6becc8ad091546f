//! Calls whose arguments arrive in pieces, from servers that count as they like: from 0, from 1, with gaps, the same
//! number for every call, or not at all.

use std::collections::HashSet;

use kybern_core::model::{ModelEvent, ModelFailure, ModelFailureKind};
use serde::de::IgnoredAny;

use super::parts::{MAX_CALLS, too_many_calls, unique};

/// Bytes of arguments that are looked at to see whether they are whole, all looks of one reply together: two such
/// replies as are read at most.
const MAX_LOOKED_AT: usize = 64 << 20;

/// The calls of one reply.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// The ids of those that have begun.
    begun: HashSet<String>,
    looked_at: usize,
}

struct Call {
    /// The provider's number.
    number: Option<u64>,
    /// The provider's id.
    id: String,
    name: String,
    /// Its place in the reply, once it has begun.
    place: Option<usize>,
    /// The arguments so far.
    arguments: String,
}

/// One piece as it arrived; what is missing is empty.
#[derive(Clone, Copy, Default)]
pub(super) struct CallPiece<'a> {
    pub(super) number: Option<u64>,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
}

impl Calls {
    /// Takes a piece.
    ///
    /// # Errors
    /// `TooLarge` when it begins one call too many, or when nobody can tell with reasonable work where one call ends and
    /// the next begins.
    pub(super) fn push(&mut self, piece: CallPiece<'_>, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        let at = match self.find(piece)? {
            Some(at) => at,
            None if self.calls.len() >= MAX_CALLS => return Err(too_many_calls()),
            None => {
                self.calls.push(Call {
                    number: piece.number,
                    id: piece.id.to_owned(),
                    name: String::new(),
                    place: None,
                    arguments: String::new(),
                });
                self.calls.len() - 1
            }
        };
        let is_waiting = self.calls.get(at).is_some_and(|call| call.place.is_none());
        if is_waiting && let Some(call) = self.calls.get_mut(at) {
            if call.id.is_empty() {
                piece.id.clone_into(&mut call.id);
            }
            piece.name.clone_into(&mut call.name);
            call.arguments.push_str(piece.arguments);
            if !call.name.is_empty() {
                self.begin(at, out);
            }
        } else if let Some(call) = self.calls.get_mut(at)
            && let Some(index) = call.place
            && !piece.arguments.is_empty()
        {
            call.arguments.push_str(piece.arguments);
            out.push(ModelEvent::CallArguments { index, fragment: piece.arguments.to_owned() });
        }
        Ok(())
    }

    /// The call that a piece belongs to; `None` when it begins a new one.
    fn find(&mut self, piece: CallPiece<'_>) -> Result<Option<usize>, ModelFailure> {
        let of = |is_it: &dyn Fn(&Call) -> bool| {
            let at = self.calls.iter().rposition(is_it)?;
            Some((at, self.calls.get(at)?))
        };
        if let Some(number) = piece.number {
            let Some((at, known)) = of(&|call| call.number == Some(number)) else { return Ok(None) };
            // Some servers give every call the same number: another id with a name of its own is another call.
            let another =
                !piece.name.is_empty() && !piece.id.is_empty() && !known.id.is_empty() && piece.id != known.id;
            return Ok((!another).then_some(at));
        }
        if !piece.id.is_empty() {
            return Ok(of(&|call| call.id == piece.id).map(|(at, _)| at));
        }
        let Some((last, known)) = of(&|_| true) else { return Ok(None) };
        if piece.name.is_empty() {
            return Ok(Some(last));
        }
        if piece.name != known.name {
            return Ok(None);
        }
        // An object that has not been closed need not be read from its beginning.
        let arguments = &known.arguments;
        if arguments.starts_with('{') && !arguments.ends_with(['}', ' ', '\t', '\r', '\n']) {
            return Ok(Some(last));
        }
        let looked_at = self.looked_at.saturating_add(arguments.len());
        if looked_at > MAX_LOOKED_AT {
            let message = "the answer's tool calls come in too many pieces without a number and an id";
            return Err(ModelFailure::new(ModelFailureKind::TooLarge, message));
        }
        let goes_on = !is_whole(arguments);
        self.looked_at = looked_at;
        Ok(goes_on.then_some(last))
    }

    fn begin(&mut self, at: usize, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.calls.get_mut(at) else { return };
        let index = self.begun.len();
        let id = unique(&call.id, &mut self.begun);
        call.place = Some(index);
        call.id.clone_from(&id);
        out.push(ModelEvent::CallBegun { index, id, name: call.name.clone() });
        if !call.arguments.is_empty() {
            out.push(ModelEvent::CallArguments { index, fragment: call.arguments.clone() });
        }
    }

    /// Whether a call has begun.
    pub(super) fn any(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Ends the calls of a reply that was not cut short: no arguments are an empty object.
    ///
    /// # Errors
    /// `Garbage` when a call has no name.
    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelFailure> {
        for call in &mut self.calls {
            let Some(index) = call.place else {
                return Err(ModelFailure::new(ModelFailureKind::Garbage, "a tool call has no name"));
            };
            if call.arguments.is_empty() {
                "{}".clone_into(&mut call.arguments);
                out.push(ModelEvent::CallArguments { index, fragment: "{}".to_owned() });
            }
        }
        Ok(())
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Piece = (Option<u64>, &'static str, &'static str, &'static str);

    fn run(pieces: &[Piece]) -> Vec<(String, String, String)> {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        for (number, id, name, arguments) in pieces {
            calls.push(CallPiece { number: *number, id, name, arguments }, &mut out).unwrap();
        }
        calls.finish(&mut out).unwrap();
        let mut seen: Vec<(String, String, String)> = Vec::new();
        for event in out {
            match event {
                ModelEvent::CallBegun { index, id, name } => {
                    assert_eq!(index, seen.len());
                    seen.push((id, name, String::new()));
                }
                ModelEvent::CallArguments { index, fragment } => seen[index].2.push_str(&fragment),
                other => panic!("{other:?}"),
            }
        }
        seen
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn numbers_from_one_and_with_gaps_are_places_from_zero() {
        let pieces =
            [(Some(1), "a", "f", ""), (Some(1), "", "", "{}"), (Some(5), "b", "g", "{\"x\":"), (Some(5), "", "", "1}")];
        assert_eq!(run(&pieces), [call("a", "f", "{}"), call("b", "g", "{\"x\":1}")]);
    }

    #[test]
    fn pieces_without_a_number_go_to_the_last_call() {
        let pieces = [(None, "a", "f", "{"), (None, "", "", "}"), (None, "b", "g", "{}"), (None, "a", "", "")];
        assert_eq!(run(&pieces), [call("a", "f", "{}"), call("b", "g", "{}")]);
    }

    #[test]
    fn whole_calls_without_number_and_id_are_each_their_own() {
        let pieces = [(None, "", "f", "{\"x\":1}"), (None, "", "f", "{\"x\":2}")];
        assert_eq!(run(&pieces), [call("call_0", "f", "{\"x\":1}"), call("call_1", "f", "{\"x\":2}")]);
    }

    #[test]
    fn one_number_for_every_call_is_seen_through() {
        let pieces = [(Some(0), "a", "f", "{}"), (Some(0), "b", "f", "{}")];
        assert_eq!(run(&pieces), [call("a", "f", "{}"), call("b", "f", "{}")]);
    }

    #[test]
    fn repeated_ids_and_names_are_the_same_call() {
        let pieces = [(Some(0), "a", "f", ""), (Some(0), "a", "f", "{"), (Some(0), "a", "f", "}")];
        assert_eq!(run(&pieces), [call("a", "f", "{}")]);
    }

    #[test]
    fn interleaved_calls_keep_their_arguments() {
        let pieces =
            [(Some(0), "a", "f", "{\"x\""), (Some(1), "b", "g", "{"), (Some(0), "", "", ":1}"), (Some(1), "", "", "}")];
        assert_eq!(run(&pieces), [call("a", "f", "{\"x\":1}"), call("b", "g", "{}")]);
    }

    #[test]
    fn a_name_that_comes_late_is_waited_for() {
        let pieces = [(Some(0), "a", "", "{"), (Some(0), "", "f", "}")];
        assert_eq!(run(&pieces), [call("a", "f", "{}")]);
        let mut calls = Calls::default();
        calls.push(CallPiece { number: Some(0), id: "a", name: "", arguments: "{}" }, &mut Vec::new()).unwrap();
        assert_eq!(calls.finish(&mut Vec::new()).unwrap_err().kind, ModelFailureKind::Garbage);
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        assert_eq!(run(&[(Some(0), "a", "f", "")]), [call("a", "f", "{}")]);
    }

    #[test]
    fn a_reply_begins_so_many_calls_and_no_more() {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        let begin = |number: u64| CallPiece { number: Some(number), id: "", name: "f", arguments: "{" };
        for number in 0..MAX_CALLS as u64 {
            calls.push(begin(number), &mut out).unwrap();
        }
        calls.push(CallPiece { number: Some(0), arguments: "}", ..CallPiece::default() }, &mut out).unwrap();
        let refused = calls.push(begin(u64::MAX), &mut out).unwrap_err();
        assert_eq!(refused.kind, ModelFailureKind::TooLarge);
        assert!(refused.message.contains("more than 1024 tool calls"), "{}", refused.message);
    }

    #[test]
    fn arguments_that_always_look_whole_are_not_read_without_end() {
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        // Each piece closes a brace that was never opened, so the end alone tells nothing.
        let brace = "}".repeat(1 << 20);
        let piece = CallPiece { number: None, id: "", name: "f", arguments: &brace };
        let took = (0..32).map(|_| calls.push(piece, &mut out)).take_while(Result::is_ok).count();
        assert!((2..32).contains(&took), "{took}");
        // An honest one in as many pieces is taken: it is looked at when it may have ended.
        let (mut calls, mut out) = (Calls::default(), Vec::new());
        let word = "x".repeat(1 << 20);
        for arguments in std::iter::once("{\"t\":\"").chain(std::iter::repeat_n(word.as_str(), 31)).chain(["\"}"]) {
            calls.push(CallPiece { arguments, ..piece }, &mut out).unwrap();
        }
        calls.push(CallPiece { arguments: "{}", ..piece }, &mut out).unwrap();
        assert_eq!(calls.begun.len(), 2);
    }
}
