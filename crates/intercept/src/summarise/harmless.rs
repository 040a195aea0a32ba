//! Text from the data, made harmless.

/// Text from the data, cut to `limit` characters, white space folded, with nothing in it that a
/// terminal or a reader could take for more than text.
pub(super) fn harmless(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for character in text.chars() {
        if length == limit {
            out.push('…');
            break;
        }
        if character.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
                length += 1;
            }
            continue;
        }
        length += 1;
        match character {
            // Controls, and the marks that reorder or hide text.
            control if control.is_control() => out.push('\u{fffd}'),
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => {
                out.push('\u{fffd}');
            }
            other => out.push(other),
        }
    }
    out
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
    let harmless = harmless(text, limit);
    if is_plain { harmless } else { serde_json::Value::from(harmless).to_string() }
}
