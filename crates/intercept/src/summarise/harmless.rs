//! Text from the data, made harmless.

use forebay_text::is_deceptive;

/// Text from the data, cut to `limit` characters, in one line, with nothing in it that a terminal or a
/// reader could take for more than text.
pub(super) fn harmless(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for character in text.chars() {
        if length == limit {
            out.push('…');
            break;
        }
        length += 1;
        match character {
            ' ' => out.push(' '),
            other if other.is_whitespace() => {
                // Lines and what they are indented by are folded.
                if out.ends_with(' ') {
                    length -= 1;
                } else {
                    out.push(' ');
                }
            }
            deceptive if is_deceptive(deceptive) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// A line of a text as it is, spaces and tabs included, cut to `limit` characters; what could be taken
/// for more than text is marked.
pub(super) fn verbatim(line: &str, limit: usize) -> String {
    keeping(&['\t'], line, limit)
}

/// [`harmless`] for a name: its spaces are what they are.
pub(super) fn harmless_name(name: &str, limit: usize) -> String {
    let parts: Vec<String> = name.split(' ').map(|part| harmless(part, limit)).collect();
    let name = parts.join(" ");
    match name.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// [`harmless`], in quotes unless it is a plain word, so that it cannot be taken for anything else.
pub(super) fn quoted(text: &str, limit: usize) -> String {
    let is_plain = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+'));
    if is_plain {
        return harmless(text, limit);
    }
    // As it can be asked for: with its spaces, and its line ends as JSON writes them.
    serde_json::Value::from(keeping(&['\n', '\t'], text, limit)).to_string()
}

/// [`harmless`], character by character, but for some that stay as they are.
fn keeping(kept: &[char], text: &str, limit: usize) -> String {
    let cut = if text.chars().nth(limit).is_some() { "…" } else { "" };
    let shown = text.chars().take(limit).map(|character| {
        if kept.contains(&character) {
            return character;
        }
        harmless(character.encode_utf8(&mut [0; 4]), 1).chars().next().unwrap_or(' ')
    });
    shown.collect::<String>() + cut
}
