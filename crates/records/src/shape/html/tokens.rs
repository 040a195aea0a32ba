//! The tags and texts of a web page, one after the other.

use std::borrow::Cow;

use quick_xml::escape::resolve_html5_entity;

/// A part of a page.
pub(super) enum Token<'a> {
    Text(Cow<'a, str>),
    Start(Tag<'a>),
    End(String),
}

/// A tag that begins something.
pub(super) struct Tag<'a> {
    /// In small letters.
    pub(super) name: String,
    attributes: &'a str,
}

impl Tag<'_> {
    /// How many rows or columns an attribute says that a cell spans.
    pub(super) fn span(&self, attribute: &str) -> usize {
        /// What browsers take.
        const MAX_SPAN: usize = 1_000;
        let lower = self.attributes.to_ascii_lowercase();
        let value = lower.split_once(attribute).and_then(|(_, rest)| {
            let value = rest.trim_start().strip_prefix('=')?.trim_start();
            let value = value.trim_start_matches(['"', '\'']).trim_start();
            let digits = value.bytes().take_while(u8::is_ascii_digit).count();
            value[..digits].parse::<usize>().ok()
        });
        value.unwrap_or(1).clamp(1, MAX_SPAN)
    }
}

/// The tokens of a page. Scripts, styles and comments are none.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let (token, after) = next(rest);
            rest = after;
            if token.is_some() {
                return token;
            }
        }
    })
}

fn next(text: &str) -> (Option<Token<'_>>, &str) {
    let Some(inner) = text.strip_prefix('<') else {
        let end = memchr::memchr(b'<', text.as_bytes()).unwrap_or(text.len());
        return (Some(Token::Text(resolved(&text[..end]))), &text[end..]);
    };
    if let Some(comment) = inner.strip_prefix("!--") {
        return (None, comment.split_once("-->").map_or("", |(_, after)| after));
    }
    let first = inner.bytes().next();
    if matches!(first, Some(b'!' | b'?')) {
        return (None, inner.split_once('>').map_or("", |(_, after)| after));
    }
    let is_end = first == Some(b'/');
    let named = if is_end { &inner[1..] } else { inner };
    if !named.starts_with(|character: char| character.is_ascii_alphabetic()) {
        // A sign that is less than something.
        return (Some(Token::Text(Cow::Borrowed("<"))), inner);
    }
    let length = named
        .bytes()
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/'))
        .count();
    let name = named[..length].to_ascii_lowercase();
    let end = tag_end(&named[length..]) + length;
    let (attributes, after) = (&named[length..end], named.get(end + 1..).unwrap_or(""));
    if is_end {
        return (Some(Token::End(name)), after);
    }
    if matches!(&*name, "script" | "style" | "template" | "textarea" | "noscript" | "svg") {
        return (None, behind(after, &name));
    }
    (Some(Token::Start(Tag { name, attributes })), after)
}

/// Where a tag ends: at a sign that is in no quotes.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    let mut after_equals = false;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') if after_equals => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        after_equals = byte == b'=' || after_equals && byte.is_ascii_whitespace();
    }
    text.len()
}

/// What follows the end of an element whose text is no page.
fn behind<'a>(text: &'a str, name: &str) -> &'a str {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"</") {
        let rest = &text.as_bytes()[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())) {
            return text[at..].split_once('>').map_or("", |(_, after)| after);
        }
    }
    ""
}

/// A text with the characters that its references stand for.
fn resolved(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once('&') {
        out.push_str(before);
        let length = reference
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
            .count();
        if let Some(character) = character(&reference[..length]) {
            out.push_str(&character);
            let after = &reference[length..];
            rest = after.strip_prefix(';').unwrap_or(after);
        } else {
            out.push('&');
            rest = reference;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(name: &str) -> Option<Cow<'static, str>> {
    let Some(number) = name.strip_prefix('#') else {
        return resolve_html5_entity(name).map(Cow::Borrowed);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    Some(Cow::Owned(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).to_string()))
}
