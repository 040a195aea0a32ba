//! The kinds of values that settings have: how each is read, and what to write if it cannot be.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
};

use forebay_intercept::Glob;
use forebay_tools::Tool;
use reqwest::Url;

/// The kind of a setting, with the way to set it in a `T`.
pub(super) enum Kind<T: 'static> {
    /// `true` or `false`.
    Switch(fn(&mut T, bool)),
    /// A whole number within limits.
    Number { from: u64, to: u64, set: fn(&mut T, u64) },
    /// A number of bytes, such as `10 GB`.
    Bytes { from: u64, set: fn(&mut T, u64) },
    /// A directory.
    Directory(fn(&mut T, PathBuf)),
    /// A file, or none.
    File(fn(&mut T, Option<PathBuf>)),
    /// Files or directories.
    Paths(fn(&mut T, Vec<PathBuf>)),
    /// Names of tools, `*` and `?` included.
    Patterns(fn(&mut T, Vec<Glob>)),
    /// Which injected tools are listed.
    Tools(fn(&mut T, Vec<Tool>)),
    /// What a name can begin with.
    Prefix(fn(&mut T, String)),
    /// What can stand between two names.
    Separator(fn(&mut T, String)),
    /// A program: its name, or its path.
    Program(fn(&mut T, String)),
    /// The name of a parameter.
    Name(fn(&mut T, String)),
    /// A JSON pointer.
    Pointer(fn(&mut T, String)),
    /// What a program is started with.
    Texts(fn(&mut T, Vec<String>)),
    /// Names, and a text for each.
    Pairs(fn(&mut T, Vec<(String, String)>)),
    /// Where a server is.
    Address(fn(&mut T, String)),
    /// A name, or none.
    NameOrNone(fn(&mut T, Option<String>)),
    /// Where something else is, or nowhere.
    AddressOrNone(fn(&mut T, Option<String>)),
    /// One of a few words.
    Choice(&'static [Choice<T>]),
}

/// A word that a setting may have.
pub(super) struct Choice<T> {
    pub(super) word: &'static str,
    pub(super) meaning: &'static str,
    pub(super) set: fn(&mut T),
}

/// A value as it was given.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    Switch(bool),
    Number(i64),
    Text(String),
    List(Vec<Given>),
    Table(Vec<(String, Given)>),
    /// From the environment or the command line, where everything is text.
    Word(String),
    /// Nothing that any setting could have, as it is called.
    Other(&'static str),
}

impl<T> Kind<T> {
    /// Sets it to what was given; `false` if that cannot be.
    pub(super) fn set(&self, config: &mut T, given: &Given) -> bool {
        let is_set = match self {
            Self::Switch(set) => given.switch().map(|on| set(config, on)),
            Self::Number { from, to, set } => given
                .number()
                .filter(|number| (from..=to).contains(&number))
                .map(|number| set(config, number)),
            Self::Bytes { from, set } => {
                given.bytes().filter(|bytes| bytes >= from).map(|bytes| set(config, bytes))
            }
            Self::Directory(set) => given.path().map(|path| set(config, path)),
            Self::File(set) => {
                let none = given.text().filter(|text| text.is_empty()).map(|_| None);
                none.or_else(|| given.path().map(Some)).map(|file| set(config, file))
            }
            Self::Patterns(set) => given.patterns().map(|patterns| set(config, patterns)),
            Self::Tools(set) => given.tools().map(|tools| set(config, tools)),
            Self::Prefix(set) => given.prefix().map(|prefix| set(config, prefix)),
            Self::Separator(set) => given.separator().map(|separator| set(config, separator)),
            Self::Program(set) => given.program().map(|program| set(config, program)),
            Self::Name(set) => given.name().map(|name| set(config, name)),
            Self::Pointer(set) => given.pointer().map(|pointer| set(config, pointer)),
            Self::Texts(set) => given.texts().map(|texts| set(config, texts)),
            Self::Paths(set) => given
                .texts()
                .and_then(|texts| {
                    texts.iter().map(|text| Given::Text(text.clone()).path()).collect()
                })
                .map(|paths| set(config, paths)),
            Self::Pairs(set) => given.pairs().map(|pairs| set(config, pairs)),
            Self::Address(set) => given.address().map(|address| set(config, address)),
            Self::NameOrNone(set) => match given.text() {
                Some("") => {
                    set(config, None);
                    Some(())
                }
                _ => given.name().map(|name| set(config, Some(name))),
            },
            Self::AddressOrNone(set) => match given.text() {
                Some("") => {
                    set(config, None);
                    Some(())
                }
                _ => given.address().map(|address| set(config, Some(address))),
            },
            Self::Choice(choices) => given.text().and_then(|text| {
                let choice = choices.iter().find(|choice| choice.word == text)?;
                (choice.set)(config);
                Some(())
            }),
        };
        is_set.is_some()
    }

