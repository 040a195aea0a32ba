//! Entries that start Forebay itself, and what can be told of one by its words alone.

use std::path::{Path, PathBuf};

use crate::value::Value;

/// The name of the entry that is Forebay's own.
pub(crate) const OURS: &str = "forebay";

/// Programs that start others, and their subcommands that do.
const STARTERS: [&str; 26] = [
    "npx", "npm", "pnpx", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "mise", "asdf",
    "volta", "fnm", "env", "dotenvx", "sudo", "cmd", "wsl", "op", "doppler", "exec", "dlx", "x",
    "tool", "run",
];
/// Options of theirs whose value is the next word.
const VALUED: [&str; 12] = [
    "--package",
    "-p",
    "--from",
    "--with",
    "--python",
    "--directory",
    "--project",
    "--prefix",
    "--env-file",
    "--registry",
    "-C",
    "-u",
];

/// Forebay, as an entry starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Own {
    /// The program, if the entry starts it directly and not by `npx` or the like.
    program: Option<String>,
    /// The subcommand and what follows it.
    words: Vec<String>,
}

/// The program of an entry, under the name that most clients have for it, or Goose's.
pub(crate) fn command(entry: &Value) -> Option<&Value> {
    entry.get("command").or_else(|| entry.get("cmd"))
}

impl Own {
    /// What an entry starts, if that is Forebay.
    pub(crate) fn of(entry: &Value) -> Option<Self> {
        let command = command(entry)?;
        let program = command.as_text().map(|program| vec![program]);
        let mut words = program.or_else(|| command.as_texts())?;
        words.extend(entry.get("args").and_then(Value::as_texts).unwrap_or_default());
        Self::of_words(&words)
    }

    /// The same of a command line.
    pub(crate) fn of_words(words: &[&str]) -> Option<Self> {
        Self::by_name(words).or_else(|| Self::by_words(words))
    }

    /// One that starts a program with our name.
    fn by_name(words: &[&str]) -> Option<Self> {
        let at = program_at(words);
        let name = file_name(words.get(at)?);
        if !(name == "forebay" || name == "forebay.exe" || name.starts_with("forebay@")) {
            return None;
        }
        let mut rest = &words[at + 1..];
        // Each option that may stand before the subcommand, such as `--log-level`, has a value.
        while let Some(option) = rest.first().filter(|word| word.starts_with("--")) {
            let count = if option.contains('=') { 1 } else { 2 };
            rest = rest.get(count..)?;
        }
        let is_known = matches!(*rest.first()?, "wrap" | "gateway" | "serve");
        let program = (at == 0).then(|| words[0].to_owned());
        let words = rest.iter().map(|word| (*word).to_owned()).collect();
        is_known.then_some(Self { program, words })
    }

    /// One that is written as `forebay install` writes it, whatever its program is called.
    fn by_words(words: &[&str]) -> Option<Self> {
        let (program, words) = words.split_first()?;
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Some(Self { program: Some((*program).to_owned()), words }).filter(Self::is_of_install)
    }

    /// True if it stands in front of one server.
    pub(crate) fn is_wrap(&self) -> bool {
        self.starts_with(&["wrap"])
    }

    /// True if it is a gateway, which offers the tools.
    pub(crate) fn is_gateway(&self) -> bool {
        self.starts_with(&["gateway"])
    }

    /// True if it stands in front of the servers that the settings name.
    pub(crate) fn is_gateway_of_settings(&self) -> bool {
        self.is_gateway()
            && !self.words.iter().any(|word| word == "--no-servers" || word == "--servers")
    }

    /// The file with the servers that it stands in front of.
    pub(crate) fn servers_file(&self) -> Option<PathBuf> {
        let at = self.words.iter().position(|word| word == "--servers")?;
        self.is_gateway().then(|| self.words.get(at + 1).map(PathBuf::from))?
    }

    /// True if it is written as `forebay install` writes it.
    pub(crate) fn is_of_install(&self) -> bool {
        // As in `clients/cursor-5c96924a.json`.
        let is_ours = |file: PathBuf| {
            let stem = file.file_stem().map(|it| it.to_string_lossy().into_owned());
            let hash = stem.as_deref().and_then(|stem| Some(stem.rsplit_once('-')?.1.to_owned()));
            let is_hash = |it: String| it.len() == 8 && it.bytes().all(|b| b.is_ascii_hexdigit());
            file.parent().is_some_and(|it| it.ends_with("clients")) && hash.is_some_and(is_hash)
        };
        self.starts_with(&["wrap", "--tools", "none"])
            || self.starts_with(&["gateway", "--no-servers"])
            || self.servers_file().is_some_and(is_ours)
    }

    /// True if it stands in front of a server that is elsewhere.
    pub(crate) fn is_remote(&self) -> bool {
        let own = self.words.iter().take_while(|word| *word != "--");
        self.is_wrap() && own.into_iter().any(|word| word == "--url" || word == "--url-env")
    }

