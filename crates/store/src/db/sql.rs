//! SQL texts. They live in `sql/{shared,sqlite,postgres}/*.sql`; a shared one runs on both databases.

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
    ($($name:ident = $kind:ident $file:literal;)*) => {
        $(static $name: $crate::db::Sql = $crate::db::sql::$kind!($file);)*
        /// Every statement of this file.
        pub(crate) static STATEMENTS: &[&$crate::db::Sql] = &[$(&$name),*];
    };
}

pub(crate) use {postgres, shared, split, sql_text, statements};
