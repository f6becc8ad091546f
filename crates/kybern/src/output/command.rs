//! How this program was called: commands that it prints reach the same server or database when they are pasted.

use std::sync::OnceLock;

use url::Url;

use crate::cli::Globals;
use crate::config::database::DatabaseUrl;

static CALLED: OnceLock<String> = OnceLock::new();
static CALLED_HERE: OnceLock<String> = OnceLock::new();

/// Notes the flags that a printed command has to repeat.
pub(crate) fn called_with(globals: &Globals) {
    CALLED.set(command(globals)).unwrap_or_default();
    CALLED_HERE.set(command(&Globals { url: None, ..globals.clone() })).unwrap_or_default();
}

/// `kybern`, with the flags that say where.
pub(crate) fn kybern() -> &'static str {
    CALLED.get().map_or("kybern", String::as_str)
}

/// The same for a verb that works on this machine, such as `serve`: no server is named for it.
pub(crate) fn kybern_here() -> &'static str {
    CALLED_HERE.get().map_or("kybern", String::as_str)
}

fn command(globals: &Globals) -> String {
    // A password is not repeated.
    let database = globals.database.as_ref().map(|text| match text.parse::<DatabaseUrl>() {
        Ok(url @ DatabaseUrl::Postgres(_)) => url.to_string(),
        _file_or_wrong => text.clone(),
    });
    let config = globals.config.as_ref().map(|path| path.display().to_string());
    let flags = [("--config", config), ("--database", database), ("--url", globals.url.as_deref().map(without_user))];
    let given = flags.into_iter().filter_map(|(flag, value)| Some(format!(" {flag} {}", quoted(&value?))));
    std::iter::once("kybern".to_owned()).chain(given).collect()
}

/// A URL with a user is refused, and its password may be seen by nobody.
fn without_user(server: &str) -> String {
    match Url::parse(server) {
        Ok(mut url) if !url.username().is_empty() || url.password().is_some() => {
            // Only a URL without a host refuses.
            url.set_username("").and_then(|()| url.set_password(None)).unwrap_or_default();
            url.into()
        }
        _as_given => server.to_owned(),
    }
}

/// As one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:@=+,%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn a_printed_command_repeats_where() {
        let database = |text: &str| Globals { database: Some(text.to_owned()), ..Globals::default() };
        assert_eq!(command(&Globals::default()), "kybern");
        assert_eq!(command(&database("sqlite:/tmp/a.db")), "kybern --database sqlite:/tmp/a.db");
        assert_eq!(command(&database("sqlite:it's a.db")), r"kybern --database 'sqlite:it'\''s a.db'");
        assert_eq!(command(&database("postgres://u:secret@h/n")), "kybern --database postgres://u@h/n");
        assert_eq!(
            command(&database("postgres://u:secret@h/n?sslmode=require&password=x&application_name=a")),
            "kybern --database 'postgres://u@h/n?sslmode=require&application_name=a'"
        );
        let file = Globals { config: Some("my settings.toml".into()), ..database("sqlite:a.db") };
        assert_eq!(command(&file), "kybern --config 'my settings.toml' --database sqlite:a.db");
        let url = Globals { url: Some("http://127.0.0.1:1".to_owned()), ..Globals::default() };
        assert_eq!(command(&url), "kybern --url http://127.0.0.1:1");
        let url = Globals { url: Some("http://app:secret@127.0.0.1:1/".to_owned()), ..Globals::default() };
        assert_eq!(command(&url), "kybern --url http://127.0.0.1:1/");
    }

    /// Texts that name a verb without the flags that say where.
    #[test]
    fn no_command_is_printed_but_with_where() {
        // The line below says the same in variables of the environment, and help is printed before flags are read.
        let allowed = ["kybern task submit 'what you want'", "Begin with: kybern demo"];
        let verbs: Vec<String> = Cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        let mut found = Vec::new();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                    found.extend(bare(code, &verbs).map(|line| format!("{}: {}", path.display(), line.trim())));
                }
            }
        }
        found.retain(|line| !allowed.iter().any(|allowed| line.contains(allowed)));
        assert!(found.is_empty(), "print kybern() or kybern_here() in place of the bare name:\n{}", found.join("\n"));
    }

    fn bare<'a>(code: &'a str, verbs: &'a [String]) -> impl Iterator<Item = &'a str> {
        let names_verb = |after: &str| verbs.iter().any(|verb| after.split([' ', '`', '"', '\\']).next() == Some(verb));
        let is_comment = |line: &str| line.trim_start().starts_with("//");
        code.lines().filter(move |line| !is_comment(line) && line.split("kybern ").skip(1).any(names_verb))
    }
}
