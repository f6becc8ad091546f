//! A mail server, SMTP and IMAP, that takes any mailbox and keeps its mail in memory.

use std::process::Command;

use anyhow::{Context, Result};

use super::process::Server;
use super::python::{self, Package};
use super::{Running, Service, cache, ports};

/// The server. It knows no IMAP IDLE, so a client polls.
const PACKAGE: Package = Package::new("mail-devel", "0.18.1");

/// The password of every mailbox.
const PASSWORD: &str = "secret";

const SMTP: &str = "KYBERN_TEST_SMTP_ADDR";
const IMAP: &str = "KYBERN_TEST_IMAP_ADDR";
const MAIL_PASSWORD: &str = "KYBERN_TEST_MAIL_PASSWORD";

/// A port that was free may be taken by the time it is used.
const STARTS: u32 = 3;

/// The service.
pub(crate) struct Mail;

impl Service for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn variables(&self) -> &'static [&'static str] {
        &[SMTP, IMAP, MAIL_PASSWORD]
    }

    fn start(&self) -> Result<Running> {
        let venv = python::environment(&[PACKAGE])?;
        let mut last = None;
        for _ in 0..STARTS {
            match start_server(&venv) {
                Ok(running) => return Ok(running),
                Err(error) => last = Some(error),
            }
        }
        Err(last.context("no start was tried")?)
    }
}

fn start_server(venv: &std::path::Path) -> Result<Running> {
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
    Ok(Running::new(server, about, environment))
}
