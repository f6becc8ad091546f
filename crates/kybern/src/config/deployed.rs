//! What the container files name is there, in this program and in the checkout. No container is built here.

use clap::Parser as _;

use super::*;
use crate::cli::Cli;

const DOCKERFILE: &str = include_str!("../../../../deploy/Dockerfile");
const COMPOSE: &str = include_str!("../../../../deploy/compose.yaml");
const CADDYFILE: &str = include_str!("../../../../deploy/Caddyfile");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Dockerfile's instructions with what follows them, each on one line.
fn instructions() -> Vec<(String, String)> {
    let lines = DOCKERFILE.lines().filter(|line| !line.trim_start().starts_with('#'));
    let whole = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let split = |line: &str| line.split_once(' ').map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()));
    whole.lines().filter_map(split).collect()
}

fn of<'a>(instructions: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    instructions.iter().filter(|(known, _)| known == name).map(|(_, rest)| rest.as_str()).collect()
}

/// What follows a word.
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    let mut words = text.split_whitespace().skip_while(|known| *known != word);
    words.nth(1).unwrap_or_else(|| panic!("nothing follows {word} in {text}"))
}

/// The entries of the compose file as `key: value` and `- value`, without quotes; what a shell would fill in is `x`.
fn entries() -> Vec<(String, String)> {
    let filled = |value: &str| {
        let mut text = value.to_owned();
        while let (Some(start), Some(end)) = (text.find("${"), text.find('}')) {
            text.replace_range(start..=end, "x");
        }
        text.trim_matches(['"', '\'']).to_owned()
    };
    let lines = COMPOSE.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let entry = |line: &str| match (line.strip_prefix("- "), line.split_once(": ")) {
        (Some(item), _) => Some(("-".to_owned(), filled(item))),
        (None, Some((key, value))) => Some((key.to_owned(), filled(value))),
        (None, None) => line.strip_suffix(':').map(|key| (key.to_owned(), String::new())),
    };
    lines.filter_map(entry).collect()
}

fn entry(key: &str) -> Vec<String> {
    entries().into_iter().filter(|(known, _)| known == key).map(|(_, value)| value).collect()
}

/// The port of the image.
fn port() -> String {
    of(&instructions(), "EXPOSE").concat()
}

#[test]
fn what_the_image_is_built_from_is_there_and_reaches_the_build() {
    let instructions = instructions();
    let ignored = include_str!("../../../../deploy/Dockerfile.dockerignore");
    let sent: Vec<&str> = ignored.lines().filter_map(|line| line.strip_prefix('!')).collect();
    let is_sent = |path: &str| sent.iter().any(|sent| path == *sent || path.starts_with(&format!("{sent}/")));
    let workspace: toml::Table = include_str!("../../../../Cargo.toml").parse().unwrap();
    let members = workspace["workspace"]["members"].as_array().unwrap().iter().filter_map(toml::Value::as_str);
    for path in sent.iter().copied().chain(members.map(|member| member.trim_end_matches("/*"))) {
        assert!(root().join(path).exists() && is_sent(path), "{path} is not there, or kept from the build");
    }
    let rust = workspace["workspace"]["package"]["rust-version"].as_str().unwrap();
    assert!(of(&instructions, "FROM")[0].starts_with(&format!("rust:{rust}.")), "it builds with another compiler");
    let run = of(&instructions, "RUN").join(" ");
    assert_eq!(after(&run, "--package"), env!("CARGO_PKG_NAME"));
    let profile = after(&run, "--profile");
    assert!(workspace["profile"].get(profile).is_some() && run.contains(&format!("target/{profile}/kybern /kybern ")));
    for copied in of(&instructions, "COPY") {
        let paths: Vec<&str> = copied.split_whitespace().filter(|word| !word.starts_with("--")).collect();
        for path in &paths[..paths.len() - 1] {
            match copied.contains("--from=build") {
                true => assert!(run.split_whitespace().any(|made| made == *path), "{path} is not made by the build"),
                false => assert!(*path == "." || root().join(path).exists() && is_sent(path), "{path} is not there"),
            }
        }
    }
}

#[test]
fn what_the_image_runs_is_a_verb_and_listens_where_it_is_asked() {
    let instructions = instructions();
    let list = |name: &str| serde_json::from_str::<Vec<String>>(of(&instructions, name)[0]).unwrap();
    let command = [list("ENTRYPOINT"), list("CMD")].concat();
    assert!(Cli::try_parse_from(&command).is_ok(), "{command:?}");
    let backup = ["kybern", "backup", "FILE", "--config", "/etc/kybern/kybern.toml"];
    let script = include_str!("../../../../deploy/backup");
    assert!(script.contains("set -- backup ") && script.contains(" --config ") && Cli::try_parse_from(backup).is_ok());
    let port = port();
    assert!(of(&instructions, "ENV")[0].ends_with(&format!(":{port}")));
    let healthy = of(&instructions, "HEALTHCHECK")[0];
    let path = healthy.split("GET ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(healthy.contains(&format!("/127.0.0.1/{port} ")), "{healthy}");
    assert!(include_str!("../../../../openapi.json").contains(&format!("\"{path}\": {{")), "{path} is no route");
}

#[test]
fn the_variables_of_the_containers_are_settings() {
    let instructions = instructions();
    let of_image = of(&instructions, "ENV").into_iter().filter_map(|set| set.split_once('='));
    let of_image = of_image.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let all = of_image.chain(entries()).filter(|(name, _)| name.starts_with("KYBERN_"));
    let all: BTreeMap<String, String> = all.collect();
    assert!(all.len() > 4, "{all:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.toml");
    std::fs::write(&path, "").unwrap();
    let config = Config::load(Some(&path), &Overrides::default(), &Environment::from(all)).unwrap();
    assert_eq!(config.server.listen.port().to_string(), port());
    assert_eq!(config.server.trusted_proxies, entry("ipv4_address"), "Caddy is believed, and nobody else");
}

#[test]
fn the_parts_of_the_compose_file_are_there_and_fit_the_image() {
    let instructions = instructions();
    assert_eq!(entry("image")[0], format!("kybern:{}", env!("CARGO_PKG_VERSION")));
    assert!(root().join(entry("dockerfile").concat()).exists());
    assert_eq!(entry("UPSTREAM"), [format!("kybern:{}", port())]);
    for variable in CADDYFILE.split("{$").skip(1).filter_map(|rest| rest.split([':', '}']).next()) {
        assert_eq!(entry(variable).len(), 1, "{variable} of the Caddyfile");
    }
    let called = COMPOSE.split_whitespace().find(|word| word.starts_with("/usr/")).unwrap();
    assert!(of(&instructions, "COPY").iter().any(|copied| copied.ends_with(called)), "{called} is not in the image");
    let kept: Vec<String> = serde_json::from_str(of(&instructions, "VOLUME")[0]).unwrap();
    let mounts: Vec<String> = entry("-").into_iter().filter(|item| item.contains(":/")).collect();
    let volumes = COMPOSE.rsplit("\nvolumes:\n").next().unwrap();
    for (source, target) in mounts.iter().filter_map(|mount| mount.split_once(':')) {
        match source.strip_prefix("./") {
            Some(file) => assert!(root().join("deploy").join(file).exists(), "{file} is not there"),
            None => assert!(volumes.lines().any(|line| line.trim() == format!("{source}:")), "{source} is no volume"),
        }
        assert!(!target.contains("kybern") || source.starts_with("./") || kept.iter().any(|kept| kept == target));
    }
    assert!(kept.iter().all(|kept| mounts.iter().any(|mount| mount.ends_with(kept))), "{kept:?} in {mounts:?}");
}
