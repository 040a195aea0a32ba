//! The settings that hold, each as it was written and with the place where that is.

use std::{ffi::OsStr, ops::Range};

use forebay_insight::Key;
use forebay_intercept::command_without_secrets;
use serde::Serialize;
use toml::de::{DeTable, DeValue};

use super::{Config, Problems, Sources, environment, settings, tree};
use crate::regular;

/// What holds.
#[derive(Serialize)]
pub(crate) struct InForce {
    /// Which file was read, or would be.
    pub(crate) file: String,
    /// Every setting, the rules for single tools, and the servers.
    pub(crate) settings: Vec<Held>,
}

/// A setting, its value and where that comes from.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Held {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) from: String,
}

/// Reads all settings as a session would, and says where they come from.
pub(crate) fn of(sources: &Sources) -> Result<InForce, Problems> {
    let (config, _) = Config::load(sources)?;
    let home = environment::home(&sources.variables).map_err(|problem| Problems(vec![problem]))?;
    let path = environment::named_file(sources).unwrap_or_else(|| home.join("forebay.toml"));
    let text = regular::text(&path);
    let file = match &text {
        Ok(_) => format!("Settings are read from {}.", path.display()),
        Err(_) => format!("There is no {}; settings can be written there.", path.display()),
    };
    let text = text.unwrap_or_default();
    let written = written(&text);
    let mut settings = Vec::new();
    for setting in settings::all() {
        let key = setting.key.to_owned();
        let in_file = written.iter().find(|(known, ..)| *known == key);
        let (value, from) = if let Some((word, variable)) = environment::given(sources, setting) {
            let is_private = setting.kind.is_private();
            (if is_private { public_part(&word) } else { word }, variable)
        } else if let Some((_, value, line)) = in_file {
            (value.clone(), format!("line {line}"))
        } else if key == "persist_location" {
            (config.persist_location.display().to_string(), environment::origin_of_home(sources))
        } else {
            (setting.default.to_owned(), "default".to_owned())
        };
        settings.push(Held { key, value, from });
    }
    if let Some(variable) = key_missing(&config, sources) {
        let provider = settings.iter_mut().filter(|held| held.key == "summaries.provider");
        provider.for_each(|held| {
            "\"none\"".clone_into(&mut held.value);
            held.from = format!("{variable} is not set");
        });
    }
    let is_named_there = |key: &str| key.starts_with("tools.") || key.starts_with("servers.");
    let others = written.into_iter().filter(|(key, ..)| is_named_there(key));
    settings.extend(others.map(|(key, value, line)| Held {
        key,
        value,
        from: format!("line {line}"),
    }));
    Ok(InForce { file, settings })
}

/// The variable that is to hold the key of the provider that is chosen, if it does not: then nobody is asked.
fn key_missing<'c>(config: &'c Config, sources: &Sources) -> Option<&'c str> {
    let variable = config.summaries.key_variable()?;
    let key = environment::value(&sources.variables, variable).and_then(OsStr::to_str);
    let is_key = key.and_then(Key::new).is_some();
    (!is_key).then_some(variable)
}

