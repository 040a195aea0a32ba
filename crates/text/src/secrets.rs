//! What looks like a secret: by the name that it has, and by its form.
//!
//! A name is taken by its words, so that `author` and `max_tokens` are none. Where it is not certain,
//! a value is masked, but for those that results are told apart by: a `page_token` says where in a list
//! one is, and lets nobody in.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "***";

/// Words for a secret, alone or at the end of a word (`dbpassword`). `tokens` are what models count.
const SECRETS: [&str; 14] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "cookies",
    "apikey",
];
/// Words for a secret if nothing follows them: `auth` is one, `auth_mode` is not.
const LAST_WORDS: [&str; 6] = ["auth", "authentication", "pass", "pwd", "session", "otp"];
/// A key of this kind is a secret; others (`issue_key`, `sort_key`, `public_key`) are not.
const KEYS: [&str; 11] = [
    "api",
    "access",
    "account",
    "auth",
    "encryption",
    "master",
    "private",
    "shared",
    "signing",
    "ssh",
    "subscription",
];
/// A token of this kind is a place in a list.
const PLACES: [&str; 15] = [
    "page",
    "pagination",
    "next",
    "previous",
    "prev",
    "start",
    "starting",
    "continuation",
    "continue",
    "cursor",
    "resume",
    "skip",
    "sync",
    "delta",
    "change",
];
/// What follows a secret's name if it is not the secret itself.
const ABOUT: [&str; 25] = [
    "name", "names", "address", "symbol", "type", "types", "kind", "count", "limit", "budget",
    "length", "size", "method", "mode", "policy", "format", "url", "uri", "endpoint", "expiry",
    "expires", "ttl", "domain", "usage", "env",
];

/// True if what has this name is likely a secret.
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    is_surely_named(&words)
        || words.last().is_some_and(|last| LAST_WORDS.contains(&last.as_str()))
        || words.concat().ends_with("sessionid")
}

/// [`is_secret_name`], for names within a text, where `Session: Monday` is no secret.
fn is_surely_named(words: &[String]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).map_or("", |before| words[before].as_str());
        let is_about = words.get(index + 1).is_some_and(|next| ABOUT.contains(&next.as_str()));
        let is_key = KEYS.iter().any(|kind| {
            (before == *kind && (word == "key" || word == "keys"))
                || word.strip_suffix("key").is_some_and(|stem| stem.ends_with(kind))
        });
        let is_place = word
            .strip_suffix("token")
            .is_some_and(|stem| PLACES.contains(if stem.is_empty() { &before } else { &stem }));
        let is_secret = SECRETS.iter().any(|secret| word.ends_with(secret)) && !is_place;
        // `DB_PASS`
        let is_short =
            !before.is_empty() && index + 1 == words.len() && (word == "pass" || word == "pwd");
        (is_key || is_secret || is_short) && !is_about
    })
}

