//! What a request says behind its path, or in its form; and links that say it.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{problem::Problem, visible::named};

/// What may be given more than once.
const SEVERAL: [&str; 2] = ["where", "tag"];

/// Names and values, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Given(Vec<(String, String)>);

impl Given {
    /// Reads `a=1&b=2`.
    pub(crate) fn of(text: &str) -> Self {
        Self(url::form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The first value of a name, if it is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).find(|value| !value.is_empty())
    }

    /// All values of a name.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A whole number, if there is one. What is no number is refused.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(written) = self.get(name) else { return Ok(None) };
        let number = written.parse().map_err(|_| {
            Problem::refused(format!(
                "{name} is a whole number, such as 2; it cannot be {written}."
            ))
        });
        number.map(Some)
    }

    /// Which page is asked for; the first is 1.
    pub(crate) fn page(&self) -> Result<u64, Problem> {
        match self.number("page")? {
            None => Ok(1),
            Some(0) => Err(Problem::refused("Pages are counted from 1.")),
            Some(page) => Ok(page),
        }
    }

    /// The same without a name.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }

    /// The same without one value of a name.
    pub(crate) fn without_value(&self, name: &str, value: &str) -> Self {
        let is_it = |(known, given): &&(String, String)| known == name && given == value;
        Self(self.0.iter().filter(|pair| !is_it(pair)).cloned().collect())
    }

    /// The same with a name that has this value and no other.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// The same with one more value.
    pub(crate) fn and(&self, name: &str, value: &str) -> Self {
        let mut all = self.0.clone();
        all.push((name.to_owned(), value.to_owned()));
        Self(all)
    }

    /// A page of ours that a name leads to.
    pub(crate) fn local(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|place| is_local(place))
    }

    /// The same without what is empty. A name that is none of these is refused, and so is one that is given twice and
    /// cannot be.
    pub(crate) fn only(&self, names: &[&str]) -> Result<Self, Problem> {
        if let Some((other, _)) = self.0.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            let there_are = match names {
                [] => "this page has none.".to_owned(),
                [one] => format!("there is {one}."),
                [rest @ .., last] => format!("there are {} and {last}.", rest.join(", ")),
            };
            let other = named(other);
            return Err(Problem::refused(format!("There is no parameter {other}: {there_are}")));
        }
        let filled: Vec<(String, String)> =
            self.0.iter().filter(|(_, value)| !value.is_empty()).cloned().collect();
        let is_again = |at: &usize| filled[..*at].iter().any(|(name, _)| *name == filled[*at].0);
        let again = (0..filled.len()).filter(is_again).map(|at| &filled[at].0);
        if let Some(name) = again.into_iter().find(|name| !SEVERAL.contains(&name.as_str())) {
            return Err(Problem::refused(format!("{name} is given more than once: give one.")));
        }
        Ok(Self(filled))
    }

    /// Refuses every name.
    pub(crate) fn nothing(&self) -> Result<(), Problem> {
        self.only(&[]).map(drop)
    }

    /// The pairs, for the hidden fields of a form.
    pub(crate) fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// The address that says this at a path.
    pub(crate) fn at(&self, path: &str) -> String {
        if self.0.is_empty() { path.to_owned() } else { format!("{path}?{self}") }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { "&" };
            write!(formatter, "{between}{}={}", encoded(name), encoded(value))?;
        }
        Ok(())
    }
}

/// True for the address of a page of ours, without a host.
pub(crate) fn is_local(place: &str) -> bool {
    place.starts_with('/')
        && !place.starts_with("//")
        && !place.contains(|letter: char| letter == '\\' || letter.is_control())
}

/// A text as it stands in an address.
fn encoded(text: &str) -> impl fmt::Display + '_ {
    const PLAIN: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');
    utf8_percent_encode(text, PLAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let given = Given::default().and("sql", "SELECT 'a&b=c' -- ü\n").and("x", "1 + 1");
        assert_eq!(Given::of(&given.to_string()), given);
        assert_eq!(given.at("/shelf"), format!("/shelf?{given}"));
        assert_eq!(Given::default().at("/shelf"), "/shelf");
    }

    #[test]
    fn one_value_among_many_is_taken_out() {
        let given = Given::of("where=a&where=b&sort=c&page=");
        assert_eq!(given.without_value("where", "a").to_string(), "where=b&sort=c&page=");
        assert_eq!(given.with("where", "d").to_string(), "sort=c&page=&where=d");
        assert_eq!((given.get("page"), given.get("sort")), (None, Some("c")));
        let whole = given.only(&["where", "sort", "page"]).unwrap();
        assert_eq!(whole.to_string(), "where=a&where=b&sort=c");
    }

    #[test]
    fn a_name_that_is_not_known_is_refused() {
        let given = Given::of("tool=a&tol=b");
        let refused = |names: &[&str]| given.only(names).unwrap_err().what().to_owned();
        assert_eq!(refused(&["tool", "day"]), "There is no parameter tol: there are tool and day.");
        assert_eq!(refused(&["tool"]), "There is no parameter tol: there is tool.");
        assert_eq!(refused(&[]), "There is no parameter tool: this page has none.");
        let twice = Given::of("page=1&where=a&page=&where=b&page=2");
        let refused = twice.only(&["where", "page"]).unwrap_err();
        assert_eq!(refused.what(), "page is given more than once: give one.");
        assert!(Given::of("page=&page=2&where=a&where=b").only(&["where", "page"]).is_ok());
        assert!(Given::of("=x").nothing().is_err() && Given::of("").nothing().is_ok());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let given = Given::of("a=7&b=abc&c=-1&d=&page=0");
        assert_eq!((given.number("a").unwrap(), given.number("d").unwrap()), (Some(7), None));
        for name in ["b", "c"] {
            assert!(given.number(name).unwrap_err().what().starts_with(name));
        }
        assert_eq!((Given::default().page().unwrap(), given.page().is_err()), (1, true));
    }
}
