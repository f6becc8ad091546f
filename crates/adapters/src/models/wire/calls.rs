//! Calls whose arguments arrive in pieces, from servers that count as they like: from 0, from 1, with gaps, the same
//! number for every call, or not at all.

use kybern_core::model::{ModelEvent, ModelFailure, ModelFailureKind};
use serde::de::IgnoredAny;

use super::parts::unique;

/// The calls of one reply.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    begun: usize,
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
    pub(super) fn push(&mut self, piece: CallPiece<'_>, out: &mut Vec<ModelEvent>) {
        let at = self.find(piece).unwrap_or_else(|| {
            self.calls.push(Call {
                number: piece.number,
                id: piece.id.to_owned(),
                name: String::new(),
                place: None,
                arguments: String::new(),
            });
            self.calls.len() - 1
        });
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
    }

    /// The call that a piece belongs to; `None` when it begins a new one.
    fn find(&self, piece: CallPiece<'_>) -> Option<usize> {
        if let Some(number) = piece.number {
            let at = self.calls.iter().rposition(|call| call.number == Some(number))?;
            let known = self.calls.get(at)?;
            // Some servers give every call the same number: another id with a name of its own is another call.
            let another =
                !piece.name.is_empty() && !piece.id.is_empty() && !known.id.is_empty() && piece.id != known.id;
            return (!another).then_some(at);
        }
        if !piece.id.is_empty() {
            return self.calls.iter().rposition(|call| call.id == piece.id);
        }
        let last = self.calls.len().checked_sub(1)?;
        let known = self.calls.get(last)?;
        let goes_on = piece.name.is_empty() || (piece.name == known.name && !is_whole(&known.arguments));
        goes_on.then_some(last)
    }

    fn begin(&mut self, at: usize, out: &mut Vec<ModelEvent>) {
        let index = self.begun;
        let Some((given, name)) = self.calls.get(at).map(|call| (call.id.clone(), call.name.clone())) else { return };
        let id = unique(&given, index, |id| self.calls.iter().any(|call| call.place.is_some() && call.id == id));
        let Some(call) = self.calls.get_mut(at) else { return };
        call.place = Some(index);
        call.id.clone_from(&id);
        self.begun += 1;
        out.push(ModelEvent::CallBegun { index, id, name });
        if !call.arguments.is_empty() {
            out.push(ModelEvent::CallArguments { index, fragment: call.arguments.clone() });
        }
    }

    /// Whether a call has begun.
    pub(super) fn any(&self) -> bool {
        self.begun > 0
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
            calls.push(CallPiece { number: *number, id, name, arguments }, &mut out);
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
        calls.push(CallPiece { number: Some(0), id: "a", name: "", arguments: "{}" }, &mut Vec::new());
        assert_eq!(calls.finish(&mut Vec::new()).unwrap_err().kind, ModelFailureKind::Garbage);
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        assert_eq!(run(&[(Some(0), "a", "f", "")]), [call("a", "f", "{}")]);
    }
}
