use std::collections::BTreeSet;

use kybern_core::time::Millis;

use super::*;

fn load(toml: &str, env: impl Into<Environment>) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.toml");
    std::fs::write(&path, toml).unwrap();
    Config::load(Some(&path), &Overrides::default(), &env.into())
}

fn faults(toml: &str, env: impl Into<Environment>) -> Vec<(String, String)> {
    let error = load(toml, env).unwrap_err();
    error.faults().iter().map(|fault| (fault.to_string(), fault.remedy.clone())).collect()
}

/// The only fault, without the temporary file's name, and its remedy.
fn fault(toml: &str, env: impl Into<Environment>) -> (String, String) {
    let mut all = faults(toml, env);
    assert_eq!(all.len(), 1, "{all:?}");
    let (text, remedy) = all.remove(0);
    let text = match (text.find(" (/"), text.find("kybern.toml)")) {
        (Some(start), Some(end)) => format!("{} (file){}", &text[..start], &text[end + "kybern.toml)".len()..]),
        _elsewhere => text,
    };
    (text, remedy)
}

#[test]
fn nothing_is_needed() {
    let config = load("", []).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:7171");
    assert_eq!(config.database.url.to_string(), "sqlite:kybern.db");
    assert_eq!((config.worker.slots, config.worker.lease_ms), (64, Millis(30_000)));
}

#[test]
fn an_unknown_key_is_refused_with_its_neighbour() {
    let (text, remedy) = fault("[server]\nlisen = \"127.0.0.1:1\"\n", []);
    assert_eq!(text, "server.lisen (file): is no setting");
    assert_eq!(remedy, "did you mean server.listen?");
    let (text, remedy) = fault("[provider]\n", []);
    assert_eq!(text, "provider (file): is no setting");
    assert_eq!(remedy, "did you mean [providers]?");
    let (text, _) = fault("[workflows.quote]\nurl = \"http://h/\"\nretries = 3\n", []);
    assert_eq!(text, "workflows.quote.retries (file): is no setting");
}

#[test]
fn a_wrong_type_names_key_value_and_remedy() {
    let (text, remedy) = fault("[worker]\nslots = \"many\"\n", []);
    assert_eq!(text, "worker.slots = \"many\" (file) is a text");
    assert_eq!(remedy, "write a whole number from 1 to 10000");
    let (text, _) = fault("[worker]\nslots = -1\n", []);
    assert_eq!(text, "worker.slots = -1 (file) is a number that does not fit here");
    let (text, _) = fault("[server]\nlisten = \"localhost\"\n", []);
    assert!(text.starts_with("server.listen = \"localhost\" (file) cannot be used: "), "{text}");
}

#[test]
fn a_bad_value_names_its_range() {
    let (text, remedy) = fault("[model]\nconfidence_threshold = 1.5\n", []);
    assert_eq!(text, "model.confidence_threshold = 1.5 (file) is not between 0 and 1");
    assert_eq!(remedy, "write a number from 0 to 1, such as 0.8");
    let (text, _) = fault("[worker]\nlease_ms = 1000\n", []);
    assert_eq!(text, "worker.heartbeat_ms = 10000 is not between 1 and half of worker.lease_ms (1000)");
    let (text, _) = fault("[smtp]\nhost = \"h\"\nfrom = \"a@h\"\nport = 70000\n", []);
    assert!(text.starts_with("smtp.port = 70000 (file) "), "{text}");
    let (text, _) = fault("[worker]\nslots = [1]\n", []);
    assert_eq!(text, "worker.slots = […] (file) is a list");
    let (text, _) = fault("[egress]\nallow = [\"localhost\"]\n", []);
    assert_eq!(text, "egress.allow = \"localhost\" (file) is not host:port");
    let (text, _) = fault("[telemetry]\nlog = \"loud\"\n", []);
    assert_eq!(text, "telemetry.log = \"loud\" (file) is neither a level nor a list of target=level");
    let (text, _) = fault("[telemetry]\nformat = \"xml\"\n", []);
    assert_eq!(text, "telemetry.format = \"xml\" (file) is not one of its values");
}

