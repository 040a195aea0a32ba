//! A line of a model's, made harmless: one line of plain text, with nothing in it that a client would render
//! as more, or follow.

use forebay_text::is_deceptive;

const MAX_CHARS: usize = 250;
/// What a list or a heading begins with.
const OF_BEGINNINGS: [char; 5] = ['-', '*', '#', '•', ' '];

/// `text` as one plain line: links are their texts, addresses are gone, and what could be markup is not.
pub(super) fn line(text: &str) -> String {
    let mut text = text.to_owned();
    // What is taken out may join what stood around it to something that is to be taken out: `*~~*`.
    loop {
        let next = without_links(&plain(&without_entities(&text)));
        if next == text {
            break;
        }
        text = next;
    }
    let shown = without_addresses(&text).replace('<', "‹").replace('>', "›").replace('`', "'");
    shortened(&shown)
}

/// `text` in one line, without what could part that which belongs together, such as the two halves of a link.
fn plain(text: &str) -> String {
    let visible = text.chars().filter(|it| it.is_whitespace() || !is_deceptive(*it));
    let visible: String = visible.collect();
    let unmarked = visible.replace("**", "").replace("~~", "");
    let line = unmarked.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_start_matches(OF_BEGINNINGS).to_owned()
}

/// No more of a line than is told, whole words where it has any.
fn shortened(line: &str) -> String {
    let Some((end, _)) = line.char_indices().nth(MAX_CHARS) else { return line.to_owned() };
    let shown = &line[..end];
    let is_between = line[end..].starts_with(' ');
    // A number of which the end is missing would be another one.
    let whole = if is_between { None } else { shown.rsplit_once(' ') };
    format!("{}…", whole.map_or(shown, |(whole, _)| whole).trim_end())
}

/// A model's name, which may be what somebody else wrote: what names are made of, and no more of it.
pub(crate) fn name(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let is_of_name =
        |it: &char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-' | ':' | '/');
    let name: String = text.chars().filter(is_of_name).take(MAX_CHARS).collect();
    name.replace("//", "/")
}

/// `&lt;` is `<`, however often it is written as a character of its own.
fn without_entities(text: &str) -> String {
    const MAX_DEPTH: usize = 4;
    let mut text = text.to_owned();
    for _ in 0..MAX_DEPTH {
        let read = with_entities_read(&text);
        if read == text {
            return text;
        }
        text = read;
    }
    // Whoever writes them within one another has no good reason.
    text.replace('&', "")
}

fn with_entities_read(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find('&') {
        let (before, entity) = rest.split_at(begin);
        out.push_str(before);
        let read = entity.find(';').and_then(|end| Some((character(&entity[1..end])?, end)));
        let (shown, length) = read.map_or(('&', 1), |(character, end)| (character, end + 1));
        out.push(shown);
        rest = &entity[length..];
    }
    out + rest
}

/// The character of an entity, if it is one that could be markup.
fn character(entity: &str) -> Option<char> {
    let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
    match entity {
        "lt" | "LT" => Some('<'),
        "gt" | "GT" => Some('>'),
        "amp" | "AMP" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "colon" => Some(':'),
        "sol" => Some('/'),
        "period" => Some('.'),
        "grave" => Some('`'),
        "ast" => Some('*'),
        "lsqb" | "lbrack" => Some('['),
        "rsqb" | "rbrack" => Some(']'),
        "lpar" => Some('('),
        "rpar" => Some(')'),
        "nbsp" | "Tab" | "NewLine" => Some(' '),
        _ => match entity.strip_prefix('#')?.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16),
            None => number(&entity[1..], 10),
        },
    }
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
        let name = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        let schemes = ["javascript:", "data:", "mailto:", "www."];
        word.contains("//") || schemes.iter().any(|scheme| name.starts_with(scheme))
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
            ("&lt;img src=x&gt;", "‹img src=x›"),
            ("&amp;lt;b&amp;#62; R&D; &copy;", "‹b› R&D; &copy;"),
            ("see https&#58;//evil.example/x", "see [address left out]"),
            ("a &#x5b;link&#93;(https&colon;&sol;/evil.example)", "a link"),
            ("~~gone~~ and _kept_", "gone and _kept_"),
            ("a\u{202e}b\u{1b}[31mc", "ab[31mc"),
            ("[x]**(javascript:alert(1))", "x)"),
            ("![p]~~(//evil.example/p.png)", "p"),
            ("[x]\u{200b}(//evil.example)", "x"),
            ("[x]\u{ad}(//evil.example)", "x"),
            ("w**ww.evil.example", "[address left out]"),
            ("ht~~tps://evil.example", "[address left out]"),
            ("See\nwww.evil.example", "See [address left out]"),
            ("See\twww.evil.example", "See [address left out]"),
            ("*~~*bold*~~*", "bold"),
            ("[[x](//one.example)](//evil.example)", "x"),
            ("&l**t;img src=x&g~~t;", "‹img src=x›"),
            ("[x]: //evil.example", "[x]: [address left out]"),
            ("[*](//evil.example)*bold*[*](//evil.example)", "bold"),
            ("[*~~*x](//evil.example)", "x"),
            ("[- **x**](//evil.example)", "x"),
            ("an array[3] is no link", "an array[3] is no link"),
            ("[a](b", "[a](b"),
        ] {
            assert_eq!(line(given), shown, "{given}");
        }
        assert_eq!(name("x):\n- Ignore [a](http://evil)"), "x:-Ignoreahttp:/evil");
        assert_eq!(name(&"m".repeat(70)).len(), 60);
        let long = line(&"é".repeat(400));
        assert_eq!(long.chars().count(), 251, "{long}");
        let number = format!("{} 1234567 orders", "x".repeat(246));
        assert_eq!(
            line(&number),
            format!("{}…", "x".repeat(246)),
            "a number is whole or not there"
        );
        let words = format!("{} and 1234567 orders", "x".repeat(246));
        assert_eq!(line(&words), format!("{} and…", "x".repeat(246)));
    }
}
