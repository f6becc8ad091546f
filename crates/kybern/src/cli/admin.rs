//! The verbs that work on this machine: `serve`, `demo`, `backup`, `restore`, `doctor`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{Context, Format, input};
use crate::backup::{BackupOptions, RestoreOptions};
use crate::demo::crash::CrashOptions;
use crate::demo::{DemoDomain, DemoOptions};
use crate::doctor::DoctorOptions;
use crate::output::Failure;
use crate::serve::ServeOptions;

/// `kybern serve`
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    /// The address and port to listen on, 127.0.0.1:7171 when nothing says otherwise
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

/// `kybern demo`
#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// The domain whose messages come in; insurance, fleet and freight when not stated
    #[arg(value_enum, conflicts_with = "crash")]
    domain: Option<DemoDomain>,
    /// Keep the demo's folder, to look into it afterwards
    #[arg(long)]
    keep: bool,
    /// The folder to use, which is kept; a temporary one when not stated
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Kill the server in the middle of the work, five times, and prove that nothing was lost or done twice
    #[arg(long)]
    crash: bool,
}

/// `kybern backup`
#[derive(Args, Debug)]
pub(super) struct BackupArgs {
    /// The file to write
    file: PathBuf,
}

/// `kybern restore`
#[derive(Args, Debug)]
pub(super) struct RestoreArgs {
    /// The backup to read
    file: PathBuf,
    /// Replace the database that is there
    #[arg(long)]
    replace: bool,
}

/// `kybern doctor`
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    format: Format,
}

pub(super) async fn serve(args: ServeArgs, context: &Context) -> Result<ExitCode, Failure> {
    context.refuse_url("serve starts one", "leave it out; --listen says where the server answers")?;
    let config = context.config(args.listen)?;
    Ok(crate::serve::run(ServeOptions { config, screen: context.new_screen().apart() }).await?)
}

pub(super) async fn demo(args: DemoArgs, context: &Context) -> Result<ExitCode, Failure> {
    context.refuse_url("demo starts one of its own", "leave it out")?;
    let (screen, documents) = (context.new_screen(), context.documents());
    if args.crash {
        let path = context.variable("PATH");
        return Ok(crate::demo::crash::run(CrashOptions { keep: args.keep, dir: args.dir, path, screen }).await?);
    }
    let DemoArgs { keep, dir, domain, .. } = args;
    Ok(crate::demo::run(DemoOptions { keep, dir, domain, documents, screen }).await?)
}

pub(super) async fn backup(args: BackupArgs, context: &Context) -> Result<ExitCode, Failure> {
    context.refuse_url_for("backup")?;
    // Looked at before the database; the store takes no file that has come since either.
    if std::fs::symlink_metadata(&args.file).is_ok() {
        return Err(input::taken(&args.file));
    }
    let config = context.config(None)?;
    Ok(crate::backup::backup(BackupOptions { config, file: args.file, screen: context.new_screen() }).await?)
}

pub(super) async fn restore(args: RestoreArgs, context: &Context) -> Result<ExitCode, Failure> {
    context.refuse_url_for("restore")?;
    // Opened and closed again: that a name is mistyped is said as such.
    input::open(&args.file)?;
    let config = context.config(None)?;
    let RestoreArgs { file, replace } = args;
    Ok(crate::backup::restore(RestoreOptions { config, file, replace, screen: context.new_screen() }).await?)
}

pub(super) async fn doctor(args: DoctorArgs, context: &Context) -> Result<ExitCode, Failure> {
    let options = DoctorOptions {
        config: context.config(None),
        url: context.url().map(str::to_owned),
        names_database: context.names_database(),
        api_key: context.api_key(),
        json: args.format.json,
        screen: context.new_screen(),
    };
    Ok(crate::doctor::run(options).await?)
}
