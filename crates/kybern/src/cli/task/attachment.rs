//! `kybern task attachment`: the bytes of what a task came with.

use std::path::{Path, PathBuf};

use clap::Args;
use kybern_core::id::TaskId;

use crate::cli::{Context, Exit, file};
use crate::client::Client;
use crate::output::{Failure, clean, count, field, in_full};

/// `kybern task attachment`
#[derive(Args, Debug)]
pub(in crate::cli) struct AttachmentArgs {
    /// The task
    id: TaskId,
    /// Its number, as `task show` names it; 0 is a mail itself
    n: u32,
    /// The file to write, or - for standard output; its own name in this folder when not stated
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The picture of this page, from 1, as a PNG: only of what was read from a picture
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    page: Option<u32>,
    /// Print what it says, as it was read or as a person confirmed it; in a file with --out
    #[arg(long, conflicts_with = "page")]
    text: bool,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(args: AttachmentArgs, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let (id, n) = (args.id, args.n);
    let to_stdout = args.out.as_deref() == Some(Path::new("-"));
    let out = match &args.out {
        Some(out) => out.clone(),
        None if args.text => PathBuf::new(),
        None => PathBuf::from(own_name(&client, &args).await?),
    };
    let page = args.page.map(|page| page.to_string());
    let text = args.text.then(|| "true".to_owned());
    let bytes = client.bytes(&format!("/api/tasks/{id}/attachments/{n}"), &[("page", page), ("text", text)]).await?;
    if args.text && args.out.is_none() {
        // A stranger wrote it: nothing in it may act on the terminal.
        let text = String::from_utf8_lossy(&bytes);
        context.screen().line(in_full(&text.into(), ""));
        return Ok(Exit::Done);
    }
    if to_stdout {
        context.screen().bytes(&bytes);
        return Ok(Exit::Done);
    }
    file::write(&out, &bytes, args.force)?;
    context.screen().line(format!("{} in {}", count(bytes.len(), "byte"), clean(&out.display().to_string())));
    Ok(Exit::Done)
}

/// The name that the file came with, as a name in this folder.
async fn own_name(client: &Client, args: &AttachmentArgs) -> Result<String, Failure> {
    let files = super::show::files_of(client, args.id).await?;
    let n = args.n.to_string();
    let named = files.iter().find(|file| field(file, "n") == n).map(|file| field(file, "filename"));
    let name = plain_name(&named.unwrap_or_default(), args.n);
    Ok(args.page.map_or_else(|| name.clone(), |page| format!("{name}.page{page}.png")))
}

/// A stranger has chosen the name: nothing of it may lead out of this folder, hide the file or look like an option.
fn plain_name(name: &str, n: u32) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._- ()".contains(c) { c } else { '_' };
    let name: String = name.rsplit(['/', '\\']).next().unwrap_or_default().chars().take(120).map(plain).collect();
    match name.trim().trim_start_matches(['.', '-']) {
        "" => format!("attachment-{n}"),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_name_stays_in_this_folder() {
        assert_eq!(plain_name("../../etc/passwd", 1), "passwd");
        assert_eq!(plain_name("C:\\x\\dec page (2).pdf", 1), "dec page (2).pdf");
        assert_eq!(plain_name("-rf", 1), "rf");
        assert_eq!(plain_name(".bashrc", 2), "bashrc");
        assert_eq!(plain_name("a\u{202e}fdp.exe", 2), "a_fdp.exe");
        assert_eq!(plain_name("..", 3), "attachment-3");
    }
}