    /// What can be written.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Switch(_) => "`true` or `false`".to_owned(),
            Self::Number { from, to: u64::MAX, .. } => format!("a number, {from} or more"),
            Self::Number { from, to, .. } => format!("a number from {from} to {to}"),
            Self::Bytes { from: 0, .. } => {
                "a number of bytes, or a size such as \"10 GB\"".to_owned()
            }
            Self::Bytes { from, .. } => {
                format!("a number of bytes, or a size such as \"10 GB\", {from} bytes or more")
            }
            Self::Directory(_) | Self::File(_) => A_PATH.to_owned(),
            Self::Paths(_) => format!("a list of paths, each {A_PATH}"),
            Self::Patterns(_) => "a list of tools, such as [\"get_*\", \"status\"]".to_owned(),
            Self::Tools(_) => {
                let names: Vec<String> =
                    Tool::ALL.iter().map(|tool| format!("\"{}\"", tool.name())).collect();
                format!("\"core\", \"full\", \"none\" or a list of {}", names.join(", "))
            }
            Self::Prefix(_) => "letters, digits, - and _, such as \"forebay-\"".to_owned(),
            Self::Separator(_) => "1 to 4 characters out of _ - and ., such as \"__\"".to_owned(),
            Self::Program(_) => "a program, such as \"npx\"".to_owned(),
            Self::Name(_) => "the name of a parameter, such as \"page_number\"".to_owned(),
            Self::NameOrNone(_) => "a name in quotes, or \"\"".to_owned(),
            Self::Pointer(_) => "a JSON pointer, such as \"/data/items\"".to_owned(),
            Self::Texts(_) => "a list of texts, such as [\"-y\", \"a-server\"]".to_owned(),
            Self::Pairs(_) => "a table with a text for each name".to_owned(),
            Self::Address(_) | Self::AddressOrNone(_) => {
                "a URL that begins with `http://` or `https://`, and has a host".to_owned()
            }
            Self::Choice(choices) => {
                let words: Vec<String> =
                    choices.iter().map(|choice| format!("\"{}\"", choice.word)).collect();
                words.join(" or ")
            }
        }
    }

    /// True if what was given is not repeated when it cannot be: keys and passwords stand there.
    pub(super) fn is_private(&self) -> bool {
        matches!(self, Self::Texts(_) | Self::Pairs(_) | Self::Address(_) | Self::AddressOrNone(_))
    }
}