#[test]
fn a_scheme_may_be_written_in_capitals() {
    let toml = "[server]\npublic_url = \"HTTPS://kybern.example.com\"\n[workflows.quote]\nurl = \"Http://flow.example.com/\"\n";
    assert!(load(toml, []).is_ok());
}

#[test]
fn every_fault_is_reported_at_once() {
    let toml = "[server]\nlisten = 5\nfoo = 1\n[worker]\nslots = 0\n[workflows.x]\n";
    let found = faults(toml, [("KYBERN_DATABASE__URL", "mysql://u:p@h/n")]);
    let text: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(found.len(), 5, "{text:#?}");
    assert!(text.iter().any(|text| text.starts_with("workflows.x.url")), "{text:#?}");
    assert!(text.iter().all(|text| !text.contains("u:p")), "{text:#?}");
}

#[test]
fn every_key_that_a_section_lacks_is_named_at_once() {
    let found = faults("[smtp]\nport = 25\n[imap]\nhost = 5\n[worker]\nslots = 0\n", []);
    let of = |key: &str| {
        let told = found.iter().filter(|(text, _)| text.starts_with(&format!("{key} ")));
        told.map(|(text, _)| text.as_str()).collect::<Vec<_>>()
    };
    for missing in ["smtp.host", "smtp.from", "imap.username"] {
        assert!(matches!(of(missing)[..], [told] if told.ends_with("is not set")), "{missing}: {found:#?}");
    }
    // A value that is faulty is not called missing as well.
    assert!(of("imap.host").len() == 1 && of("worker.slots").len() == 1 && found.len() == 5, "{found:#?}");
}

#[test]
fn broken_toml_names_the_line() {
    let (text, _) = fault("[server\n", []);
    assert!(text.contains("is not TOML") && text.contains('1'), "{text}");
    let missing = Config::load(Some(Path::new("no/such.toml")), &Overrides::default(), &Environment::default());
    let error = missing.unwrap_err();
    assert!(error.faults()[0].to_string().starts_with("no/such.toml: cannot be read"), "{error:?}");
}

#[test]
fn later_sources_win() {
    let env = [
        ("KYBERN_SERVER__LISTEN", "127.0.0.1:2"),
        ("KYBERN_WORKER__SLOTS", "7"),
        ("KYBERN_EGRESS__ALLOW", "[\"127.0.0.1:8080\"]"),
        ("KYBERN_WORKFLOWS__QUOTE__URL", "http://127.0.0.1:9/"),
        ("KYBERN_MODEL__CONFIDENCE_THRESHOLD", "0.5"),
    ];
    let config = load("[server]\nlisten = \"127.0.0.1:1\"\n[worker]\nslots = 5\npoll_ms = 50\n", env).unwrap();
    assert_eq!(config.server.listen.port(), 2);
    assert_eq!((config.worker.slots, config.worker.poll_ms), (7, Millis(50)));
    assert_eq!(config.egress.allow, ["127.0.0.1:8080"]);
    assert_eq!(config.workflows["quote"].url, "http://127.0.0.1:9/");
    assert!((config.model.confidence_threshold - 0.5).abs() < f64::EPSILON);

    let overrides = Overrides { listen: Some("127.0.0.1:3".to_owned()), database: Some("sqlite:x.db".to_owned()) };
    let config = Config::load(None, &overrides, &env.into()).unwrap();
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.database.url.to_string(), "sqlite:x.db");
}

#[test]
fn a_text_of_digits_stays_a_text() {
    let env = [
        ("KYBERN_SMTP__HOST", "mail"),
        ("KYBERN_SMTP__FROM", "k@example.com"),
        ("KYBERN_SMTP__PORT", "2525"),
        ("KYBERN_SMTP__USERNAME", "0042"),
        ("KYBERN_SMTP__PASSWORD", "00123"),
    ];
    let smtp = load("", env).unwrap().smtp.unwrap();
    assert_eq!((smtp.port, smtp.username.as_deref()), (2525, Some("0042")));
    assert_eq!(smtp.password.unwrap().expose(), "00123");
}

