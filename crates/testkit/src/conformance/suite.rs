//! The suite as tests. The lists of all behaviours are written by the build: every public function of a noun's file that
//! takes a [`Harness`](crate::conformance::Harness) is one, and one that takes a
//! [`FullHarness`](crate::conformance::FullHarness) is not for the in-memory store.

include!(concat!(env!("OUT_DIR"), "/behaviours.rs"));

/// Makes one test per behaviour for a store. `$make` is an async function without arguments that answers a
/// [`Harness`](crate::conformance::Harness) over a fresh, empty store.
///
/// ```text
/// async fn make() -> kybern_testkit::conformance::Harness { … }
/// kybern_testkit::conformance_suite!(make);
/// ```
///
/// The crate that calls it needs `tokio` with `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! conformance_suite {
    ($make:ident) => {
        $crate::kernel_suite!($make);

        /// What the in-memory store keeps nothing of.
        mod beyond_the_kernel {
            use super::$make;

            $crate::other_behaviours!($make);
        }
    };
}

/// The part of [`conformance_suite!`](crate::conformance_suite) that the kernel needs, which the in-memory store
/// passes as well.
#[macro_export]
macro_rules! kernel_suite {
    ($make:ident) => {
        $crate::kernel_behaviours!($make);

        mod model {
            #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn any_walk_ends_as_in_the_model() {
                $crate::conformance::model::any_walk_ends_as_in_the_model(super::$make).await;
            }
        }
    };
}

/// One module per noun, one test per behaviour.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($make:ident $($noun:ident { $($behaviour:ident,)* })*) => {
        $(
            mod $noun {
                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $behaviour() {
                        $crate::conformance::$noun::$behaviour(super::$make().await).await;
                    }
                )*
            }
        )*
    };
}
