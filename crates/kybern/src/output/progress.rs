//! A moving sign of life while something takes long, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::text::clean;

/// A spinner with a word about what is going on; nothing at all when nobody looks.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Starts turning when `visible`.
    pub(crate) fn start(visible: bool, about: &str) -> Self {
        let bar = visible.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.set_message(clean(about));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self(bar)
    }

    /// Says what is going on now.
    pub(crate) fn about(&self, text: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(clean(text));
        }
    }

    /// Steps aside while something else is written.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
