//! The settings that hold, each as it was written and with the place where that is.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::{Config, Problems, Sources, environment, settings::SETTINGS};
use crate::regular;

/// What holds.
pub(crate) struct InForce {
    /// Which file was read, or would be.
    pub(crate) file: String,
    /// Every setting, and the rules for single tools.
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
    let rules = written.into_iter().filter(|(key, ..)| key.starts_with("tools."));
    settings.extend(rules.map(|(key, value, line)| Held {
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
            let line = text[..start].matches('\n').count() + 1;
            let value = text[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
            found.push((name, value, line));
        }
    }
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
}
