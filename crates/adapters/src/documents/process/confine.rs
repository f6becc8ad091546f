//! What a process gives up before it reads what a stranger wrote.
//!
//! Everywhere: processor time, open files, written files and core dumps. On Linux also memory, and by seccomp everything
//! that is not computing: it opens no file and no socket, starts no program, and signals nobody but itself. A call that
//! is not on the list fails as if it were forbidden, whichever it is, so that a new one of the kernel's is not let through.
//! Elsewhere, and on a processor that the filter does not know, there is no such filter, and the process is only
//! limited, watched and killed from outside.

use std::io;

use nix::sys::resource::{Resource, setrlimit};

/// Files that it may have open: what it was started with, and what the runtime opens.
const FILES: u64 = 16;

/// Takes from this process what reading does not need; `memory` in bytes, `seconds` of the processor. Answers whether it
/// is isolated: whether nothing but computing is left to it.
///
/// # Errors
/// When one of the limits cannot be set: then it must not read.
pub(super) fn confine(memory: u64, seconds: u64) -> io::Result<bool> {
    let limit = |resource, most| setrlimit(resource, most, most).map_err(io::Error::from);
    limit(Resource::RLIMIT_CORE, 0)?;
    limit(Resource::RLIMIT_FSIZE, 0)?;
    limit(Resource::RLIMIT_NOFILE, FILES)?;
    // The first limit ends it with a signal of its own, the second would with any.
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds + 1)?;
    #[cfg(target_os = "linux")]
    {
        limit(Resource::RLIMIT_AS, memory)?;
        // Nobody would wait for it.
        nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
        filter::install()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = memory;
        Ok(false)
    }
}

#[cfg(target_os = "linux")]
mod filter {
    use std::io;

    use nix::libc;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        TargetArch, apply_filter_all_threads,
    };

    /// All that it takes to read what is open, to compute, to answer, and to end.
    const ALLOWED: &[libc::c_long] = &[
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_lseek,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_getrandom,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// Puts the filter over every thread; answers whether there is one here.
    ///
    /// # Errors
    /// When the filter is wrong.
    pub(super) fn install() -> io::Result<bool> {
        let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
        let program = program(arch).map_err(io::Error::other)?;
        match apply_filter_all_threads(&program) {
            Ok(()) => Ok(true),
            Err(seccompiler::Error::Seccomp(error)) if is_missing(&error) => Ok(false),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// A kernel that was built without it, or a filter around this process that does not let it have its own.
    fn is_missing(error: &io::Error) -> bool {
        matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL | libc::EPERM | libc::EACCES))
    }

    fn program(arch: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
        let own = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(std::process::id()))?;
        let mut rules: std::collections::BTreeMap<libc::c_long, Vec<SeccompRule>> =
            ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
        // How a process ends itself when it gives up.
        rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![own])?]);
        let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        SeccompFilter::new(rules, refused, SeccompAction::Allow, arch)?.try_into()
    }
}
