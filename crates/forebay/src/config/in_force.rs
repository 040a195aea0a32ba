//! The settings that hold, each as it was written and with the place where that is.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::{Config, Problems, Sources, environment, settings::SETTINGS, tree};
use crate::regular;

/// What holds.
pub(crate) struct InForce {
    /// Which file was read, or would be.
    pub(crate) file: String,
    /// Every setting, the rules for single tools, and the servers.
    pub(crate) settings: Vec<Held>,
}

/// A setting, its value and where that comes from.
#[derive(Debug, PartialEq, Eq)]
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
    for setting in SETTINGS {
        let key = setting.key.to_owned();
        let in_file = written.iter().find(|(known, ..)| *known == key);
        let (value, from) = if let Some(word) = environment::given(sources, setting) {
            (word, setting.variable())
        } else if let Some((_, value, line)) = in_file {
            (value.clone(), format!("line {line}"))
        } else if key == "persist_location" {
            (config.persist_location.display().to_string(), environment::origin_of_home(sources))
        } else {
            (setting.default.to_owned(), "default".to_owned())
        };
        settings.push(Held { key, value, from });
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

/// What a file sets: the key, the value as it is written there, and the line.
fn written(text: &str) -> Vec<(String, String, usize)> {
    let (document, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    add(&mut found, text, "", document.get_ref());
    found.sort_by_key(|(_, _, line)| *line);
    found
}

fn add(found: &mut Vec<(String, String, usize)>, text: &str, prefix: &str, table: &DeTable<'_>) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        if let DeValue::Table(inner) = value.get_ref() {
            add(found, text, &format!("{name}."), inner);
        } else {
            let Range { start, end } = value.span();
            let line = tree::line(text, start);
            found.push((name.clone(), told(&name, value.get_ref(), &text[start..end]), line));
        }
    }
}

/// What is told of a value. Keys and passwords stand in the environment, the headers and the URL of a
/// server; of these it is told that they are there.
fn told(name: &str, value: &DeValue<'_>, written: &str) -> String {
    let steps: Vec<&str> = name.splitn(4, '.').collect();
    match (steps.as_slice(), value) {
        (["servers", _, "env" | "headers", _], _) => "(not shown)".to_owned(),
        (["servers", _, "url"], DeValue::String(url)) => format!("\"{}\"", public_part(url)),
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
        assert_eq!(held.settings.len(), SETTINGS.len() + 1);
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
                "servers.b.args = [\"-y\", \"${TOKEN}\"] (line 3)",
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
args = ["-y",   "${TOKEN}"]
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
