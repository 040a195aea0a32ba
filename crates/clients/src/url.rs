//! What of a URL may be shown, and where it leads: keys and passwords stand in queries, before the host and in paths.

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// A part of a path that is shorter is no key.
const KEY_LENGTH: usize = 16;

/// The hosts that are this machine.
const NEAR: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A URL as it may be shown: without user, password, query and fragment, and with what looks like a key in its path
/// masked.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let parts = path.split('/').map(|part| if looks_like_key(part) { MASK } else { part });
    let path = parts.collect::<Vec<_>>().join("/");
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// True if a part of a path looks drawn by lot, and is no word that somebody has thought of.
fn looks_like_key(part: &str) -> bool {
    let has = |is_such: fn(&u8) -> bool| part.as_bytes().iter().any(is_such);
    let (is_small, is_large) = (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    let is_mixed = is_small && is_large || (is_small || is_large) && has(u8::is_ascii_digit);
    part.len() >= KEY_LENGTH && is_mixed && !has_variable(part)
}

/// True if a URL leads to this machine.
pub(crate) fn is_near(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let host = match host.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host,
        Some(_) | None => host,
    };
    // Some programs take a backslash for a slash, and would reach another host.
    !authority.contains('\\') && NEAR.iter().any(|near| host.eq_ignore_ascii_case(near))
}

/// True if a URL holds what a command line must not: a query, a user, what looks like a key, or what a client puts the
/// value of a variable in the place of.
pub(crate) fn is_private(url: &str) -> bool {
    shown(url) != url || has_variable(url)
}

/// True if a text holds something that clients put the value of a variable in the place of.
pub(crate) fn has_variable(text: &str) -> bool {
    text.contains('$') || text.contains("{env:") || text.contains("{file:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_not_shown() {
        for (url, want) in [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://a.example:1/mcp?key=s3cret", "https://a.example:1/mcp"),
            ("https://a.example?key=a/b@c", "https://a.example"),
            ("https://me:s3cret@a.example/mcp#x", "https://a.example/mcp"),
            ("a.example/mcp?x", "a.example/mcp"),
            ("https://a.example/s/NWY4ZDk3YTctc2VjcmV0/mcp", "https://a.example/s/***/mcp"),
            ("https://a.example/5f8d97a7-0000-4000-8000-000000000000", "https://a.example/***"),
            ("https://a.example/aGVsbG9Xb3JsZGFnYWlu", "https://a.example/***"),
            (
                "https://a.example/model-context-protocol/v1",
                "https://a.example/model-context-protocol/v1",
            ),
        ] {
            assert_eq!(shown(url), want);
            assert_eq!(is_private(url), url != want, "{url}");
        }
        assert!(
            is_private("https://a.example/${KEY}/mcp") && is_private("https://a.example/{env:K}")
        );
    }

    #[test]
    fn only_a_whole_host_is_this_machine() {
        for near in [
            "http://localhost/mcp",
            "http://LOCALHOST:8080",
            "http://me@127.0.0.1:1/",
            "http://[::1]:1/mcp",
            "https://localhost?x",
        ] {
            assert!(is_near(near), "{near}");
        }
        for far in [
            "https://localhost-tunnel.example.com/mcp",
            "https://localhost@evil.example/mcp",
            "https://localhost:80@evil.example/mcp",
            "https://localhost.example/mcp",
            "https://evil.example\\@localhost/",
            "https://evil.example/localhost",
            "",
        ] {
            assert!(!is_near(far), "{far}");
        }
    }
}
