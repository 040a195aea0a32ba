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
}
