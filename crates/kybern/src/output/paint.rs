//! How texts look: colours on a terminal that wants them, and how much room a line has there.

/// Paints texts, or leaves them as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Paint {
    color: bool,
    width: Option<usize>,
}

impl Paint {
    /// With or without colours.
    pub(crate) const fn new(color: bool) -> Self {
        Self { color, width: None }
    }

    /// The same on a terminal of so many columns.
    pub(crate) const fn with_width(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// The columns of the terminal; `None` where there is none.
    pub(crate) const fn width(self) -> Option<usize> {
        self.width
    }

    /// Whether there are colours.
    pub(crate) const fn is_on(self) -> bool {
        self.color
    }

    /// What went well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What went wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// What waits for somebody.
    pub(crate) fn wait(self, text: &str) -> String {
        self.with("33", text)
    }

    /// What matters less.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What matters most.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// A task's status.
    pub(crate) fn status(self, status: &str) -> String {
        match status {
            "completed" | "success" => self.good(status),
            "failed" | "failure" | "timeout" => self.bad(status),
            "needs_review" | "delegated" | "waiting" => self.wait(status),
            "cancelled" => self.dim(status),
            _running => status.to_owned(),
        }
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
