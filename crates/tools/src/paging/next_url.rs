//! The query of a URL that leads to the next page.

/// True if a text looks like a URL, or like the end of one.
pub(super) fn is_url(text: &str) -> bool {
    ["https://", "http://", "/", "?"].iter().any(|start| text.starts_with(start))
}

/// True if a URL says where it leads by itself.
pub(super) fn is_whole(url: &str) -> bool {
    ["https://", "http://"].iter().any(|start| url.starts_with(start))
}

/// The names and values in the query of `url`, as they read.
pub(super) fn query(url: &str) -> Vec<(String, String)> {
    let Some((_, query)) = url.split_once('?') else { return Vec::new() };
    let query = query.split('#').next().unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

/// What each link of a header is for, and its URL: `<https://…?page=2>; rel="next"`.
pub(super) fn links(header: &str) -> Vec<(String, String)> {
    let links = header.split('<').skip(1).filter_map(|link| link.split_once('>'));
    links
        .filter_map(|(url, parameters)| {
            let (_, relation) = parameters.split_once("rel=")?;
            let relation = relation.trim_start_matches('"');
            let end = relation.find(['"', ';', ',']).unwrap_or(relation.len());
            Some((relation[..end].trim().to_owned(), url.to_owned()))
        })
        .collect()
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = (*byte == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (escaped, byte) {
            (Some(byte), _) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (None, b'+') => out.push(b' '),
            (None, byte) => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_reads_as_it_is_meant() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            query("https://h/x?page=3&q=a+b%26c&flag&%C3%A9=%zz#top"),
            [pair("page", "3"), pair("q", "a b&c"), pair("flag", ""), pair("é", "%zz")]
        );
        assert_eq!(query("/x"), []);
        let header = r#"<https://h/?page=1>; rel="prev", <https://h/?page=3,4>; rel=next; a=b"#;
        let links = links(header);
        assert_eq!(links, [pair("prev", "https://h/?page=1"), pair("next", "https://h/?page=3,4")]);
        assert!(is_url("/items?after=x") && is_url("https://h") && !is_url("abc"));
    }
}
