//! Finds the place in a program's source that a place in its JavaScript was made from.

use oxc_sourcemap::SourceMap;

use crate::Place;

/// The lines that stand before the generated code.
const LINES_BEFORE: usize = 1;

/// Where each part of the generated code was in the source.
pub(crate) struct Positions {
    source: String,
    line_starts: Vec<usize>,
    generated: String,
    generated_starts: Vec<usize>,
    tokens: Vec<Token>,
}

/// A place in the generated code and where it came from, all from 0 on and in UTF-16.
struct Token {
    generated: (u32, u32),
    source: (u32, u32),
}

impl Positions {
    pub(super) fn new(source: &str, generated: &str, map: Option<&SourceMap<'_>>) -> Self {
        let tokens = map.into_iter().flat_map(SourceMap::get_tokens).map(|token| Token {
            generated: (token.get_dst_line(), token.get_dst_col()),
            source: (token.get_src_line(), token.get_src_col()),
        });
        Self {
            source: source.to_owned(),
            line_starts: line_starts(source),
            generated: generated.to_owned(),
            generated_starts: line_starts(generated),
            tokens: tokens.collect(),
        }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The place in the source of what the engine calls `line:column`: from 1 on, in bytes, and with
    /// lines that end at line feeds alone.
    pub(crate) fn find(&self, line: usize, column: usize) -> Option<Place> {
        let line = line.checked_sub(LINES_BEFORE + 1)?;
        let mut feeds = self.generated.match_indices('\n').map(|(at, _)| at + 1);
        let start = if line == 0 { 0 } else { feeds.nth(line - 1)? };
        let rest = &self.generated.as_bytes()[start..];
        let offset = start + column.saturating_sub(1).min(rest.len());
        let line = self.generated_starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.generated.as_bytes()[*self.generated_starts.get(line)?..offset];
        let column = String::from_utf8_lossy(before).encode_utf16().count();
        let wanted = (u32::try_from(line).ok()?, u32::try_from(column).ok()?);
        let after = self.tokens.partition_point(|token| token.generated <= wanted);
        let before = after.checked_sub(1).and_then(|at| self.tokens.get(at));
        // What stands before the first part of a line belongs to it.
        let token = match before {
            Some(token) if token.generated.0 == wanted.0 => token,
            _ => self.tokens.get(after).filter(|token| token.generated.0 == wanted.0)?,
        };
        self.place_of(token.source)
    }

    /// The place that the map calls `line:column`. It breaks lines as the language does, at characters
    /// that nobody else takes for the end of a line, too.
    fn place_of(&self, (line, column): (u32, u32)) -> Option<Place> {
        let start = *self.line_starts.get(line as usize)?;
        let mut units = 0;
        let is_before = |c: &char| {
            units += c.len_utf16();
            units <= column as usize
        };
        let before: usize =
            self.source[start..].chars().take_while(is_before).map(char::len_utf8).sum();
        Some(place(&self.source, start + before))
    }
}

/// Where the lines of a source begin, as the language sees it.
fn line_starts(source: &str) -> Vec<usize> {
    let is_end = |(at, c): &(usize, char)| match c {
        '\n' | '\u{2028}' | '\u{2029}' => true,
        '\r' => source.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    let ends = source.char_indices().filter(is_end);
    std::iter::once(0).chain(ends.map(|(at, c)| at + c.len_utf8())).collect()
}

/// The place of a byte of the source.
pub(crate) fn place(source: &str, offset: usize) -> Place {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &source[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    // Whoever shows the line leaves its end out.
    let line = before[line_start..].trim_end_matches('\r');
    Place { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
}
