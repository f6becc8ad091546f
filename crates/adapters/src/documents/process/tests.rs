use std::io::{Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};

use bytes::Bytes;

use super::*;

/// A program that does not read, but does this.
fn program(folder: &tempfile::TempDir, script: &str) -> ReaderProgram {
    let path = folder.path().join("reader");
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
    file.set_permissions(std::fs::Permissions::from_mode(0o755)).unwrap();
    drop(file);
    ReaderProgram::new(path).limited_to(MEMORY, Duration::from_secs(1))
}

fn fault(script: &str) -> DocumentFault {
    let folder = tempfile::tempdir().unwrap();
    let file = File::new("a.txt", "text/plain", Bytes::from_static(b"x")).unwrap();
    program(&folder, script).read(&file, None, &StopFlag::default()).unwrap_err()
}

#[test]
fn a_reader_that_crashes_costs_its_document() {
    for script in ["kill -SEGV $$", "exit 3", "exit 0", "printf '\\007\\000\\000\\000\\003nil'"] {
        assert_eq!(fault(script).kind, FaultKind::Broken, "{script}");
    }
}

#[test]
fn a_reader_that_says_too_much_or_what_it_may_not_is_not_listened_to() {
    for script in
        ["yes", "printf '\\007\\377\\377\\377\\377'; yes", "printf '\\001\\000\\000\\000\\000'; cat >/dev/null"]
    {
        assert_eq!(fault(script).kind, FaultKind::Broken, "{script}");
    }
}

#[test]
fn a_reader_that_takes_too_long_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Opened without waiting for whoever writes to it.
    let mut open = std::fs::File::options();
    let mut read = open.read(true).custom_flags(nix::libc::O_NONBLOCK).open(&pipe).unwrap();
    // Both hold the pipe open for as long as they live, and one of them says so.
    let fault = fault(&format!("exec 3>{}; echo begun >&3; sleep 600 & cat >/dev/null; sleep 600", pipe.display()));
    assert_eq!(
        (fault.kind, fault.message.contains("took longer than 1 second")),
        (FaultKind::TooLarge, true),
        "{fault}"
    );
    let mut said = Vec::new();
    while let Err(error) = read.read_to_end(&mut said) {
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock, "{error}");
        std::thread::yield_now();
    }
    assert_eq!(said, b"begun\n", "it ends when nobody is left who could write");
}

#[test]
fn what_is_ended_by_its_limit_of_processor_time_took_too_long() {
    let fault = fault("kill -XCPU $$");
    assert_eq!((fault.kind, fault.message.contains("took longer than")), (FaultKind::TooLarge, true), "{fault}");
}

#[test]
fn what_ends_for_lack_of_memory_is_told_from_a_crash() {
    let fault = fault("echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$");
    assert_eq!((fault.kind, fault.message.contains("1024 MB of memory")), (FaultKind::TooLarge, true), "{fault}");
}

#[test]
fn a_reader_that_cannot_be_started_is_not_the_documents_fault() {
    let file = File::new("a.txt", "text/plain", Bytes::from_static(b"x")).unwrap();
    let missing = ReaderProgram::new("/nonexistent".into());
    assert!(missing.read(&file, None, &StopFlag::default()).unwrap_err().kind.is_transient());
}
