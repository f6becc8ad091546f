//! A gate in front of a question to a model: what led to the question has to be on the disk before anybody is asked.

use tokio::sync::watch;

/// Waits until it is opened.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    opened: watch::Receiver<bool>,
}

/// Opens a gate. Dropped without that, whatever waits at it ends.
#[derive(Debug)]
pub(crate) struct Key {
    opened: watch::Sender<bool>,
}

impl Gate {
    pub(crate) fn new() -> (Key, Self) {
        let (key, opened) = watch::channel(false);
        (Key { opened: key }, Self { opened })
    }

    /// Waits at the gate; answers whether it was opened.
    pub(crate) async fn passed(&self) -> bool {
        self.opened.clone().wait_for(|opened| *opened).await.is_ok()
    }
}

impl Key {
    /// Opens it, for those who wait and those who come.
    pub(crate) fn open(self) {
        self.opened.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_gate_lets_through_once_it_is_open_and_ends_those_who_wait_when_it_never_will_be() {
        let (key, gate) = Gate::new();
        assert_eq!(gate.passed().now_or_never(), None);
        key.open();
        assert!(gate.passed().await && gate.passed().await);
        let (key, gate) = Gate::new();
        drop(key);
        assert!(!gate.passed().await);
    }
}
