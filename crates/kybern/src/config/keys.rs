//! Every key of the configuration with what it expects: for messages, and so that the documentation stays complete.

/// What chooses a model.
const ROUTES: &str =
    "\"balanced\", \"cheapest\", \"fastest\", \"smartest\", \"reasoning\", \"fallback\" or \"provider/model\"";

/// A key and what it expects. `*` stands for a name that the operator chooses.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("server.listen", "an address and a port, such as \"127.0.0.1:7171\""),
    ("server.public_url", "a URL, such as \"https://kybern.example.com\""),
    ("server.max_body_bytes", "a whole number of bytes, such as 10485760"),
    ("server.max_mail_bytes", "a whole number of bytes, such as 26214400"),
    ("server.max_unproven_body_bytes", "a whole number of bytes, such as 1048576"),
    ("server.max_bodies_bytes", "a whole number of bytes, such as 268435456"),
    ("server.max_answers_bytes", "a whole number of bytes, such as 536870912"),
    ("server.header_timeout_ms", "a whole number of milliseconds from 1000 to 3600000"),
    ("server.idle_timeout_ms", "a whole number of milliseconds from 1000 to 3600000"),
    ("server.max_connections", "a whole number from 1 to 1000000"),
    ("server.max_connections_per_address", "a whole number from 1 to 1000000"),
    ("server.trusted_proxies", "a list of addresses and networks, such as [\"10.0.0.0/8\"]"),
    ("server.wrong_keys_per_minute", "a whole number, such as 30; 0 for no brake"),
    ("server.public_metrics", "true or false"),
    ("server.shutdown_grace_ms", "a whole number of milliseconds, such as 10000"),
    ("database.url", "\"sqlite:PATH\" or \"postgres://USER@HOST/NAME\""),
    ("database.max_connections", "a whole number from 1 to 1000"),
    ("database.statement_timeout_ms", "a whole number of milliseconds from 100 to 600000"),
    ("worker.slots", "a whole number from 1 to 10000"),
    ("worker.job_slots", "a whole number from 1 to 10000"),
    ("worker.tenant_share_percent", "a whole number from 1 to 100"),
    ("worker.lease_ms", "a whole number of milliseconds, such as 30000"),
    ("worker.heartbeat_ms", "a whole number of milliseconds, at most half of worker.lease_ms"),
    ("worker.poll_ms", "a whole number of milliseconds from 10 to 60000"),
    ("worker.max_recoveries", "a whole number, such as 5"),
    ("worker.steps_per_commit", "a whole number from 1 to 1000"),
    ("egress.allow", "a list of host:port pairs, such as [\"127.0.0.1:8080\"]"),
    ("smtp.host", "a host name, such as \"smtp.example.com\""),
    ("smtp.port", "a port number, such as 587"),
    ("smtp.tls", "\"tls\", \"starttls\" or \"none\""),
    ("smtp.username", "the account's name"),
    ("smtp.password", "the account's password, as text"),
    ("smtp.password_env", "the name of the environment variable that holds the password"),
    ("smtp.from", "an e-mail address, such as \"kybern@example.com\""),
    ("imap.host", "a host name, such as \"imap.example.com\""),
    ("imap.port", "a port number, such as 993"),
    ("imap.tls", "\"tls\", \"starttls\" or \"none\""),
    ("imap.username", "the account's name"),
    ("imap.password", "the account's password, as text"),
    ("imap.password_env", "the name of the environment variable that holds the password"),
    ("imap.folder", "a folder's name, such as \"INBOX\""),
    ("imap.poll_ms", "a whole number of milliseconds from 1000 to 86400000"),
    ("imap.tenant", "a tenant's name, such as \"default\""),
    ("intake.domain", "a domain name, such as \"in.example.com\""),
    ("intake.trusted_authserv", "a server's name, such as \"mx.example.com\""),
    ("intake.language_model", "\"off\", \"unsure\" or \"always\""),
    ("documents.ocr", "\"auto\", \"off\" or the program's path, such as \"/usr/bin/tesseract\""),
    ("documents.ocr_languages", "a list of 1 to 8 languages of Tesseract, such as [\"eng\", \"spa\"]"),
    ("documents.memory_mb", "a whole number of megabytes from 256 to 65536"),
    ("documents.timeout_ms", "a whole number of milliseconds from 1000 to 600000"),
    ("webhooks.*.secret_env", "the name of the environment variable that holds the signing secret"),
    ("webhooks.*.tenant", "a tenant's name, beside a secret_env"),
    ("workflows.*.url", "a URL, such as \"http://127.0.0.1:5678/webhook/quote\""),
    ("workflows.*.secret_env", "the name of the environment variable that holds the signing secret"),
    ("workflows.*.deadline_ms", "a whole number of milliseconds, such as 86400000"),
    ("providers.*.kind", "a provider, such as \"openai\", \"anthropic\", \"google\" or \"custom\""),
    ("providers.*.format", "\"openai_chat\", \"openai_responses\", \"anthropic\" or \"gemini\""),
    ("providers.*.base_url", "a URL, such as \"http://127.0.0.1:8080/v1\""),
    ("providers.*.api_key", "the provider's key, as text"),
    ("providers.*.api_key_env", "the name of the environment variable that holds the key"),
    ("providers.*.models", "a list of names, or of tables with name, window, quality and prices"),
    ("providers.*.free", "true or false"),
    ("models.default", ROUTES),
    ("models.reasoning", ROUTES),
    ("models.texts", ROUTES),
    ("models.understanding", ROUTES),
    ("models.embedding", "\"builtin\" or \"provider/model\""),
    ("models.fallback", "a list of models, such as [\"openai/gpt-5.4-mini\"]"),
    ("models.file", "a file's path, such as \"models.json\""),
    ("models.connect_ms", "a whole number of milliseconds, such as 5000"),
    ("models.first_ms", "a whole number of milliseconds, such as 60000"),
    ("models.between_ms", "a whole number of milliseconds, such as 30000"),
    ("models.whole_ms", "a whole number of milliseconds, such as 120000"),
    ("telemetry.otlp_endpoint", "a URL, such as \"http://127.0.0.1:4318\""),
    ("telemetry.service_name", "a name, such as \"kybern\""),
    ("telemetry.log", "a level (error, warn, info, debug, trace) or a list such as \"info,kybern_engine=debug\""),
    ("telemetry.format", "\"text\" or \"json\""),
    ("limits.max_steps", "a whole number from 1 to 10000"),
    ("limits.step_timeout_ms", "a whole number of milliseconds, such as 120000"),
    ("limits.delegation_deadline_ms", "a whole number of milliseconds, such as 86400000"),
    ("limits.approval_ms", "a whole number of milliseconds, such as 604800000"),
    ("model.confidence_threshold", "a number from 0 to 1, such as 0.8"),
    ("retention.tasks_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.chats_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.jobs_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.idempotency_keys_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.files_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.messages_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.tenants.*.tasks_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.tenants.*.chats_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.tenants.*.jobs_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.tenants.*.idempotency_keys_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.tenants.*.files_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.tenants.*.messages_days", "a whole number of days, at least 7, or 0 for ever"),
    ("retention.holds", "a list of tenants' names, such as [\"default\"]"),
    ("audit.head_file", "a file's path, such as \"/var/lib/heads/kybern.jsonl\""),
    ("audit.head_webhook", "a URL, such as \"https://audit.example.com/heads\""),
    ("audit.head_every_ms", "a whole number of milliseconds from 1000 to 86400000"),
    ("packs.domains", "a list of domains, such as [\"insurance\", \"fleet\", \"freight\"]"),
    ("governance.self_approval", "true or false"),
    ("security.master_key_file", "a file's path, such as \"kybern.key\""),
];

