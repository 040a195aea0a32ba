//! Patterns over the names of tools: `*` stands for any characters, `?` for one.

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern that is written so; every text is one.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if the pattern fits the whole of `name`.
    pub fn matches(&self, name: &str) -> bool {
        let (mut pattern, mut rest) = (self.0.as_str(), name);
        // Where to go on if what follows the last `*` does not fit: the star takes one more.
        let mut retry: Option<(&str, &str)> = None;
        loop {
            let (wanted, given) = (pattern.chars().next(), rest.chars().next());
            match (wanted, given) {
                (None, None) => return true,
                (Some('*'), _) => {
                    pattern = &pattern[1..];
                    retry = Some((pattern, rest));
                }
                (Some(wanted), Some(given)) if wanted == '?' || wanted == given => {
                    pattern = &pattern[wanted.len_utf8()..];
                    rest = &rest[given.len_utf8()..];
                }
                _ => {
                    let Some((after_star, taken)) = retry else { return false };
                    let Some(one_more) = taken.chars().next() else { return false };
                    (pattern, rest) = (after_star, &taken[one_more.len_utf8()..]);
                    retry = Some((pattern, rest));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        let fits = [
            ("list", "list"),
            ("*", ""),
            ("*", "anything"),
            ("list_*", "list_"),
            ("*_orders", "list_all_orders"),
            ("a*b*c", "aXbXbc"),
            ("?_é*", "x_éa"),
            ("**a", "ba"),
            ("a*", "a*"),
        ];
        let misses = [
            ("list", "lists"),
            ("List", "list"),
            ("", "a"),
            ("?", ""),
            ("list_*", "list"),
            ("*_orders", "orders"),
            ("a*b*c", "aXbXb"),
            ("*a?", "aab_"),
        ];
        for (pattern, name) in fits {
            assert!(Glob::new(pattern).matches(name), "{pattern} {name}");
        }
        for (pattern, name) in misses {
            assert!(!Glob::new(pattern).matches(name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = Glob::new("*a".repeat(500));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(2_000))));
    }
}
