//! Places that a rule names: folders, and hosts.
//!
//! Both are compared part by part, never as beginnings of a text: `/data` does not hold `/data-evil`, and
//! `example.com` is not `example.com.evil.test`. A path is judged by what it says; that no link leads out of a folder
//! is for whoever opens the file.

/// Whether a path lies in a folder, or is it. A path that goes up anywhere lies in none.
#[must_use]
pub fn path_fits(folder: &str, path: &str) -> bool {
    let (Some(folder), Some(path)) = (parts(folder), parts(path)) else { return false };
    path.len() >= folder.len() && folder.iter().zip(&path).all(|(a, b)| a == b)
}

/// The parts of an absolute path; `None` for a relative one, one that goes up, and one that holds what no path does.
fn parts(path: &str) -> Option<Vec<&str>> {
    let rest = path.strip_prefix('/')?;
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let odd = |part: &&str| *part == ".." || part.contains(['\0', '\\']);
    (!parts.iter().any(odd)).then_some(parts)
}

/// Whether a host is the one that a rule names, or lies below it when the rule is `*.name`.
#[must_use]
pub fn host_fits(rule: &str, host: &str) -> bool {
    let (rule, host) = (plain(rule), plain(host));
    match rule.strip_prefix("*.") {
        Some(above) => host.strip_suffix(above).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => !host.is_empty() && rule == host,
    }
}

/// A host without brackets, without a dot at its end, in small letters.
fn plain(host: &str) -> String {
    host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase()
}

/// Whether a text begins as an `http` or `https` URL does, in capitals too.
#[must_use]
pub fn is_http(text: &str) -> bool {
    behind_scheme(text, "https").or_else(|| behind_scheme(text, "http")).is_some()
}

/// What stands behind `SCHEME://` at the beginning of a text; a scheme may be written in capitals.
#[must_use]
pub fn behind_scheme<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    let (said, rest) = text.split_once("://")?;
    said.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// The host in a URL, in small letters and without port; `None` when there is none. Something that is no URL may be an
/// address for mail, whose host is behind the `@`, or a host itself.
#[must_use]
pub fn host_of(text: &str) -> Option<String> {
    let text = text.trim();
    let Some((_, rest)) = text.split_once("://") else {
        let host = text.rsplit('@').next().unwrap_or(text);
        let is_host = !host.is_empty() && !host.contains(['/', ' ', ':']);
        return is_host.then(|| plain(host));
    };
    // As browsers and HTTP clients do: a backslash is a slash, and what stands before the last @ is no host.
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    (!host.is_empty()).then(|| plain(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_what_lies_in_it_and_nothing_that_begins_alike() {
        for inside in ["/data", "/data/", "/data/a", "/data/./a/b", "//data//a"] {
            assert!(path_fits("/data", inside), "{inside}");
        }
        for outside in [
            "/data-evil",
            "/dat",
            "/",
            "data/a",
            "/data/../etc/passwd",
            "/data/a/../../etc",
            "/data/a\0b",
            "",
            "/x/data",
        ] {
            assert!(!path_fits("/data", outside), "{outside:?}");
        }
        assert!(path_fits("/", "/etc"), "the root holds all");
    }

    #[test]
    fn a_host_is_compared_by_its_names() {
        for (rule, host, fits) in [
            ("example.com", "example.com", true),
            ("example.com", "EXAMPLE.com.", true),
            ("example.com", "api.example.com", false),
            ("*.example.com", "api.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("*.example.com", ".example.com", false),
            ("example.com", "example.com.evil.test", false),
            ("::1", "[::1]", true),
        ] {
            assert_eq!(host_fits(rule, host), fits, "{rule} {host}");
        }
    }

    #[test]
    fn the_host_is_found_where_a_client_would_find_it() {
        for (text, host) in [
            ("https://api.example.com/x?y=http://other.test", Some("api.example.com")),
            ("http://user:pw@API.example.com:8443/", Some("api.example.com")),
            ("http://good.example.com@evil.test/", Some("evil.test")),
            ("http://evil.test\\@good.example.com/", Some("evil.test")),
            ("http://evil.test#@good.example.com/", Some("evil.test")),
            ("http://[::1]:80/", Some("::1")),
            ("ops@example.com", Some("example.com")),
            ("example.com", Some("example.com")),
            ("http://", None),
            ("HTTPS://API.example.com/x", Some("api.example.com")),
            ("not a host", None),
        ] {
            assert_eq!(host_of(text).as_deref(), host, "{text}");
        }
    }
}
