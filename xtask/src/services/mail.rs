//! A mail server, SMTP and IMAP, that takes any mailbox and keeps its mail in memory.

use std::process::Command;

use anyhow::{Context, Result};

use super::process::Server;
use super::python::{self, Package};
use super::{RunningService, Service, cache, ports, start_anew};

/// The server. It knows no IMAP IDLE, so a client polls.
const PACKAGE: Package = Package::new("mail-devel", "0.18.1");

/// The password of every mailbox.
const PASSWORD: &str = "secret";

const SMTP: &str = "KYBERN_TEST_SMTP_ADDR";
const IMAP: &str = "KYBERN_TEST_IMAP_ADDR";
const MAIL_PASSWORD: &str = "KYBERN_TEST_MAIL_PASSWORD";

/// The service.
pub(crate) const SERVICE: Service =
    Service { name: "mail", variables: &[SMTP, IMAP, MAIL_PASSWORD], asked_by: None, start };

fn start() -> Result<RunningService> {
    let venv = python::environment(&[PACKAGE])?;
    start_anew(|| start_server(&venv))
}

fn start_server(venv: &std::path::Path) -> Result<RunningService> {
    let folder = cache::fresh("mail")?;
    let [smtp, smtps, imap, http] = ports::free()?;
    let mut command = Command::new(venv.join("bin/mail_devel"));
    command.args(["--host", "127.0.0.1", "--multi-user", "--password", PASSWORD]);
    for (option, port) in [("--smtp-port", smtp), ("--smtps-port", smtps), ("--imap-port", imap), ("--http-port", http)]
    {
        command.arg(option).arg(port.to_string());
    }
    let mut server = Server::start(command, "TERM", &folder)?;
    server.wait_until(|| ports::answers(smtp) && ports::answers(imap)).context("the mail server does not start")?;
    let about = format!("mail-devel {}: SMTP on port {smtp}, IMAP on port {imap}", PACKAGE.version);
    let environment = vec![
        (SMTP, format!("127.0.0.1:{smtp}")),
        (IMAP, format!("127.0.0.1:{imap}")),
        (MAIL_PASSWORD, PASSWORD.to_owned()),
    ];
    Ok(RunningService::new(server, about, environment))
}
