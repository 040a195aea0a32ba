//! Why a server has failed, in its own words: of the end of what it said on stderr, the lines that tell most.

use std::str::Chars;

use forebay_text::without_secrets;

/// So many lines are shown at most.
const LINES: usize = 3;
/// So many characters are shown at most.
const CHARS: usize = 300;
/// Words of lines that tell of a failure.
const FAILURES: [&str; 5] = ["error", "exception", "fatal", "panicked", "not found"];

/// What a server said, as an addition to the sentence that says how it failed; `None` if it said nothing.
///
/// Runtimes print where an error came from around what it is, so the first line that speaks of a failure is shown
/// with what follows it. Which line that is, is a guess; what is shown are the server's words.
pub(crate) fn of(said: &str) -> Option<String> {
    // A secret may take several lines, not all of which are shown.
    let plain = without_secrets(&plain(said));
    let lines: Vec<&str> = plain.lines().map(str::trim).filter(|line| is_told(line)).collect();
    let last = lines.len().saturating_sub(LINES);
    let first = lines.iter().position(|line| tells_of_failure(line)).unwrap_or(last);
    let shown = lines.get(first..)?.iter().take(LINES).copied().collect::<Vec<_>>().join(" / ");
    if shown.is_empty() {
        return None;
    }
    let cut = shown
        .char_indices()
        .nth(CHARS)
        .map_or(shown.clone(), |(end, _)| format!("{}…", &shown[..end]));
    Some(format!("it said: {cut}"))
}

/// False for what is around a message: places in a program, and lines without a word.
fn is_told(line: &str) -> bool {
    let is_place =
        line.starts_with("at ") || line.starts_with("File \"") || line.starts_with("node:");
    line.contains(char::is_alphabetic) && !is_place
}

fn tells_of_failure(line: &str) -> bool {
    let line = line.to_lowercase();
    let is_word = |at: usize, word: &str| {
        !line[at + word.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
    };
    FAILURES.iter().any(|word| line.match_indices(word).any(|(at, word)| is_word(at, word)))
}

/// A text without what terminals act on.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => pass_over_sequence(&mut letters),
            '\n' => plain.push('\n'),
            '\t' => plain.push(' '),
            other if forebay_text::is_deceptive(other) => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Passes over what comes behind an `ESC` and belongs to it.
fn pass_over_sequence(letters: &mut Chars<'_>) {
    match letters.next() {
        // `ESC [ 31 m`: up to the letter that says what is to be done.
        Some('[') => _ = letters.find(|it| ('\u{40}'..='\u{7e}').contains(it)),
        // `ESC ] 8;;address BEL`: up to what ends a text for the terminal, which may be `ESC \`, too.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            if letters.find(|it| matches!(it, '\u{7}' | '\u{1b}' | '\n')) == Some('\u{1b}') {
                letters.next();
            }
        }
        // `ESC ( B`.
        Some(' '..='/') => _ = letters.find(|it| ('\u{30}'..='\u{7e}').contains(it)),
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_what_runtimes_print_around_it() {
        let node = "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module '/x/y.js'\n    \
                    at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)\n    at node:internal/main {\n  \
                    code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n";
        let python = "Traceback (most recent call last):\n  File \"/x/server.py\", line 3, in <module>\n    \
                      connect()\nConnectionError: no route to db.example\n";
        let rust = "thread 'main' (7) panicked at src/main.rs:2:5:\nDATABASE_URL is not set\nnote: run with \
                    `RUST_BACKTRACE=1`\n";
        let npm = "\u{1b}[31mnpm error\u{1b}[39m code E404\nnpm error 404 Not Found - GET /no-such\nnpm error 404\n\
                   npm error A complete log of this run can be found in: /x.log\n";
        for (said, expected) in [
            (
                node,
                "it said: Error: Cannot find module '/x/y.js' / code: 'MODULE_NOT_FOUND', / requireStack: []",
            ),
            (python, "it said: ConnectionError: no route to db.example"),
            (
                rust,
                "it said: thread 'main' (7) panicked at src/main.rs:2:5: / DATABASE_URL is not set / note: run \
                 with `RUST_BACKTRACE=1`",
            ),
            (
                npm,
                "it said: npm error code E404 / npm error 404 Not Found - GET /no-such / npm error 404",
            ),
            ("sh: 1: nope: not found\n", "it said: sh: 1: nope: not found"),
            ("one\ntwo\nthree\nfour", "it said: two / three / four"),
        ] {
            assert_eq!(of(said).as_deref(), Some(expected), "{said}");
        }
        assert_eq!(of(""), None);
        assert_eq!(of("\n --- \n"), None);
    }

    #[test]
    fn secrets_and_what_terminals_act_on_are_not_shown() {
        let told = of("error: API_KEY=hush-1234 is refused\u{1b}]0;title\u{7}\u{202e}").unwrap();
        assert!(told.starts_with("it said: error: API_KEY=***"), "{told}");
        assert!(
            !told.contains(|letter: char| letter.is_control() || letter == '\u{202e}'),
            "{told}"
        );
        assert!(of(&"long ".repeat(1_000)).unwrap().chars().count() < 320);
        for (said, expected) in [
            ("\u{1b}[31merror\u{1b}(B\u{1b}[m: boom", "it said: error: boom"),
            (
                "error: see \u{1b}]8;;https://x.example\u{1b}\\here\u{1b}]8;;\u{7} at once",
                "it said: error: see here at once",
            ),
            ("\u{1b}]0;never ended\nerror: boom", "it said: error: boom"),
        ] {
            assert_eq!(of(said).as_deref(), Some(expected), "{said}");
        }
    }

    #[test]
    fn secrets_that_take_several_lines_are_not_shown() {
        let line = "MIIEowIBAAKCAQEA7bq2Nn4dVw8mXcYtPfLr5kUoZsJh3GeTiR0aQxWvCyBlMnDp";
        let key = format!(
            "could not load key:\n-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\nabcd==\n\
             -----END RSA PRIVATE KEY-----\n"
        );
        let told = of(&key).unwrap();
        assert!(!told.contains(&line[..16]) && !told.contains("abcd"), "{told}");
        let told = of("Error: login failed\nPassword:\nhunter2\n").unwrap();
        assert!(told.contains("login failed") && !told.contains("hunter2"), "{told}");
    }
}
