//! The words and signs of an SQL text, by the rules of DuckDB's scanner: what is within quotes is one
//! token, and comments are none.
//!
//! No decision rests on them alone: they find EXPLAIN at the front and the places where a PIVOT lacks
//! its values, and name a statement that is refused. What remains goes through the parser.

/// A word, a number, a quoted text, or a single sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Where it starts, in bytes.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl Token<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_semicolon(&self) -> bool {
        self.text == ";"
    }
}

pub(super) fn of(sql: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(rest) = sql.get(start..)
        && let Some(first) = rest.chars().next()
    {
        let length = length(rest, first);
        let is_blank = is_blank(first) || rest.starts_with("--") || rest.starts_with("/*");
        if !is_blank {
            tokens.push(Token { start, text: rest.get(..length).unwrap_or(rest) });
        }
        start += length;
    }
    tokens
}

/// How long the longest row of operators' signs is, in bytes. Comments without a letter in them belong
/// to it: DuckDB's scanner takes such a row for one operator, whose beginning alone turns out to be a
/// comment, and begins again behind it.
pub(super) fn longest_row_of_signs(sql: &str) -> usize {
    let is_sign = |letter: char| "+-*/<>=~!@#%^&|`?".contains(letter);
    let (mut start, mut row, mut longest) = (0, 0, 0);
    while let Some(rest) = sql.get(start..)
        && let Some(first) = rest.chars().next()
    {
        let length = length(rest, first);
        let part = rest.get(..length).unwrap_or(rest);
        row = if part.chars().all(is_sign) { row + length } else { 0 };
        longest = longest.max(row);
        start += length;
    }
    longest
}

/// How many expressions the longest list has that stands behind one of these words.
pub(super) fn longest_list_behind(tokens: &[Token], words: &[&str]) -> usize {
    let mut longest = 0;
    for (at, token) in tokens.iter().enumerate() {
        let has_list = tokens.get(at + 1).is_some_and(|next| next.text == "(");
        if !has_list || !words.iter().any(|word| token.is_word(word)) {
            continue;
        }
        let (mut depth, mut count) = (0_usize, 1);
        for token in &tokens[at + 1..] {
            match token.text {
                "(" => depth += 1,
                ")" if depth == 1 => break,
                ")" => depth -= 1,
                "," => count += 1,
                _ => {}
            }
        }
        longest = longest.max(count);
    }
    longest
}

/// How many bytes belong to what `rest` begins with.
fn length(rest: &str, first: char) -> usize {
    if rest.starts_with("--") {
        return rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return comment(rest);
    }
    match first {
        '\'' | '"' => quoted(rest, 0, first, Escape::Doubled),
        'e' | 'E' if rest[1..].starts_with('\'') => escaped(rest),
        '$' => dollar_quoted(rest).unwrap_or(1),
        _ if is_word_part(first) => {
            rest.find(|it| !is_word_part(it) && it != '$').unwrap_or(rest.len())
        }
        _ => first.len_utf8(),
    }
}

/// Comments nest.
fn comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = rest.as_bytes();
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// A quote within is written twice.
    Doubled,
    /// That, or with a backslash before it.
    Backslash,
}

fn quoted(rest: &str, open: usize, quote: char, escape: Escape) -> usize {
    let mut letters = rest.char_indices().skip(open + 1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && escape == Escape::Backslash {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    rest.len()
}

/// `E'…'`, which goes on with its escapes behind a line break.
fn escaped(rest: &str) -> usize {
    let mut end = quoted(rest, 1, '\'', Escape::Backslash);
    while let Some(next) = next_part(&rest[end..]) {
        end += next + quoted(&rest[end + next..], 0, '\'', Escape::Backslash);
    }
    end
}

/// Where a string goes on: behind a line break, and nothing but blanks and comments.
fn next_part(rest: &str) -> Option<usize> {
    let (mut at, mut has_break) = (0, false);
    loop {
        let ahead = &rest[at..];
        let first = ahead.chars().next()?;
        match first {
            '\'' => return has_break.then_some(at),
            _ if is_blank(first) || ahead.starts_with("--") => {
                has_break |= matches!(first, '\n' | '\r');
                at += length(ahead, first);
            }
            _ => return None,
        }
    }
}

/// `$$…$$` or `$tag$…$tag$`.
fn dollar_quoted(rest: &str) -> Option<usize> {
    let tag_end = rest[1..].find('$')? + 2;
    let tag = &rest[..tag_end];
    let inner = &tag[1..tag_end - 1];
    if inner.starts_with(|it: char| it.is_ascii_digit()) || !inner.chars().all(is_word_part) {
        return None;
    }
    let end = rest[tag_end..].find(tag).map_or(rest.len(), |at| tag_end + at + tag.len());
    Some(end)
}

fn is_word_part(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric() || (!letter.is_ascii() && !is_blank(letter))
}

/// DuckDB takes the blanks of all scripts for blanks.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{feff}')
}
