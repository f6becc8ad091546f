//! How this program was called: commands that it prints reach the same server or database when they are pasted.

use std::sync::OnceLock;

use crate::cli::Globals;
use crate::config::database::DatabaseUrl;

static CALLED: OnceLock<String> = OnceLock::new();

/// Notes the flags that a printed command has to repeat.
pub(crate) fn called_with(globals: &Globals) {
    CALLED.set(command(globals)).unwrap_or_default();
}

/// `kybern`, with the flags that say where.
pub(crate) fn kybern() -> &'static str {
    CALLED.get().map_or("kybern", String::as_str)
}

fn command(globals: &Globals) -> String {
    // A password is not repeated.
    let database = globals.database.as_ref().map(|text| match text.parse::<DatabaseUrl>() {
        Ok(url @ DatabaseUrl::Postgres(_)) => url.to_string(),
        _file_or_wrong => text.clone(),
    });
    let config = globals.config.as_ref().map(|path| path.display().to_string());
    let flags = [("--config", config), ("--database", database), ("--url", globals.url.clone())];
    let given = flags.into_iter().filter_map(|(flag, value)| Some(format!(" {flag} {}", quoted(&value?))));
    std::iter::once("kybern".to_owned()).chain(given).collect()
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
    use super::*;

    #[test]
    fn a_printed_command_repeats_where() {
        let database = |text: &str| Globals { database: Some(text.to_owned()), ..Globals::default() };
        assert_eq!(command(&Globals::default()), "kybern");
        assert_eq!(command(&database("sqlite:/tmp/a.db")), "kybern --database sqlite:/tmp/a.db");
        assert_eq!(command(&database("sqlite:it's a.db")), r"kybern --database 'sqlite:it'\''s a.db'");
        assert_eq!(command(&database("postgres://u:secret@h/n")), "kybern --database postgres://u@h/n");
        let url = Globals { url: Some("http://127.0.0.1:1".to_owned()), ..Globals::default() };
        assert_eq!(command(&url), "kybern --url http://127.0.0.1:1");
    }
}
