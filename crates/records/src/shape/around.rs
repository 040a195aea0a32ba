//! What stands around the records: sentences, footers, other members. It is told beside them.

use super::Contents;

/// Pieces past this many are counted, not told.
const MAX_PIECES: usize = 20;
/// A piece is told up to this length.
const MAX_BYTES: usize = 500;

pub(super) const BEFORE: &str = "text before";
pub(super) const BETWEEN: &str = "text between";
pub(super) const AFTER: &str = "text after";
pub(super) const FOOTER: &str = "footer";

/// The pieces around the records of a text, each under a name of its own.
#[derive(Debug, Default)]
pub(super) struct Around {
    pieces: Vec<(String, String)>,
    count: usize,
}

impl Around {
    /// Takes note of a text, unless it is blank.
    pub(super) fn text(&mut self, name: &str, text: &[u8]) {
        let text = text.trim_ascii();
        if text.is_empty() {
            return;
        }
        let shown = if text.len() <= MAX_BYTES {
            String::from_utf8_lossy(text).into_owned()
        } else {
            format!("{}… ({} bytes)", head(text), text.len())
        };
        self.push(name, serde_json::Value::from(shown).to_string());
    }

    /// Takes note of a JSON value as it is written.
    pub(super) fn json(&mut self, name: &str, json: &[u8]) {
        let shown = if json.len() <= MAX_BYTES {
            String::from_utf8_lossy(json).into_owned()
        } else {
            format!("{}… ({} bytes)", head(json), json.len())
        };
        self.push(name, shown);
    }

    /// Takes note of pieces that are not told.
    pub(super) fn left_out(&mut self, count: usize) {
        self.count += count;
    }

    /// Puts the pieces before the values that were found beside the tables.
    pub(super) fn tell(&self, contents: &mut Contents) {
        contents.envelope.splice(0..0, self.pieces.iter().cloned());
        contents.counts.envelope += self.count;
    }

    fn push(&mut self, name: &str, shown: String) {
        self.count += 1;
        if self.pieces.len() == MAX_PIECES {
            return;
        }
        let is_taken = |name: &str| self.pieces.iter().any(|(known, _)| known == name);
        let name = if is_taken(name) {
            let numbered = (2..).map(|number| format!("{name} {number}"));
            numbered.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
        } else {
            name.to_owned()
        };
        self.pieces.push((name, shown));
    }
}

/// The beginning of a text, which does not end within a character.
fn head(text: &[u8]) -> String {
    let head = &text[..MAX_BYTES];
    let is_start = |byte: &u8| !matches!(byte, 0x80..=0xBF);
    // Where the last character begins, it may be cut.
    let last = head.iter().rposition(is_start).unwrap_or(0);
    let end = if std::str::from_utf8(&head[last..]).is_ok() { head.len() } else { last };
    String::from_utf8_lossy(&head[..end]).into_owned()
}
