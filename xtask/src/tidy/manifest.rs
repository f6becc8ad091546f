//! A `Cargo.toml` as far as the rules read it: the package's name and its dependencies.

/// Which table a dependency stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `[dependencies]` and `[build-dependencies]`, also for one target.
    Normal,
    /// `[dev-dependencies]`.
    Dev,
}

/// One dependency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dependency {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The package's name, also where it is renamed.
    pub(crate) name: String,
    /// The table.
    pub(crate) kind: Kind,
}

/// What a manifest says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Manifest {
    /// The package's name; empty for a workspace without a package.
    pub(crate) package: String,
    /// The dependencies in order.
    pub(crate) dependencies: Vec<Dependency>,
}

impl Manifest {
    /// Reads the plain style that this project writes: one dependency a line, or one a table.
    pub(crate) fn read(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut table = String::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            if let Some(header) = line.strip_prefix('[') {
                table = header.trim_end_matches(']').to_owned();
                if let Some((kind, Some(name))) = dependency_table(&table) {
                    manifest.dependencies.push(Dependency { line: index + 1, name: name.to_owned(), kind });
                }
                continue;
            }
            manifest.line(&table, index + 1, line);
        }
        manifest
    }

    fn line(&mut self, table: &str, line: usize, text: &str) {
        if table == "package" {
            if let Some(("name", value)) = key_value(text) {
                self.package = unquote(value).to_owned();
            }
            return;
        }
        match dependency_table(table) {
            Some((kind, None)) => {
                let key = text.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
                let name = renamed(text).unwrap_or(key).to_owned();
                self.dependencies.push(Dependency { line, name, kind });
            }
            Some((_, Some(_))) => {
                if let (Some(("package", value)), Some(last)) = (key_value(text), self.dependencies.last_mut()) {
                    unquote(value).clone_into(&mut last.name);
                }
            }
            None => {}
        }
    }
}

/// The kind of a dependency table, and the dependency's name where the table is that of one dependency.
fn dependency_table(table: &str) -> Option<(Kind, Option<&str>)> {
    for (word, kind) in
        [("dev-dependencies", Kind::Dev), ("build-dependencies", Kind::Normal), ("dependencies", Kind::Normal)]
    {
        let Some(at) = table.find(word) else { continue };
        let before = &table[..at];
        if !(before.is_empty() || (before.starts_with("target.") && before.ends_with('.'))) {
            return None;
        }
        let rest = &table[at + word.len()..];
        return Some((kind, rest.strip_prefix('.')));
    }
    None
}

fn renamed(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("package")?;
    let value = after.trim_start().strip_prefix('=')?;
    Some(unquote(value.split([',', '}']).next()?))
}

fn key_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    Some((key.trim(), value))
}

fn unquote(text: &str) -> &str {
    text.trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_dependency_is_read() {
        let manifest = Manifest::read(
            "[package]\nname = \"kybern-x\"\n\n[dependencies]\na.workspace = true\nb = \"1\"\n\
             c = { package = \"real\", version = \"1\" }\n[dependencies.d]\nversion = \"1\"\n\
             [target.'cfg(unix)'.dependencies]\ne = \"1\"\n[dev-dependencies]\nf = { path = \"..\" }\n\
             [features]\ng = []\n[workspace.dependencies]\nh = \"1\"\n[build-dependencies.i]\npackage = \"j\"\n",
        );
        assert_eq!(manifest.package, "kybern-x");
        let names: Vec<(&str, Kind)> = manifest.dependencies.iter().map(|d| (d.name.as_str(), d.kind)).collect();
        assert_eq!(
            names,
            [
                ("a", Kind::Normal),
                ("b", Kind::Normal),
                ("real", Kind::Normal),
                ("d", Kind::Normal),
                ("e", Kind::Normal),
                ("f", Kind::Dev),
                ("j", Kind::Normal),
            ]
        );
        assert_eq!(manifest.dependencies[0].line, 5);
    }
}
