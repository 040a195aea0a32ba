//! What of a URL may be shown: keys and passwords stand in queries and before the host.

/// A URL as it may be shown: without user, password, query and fragment.
pub(crate) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// True if a URL holds what a command line must not: a query, a user, or what a client puts the value of a variable
/// in the place of.
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
        ] {
            assert_eq!(shown(url), want);
            assert_eq!(is_private(url), url != want, "{url}");
        }
        assert!(
            is_private("https://a.example/${KEY}/mcp") && is_private("https://a.example/{env:K}")
        );
    }
}