/// The words of a name, in small letters: `X-API-Key` and `xApiKey` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (index, letter) in letters.iter().enumerate() {
        let is_before_small = letters.get(index + 1).is_some_and(|next| next.is_lowercase());
        let is_after_small =
            index.checked_sub(1).is_some_and(|before| !letters[before].is_uppercase());
        if letter.is_uppercase() && (is_after_small || is_before_small) || !letter.is_alphanumeric()
        {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A text with what looks like a secret masked: by the name that stands before it, or by its form. The work is
/// in proportion to the length of the text, whatever it holds.
pub fn without_secrets(text: &str) -> String {
    let (Some(forms), Some(name)) = (&*FORMS, &*NAME) else {
        // Cannot be; but if it were, nothing would be known to be harmless.
        return MASK.to_owned();
    };
    let mut text = without_ends_of_keys(text);
    for form in forms {
        if let Cow::Owned(masked) = form.replace_all(&text, mask) {
            text = masked;
        }
    }
    masked_by_names(&text, name)
}

/// What stands in the place of a secret that was found by its form.
fn mask(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    // One without a digit is made of words, such as `sk-learn-for-beginners`.
    let slug = part("slug");
    if !slug.is_empty() && !slug.contains(|letter: char| letter.is_ascii_digit()) {
        return slug.to_owned();
    }
    format!("{}{}{MASK}{}", part("scheme"), part("user"), part("at"))
}

/// Masks the ends of private keys that begin before the text does.
fn without_ends_of_keys(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut searched = 0;
    while let Some(at) = rest[searched..].find(END_OF_KEY).map(|at| searched + at) {
        searched = at + END_OF_KEY.len();
        let Some(end) = end_of_mark(&rest[searched..]).map(|length| searched + length) else {
            continue;
        };
        let begin = rest[..at].rfind(BEGIN_OF_KEY).map(|begin| begin + BEGIN_OF_KEY.len());
        if begin.is_some_and(|begin| end_of_mark(&rest[begin..]).is_some()) {
            out.push_str(&rest[..end]);
        } else {
            out.push_str(&rest[..begin_of_lines(&rest[..at])]);
            out.push_str(MASK);
        }
        rest = &rest[end..];
        searched = 0;
    }
    out + rest
}

/// How long the rest of the mark is that a private key ends with, if it is one.
fn end_of_mark(rest: &str) -> Option<usize> {
    let end = rest.find("-----")?;
    let name = &rest[..end];
    let is_of_name = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b' ';
    (name.ends_with("PRIVATE KEY") && name.bytes().all(is_of_name)).then_some(end + 5)
}

/// Where the lines of base64 begin that a text ends with, the last of which may be short. Line breaks may be
/// written as `\n`.
fn begin_of_lines(text: &str) -> usize {
    const LEAST: usize = 16;
    let without_letters = |text: &str| {
        let is_letter = |it: char| it.is_ascii_alphanumeric() || "+/=".contains(it);
        let before = text.trim_end_matches(is_letter);
        let is_of_break = before.ends_with('\\') && text[before.len()..].starts_with(['n', 'r']);
        before.len() + usize::from(is_of_break)
    };
    let without_breaks = |text: &str| {
        let mut text = text;
        loop {
            let next = text.trim_end().trim_end_matches("\\n").trim_end_matches("\\r");
            if next == text {
                return text.len();
            }
            text = next;
        }
    };
    let mut begin = without_letters(&text[..without_breaks(text)]);
    loop {
        let end = without_breaks(&text[..begin]);
        let next = without_letters(&text[..end]);
        if end == begin || end - next < LEAST {
            return begin;
        }
        begin = next;
    }
}

/// Masks what stands behind a secret's name: `TOKEN=…`, `--password …`, `Cookie: …`, `{"secret": …}`.
fn masked_by_names(text: &str, name: &Regex) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(found) = name.captures(rest) {
        let named = found.name("flag").or(found.name("name"));
        let (Some(whole), Some(named)) = (found.get(0), named) else { break };
        let (before, after) = rest.split_at(whole.end());
        out.push_str(before);
        rest = after;
        let words = words(named.as_str());
        if is_surely_named(&words) {
            let end = value_end(before, after, &words);
            out.push_str(if end > 0 { MASK } else { "" });
            rest = &after[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Where the value ends that stands behind a name.
fn value_end(before: &str, after: &str, words: &[String]) -> usize {
    let quote = before.chars().last().filter(|last| matches!(last, '"' | '\''));
    let is_header = words.last().is_some_and(|word| word == "authorization" || word == "cookie");
    let ends = |letter: char| match quote {
        Some(quote) => letter == quote || letter == '\\',
        None if is_header => matches!(letter, '\n' | '\r' | '"' | '\''),
        None => letter.is_whitespace() || matches!(letter, '"' | '\'' | '&' | ';' | ',' | '\\'),
    };
    after.find(ends).unwrap_or(after.len())
}

const BEGIN_OF_KEY: &str = "-----BEGIN ";
const END_OF_KEY: &str = "-----END ";

/// What is a secret by its form, with what stands before and after it where that stays. Each is looked for by
/// itself: one that begins, and goes on without end, would otherwise be read again for each that lies within.
static FORMS: LazyLock<Option<Vec<Regex>>> = LazyLock::new(|| {
    let forms = [
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
        r"(?<scheme>(?i:\bbearer)\s+)[A-Za-z0-9._~+/=-]{6,}",
        r"(?<user>[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:]*:)[^\s/?#@]+(?<at>@|…)",
        r"(?<slug>\bsk-[A-Za-z0-9_-]{16,})",
        r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
        r"\b(?:gh[oprsu]_|github_pat_|hf_|npm_)[A-Za-z0-9_]{16,}",
        r"\b(?:glpat-|xox[a-z]-|ya29\.|AIza)[A-Za-z0-9_.-]{10,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*",
        // One that was shortened.
        r"\b(?:gh[oprsu]_|github_pat_|glpat-|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{4,}…",
    ];
    forms.into_iter().map(|form| Regex::new(form).ok()).collect()
});

/// A name, and what leads from it to its value.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        --(?<flag>[A-Za-z][\w-]*)\ +["']?
        | (?<name>[A-Za-z_][\w-]*)\\?["']?\s*[:=]\s*\\?["']?"#,
    )
    .ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_is_masked_however_little_of_it_is_there() {
        let line = "MIIEpAIBAAKCAQEA7bq8T1kXw0vE5yZ3".repeat(2);
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        for (text, shown) in [
            (format!("a\n{begin}\n{line}\n{line}\n{end}\nb"), "a\n***\nb"),
            (format!("a\n{begin}\n{line}\n{line}"), "a\n***"),
            (format!("{line}\n{line}\nab==\n{end}\nb"), "***\nb"),
            (format!(r"{line}\n{line}\nab==\n{end}\nb"), r"***\nb"),
            (format!("{begin}\n{line}\n{end}\n{line}\n{end}\nb"), "***\n***\nb"),
            (format!("{line}\n{end}\nb\n{begin}\n{line}"), "***\nb\n***"),
            (format!("it is short\n{end}"), "it is ***"),
            (format!("-----END OF IT-----\n{line}\n{end}"), "-----END OF IT-----\n***"),
            ("The END of a PRIVATE KEY".to_owned(), "The END of a PRIVATE KEY"),
        ] {
            assert_eq!(without_secrets(&text), shown, "{text}");
        }
    }

    /// Minutes would go by if each were looked for to the end of the text.
    #[test]
    fn long_texts_of_secrets_are_masked() {
        let key = "AKIAIOSFODNN7EXAMPLE";
        let end = "-----END RSA PRIVATE KEY-----";
        for (piece, shown) in [
            (format!("{key}\n"), "***\n"),
            (format!("eyJhbGciOiJI-{key}-"), "eyJhbGciOiJI-***-"),
            (format!("{key}."), "***."),
            (format!("x {end}\n"), "***\n"),
            ("-----END OF IT-----\n".to_owned(), "-----END OF IT-----\n"),
            ("-----BEGIN -----END ".to_owned(), "-----BEGIN -----END "),
        ] {
            let count = 1024 * 1024 / piece.len();
            assert!(without_secrets(&piece.repeat(count)) == shown.repeat(count), "{piece}");
        }
    }

    #[test]
    fn a_token_is_masked_that_was_shortened() {
        for (text, shown) in [
            ("use ghp_abcd…", "use ***"),
            ("AKIAABCD1…", "***"),
            ("eyJhbGciOi… (900 bytes)", "*** (900 bytes)"),
            ("and so on…", "and so on…"),
            ("ghp_ is a prefix", "ghp_ is a prefix"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }
}