    /// The program, if it is not there any more.
    pub(crate) fn lost_program(&self) -> Option<&str> {
        let program = self.program.as_deref()?;
        (Path::new(program).is_absolute() && !Path::new(program).exists()).then_some(program)
    }

    fn starts_with(&self, words: &[&str]) -> bool {
        self.words.len() >= words.len() && self.words.iter().zip(words).all(|(a, b)| a == b)
    }
}

/// Where the program stands that is started in the end, by whatever stands before it: `npx -y forebay wrap …`.
fn program_at(words: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += match *word {
            option if VALUED.contains(&option) => 2,
            word if is_in_front(word) => 1,
            _ => break,
        };
    }
    at
}

/// True for a program that starts another, its subcommand, an option without a value or with it in the same word, and
/// a variable that is set.
fn is_in_front(word: &str) -> bool {
    let stem = file_name(word).split('.').next().unwrap_or_default();
    let is_starter = STARTERS.iter().any(|starter| stem.eq_ignore_ascii_case(starter));
    let is_name = |text: &str| text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let is_variable = word.split_once('=').is_some_and(|(name, _)| is_name(name));
    is_starter || is_variable || word.starts_with('-') || word.eq_ignore_ascii_case("/c")
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_ours_is_known_by_its_words() {
        let own = |words: &[&str]| Own::of_words(words);
        let wrapped = own(&["/no/where/forebay", "wrap", "--tools", "none", "--", "a"]).unwrap();
        assert!(wrapped.is_wrap() && wrapped.is_of_install() && !wrapped.is_remote());
        assert_eq!(wrapped.lost_program(), Some("/no/where/forebay"));
        assert!(
            own(&["npx", "-y", "forebay", "wrap", "--", "a"]).unwrap().lost_program().is_none()
        );
        assert!(!own(&["forebay", "wrap", "--", "a", "--url"]).unwrap().is_remote());
        assert!(own(&["forebay", "wrap", "--url-env", "U"]).unwrap().is_remote());
        let gateway =
            own(&["forebay", "gateway", "--servers", "/h/clients/cursor-5c96924a.json"]).unwrap();
        assert_eq!(gateway.servers_file(), Some(PathBuf::from("/h/clients/cursor-5c96924a.json")));
        assert!(gateway.is_of_install() && !gateway.is_gateway_of_settings());
        assert!(own(&["forebay", "gateway"]).unwrap().is_gateway_of_settings());
        assert!(
            !own(&["forebay", "gateway", "--servers", "/clients/mine.json"])
                .unwrap()
                .is_of_install()
        );
        let with_options = ["forebay", "--log-level", "debug", "--config=/c", "wrap", "--", "a"];
        assert!(own(&with_options).unwrap().is_wrap());
        let other = own(&["/no/where/fb-beta", "wrap", "--tools", "none", "--", "a"]).unwrap();
        assert!(other.is_wrap() && other.lost_program() == Some("/no/where/fb-beta"));
        assert!(own(&["fb-beta", "gateway", "--no-servers"]).unwrap().is_gateway());
        assert!(own(&["other", "gateway"]).is_none() && own(&["other", "wrap", "x"]).is_none());
        assert!(own(&["forebay", "--log-level"]).is_none());
        assert!(own(&["forebay", "stats"]).is_none() && own(&["uvx", "server"]).is_none());
    }

    #[test]
    fn whoever_starts_forebay_for_an_entry_is_passed_over() {
        for words in [
            &["npx", "-y", "forebay@1.2", "wrap"][..],
            &["uvx", "--from", "forebay==1.2", "forebay", "wrap"],
            &["uv", "tool", "run", "--python=3.13", "forebay", "wrap"],
            &["npm", "exec", "--yes", "--package", "forebay", "--", "forebay", "wrap"],
            &["cmd", "/c", "npx", "-y", "forebay", "--log-level", "debug", "wrap"],
            &["C:\\Program Files\\nodejs\\NPX.CMD", "forebay", "wrap"],
            &["/usr/bin/env", "LANG=C", "/opt/a=b/forebay", "wrap"],
            &["mise", "exec", "--", "forebay", "wrap"],
            &["op", "run", "--env-file", ".env", "--", "forebay", "wrap"],
        ] {
            assert!(Own::of_words(words).is_some_and(|own| own.is_wrap()), "{words:?}");
        }
    }

    #[test]
    fn an_argument_with_our_name_starts_nothing() {
        for words in [
            &["uv", "--directory", "/src/forebay", "serve"][..],
            &["uv", "run", "--project", "forebay", "serve"],
            &["npx", "-y", "server-of-files", "/src/forebay", "gateway"],
            &["python", "server.py", "forebay", "serve"],
            &["node", "/src/forebay", "serve"],
        ] {
            assert!(Own::of_words(words).is_none(), "{words:?}");
        }
    }
}