/// What to write for a key.
pub(super) fn remedy(key: &str) -> String {
    match KEYS.iter().find(|(pattern, _)| matches(pattern, key)) {
        Some((_, expects)) => format!("write {expects}"),
        None if key == "webhooks" || key == "workflows" || key == "providers" => {
            format!("give it a plain name, as in [{key}.forms]")
        }
        None => "see docs/configuration.md".to_owned(),
    }
}

/// The known keys below a table, by their last part, for `did you mean`.
pub(super) fn siblings(table: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = if table.is_empty() {
        KEYS.iter().filter_map(|(key, _)| key.split('.').next()).collect()
    } else {
        let parts = table.split('.').count() + 1;
        let below = |(key, _): &(&'static str, &str)| -> Option<&'static str> {
            let (parent, name) = key.rsplit_once('.')?;
            (key.split('.').count() == parts && matches(parent, table)).then_some(name)
        };
        KEYS.iter().filter_map(below).collect()
    };
    names.dedup();
    names
}

/// Whether a key's value must not be repeated in a message.
pub(super) fn is_secret(key: &str) -> bool {
    key.ends_with(".password") || key.ends_with(".api_key") || key == "database.url"
}

/// The name among `names` that is written most like `wrong`, when one is close.
pub(super) fn closest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let near = names.iter().map(|name| (strsim::osa_distance(wrong, name), *name)).min()?;
    (near.0 <= 2.max(wrong.len() / 3)).then_some(near.1)
}

fn matches(pattern: &str, key: &str) -> bool {
    let (pattern, key): (Vec<&str>, Vec<&str>) = (pattern.split('.').collect(), key.split('.').collect());
    pattern.len() == key.len() && pattern.iter().zip(&key).all(|(p, k)| *p == "*" || p == k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        assert_eq!(closest("lisen", &siblings("server")), Some("listen"));
        assert_eq!(closest("servr", &siblings("")), Some("server"));
        assert_eq!(closest("secretenv", &siblings("workflows.quote")), Some("secret_env"));
        assert_eq!(closest("zzzzzz", &siblings("server")), None);
    }

    #[test]
    fn the_documentation_has_every_key() {
        let page = include_str!("../../../../docs/configuration.md");
        for (key, _) in KEYS {
            let (table, name) = key.rsplit_once('.').unwrap();
            let table = format!("[{}]", table.replace('*', "NAME"));
            // What stands before the first section may name any.
            let section = page.split("\n## ").skip(1).find(|section| section.contains(&table));
            let section = section.unwrap_or_else(|| panic!("docs/configuration.md lacks {table}"));
            assert!(section.contains(&format!("`{name}`")), "docs/configuration.md lacks {key}");
        }
    }
}
