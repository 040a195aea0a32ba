//! Listings: many short lines, each of them one thing, such as the names in a folder.

use memchr::memchr_iter;

use crate::table::{Raw, Records};

const MIN_LINES: usize = 20;
const LOOKED_AT: usize = 2_000;

/// True if lines are things rather than sentences or code: short, few blank, few indented.
pub(super) fn is_listing(text: &[u8]) -> bool {
    // A page.
    if text.trim_ascii_start().starts_with(b"<") {
        return false;
    }
    let (mut all, mut blank, mut indented, mut long, mut sentences) = (0, 0, 0, 0, 0);
    for line in lines(text).take(LOOKED_AT) {
        // A diff.
        if line.starts_with(b"@@ -") {
            return false;
        }
        all += 1;
        let bare = line.trim_ascii();
        blank += usize::from(bare.is_empty());
        indented += usize::from(line.starts_with(b" ") || line.starts_with(b"\t"));
        long += usize::from(line.len() > 240);
        sentences += usize::from(matches!(bare.last(), Some(b'.' | b',' | b';' | b'{' | b'}')));
    }
    all >= MIN_LINES
        && blank * 20 <= all
        && indented * 5 <= all
        && long * 20 <= all
        && sentences * 5 <= all
}

/// Hands the lines of `text` to `table`, with their numbers, as every other text has them in SQL.
pub(super) fn records<'a, R: Records<'a>>(text: &'a [u8], mut table: R) -> R {
    for (index, line) in lines(text).enumerate() {
        if table.record(line) {
            table.field(0, b"line", Raw::Json((index + 1).to_string().as_bytes()));
            let text = if line.is_empty() { Raw::Json(b"null") } else { Raw::Text(line) };
            table.field(1, b"text", text);
        }
    }
    table
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let mut start = 0;
    memchr_iter(b'\n', text).chain([text.len()]).map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}
