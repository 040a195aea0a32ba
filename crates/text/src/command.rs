//! The words of a command, as they may be shown.
//!
//! Besides what is a secret in any text ([`crate::secrets`]), a command has flags that name one,
//! headers, variables, and addresses with somebody's credentials in them. A variable that is named rather
//! than written out is no secret.

use std::sync::LazyLock;

use regex::Regex;

use crate::secrets::{MASK, is_secret_name};

/// Words for a secret in a flag or an address, where nothing else has these names.
const SHORT_NAMES: [&str; 5] = ["key", "pat", "sig", "signature", "code"];
/// What follows these is a name and a value: a header, a variable of the environment.
const PAIRS: [&str; 5] = ["-H", "--header", "-e", "--env", "--set-env"];
/// What follows these is the name of a variable, as `forebay install` writes it.
const NAMES: [&str; 2] = ["--header-env", "--url-env"];

/// What a word says of the one behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Plain,
    Secret,
    /// A name and, behind `:` or `=`, its value.
    Pair,
    /// What is no secret, whatever it looks like.
    Name,
}

/// The words of a command with what looks like a secret masked: also what follows a flag that names one. `in_text` masks
/// what looks like a secret in any text, such as [`crate::without_secrets`].
pub fn command_without_secrets(words: &[String], in_text: impl Fn(&str) -> String) -> Vec<String> {
    let mut next = Next::Plain;
    let mut all = Vec::new();
    for word in words {
        let is_flag = word.starts_with("--");
        all.push(match next {
            _ if is_variable(word) => word.clone(),
            Next::Secret if !is_flag => MASK.to_owned(),
            Next::Pair if !is_flag => pair(word, &in_text),
            Next::Name if !is_flag => word.clone(),
            Next::Plain | Next::Secret | Next::Pair | Next::Name => one(word, &in_text),
        });
        next = match word.as_str() {
            flag if PAIRS.contains(&flag) => Next::Pair,
            flag if NAMES.contains(&flag) => Next::Name,
            flag if flag.starts_with('-') && !flag.contains('=') && names_secret(flag) => {
                Next::Secret
            }
            _ => Next::Plain,
        };
    }
    all
}

/// A word by itself.
fn one(word: &str, in_text: &impl Fn(&str) -> String) -> String {
    if let Some((flag, value)) = word.split_once('=')
        && flag.starts_with('-')
        && names_secret(flag)
        && !is_variable(value)
    {
        return format!("{flag}={MASK}");
    }
    let masked = in_text(word);
    let (Some(user), Some(parameter)) = (&*USER, &*PARAMETER) else { return MASK.to_owned() };
    let masked = user.replace_all(&masked, format!("${{scheme}}{MASK}@"));
    parameter.replace_all(&masked, format!("${{name}}{MASK}")).into_owned()
}

fn pair(word: &str, in_text: &impl Fn(&str) -> String) -> String {
    let is_name = |name: &str| name.chars().all(|it| it.is_alphanumeric() || "-_".contains(it));
    match word.find([':', '=']).map(|at| word.split_at(at)) {
        Some((name, value)) if is_name(name) && !is_variable(value[1..].trim()) => {
            format!("{name}{}{MASK}", &value[..1])
        }
        _ => one(word, in_text),
    }
}

fn names_secret(flag: &str) -> bool {
    let name = flag.trim_start_matches('-');
    is_secret_name(name) || SHORT_NAMES.iter().any(|it| name.eq_ignore_ascii_case(it))
}

/// True for `${NAME}`, and nothing else.
fn is_variable(word: &str) -> bool {
    let inside = word.strip_prefix("${").and_then(|word| word.strip_suffix('}'));
    inside.is_some_and(|inside| !inside.contains(['$', '{', '}', ' ']) && !inside.contains(":-"))
}

/// Who somebody is at another site, where that is all there is before the host: a token.
static USER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?<scheme>\bhttps?://)[^\s/?#@:]+@").ok());

/// A parameter of an address that lets somebody in.
static PARAMETER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = SHORT_NAMES.join("|");
    Regex::new(&format!("(?i)(?<name>[?&](?:{names})=)[^&#\\s]+")).ok()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::without_secrets;

    #[test]
    fn what_lets_somebody_in_is_masked_and_nothing_else() {
        let cases: [(&[&str], &[&str]); 12] = [
            (&["npx", "-y", "server", "--port", "80"], &["npx", "-y", "server", "--port", "80"]),
            (&["--api-key", "A1", "--password=P2"], &["--api-key", "***", "--password=***"]),
            (&["postgresql://admin:D3@db/x"], &["postgresql://admin:***@db/x"]),
            (&["https://T4@host/a?b=c"], &["https://***@host/a?b=c"]),
            (&["http://h/?page=2&key=K5#top"], &["http://h/?page=2&key=***#top"]),
            (&["http://h/?api_key=K6&x=1"], &["http://h/?api_key=***&x=1"]),
            (&["-H", "X-Own: H7", "--env", "DEBUG=E8"], &["-H", "X-Own:***", "--env", "DEBUG=***"]),
            (&["-e", "GITHUB_TOKEN"], &["-e", "GITHUB_TOKEN"]),
            (
                &["--token", "--verbose", "ssh://git@host"],
                &["--token", "--verbose", "ssh://git@host"],
            ),
            (
                &["--token", "${TOKEN}", "--key=${env:KEY}"],
                &["--token", "${TOKEN}", "--key=${env:KEY}"],
            ),
            (&["--token", "${TOKEN:-fallback}"], &["--token", "***"]),
            (
                &["--header-env", "Authorization=Bearer GITHUB_TOKEN", "--url-env", "TOKEN"],
                &["--header-env", "Authorization=Bearer GITHUB_TOKEN", "--url-env", "TOKEN"],
            ),
        ];
        for (given, told) in cases {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            assert_eq!(command_without_secrets(&given, without_secrets), told, "{given:?}");
        }
    }
}
