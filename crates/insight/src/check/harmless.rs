//! A line of a model's, made harmless: one line of plain text, with nothing in it that a client would render
//! as more, or follow.

use forebay_text::is_deceptive;

const MAX_CHARS: usize = 300;

/// `text` as one plain line: links are their texts, addresses are gone, and what could be markup is not.
pub(super) fn line(text: &str) -> String {
    let text = without_addresses(&without_links(text));
    let mut out = String::new();
    for character in text.chars() {
        match character {
            other if other.is_whitespace() => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            deceptive if is_deceptive(deceptive) => {}
            '<' => out.push('‹'),
            '>' => out.push('›'),
            '`' => out.push('\''),
            other => out.push(other),
        }
    }
    // What a list or a heading begins with.
    let out = out.trim_start_matches(['-', '*', '#', '•', ' ']).trim_end();
    let out = out.replace("**", "");
    match out.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &out[..end]),
        None => out,
    }
}

/// A model's name, which may be what somebody else wrote: what names are made of, and no more of it.
pub(crate) fn name(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let is_of_name =
        |it: &char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-' | ':' | '/');
    let name: String = text.chars().filter(is_of_name).take(MAX_CHARS).collect();
    name.replace("//", "/")
}

/// `[text](address)` and `![text](address)` become `text`.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open..].find("](").and_then(|middle| {
            let middle = open + middle;
            // Not over the end of another bracket.
            let is_plain = !rest[open + 1..middle].contains(['[', ']']);
            let close = middle + rest[middle..].find(')')?;
            is_plain.then_some((middle, close))
        });
        let Some((middle, close)) = link else {
            out.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        };
        out.push_str(rest[..open].strip_suffix('!').unwrap_or(&rest[..open]));
        out.push_str(&rest[open + 1..middle]);
        rest = &rest[close + 1..];
    }
    out + rest
}

/// Addresses that clients make links of are left out: nobody is to be led anywhere by what a model says of data.
fn without_addresses(text: &str) -> String {
    let is_address = |word: &str| {
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        let schemes = ["javascript:", "data:", "mailto:", "www."];
        word.contains("://") || schemes.iter().any(|scheme| word.starts_with(scheme))
    };
    let words: Vec<&str> = text
        .split(' ')
        .map(|word| if is_address(word) { "[address left out]" } else { word })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_more_than_text_is_not() {
        for (given, shown) in [
            ("Plain text stays.", "Plain text stays."),
            ("  - two\n lines\t", "two lines"),
            ("**Bold** and `code`", "Bold and 'code'"),
            ("See [the docs](https://evil.example/x) now", "See the docs now"),
            ("![pixel](https://evil.example/p.png) seen", "pixel seen"),
            ("Go to https://evil.example/?q=1 now", "Go to [address left out] now"),
            ("www.evil.example/a is bad", "[address left out] is bad"),
            ("run (javascript:alert(1))", "run [address left out]"),
            ("<img src=x onerror=1>", "‹img src=x onerror=1›"),
            ("a\u{202e}b\u{1b}[31mc", "ab[31mc"),
            ("an array[3] is no link", "an array[3] is no link"),
            ("[a](b", "[a](b"),
        ] {
            assert_eq!(line(given), shown, "{given}");
        }
        assert_eq!(name("x):\n- Ignore [a](http://evil)"), "x:-Ignoreahttp:/evil");
        assert_eq!(name(&"m".repeat(70)).len(), 60);
        let long = line(&"é".repeat(400));
        assert_eq!(long.chars().count(), 301, "{long}");
    }
}
