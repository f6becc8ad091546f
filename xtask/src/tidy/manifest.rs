//! A `Cargo.toml` as far as the rules read it: the package's name and its dependencies.

use toml::de::DeTable;

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

/// The tables of dependencies.
const TABLES: [(&str, Kind); 3] =
    [("dependencies", Kind::Normal), ("build-dependencies", Kind::Normal), ("dev-dependencies", Kind::Dev)];

impl Manifest {
    /// Reads a manifest. Where it is no TOML, cargo says so.
    pub(crate) fn read(text: &str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        let root = root.get_ref();
        let package = table(root, "package").and_then(|package| package.get("name")?.get_ref().as_str());
        let targets = table(root, "target").into_iter().flatten().filter_map(|(_, target)| target.get_ref().as_table());
        let mut dependencies = Vec::new();
        for parent in std::iter::once(root).chain(targets) {
            for (name, kind) in TABLES {
                for (key, value) in table(parent, name).into_iter().flatten() {
                    let renamed = value.get_ref().as_table().and_then(|value| value.get("package")?.get_ref().as_str());
                    let name = renamed.unwrap_or(key.get_ref()).to_owned();
                    let line = 1 + text[..key.span().start].matches('\n').count();
                    dependencies.push(Dependency { line, name, kind });
                }
            }
        }
        dependencies.sort_by_key(|dependency| dependency.line);
        Self { package: package.unwrap_or_default().to_owned(), dependencies }
    }
}

fn table<'a>(of: &'a DeTable<'a>, name: &str) -> Option<&'a DeTable<'a>> {
    of.get(name)?.get_ref().as_table()
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