impl Given {
    fn switch(&self) -> Option<bool> {
        match self {
            Self::Switch(on) => Some(*on),
            Self::Word(word) => match word.as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            Self::Number(_) | Self::Text(_) | Self::List(_) | Self::Table(_) | Self::Other(_) => {
                None
            }
        }
    }

    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(*number).ok(),
            Self::Word(word) => word.replace('_', "").parse().ok(),
            Self::Switch(_) | Self::Text(_) | Self::List(_) | Self::Table(_) | Self::Other(_) => {
                None
            }
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Word(text) => Some(text),
            Self::Switch(_) | Self::Number(_) | Self::List(_) | Self::Table(_) | Self::Other(_) => {
                None
            }
        }
    }

    fn bytes(&self) -> Option<u64> {
        self.number().or_else(|| size(self.text()?))
    }

    fn path(&self) -> Option<PathBuf> {
        path(self.text()?.as_ref())
    }

    fn patterns(&self) -> Option<Vec<Glob>> {
        Some(self.names()?.into_iter().map(Glob::new).collect())
    }

    /// The tools that are meant, in the order in which they are listed.
    fn tools(&self) -> Option<Vec<Tool>> {
        match self.text() {
            Some("core") => return Some(Tool::CORE.to_vec()),
            Some("full") => return Some(Tool::ALL.to_vec()),
            Some("none") => return Some(Vec::new()),
            _ => {}
        }
        let named: Option<Vec<Tool>> = self.names()?.into_iter().map(Tool::named).collect();
        let named = named?;
        Some(Tool::ALL.into_iter().filter(|tool| named.contains(tool)).collect())
    }

    fn prefix(&self) -> Option<String> {
        let text = self.text()?;
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        (text.len() <= 32 && text.chars().all(fits)).then(|| text.to_owned())
    }

    fn separator(&self) -> Option<String> {
        let text = self.text()?;
        let fits = (1..=4).contains(&text.len()) && text.chars().all(|it| "_-.".contains(it));
        fits.then(|| text.to_owned())
    }

    /// A program is looked for where the system looks for programs, unless it is a path.
    fn program(&self) -> Option<String> {
        let text = self.text().filter(|text| !text.is_empty())?;
        if text.starts_with("~/") {
            return path(text.as_ref())?.to_str().map(str::to_owned);
        }
        Some(text.to_owned())
    }

    fn name(&self) -> Option<String> {
        self.text().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// One is empty, or begins with a slash.
    fn pointer(&self) -> Option<String> {
        self.text().filter(|text| text.is_empty() || text.starts_with('/')).map(str::to_owned)
    }

    pub(super) fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
            _ => None,
        }
    }

    fn pairs(&self) -> Option<Vec<(String, String)>> {
        let Self::Table(members) = self else { return None };
        let pair = |(name, value): &(String, Self)| Some((name.clone(), value.text()?.to_owned()));
        members.iter().map(pair).collect()
    }

    /// Stricter than URLs are: what stands before the host is to be found, as it may be secret.
    fn address(&self) -> Option<String> {
        let text = self.text()?;
        let (scheme, rest) = text.split_once("://")?;
        let is_http = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let is_plain = is_http && !rest.starts_with(['/', '\\']);
        let has_host = Url::parse(text).is_ok_and(|url| url.has_host());
        (is_plain && has_host).then(|| text.to_owned())
    }

    /// A list of names; commas stand between them where everything is text.
    fn names(&self) -> Option<Vec<&str>> {
        match self {
            Self::List(items) => items
                .iter()
                .map(|item| match item {
                    Self::Text(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect(),
            Self::Word(names) => {
                Some(names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
            }
            Self::Switch(_) | Self::Number(_) | Self::Text(_) | Self::Table(_) | Self::Other(_) => {
                None
            }
        }
    }
}

/// What a path must be.
pub(super) const A_PATH: &str = "a path that begins with `/` or `~/`";

/// Reads a path. No shell has looked at what stands in a file or a client's configuration, so `~` is
/// still there; and what is relative would be somewhere else with every client.
pub(super) fn path(written: &OsStr) -> Option<PathBuf> {
    let path = Path::new(written);
    match path.strip_prefix("~") {
        Ok(rest) => Some(std::env::home_dir()?.join(rest)),
        Err(_) => path.is_absolute().then(|| path.to_owned()),
    }
}

/// Reads `10 GB`, `500MiB` and the like.
fn size(text: &str) -> Option<u64> {
    const UNITS: [&str; 5] = ["", "k", "m", "g", "t"];
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let number: u64 = digits.replace('_', "").parse().ok()?;
    let unit = text[digits.len()..].trim().to_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (unit, base) = unit.strip_suffix('i').map_or((unit, 1_000_u64), |unit| (unit, 1_024));
    let power = UNITS.iter().position(|known| *known == unit)?;
    if power == 0 && base == 1_024 {
        return None;
    }
    number.checked_mul(base.checked_pow(u32::try_from(power).ok()?)?)
}

impl fmt::Display for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => write!(out, "{on}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "\"{text}\""),
            Self::Word(text) => write!(out, "`{text}`"),
            Self::List(_) => write!(out, "this list"),
            Self::Table(_) => write!(out, "a table"),
            Self::Other(what) => write!(out, "{what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_or_without_a_unit() {
        let sizes = [
            ("0", 0),
            ("1_000", 1_000),
            ("10GB", 10_000_000_000),
            ("10 GB", 10_000_000_000),
            ("3 kB", 3_000),
            ("2k", 2_000),
            ("5MiB", 5 << 20),
            ("7 b", 7),
        ];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "GB", "ten GB", "-1", "1.5GB", "10 EB", "9999999999 TB", "10 ib"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_have_a_scheme_and_a_host() {
        let address = |text: &str| Given::Text(text.to_owned()).address();
        for sound in ["http://h", "https://u:p@h:1/mcp?a#b", "http://[::1]:2/", "HTTPS://h/mcp"] {
            assert_eq!(address(sound).as_deref(), Some(sound));
        }
        for odd in ["", "h/mcp", "ftp://h", "https://", "https:h", "https:///u@h", "http://h:x"] {
            assert_eq!(address(odd), None, "{odd}");
        }
    }

    #[test]
    fn separators_are_short() {
        let separator = |text: &str| Given::Text(text.to_owned()).separator();
        for sound in ["_", "__", "-", ".-_."] {
            assert_eq!(separator(sound).as_deref(), Some(sound));
        }
        for odd in ["", "_____", "/", "a", "_ _", "é"] {
            assert_eq!(separator(odd), None, "{odd}");
        }
    }

    #[test]
    fn paths_are_absolute_or_at_home() {
        let path = |text: &str| path(text.as_ref());
        assert_eq!(path("/var/kept"), Some("/var/kept".into()));
        assert_eq!(path("~/kept"), Some(std::env::home_dir().unwrap().join("kept")));
        assert_eq!(path("~"), std::env::home_dir());
        for odd in ["kept", "", "./kept", "~other/kept", "../kept"] {
            assert_eq!(path(odd), None, "{odd}");
        }
    }
}
