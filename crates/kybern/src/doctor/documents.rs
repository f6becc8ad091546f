//! Whether the processes that read documents are kept from everything else.

use super::{Finding, PartState, finding};
use crate::config::DocumentOptions;

pub(super) const PART: &str = "documents";
/// What to do where they are not.
const ISOLATE: &str = "run on Linux, on x86-64, AArch64 or RISC-V, and let the server call seccomp (systemd: \
                       SystemCallFilter=seccomp)";

pub(super) fn documents(options: &DocumentOptions) -> Finding {
    let program = options.reader_program().map_err(|error| format!("{error:#}"));
    match program.and_then(|program| program.is_isolated()) {
        Ok(true) => finding(
            PART,
            PartState::Ok,
            "each is read in a process without network, files and programs, under limits",
            "",
        ),
        Ok(false) => {
            let message = "each is read in a process under limits, which could reach files and the network";
            finding(PART, PartState::Warning, message, ISOLATE)
        }
        Err(error) => {
            let message = format!("the process that reads them {error}");
            finding(PART, PartState::Broken, message, "let the server start its own program, and processes have memory")
        }
    }
}