#[test]
fn a_wrong_variable_is_named() {
    let (text, _) = fault("", [("KYBERN_WORKER__SLOTS", "many")]);
    assert_eq!(text, "worker.slots = \"many\" (KYBERN_WORKER__SLOTS) is a text");
    let (text, remedy) = fault("", [("KYBERN_SERVER__LISTN", "127.0.0.1:1")]);
    assert_eq!(text, "server.listn (KYBERN_SERVER__LISTN): is no setting");
    assert_eq!(remedy, "did you mean server.listen?");
}

#[test]
fn variables_that_are_no_settings_are_left_alone() {
    let key = format!("kyb_{}", "k".repeat(40));
    let env = [
        ("KYBERN_URL", "http://h"),
        ("KYBERN_API_KEY", "kyb_x"),
        ("KYBERN_ADMIN_KEY", key.as_str()),
        ("KYBERN_MASTER_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
    ];
    let config = load("", env).unwrap();
    assert_eq!(config.security.admin_key.unwrap().expose(), key);
    assert!(config.security.master_key.unwrap().expose().starts_with("MDEy"));
    for (wrong, problem) in [("short", "does not begin with kyb_"), ("kyb_short", "has fewer than 32 characters")] {
        let (text, remedy) = fault("", [("KYBERN_ADMIN_KEY", wrong)]);
        assert_eq!(text, format!("KYBERN_ADMIN_KEY: {problem}"));
        assert!(remedy.starts_with("set kyb_ and at least 28"), "{remedy}");
    }
    let (text, remedy) = fault("", [("KYBERN_MASTER_KEY", "short")]);
    assert_eq!(text, "KYBERN_MASTER_KEY: is not a key");
    assert!(remedy.contains("32 bytes"), "{remedy}");
}

#[test]
fn a_variable_that_only_looks_like_a_setting_stops_the_start() {
    for (wrong, right) in [
        ("KYBERN_DATABASE_URL", "did you mean KYBERN_DATABASE__URL?"),
        ("KYBERN_LISTEN", "did you mean KYBERN_SERVER__LISTEN?"),
        ("KYBERN_WORKER_SLOT", "did you mean KYBERN_WORKER__SLOTS?"),
        ("KYBERN_ADMINKEY", "did you mean KYBERN_ADMIN_KEY?"),
        ("KYBERN_QQQ", "unset it; docs/configuration.md lists every variable"),
        ("KYBERN_CACHED", "unset it; docs/configuration.md lists every variable"),
    ] {
        let (text, remedy) = fault("", [(wrong, "secret")]);
        assert_eq!((text, remedy.as_str()), (format!("{wrong}: is no variable of Kybern"), right));
    }
    let toml = "[webhooks.forms]\nsecret_env = \"KYBERN_FORMS\"\ntenant = \"default\"\n";
    assert!(load(toml, [("KYBERN_FORMS", "whsec_x")]).is_ok(), "settings may name variables that begin so");
    for of_the_tools in ["KYBERN_TEST_SEED", "KYBERN_CACHE", "KYBERN_UPDATE_OPENAPI"] {
        assert!(load("", [(of_the_tools, "1")]).is_ok(), "tests give the server their whole environment");
    }
}

#[test]
fn a_gateway_that_signs_needs_the_address_that_it_calls() {
    let gateway = "[webhooks.sms]\nsecret_env = \"TOKEN\"\n";
    let (text, remedy) = fault(gateway, [("TOKEN", "x")]);
    assert!(text.starts_with("server.public_url: is missing"), "{text}");
    assert!(remedy.starts_with("set it: write a URL"), "{remedy}");
    let public = format!("[server]\npublic_url = \"https://kybern.example.com\"\n{gateway}");
    assert!(load(&public, [("TOKEN", "x")]).is_ok());
}

#[test]
fn secrets_come_out_of_named_variables() {
    let toml = "[webhooks.forms]\nsecret_env = \"FORMS\"\ntenant = \"default\"\n";
    let config = load(toml, [("FORMS", "whsec_x")]).unwrap();
    assert_eq!(config.webhooks["forms"].secret.as_ref().unwrap().expose(), "whsec_x");
    assert!(!format!("{config:?}").contains("whsec_x"));
    let (text, remedy) = fault(toml, []);
    assert!(text.ends_with("names an environment variable that is not set"), "{text}");
    assert_eq!(remedy, "set FORMS, or name another variable");
}

#[test]
fn the_example_file_is_sound() {
    let example = include_str!("../../../../kybern.example.toml");
    let mut loaded = load(example, []).unwrap();
    // It says where the database is, and says the default.
    assert!(std::mem::take(&mut loaded.database.is_named));
    assert_eq!(loaded, Config::default());
    // Everything that is commented out is sound as well.
    let uncommented: Vec<&str> = example
        .lines()
        .filter_map(|line| line.strip_prefix("#: ").or_else(|| (!line.starts_with('#')).then_some(line)))
        .collect();
    let env =
        [("KYBERN_SMTP_PASSWORD", "p"), ("KYBERN_IMAP_PASSWORD", "p"), ("FORMS_SECRET", "s"), ("N8N_SECRET", "s")];
    let full = load(&uncommented.join("\n"), env).unwrap();
    assert!(full.smtp.is_some() && full.imap.is_some() && full.workflows.len() == 1);
}

#[test]
fn the_example_file_has_every_key() {
    let example = include_str!("../../../../kybern.example.toml");
    let (mut written, mut table) = (BTreeSet::new(), String::new());
    for line in example.lines() {
        let line = line.strip_prefix("#: ").unwrap_or(line);
        if let Some(named) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            table = named.0.to_owned();
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            written.insert(format!("{table}.{key}"));
        }
    }
    // What has a default, and what has none but is known by its key. Passwords and keys come out of the environment.
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let sections = defaults.as_object().unwrap().iter();
    let with_default = sections.flat_map(|(section, value)| {
        let keys = value.as_object().into_iter().flat_map(|value| value.keys());
        keys.map(move |key| format!("{section}.{key}"))
    });
    let known = keys::KEYS.iter().map(|(key, _)| (*key).to_owned());
    let in_words = known.filter(|key| !key.contains('*') && !key.ends_with(".password"));
    let elsewhere = ["retention.tenants", "security.admin_key", "security.master_key"];
    let wanted = with_default.chain(in_words).filter(|key| !elsewhere.contains(&key.as_str()));
    let wanted: BTreeSet<String> = wanted.collect();
    let missing: Vec<&String> = wanted.difference(&written).collect();
    assert!(missing.is_empty(), "kybern.example.toml lacks {missing:?}");
}

#[test]
fn messages_know_what_every_setting_expects() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let secret = ["security.admin_key", "security.master_key"];
    for (section, value) in defaults.as_object().unwrap() {
        let settings = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_object());
        for key in settings.map(|(key, _)| format!("{section}.{key}")).filter(|key| !secret.contains(&key.as_str())) {
            assert!(keys::remedy(&key).starts_with("write "), "{key}");
        }
    }
}

#[test]
fn a_provider_names_what_is_wrong_with_it() {
    let (text, _) = fault("[providers.nowhere]\n", []);
    assert!(text.starts_with("providers.nowhere.kind"), "{text}");
    let (text, _) = fault("[providers.x]\nkind = \"openai\"\nmodels = [{ name = \"m\", input_price = 5 }]\n", []);
    assert!(text.contains("only one of input_price and output_price"), "{text}");
    let (text, _) = fault("[providers.x]\nkind = \"openai\"\napi_key_env = \"NOT_SET\"\n", []);
    assert!(text.contains("NOT_SET"), "{text}");
}
