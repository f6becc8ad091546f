//! The one place of this crate that reads a clock.

use std::time::{Duration, Instant};

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// A stopwatch that runs from now.
    #[expect(clippy::disallowed_methods, reason = "chores measure real time")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A span as people read it: `840 ms`, `12.3 s`, `4 min 05 s`.
pub(crate) fn readable(span: Duration) -> String {
    let seconds = span.as_secs();
    if seconds >= 60 {
        return format!("{} min {:02} s", seconds / 60, seconds % 60);
    }
    if seconds >= 1 {
        return format!("{seconds}.{} s", span.subsec_millis() / 100);
    }
    format!("{} ms", span.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_readable() {
        assert_eq!(readable(Duration::from_millis(840)), "840 ms");
        assert_eq!(readable(Duration::from_millis(12_345)), "12.3 s");
        assert_eq!(readable(Duration::from_secs(245)), "4 min 05 s");
    }
}
