//! What a server can be called.
//!
//! Its name stands before those of its tools, so it has only what clients take in the name of a tool.

/// What clients read between a server's name and a tool's.
const SEPARATOR: &str = "__";
const MAX_LETTERS: usize = 32;
/// What our own tools are offered under.
const OURS: &str = "forebay";

/// The rule for editors, but for the length and our own name.
pub(in crate::config) const PATTERN: &str = "^_?([A-Za-z0-9-]_?)*$";

/// Says what to write if a server cannot be called `name`.
pub(super) fn check(name: &str) -> Result<(), String> {
    let is_sound = (1..=MAX_LETTERS).contains(&name.len())
        && name.chars().all(fits)
        && !name.contains(SEPARATOR);
    if !is_sound {
        return Err(format!(
            "a server cannot be called `{name}`; write 1 to {MAX_LETTERS} letters, digits, - and _, \
             and no {SEPARATOR}"
        ));
    }
    if name == OURS {
        return Err(format!(
            "a server cannot be called `{name}`, as Forebay is; write another name"
        ));
    }
    Ok(())
}

/// A name that can be, made of one that need not be, and none of those that are `taken`.
pub(crate) fn fitted(name: &str, taken: &[String]) -> String {
    let mut fitted: String = name.chars().map(|it| if fits(it) { it } else { '-' }).collect();
    while fitted.contains(SEPARATOR) {
        fitted = fitted.replace(SEPARATOR, "_");
    }
    // From here on all characters are single bytes.
    fitted.truncate(MAX_LETTERS);
    if fitted.is_empty() {
        "server".clone_into(&mut fitted);
    }
    let is_free = |name: &String| name != OURS && !taken.contains(name);
    let numbered = (2..).map(|number| {
        let number = format!("-{number}");
        let kept = fitted.len().min(MAX_LETTERS - number.len());
        format!("{}{number}", &fitted[..kept])
    });
    let first = std::iter::once(fitted.clone());
    first.chain(numbered).find(is_free).unwrap_or_default()
}

fn fits(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["a", "GitHub", "my-server_2", "-", "_", "_a_", &"x".repeat(32)] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a.b", "é", "a__b", "__", "forebay", &"x".repeat(33)] {
            let said = check(name).unwrap_err();
            assert!(said.starts_with(&format!("a server cannot be called `{name}`")), "{said}");
        }
    }

    #[test]
    fn other_names_are_made_to_fit() {
        let long = "a".repeat(40);
        let cases = [
            ("github", "github"),
            ("my server.io/x", "my-server-io-x"),
            ("a____b", "a_b"),
            ("ünï", "-n-"),
            ("", "server"),
            ("forebay", "forebay-2"),
            (long.as_str(), &long[..32]),
        ];
        for (name, expected) in cases {
            assert_eq!(fitted(name, &[]), expected, "{name}");
            assert_eq!(check(&fitted(name, &[])), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_become_equal_are_numbered() {
        let taken = ["a-b".to_owned(), "a-b-2".to_owned(), "x".repeat(32)];
        assert_eq!(fitted("a b", &taken), "a-b-3");
        assert_eq!(fitted(&"x".repeat(33), &taken), format!("{}-2", "x".repeat(30)));
    }
}
