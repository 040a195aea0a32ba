//! The text of a page: what stands between the marks, on the lines where it stood.

/// What is between these is not for reading.
const UNREAD: [&str; 4] = ["script", "style", "noscript", "template"];

/// The text of a page, with a space for every mark. Lines stay lines.
pub(super) fn text(page: &str) -> String {
    let mut out = String::with_capacity(page.len() / 2);
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        out.push_str(&unescaped(&rest[..start]));
        let mark = &rest[start..];
        let length = length_of_mark(mark);
        keep_lines(&mark[..length], &mut out);
        rest = &mark[length..];
    }
    out.push_str(&unescaped(rest));
    out
}

/// How long a mark is that a text begins with, with all that is not for reading behind it.
fn length_of_mark(text: &str) -> usize {
    if text.starts_with("<!--") {
        return text.find("-->").map_or(text.len(), |end| end + "-->".len());
    }
    let end = text.find('>').map_or(text.len(), |end| end + 1);
    let name: String = text[1..]
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    if name.is_empty() && !text[1..].starts_with(['/', '!', '?']) {
        // A sign, as in `a < b`.
        return 1;
    }
    if !UNREAD.contains(&name.as_str()) {
        return end;
    }
    let closing = format!("</{name}");
    let inside = text[end..].to_ascii_lowercase();
    inside.find(&closing).map_or(text.len(), |at| end + at)
}

fn keep_lines(passed_over: &str, out: &mut String) {
    out.push(' ');
    out.extend(passed_over.chars().filter(|c| *c == '\n'));
}

/// A text with the commonest escapes as what they stand for.
fn unescaped(text: &str) -> String {
    const ESCAPES: [(&str, &str); 6] = [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    if !text.contains('&') {
        return text.to_owned();
    }
    ESCAPES.iter().fold(text.to_owned(), |text, (escape, sign)| text.replace(escape, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_without_its_marks() {
        let page = "<html><head><style>p {\n color: red }</style></head>\n<body class='x'><!-- <p>no</p> -->\n<p>Fish &amp; chips, 3 < 4</p><script>let a = '<p>';</script></body>";
        let words: Vec<Vec<String>> = text(page)
            .lines()
            .map(|line| line.split_whitespace().map(str::to_owned).collect())
            .collect();
        assert_eq!(words, [vec![], vec![], vec![], vec!["Fish", "&", "chips,", "3", "4"]]);
    }

    #[test]
    fn half_a_page_does_no_harm() {
        for page in ["<", "a <b", "<script>x", "<!-- x", "</", "<p>é<"] {
            assert!(text(page).len() <= page.len() + 2, "{page}");
        }
    }
}
