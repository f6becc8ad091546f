//! Long computation without standing in the runtime's way.

use std::pin::pin;

use tokio::runtime::{Handle, RuntimeFlavor};

/// Computes where it is called, after the runtime has moved everything else on this thread to another one.
pub(crate) fn beside_the_runtime<T>(compute: impl FnOnce() -> T) -> T {
    let moves = Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if moves { tokio::task::block_in_place(compute) } else { compute() }
}

/// The same for a future that computes between its waits.
pub(crate) async fn polled_beside_the_runtime<T>(run: impl Future<Output = T>) -> T {
    let mut run = pin!(run);
    std::future::poll_fn(|context| beside_the_runtime(|| run.as_mut().poll(context))).await
}