/// What a file sets: the key, the value as it is written there, and the line.
fn written(text: &str) -> Vec<(String, String, usize)> {
    let (document, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    add(&mut found, text, &[], document.get_ref());
    found.sort_by_key(|(_, _, line)| *line);
    found
}

fn add(found: &mut Vec<(String, String, usize)>, text: &str, within: &[&str], table: &DeTable<'_>) {
    for (key, value) in table {
        let path = [within, &[&**key.get_ref()]].concat();
        if let DeValue::Table(inner) = value.get_ref() {
            add(found, text, &path, inner);
        } else {
            let Range { start, end } = value.span();
            let line = tree::line(text, start);
            found.push((path.join("."), told(&path, value.get_ref(), &text[start..end]), line));
        }
    }
}

/// What is told of a value. Keys and passwords stand in the environment, the headers and the URL of a
/// server; of these it is told that they are there. In its arguments, what looks like one is masked.
fn told(path: &[&str], value: &DeValue<'_>, written: &str) -> String {
    match (path, value) {
        (["servers", _, "env" | "headers", ..], _) => "(not shown)".to_owned(),
        (["servers", _, "args"], DeValue::Array(words)) => {
            let text = |word: &DeValue<'_>| word.as_str().unwrap_or_default().to_owned();
            let words: Vec<String> = words.iter().map(|word| text(word.get_ref())).collect();
            let quoted = |word: String| format!("{word:?}");
            let words = command_without_secrets(&words).into_iter().map(quoted);
            format!("[{}]", words.collect::<Vec<_>>().join(", "))
        }
        (
            ["servers", _, "url"] | ["search", "chroma_url"] | ["summaries", "url"],
            DeValue::String(url),
        ) => {
            format!("\"{}\"", public_part(url))
        }
        _ => written.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// A URL as it is written, without user, password, query and fragment. It may name variables, so it
/// need not be one yet.
fn public_part(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let host_start = rest[..host_end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host_start..])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_setting_is_told_with_where_it_comes_from() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("forebay.toml");
        fs::write(&file, "threshold = 5_000\n[query]\nthreads = 2\n[tools.\"a*\"]\nnever = true\n")
            .unwrap();
        let variables = [
            ("FOREBAY_HOME", home.path().to_str().unwrap()),
            ("FOREBAY_QUERY_THREADS", "3"),
            ("FOREBAY_ENABLED", ""),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into())).to_vec();
        let held = of(&Sources { variables, ..Sources::default() }).unwrap();
        assert_eq!(held.file, format!("Settings are read from {}.", file.display()));
        let told = |key: &str| {
            let one = held.settings.iter().find(|held| held.key == key).unwrap();
            (one.value.clone(), one.from.clone())
        };
        let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
        assert_eq!(told("threshold"), pair("5_000", "line 1"));
        assert_eq!(told("query.threads"), pair("3", "FOREBAY_QUERY_THREADS"));
        assert_eq!(told("enabled"), pair("true", "default"));
        assert_eq!(told("tools.a*.never"), pair("true", "line 5"));
        let place = home.path().display().to_string();
        assert_eq!(told("persist_location"), pair(&place, "FOREBAY_HOME"));
        assert_eq!(held.settings.len(), settings::all().count() + 1);
    }

    #[test]
    fn what_does_not_hold_is_not_told() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("forebay.toml");
        fs::write(&file, "[summaries]\nprovider = \"gemini\"\n").unwrap();
        let told = |key: &str, more: &[(&str, &str)]| {
            let place = ("FOREBAY_HOME", home.path().to_str().unwrap());
            let variables = more.iter().copied().chain([place]);
            let variables = variables.map(|(name, value)| (name.into(), value.into())).collect();
            let held = of(&Sources { variables, ..Sources::default() }).unwrap();
            let one = held.settings.into_iter().find(|held| held.key == key).unwrap();
            (one.value, one.from)
        };
        let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
        let none = pair("\"none\"", "GEMINI_API_KEY is not set");
        assert_eq!(told("summaries.provider", &[]), none);
        assert_eq!(told("summaries.provider", &[("GEMINI_API_KEY", "")]), none);
        let set = told("summaries.provider", &[("GEMINI_API_KEY", "k")]);
        assert_eq!(set, pair("\"gemini\"", "line 2"));
        let elsewhere = ("FOREBAY_SUMMARIES_URL", "https://models.example");
        assert_eq!(told("summaries.provider", &[elsewhere]), set, "it is sent no key");
        let named = ("FOREBAY_SUMMARIES_KEY_VARIABLE", "MODELS_KEY");
        let none = pair("\"none\"", "MODELS_KEY is not set");
        assert_eq!(told("summaries.provider", &[elsewhere, named]), none);
        let odd = ("MCP_GATEWAY_SUMMARY_THRESHOLD_BYTES", "many");
        assert_eq!(told("summaries.threshold_bytes", &[odd]).1, "default");
    }

    #[test]
    fn servers_are_told_without_what_is_secret() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("forebay.toml"), SERVERS).unwrap();
        let variables = [
            ("FOREBAY_HOME", home.path().to_str().unwrap()),
            ("TOKEN", "secret-1"),
            ("HOST", "secret-2.example"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into())).to_vec();
        let held = of(&Sources { variables, ..Sources::default() }).unwrap();
        let servers = held.settings.iter().filter(|held| held.key.starts_with("servers."));
        let told: Vec<String> =
            servers.map(|Held { key, value, from }| format!("{key} = {value} ({from})")).collect();
        assert_eq!(
            told,
            [
                "servers.b.command = \"npx\" (line 2)",
                "servers.b.args = [\"-y\", \"${TOKEN}\", \"--api-key\", \"***\", \"--password=***\"] (line 3)",
                "servers.b.env.KEY = (not shown) (line 5)",
                "servers.b.env.X.Y = (not shown) (line 6)",
                "servers.a.url = \"https://${HOST}/mcp\" (line 8)",
                "servers.a.headers.Authorization = (not shown) (line 9)",
                "servers.a.start = \"lazy\" (line 10)",
                "servers.a.tools.env.never = true (line 12)",
            ]
        );
    }

    const SERVERS: &str = r#"[servers.b]
command = "npx"
args = ["-y",   "${TOKEN}", "--api-key", "secret-9", "--password=secret-10"]
[servers.b.env]
KEY = "secret-3"
"X.Y" = "secret-4"
[servers.a]
url = "https://me:secret-5@${HOST}/mcp?key=secret-6#secret-7"
headers = { Authorization = "Bearer ${TOKEN} secret-8" }
start = "lazy"
[servers.a.tools.env]
never = true
"#;

    #[test]
    fn of_a_url_only_the_way_is_told() {
        let cases = [
            ("https://host", "https://host"),
            ("https://user@host:1/a/b", "https://host:1/a/b"),
            ("https://a:b@c@host/x@y?z@w", "https://host/x@y"),
            ("https://host?key=x", "https://host"),
            ("${URL}", "${URL}"),
        ];
        for (url, told) in cases {
            assert_eq!(public_part(url), told, "{url}");
        }
    }
}
