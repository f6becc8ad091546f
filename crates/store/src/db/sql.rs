//! SQL texts. They live in `sql/{shared,sqlite,postgres}/*.sql`; a shared one runs on both databases. A noun keeps its
//! shared ones in one file, each below a line `-- name: NAME`.

/// One statement, once for each database.
#[derive(Debug)]
pub(crate) struct Sql {
    /// The file's name, by which faults are reported.
    pub(crate) name: &'static str,
    /// The text for SQLite, with `?1` for parameters.
    pub(crate) sqlite: &'static str,
    /// The text for PostgreSQL, with `$1` for parameters.
    pub(crate) postgres: &'static str,
}

/// The bytes of a statement with `?1` for `$1`: in SQLite `$1` is a name, which is numbered by its first occurrence.
pub(crate) const fn numbered<const N: usize>(text: &str) -> [u8; N] {
    let bytes = text.as_bytes();
    let mut out = [0; N];
    let mut at = 0;
    while at < N {
        out[at] = if bytes[at] == b'$' { b'?' } else { bytes[at] };
        at += 1;
    }
    out
}

/// The bytes as text again.
pub(crate) const fn as_text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// The text of one file.
macro_rules! sql_text {
    ($folder:literal, $file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/", $folder, "/", $file, ".sql"))
    };
}

/// A statement that both databases run.
macro_rules! shared {
    ($file:literal) => {{
        const TEXT: &str = $crate::db::sql_text!("shared", $file);
        const NUMBERED: [u8; TEXT.len()] = $crate::db::sql::numbered(TEXT);
        $crate::db::Sql { name: $file, sqlite: $crate::db::sql::as_text(&NUMBERED), postgres: TEXT }
    }};
}

/// The statement below `-- name: NAME`, up to the next such line.
pub(crate) const fn named(file: &'static str, name: &str) -> &'static str {
    let mut rest = file.as_bytes();
    loop {
        assert!(!rest.is_empty(), "the file has no statement of that name");
        let (line, below) = rest.split_at(line_end(rest));
        if matches!(heading(line), Some(of) if same(of, name.as_bytes())) {
            let mut end = 0;
            while end < below.len() {
                let (_, from) = below.split_at(end);
                if heading(from.split_at(line_end(from)).0).is_some() {
                    break;
                }
                end += line_end(from);
            }
            return as_text(below.split_at(end).0);
        }
        rest = below;
    }
}

const fn line_end(text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() {
        at += 1;
        if text[at - 1] == b'\n' {
            break;
        }
    }
    at
}

const fn heading(line: &[u8]) -> Option<&[u8]> {
    const BEGIN: &[u8] = b"-- name: ";
    if line.len() <= BEGIN.len() || !same(line.split_at(BEGIN.len()).0, BEGIN) {
        return None;
    }
    Some(line.split_at(BEGIN.len()).1.trim_ascii_end())
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// One of the statements of a file that both databases run.
macro_rules! part {
    ($file:literal, $name:literal) => {{
        const TEXT: &str = $crate::db::sql::named($crate::db::sql_text!("shared", $file), $name);
        const NUMBERED: [u8; TEXT.len()] = $crate::db::sql::numbered(TEXT);
        $crate::db::Sql {
            name: concat!($file, "_", $name),
            sqlite: $crate::db::sql::as_text(&NUMBERED),
            postgres: TEXT,
        }
    }};
}

/// A statement that differs between the databases.
macro_rules! split {
    ($file:literal) => {{
        const TEXT: &str = $crate::db::sql_text!("sqlite", $file);
        const NUMBERED: [u8; TEXT.len()] = $crate::db::sql::numbered(TEXT);
        const POSTGRES: &str = $crate::db::sql_text!("postgres", $file);
        $crate::db::Sql { name: $file, sqlite: $crate::db::sql::as_text(&NUMBERED), postgres: POSTGRES }
    }};
}

/// A statement that only PostgreSQL runs.
macro_rules! postgres {
    ($file:literal) => {
        $crate::db::Sql { name: $file, sqlite: "SELECT 1", postgres: $crate::db::sql_text!("postgres", $file) }
    };
}

/// The statements of one noun, and a list of them for the test that prepares each.
macro_rules! statements {
    ($($name:ident = $kind:ident $($file:literal)+;)*) => {
        $(static $name: $crate::db::Sql = $crate::db::sql::$kind!($($file),+);)*
        /// Every statement of this file.
        pub(crate) static STATEMENTS: &[&$crate::db::Sql] = &[$(&$name),*];
    };
}

pub(crate) use {part, postgres, shared, split, sql_text, statements};

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_statement_reaches_to_the_next_name() {
        const FILE: &str = "-- name: get\nSELECT 1\n\n-- name: get_all\n-- why\nSELECT 2\n";
        assert_eq!((named(FILE, "get").trim(), named(FILE, "get_all").trim()), ("SELECT 1", "-- why\nSELECT 2"));
    }
}
