//! The W3C trace context that goes along with calls to the outside.
//!
//! It is written here and not by OpenTelemetry's propagator: what a call carries follows from the task and the call
//! alone, so that a try repeats it, and the propagator would need a span, a map to write into and an SDK below every
//! crate for one `format!`.

use uuid::Uuid;

/// The `traceparent` of a call within a trace: 32 lower-case hex digits, not all zero; `None` when `trace` is anything
/// else. `call` names the call; its tries name the same, so that a receiver sees them as one span.
#[must_use]
pub fn traceparent(trace: &str, call: &str) -> Option<String> {
    if !is_hex(trace, 32) || trace.bytes().all(|byte| byte == b'0') {
        return None;
    }
    let span: String = blake3::hash(call.as_bytes()).to_hex().chars().take(16).collect();
    Some(written(trace, &span, 1))
}

/// A `traceparent`: of which trace, which span of it, and whether that is sampled.
#[must_use]
pub fn written(trace: &str, span: &str, flags: u8) -> String {
    format!("00-{trace}-{span}-{flags:02x}")
}

/// Whether a text has the form of a `traceparent`: version, trace, span and flags in lower-case hex, each as long as it
/// has to be. Only versions that are not known yet may say more behind them.
#[must_use]
pub fn has_form(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |length| parts.next().is_some_and(|part| is_hex(part, length));
    let has_parts = next(2) && next(32) && next(16) && next(2);
    has_parts && (parts.next().is_none() || !text.starts_with("00"))
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The same for what belongs to no trace yet, as a request or a job: its id begins one.
#[must_use]
pub fn traceparent_of(id: Uuid) -> Option<String> {
    let trace = id.simple().to_string();
    traceparent(&trace, &trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_of_a_call_are_one_span_and_other_calls_are_others() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let of = |call| traceparent(trace, call).unwrap();
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        let parts: Vec<_> = of("a").split('-').map(str::len).collect();
        assert_eq!(parts, [2, 32, 16, 2]);
        assert!(traceparent_of(Uuid::from_u128(7)).unwrap().starts_with("00-00000000000000000000000000000007-"));
    }

    #[test]
    fn what_is_no_trace_id_goes_nowhere() {
        for trace in
            ["", "abc", "4BF92F3577B34DA6A3CE929D0E0E4736", &"0".repeat(32), "4bf92f3577b34da6a3ce929d0e0e473\n"]
        {
            assert_eq!(traceparent(trace, "a"), None, "{trace:?}");
        }
    }
}
