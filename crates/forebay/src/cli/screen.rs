//! Where a command writes: how wide it is, and whether it shows colours.

use std::{
    env,
    io::{self, IsTerminal, Write},
};

use forebay_system::terminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What is assumed of something that is no terminal, where a text must be wrapped.
const USUAL_WIDTH: usize = 80;
/// Lines longer than this are hard to read.
const MAX_TEXT_WIDTH: usize = 100;

/// The standard output, for people and for programs.
pub(crate) struct Screen {
    out: io::Stdout,
    is_terminal: bool,
    width: Option<usize>,
    has_colours: bool,
}

/// How a piece of text is to stand out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    Bold,
    Dim,
    Good,
    Warning,
    Bad,
}

impl Screen {
    pub(crate) fn stdout() -> Self {
        let out = io::stdout();
        let is_terminal = out.is_terminal();
        let width = terminal::columns(&out).filter(|_| is_terminal);
        // https://no-color.org: any value but an empty one.
        let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { out, is_terminal, width, has_colours: is_terminal && !no_colour && !is_dumb }
    }

    /// True if it is read by somebody, and not by a program.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// How many characters a line may have; `None` if there is no limit.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// How wide a text is to be set.
    pub(crate) fn text_width(&self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH).min(MAX_TEXT_WIDTH)
    }

    /// The text in a style, if styles are shown.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Bold => 1,
            Style::Dim => 2,
            Style::Good => 32,
            Style::Warning => 33,
            Style::Bad => 31,
        };
        if self.has_colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// How wide help is to be set, which is written before anything else is known.
pub(crate) fn help_width() -> usize {
    let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = Screen::stdout().width.or(columns).filter(|width| *width > 0);
    width.unwrap_or(USUAL_WIDTH).min(MAX_TEXT_WIDTH)
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Breaks a text into lines of at most `width` characters, between words where that is possible.
/// Lines that the text has stay lines; what is broken off hangs under the text of its line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let visible = |piece: &str| piece.trim_end().width();
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let hanging = " ".repeat(if indent < width { indent } else { 0 });
        let mut current = String::new();
        let mut length = 0;
        for mut piece in pieces(line) {
            if length > indent && length + visible(piece) > width {
                lines.push(std::mem::replace(&mut current, hanging.clone()));
                length = hanging.len();
            }
            // Longer than a whole line.
            while length + visible(piece) > width {
                let mut end = length;
                let is_beyond = |(_, letter): &(usize, char)| {
                    end += letter.width().unwrap_or_default();
                    end > width
                };
                let room = piece.char_indices().find(is_beyond).map_or(piece.len(), |(at, _)| at);
                // A letter that is wider than all there is has its own line.
                let least = piece.chars().next().map_or(0, char::len_utf8);
                let is_start = length == hanging.len();
                let (fitting, rest) = piece.split_at(if is_start { room.max(least) } else { room });
                lines.push(std::mem::replace(&mut current, hanging.clone()) + fitting);
                length = hanging.len();
                piece = rest;
            }
            length += piece.width();
            current.push_str(piece);
        }
        lines.push(current);
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// The pieces of a line that stay together: words, and the members of a JSON object.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, character) in line.char_indices() {
        let end = at + character.len_utf8();
        if character == ' ' || (character == ',' && line[end..].starts_with('"')) {
            pieces.push(&line[start..end]);
            start = end;
        }
    }
    pieces.push(&line[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words_and_keeps_its_lines() {
        let text = "one two three\n\n  four five six\nabcdefghijklmnopq rs";
        let lines =
            ["one two", "three", "", "  four", "  five", "  six", "abcdefghi", "jklmnopq", "rs"];
        assert_eq!(wrapped(text, 9), lines);
        assert_eq!(wrapped(text, 80).join("\n"), text);
    }

    #[test]
    fn what_is_broken_off_hangs_under_its_text() {
        assert_eq!(wrapped("- {\"a\":1,\"b\":1,5} x", 10), ["- {\"a\":1,", "  \"b\":1,5}", "  x"]);
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(wrapped("東京都 庁", 6), ["東京都", "庁"]);
        assert_eq!(wrapped("東京都庁", 5), ["東京", "都庁"]);
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let text =
            "ä lóng wörd ".repeat(30) + &"x".repeat(100) + "\n    indented " + &"y".repeat(40);
        for width in 5..90 {
            let lines = wrapped(&text, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
