//! What a package depends on: the packages whose libraries the program links, in the versions whose symbols it uses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::services::finish;

/// A version as its numbers, so that 2.9 comes before 2.34.
type Numbers = Vec<u32>;

/// The `Depends` of a program: `libc6 (>= 2.34), libgcc-s1 (>= 4.2)`.
///
/// # Errors
/// When the program, or the package of a library, cannot be found out.
pub(super) fn dependencies(program: &Path) -> Result<String> {
    let mut ldd = Command::new("ldd");
    ldd.arg(program);
    let libraries = libraries(&finish(ldd)?)?;
    let mut objdump = Command::new("objdump");
    objdump.arg("-p").arg(program);
    let symbols = symbols(&finish(objdump).context("objdump comes with binutils")?);
    let mut packages: BTreeMap<String, Numbers> = BTreeMap::new();
    for (name, path) in libraries {
        let least = packages.entry(owner(&path)?).or_default();
        if let Some(version) = symbols.get(&name) {
            *least = least.clone().max(version.clone());
        }
    }
    if packages.is_empty() {
        bail!("{} links no library", program.display());
    }
    Ok(packages.into_iter().map(|(name, least)| dependency(&name, &least)).collect::<Vec<_>>().join(", "))
}

fn dependency(package: &str, least: &Numbers) -> String {
    if least.is_empty() {
        return package.to_owned();
    }
    let version: Vec<String> = least.iter().map(u32::to_string).collect();
    format!("{package} (>= {})", version.join("."))
}

/// The name and the file of each library that `ldd` lists. What the kernel brings has no file.
fn libraries(said: &str) -> Result<Vec<(String, PathBuf)>> {
    let mut libraries = Vec::new();
    for line in said.lines() {
        let Some(path) = line.split_whitespace().find(|word| word.starts_with('/')) else {
            if line.contains("not found") {
                bail!("a library of the program is missing: {}", line.trim());
            }
            continue;
        };
        let path = PathBuf::from(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        libraries.push((name, path));
    }
    Ok(libraries)
}

/// The highest version that the program asks of each library, by the lines of `objdump -p` below "required from".
fn symbols(said: &str) -> BTreeMap<String, Numbers> {
    let mut symbols: BTreeMap<String, Numbers> = BTreeMap::new();
    let mut library = None;
    for line in said.lines() {
        if let Some(name) = line.trim().strip_prefix("required from ") {
            library = Some(name.trim_end_matches(':').to_owned());
        } else if let (Some(name), Some(version)) = (&library, line.split_whitespace().last().and_then(numbers)) {
            let highest = symbols.entry(name.clone()).or_default();
            *highest = version.max(highest.clone());
        }
    }
    symbols
}

/// The name under which glibc offers to read packed addresses, and the version from which on it does.
const PACKED_ADDRESSES: (&str, [u32; 2]) = ("GLIBC_ABI_DT_RELR", [2, 36]);

/// The numbers of `GLIBC_2.34`, or of `GCC_4.2.0`.
fn numbers(symbol: &str) -> Option<Numbers> {
    if symbol == PACKED_ADDRESSES.0 {
        return Some(PACKED_ADDRESSES.1.to_vec());
    }
    let version = symbol.strip_prefix("GLIBC_").or_else(|| symbol.strip_prefix("GCC_"))?;
    version.split('.').map(|number| number.parse().ok()).collect()
}

/// The package that has a file. On a merged system the file's own name may be another one than the package's list has.
fn owner(path: &Path) -> Result<String> {
    let real = path.canonicalize().with_context(|| format!("there is no {}", path.display()))?;
    for file in [path, &real, Path::new(real.to_string_lossy().trim_start_matches("/usr"))] {
        let mut ask = Command::new("dpkg-query");
        ask.arg("--search").arg(file);
        if let Ok(said) = finish(ask) {
            // "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6"
            let name = said.split([':', ',']).next().unwrap_or_default();
            return Ok(name.to_owned());
        }
    }
    bail!("no package has {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_what_ldd_says() {
        let said =
            "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x2)\n\t/lib64/ld.so (0x3)\n";
        let names: Vec<String> = libraries(said).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["libc.so.6", "ld.so"]);
        assert!(libraries("\tlibssl.so.1.1 => not found\n").is_err());
    }

    #[test]
    fn the_highest_version_of_each_library_counts() {
        let said = "Version References:\n  required from libc.so.6:\n    0x09691a75 0x00 04 GLIBC_2.9\n    0x06 0x00 03 \
                    GLIBC_2.34\n  required from libgcc_s.so.1:\n    0x0b 0x00 02 GCC_4.2.0\n";
        let found = symbols(said);
        assert_eq!(found["libc.so.6"], [2, 34]);
        assert_eq!(dependency("libgcc-s1", &found["libgcc_s.so.1"]), "libgcc-s1 (>= 4.2.0)");
        let packed = said.replace("GLIBC_2.9", "GLIBC_ABI_DT_RELR");
        assert_eq!(symbols(&packed)["libc.so.6"], [2, 36]);
    }

    #[test]
    fn a_library_without_versions_is_named_alone() {
        assert_eq!(dependency("libm", &Vec::new()), "libm");
    }
}
